"""The HTTP reranker against a server that misbehaves as told."""

from typing import Any

import pytest

from agentscope.errors import InvalidInputError, RerankError
from agentscope.rerank.http import HTTPReranker
from agentscope.testing.provider import FakeProvider, Fault


async def test_the_request_on_the_wire_is_what_servers_expect() -> None:
    """Key, model and documents; the answer leaves the documents out."""
    async with FakeProvider() as provider:
        url = provider.base_url + "/rerank"
        async with HTTPReranker(url, model="m", api_key="k") as reranker:
            await reranker.score("q", ["a", "b"])
        (seen,) = provider.seen
        assert seen.headers["authorization"] == "Bearer k"
        assert seen.body == {
            "query": "q",
            "documents": ["a", "b"],
            "top_n": 2,
            "return_documents": False,
            "model": "m",
        }


@pytest.mark.parametrize(
    ("fault", "retryable", "tries"),
    [
        (Fault(status=401), False, 1),
        (Fault(status=422), False, 1),
        (Fault(status=302), False, 1),
        (Fault(status=429), True, 2),
        (Fault(status=503), True, 2),
        (Fault(drop=True), True, 2),
        (Fault(hang=True), False, 1),
        (Fault(body=b"<html>"), True, 2),
        (Fault(body={"results": "none"}), False, 1),
        (Fault(body={"results": [{"index": 0, "relevance_score": 1}]}), False, 1),
        (Fault(body={"results": [{"index": 7, "relevance_score": 1}]}), False, 1),
        (Fault(body=[{"index": 0, "score": 1}, {"index": 1, "score": "x"}]), False, 1),
    ],
)
async def test_every_failure_is_a_plain_rerank_error(
    fault: Fault, retryable: bool, tries: int
) -> None:
    """The search can go on without the better order and knows why."""
    async with FakeProvider() as provider:
        url = provider.base_url + "/rerank"
        async with HTTPReranker(url, timeout_seconds=0.3, api_key="sk-geheim") as reranker:
            provider.fail_always(fault)
            with pytest.raises(RerankError) as caught:
                await reranker.score("q", ["a", "b"])
            assert caught.value.retryable is retryable
            assert len(provider.seen) == tries
            assert "geheim" not in caught.value.message
            provider.heal()
            assert len(await reranker.score("q", ["a", "b"])) == 2


async def test_a_failure_that_passes_is_not_seen() -> None:
    """One more try is made at once."""
    async with FakeProvider() as provider:
        reranker = HTTPReranker(provider.base_url + "/rerank")
        provider.fail_next(Fault(status=503))
        assert len(await reranker.score("q", ["a"])) == 1
        await reranker.aclose()


@pytest.mark.parametrize("options", [{"url": "nonsense"}, {"url": "ftp://x/rerank"}])
async def test_an_invalid_address_is_a_plain_error(options: dict[str, Any]) -> None:
    """Nothing but a rerank error leaves the reranker."""
    async with HTTPReranker(**options) as reranker:
        with pytest.raises(RerankError):
            await reranker.score("q", ["a"])


async def test_a_forbidden_address_is_never_called() -> None:
    """The policy decides before a connection is made."""

    def refuse(url: str) -> None:
        raise InvalidInputError("This address is not allowed.")

    async with FakeProvider() as provider:
        async with HTTPReranker(provider.base_url + "/rerank", allow_url=refuse) as reranker:
            with pytest.raises(RerankError, match="not allowed"):
                await reranker.score("q", ["a"])
        assert provider.seen == []
