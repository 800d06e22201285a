"""Binds the embedding suite to every implementation."""

from contextlib import AbstractAsyncContextManager

from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.testing.embedding import EmbeddingModelSuite, FakeEmbeddingModel


class TestFakeEmbeddingModel(EmbeddingModelSuite):
    """The fake keeps the contract that tests rely on."""

    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        return FakeEmbeddingModel()


class TestLocalEmbeddingModel(EmbeddingModelSuite):
    """The real weights in a real child process."""

    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        return LocalEmbeddingModel()
