"""Binds the vector store suite to every store."""

import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.vector_store import VectorStoreSuite


class TestInMemoryVectorStore(VectorStoreSuite):
    """The exact store in memory."""

    def open_store(self) -> AbstractAsyncContextManager[RunVectorStore]:
        """Return a fresh store."""
        return InMemoryVectorStore()


class TestEmbeddedVectorStore(VectorStoreSuite):
    """The embedded store, exact over its rows."""

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[RunVectorStore]:
        """Give a fresh store in a directory of its own."""
        with tempfile.TemporaryDirectory() as directory:
            async with EmbeddedVectorStore(directory) as store:
                yield store
