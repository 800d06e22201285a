"""Searching several knowledge bases, and with a reranker, over REST."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agentscope.errors import RerankError
from agentscope.rerank.base import RerankerBase
from agentscope.testing.rest import RestService, memory_app

PATH = "/knowledge_bases/search"


class Longest(RerankerBase):
    """Likes long texts; fails when it is told to."""

    def __init__(self) -> None:
        self.broken = False
        self.asked = 0

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        del query
        self.asked += 1
        if self.broken:
            raise RerankError
        return [float(len(text)) for text in texts]


@pytest.fixture(name="reranker", scope="module")
def one_reranker() -> Longest:
    """The reranker of the service below."""
    return Longest()


@pytest.fixture(name="ranked", scope="module")
def service_with_reranker(
    tmp_path_factory: pytest.TempPathFactory, reranker: Longest
) -> Iterator[RestService]:
    """A service that puts hits in order by their length."""
    with RestService(memory_app(tmp_path_factory.mktemp("r"), reranker=reranker)) as running:
        yield running


def filled(service: RestService, user: str = "alice") -> tuple[str, str]:
    one, two = service.knowledge_base(user=user), service.knowledge_base(user=user)
    service.ready(one, "one.txt", b"red apples", user=user)
    service.ready(two, "two.txt", b"red apples, and a long tale about them", user=user)
    return one, two


def test_several_knowledge_bases_give_one_answer(service: RestService, user: str) -> None:
    """Fused by rank; each hit names its knowledge base; ids that are named twice count once."""
    one, two = filled(service, user)
    body = {"query": "red apples", "knowledge_base_ids": [one, two, one], "top_k": 5}
    found = service.json("POST", PATH, user=user, json=body)
    assert [hit["knowledge_base_id"] for hit in found["results"]] == [one, two]
    assert found["warnings"] == []
    body["top_k"] = 1
    assert service.json("POST", PATH, user=user, json=body)["total"] == 1


def test_bounds_are_told(service: RestService, user: str) -> None:
    """No knowledge base, too many, no query."""
    kb = service.knowledge_base(user=user)
    for body in (
        {"query": "x", "knowledge_base_ids": []},
        {"query": "x", "knowledge_base_ids": [kb] * 21},
        {"query": [], "knowledge_base_ids": [kb]},
        {"query": " ", "knowledge_base_ids": [kb]},
    ):
        assert service.call("POST", PATH, user=user, json=body).status_code == 422


def test_several_queries_are_one_question(service: RestService, user: str) -> None:
    """A chunk that two of them find is one hit with its best score."""
    one, _ = filled(service, user)
    path = f"/knowledge_bases/{one}/search"
    many = service.json("POST", path, user=user, json={"query": ["zebra", "red apples"]})
    single = service.json("POST", path, user=user, json={"query": "red apples"})
    assert many["results"][0]["score"] == single["results"][0]["score"]
    assert many["total"] == 1


def test_the_reranker_orders_unless_it_is_not_wanted(
    ranked: RestService, reranker: Longest
) -> None:
    """Its rank and score stand in the hit, in one knowledge base and across several."""
    one, two = filled(ranked)
    ranked.ready(one, "more.txt", b"red apples and many pears of all sizes")
    path = f"/knowledge_bases/{one}/search"
    ordered = ranked.json("POST", path, json={"query": "red apples"})["results"]
    assert [hit["chunk"]["source"] for hit in ordered] == ["more.txt", "one.txt"]
    assert ordered[0]["rerank"]["rank"] == 1
    asked = reranker.asked
    plain = ranked.json("POST", path, json={"query": "red apples", "rerank": False})["results"]
    assert [hit["rerank"] for hit in plain] == [None, None]
    assert reranker.asked == asked
    body = {"query": "red apples", "knowledge_base_ids": [one, two]}
    across = ranked.json("POST", PATH, json=body)["results"]
    lengths = [len(hit["chunk"]["content"]["text"]) for hit in across]
    assert lengths == sorted(lengths, reverse=True)


def test_a_reranker_that_fails_costs_its_order_only(ranked: RestService, reranker: Longest) -> None:
    """The hits are there, and a warning says how they are ordered."""
    one, two = filled(ranked)
    reranker.broken = True
    try:
        for path, body in (
            (f"/knowledge_bases/{one}/search", {"query": "red apples"}),
            (PATH, {"query": "red apples", "knowledge_base_ids": [one, two]}),
        ):
            found = ranked.json("POST", path, json=body)
            assert found["results"]
            assert "reranker did not answer" in found["warnings"][0]
    finally:
        reranker.broken = False


def test_to_insist_on_a_reranker_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Rather than an answer in another order than was asked for."""
    with RestService(memory_app(tmp_path)) as running:
        kb = running.knowledge_base()
        body = {"query": "x", "rerank": True}
        refused = running.call("POST", f"/knowledge_bases/{kb}/search", json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
