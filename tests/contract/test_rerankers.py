"""Binds the reranker suite to every protocol."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from agentscope.rerank.base import RerankerBase
from agentscope.rerank.http import HTTPReranker, RerankProtocol
from agentscope.testing.provider import FakeProvider
from agentscope.testing.rerank import RerankerSuite


@asynccontextmanager
async def _served(protocol: RerankProtocol) -> AsyncIterator[RerankerBase]:
    async with FakeProvider() as provider:
        url = provider.root_url + ("/rerank" if protocol is RerankProtocol.TEI else "/v1/rerank")
        async with HTTPReranker(url, protocol=protocol, model="m", api_key="k") as reranker:
            yield reranker


class TestTextEmbeddingsInference(RerankerSuite):
    """The bare list of scores."""

    def make(self) -> AbstractAsyncContextManager[RerankerBase]:
        return _served(RerankProtocol.TEI)


class TestCohere(RerankerSuite):
    """Results with `relevance_score`."""

    def make(self) -> AbstractAsyncContextManager[RerankerBase]:
        return _served(RerankProtocol.COHERE)


class TestJina(RerankerSuite):
    """As Cohere, without documents in the answer."""

    def make(self) -> AbstractAsyncContextManager[RerankerBase]:
        return _served(RerankProtocol.JINA)
