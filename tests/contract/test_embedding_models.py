"""Binds the embedding suite to every implementation."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from pydantic import SecretStr

from agentscope.credential.dashscope import DashScopeCredential
from agentscope.credential.gemini import GeminiCredential
from agentscope.credential.ollama import OllamaCredential
from agentscope.credential.openai import OpenAICredential
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.dashscope import DashScopeEmbeddingModel
from agentscope.embedding.gemini import GeminiEmbeddingModel
from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.embedding.ollama import OllamaEmbeddingModel
from agentscope.embedding.openai_compatible import OpenAIEmbeddingModel
from agentscope.embedding.provider_client import Transport
from agentscope.testing.embedding import EmbeddingModelSuite, FakeEmbeddingModel
from agentscope.testing.provider import FakeProvider

KEY = SecretStr("k")


@asynccontextmanager
async def _served(
    build: Callable[[FakeProvider], EmbeddingModelBase],
) -> AsyncIterator[EmbeddingModelBase]:
    async with FakeProvider(dimensions=64) as provider, build(provider) as model:
        yield model


class TestFakeEmbeddingModel(EmbeddingModelSuite):
    """The fake keeps the contract that tests rely on."""

    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        return FakeEmbeddingModel()


class TestLocalEmbeddingModel(EmbeddingModelSuite):
    """The real weights in a real child process."""

    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        return LocalEmbeddingModel()


class TestOpenAIEmbeddingModel(EmbeddingModelSuite):
    """The OpenAI protocol over real HTTP."""

    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        return _served(
            lambda provider: OpenAIEmbeddingModel(
                OpenAICredential(api_key=KEY, base_url=provider.base_url), "m", 64
            )
        )


class TestDashScopeTextModel(EmbeddingModelSuite):
    """DashScope text models over the compatible address, 10 inputs at a time."""

    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        return _served(
            lambda provider: DashScopeEmbeddingModel(
                DashScopeCredential(
                    api_key=KEY, base_url=provider.root_url + "/compatible-mode/v1"
                ),
                "text-embedding-v4",
                64,
            )
        )


class TestDashScopeMultimodalModel(EmbeddingModelSuite):
    """DashScope's own protocol."""

    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        return _served(
            lambda provider: DashScopeEmbeddingModel(
                DashScopeCredential(
                    api_key=KEY, base_url=provider.root_url + "/compatible-mode/v1"
                ),
                "tongyi-embedding-vision-plus",
                64,
            )
        )


class TestGeminiEmbeddingModel(EmbeddingModelSuite):
    """Gemini's batch call."""

    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        return _served(
            lambda provider: GeminiEmbeddingModel(
                GeminiCredential(api_key=KEY),
                "gemini-embedding-001",
                128,
                transport=Transport(base_url=provider.root_url + "/v1beta"),
            )
        )


class TestOllamaEmbeddingModel(EmbeddingModelSuite):
    """Ollama's own call."""

    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        return _served(
            lambda provider: OllamaEmbeddingModel(
                OllamaCredential(host=provider.root_url), "nomic-embed-text", 64
            )
        )
