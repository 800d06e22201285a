"""Binds the vector store suite to every store."""

from contextlib import AbstractAsyncContextManager

from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.vector_store import VectorStoreSuite


class TestInMemoryVectorStore(VectorStoreSuite):
    """The exact store in memory."""

    def open_store(self) -> AbstractAsyncContextManager[RunVectorStore]:
        """Return a fresh store."""
        return InMemoryVectorStore()
