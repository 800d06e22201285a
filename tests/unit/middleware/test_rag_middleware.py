"""Retrieval for agents: the tool, the hint, and what happens when a search fails."""

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope.errors import VectorStoreError
from agentscope.message.blocks import TextBlock
from agentscope.middleware import Parameters, RAGMiddleware, parameters_schema
from agentscope.rag.document import Chunk, SearchHit
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel

TEXTS = {
    "leave.txt": "Annual leave is twenty five days a year",
    "travel.txt": "Train journeys are booked by the office",
}


def _chunk(source: str, text: str) -> Chunk:
    return Chunk(
        content=TextBlock(text=text),
        source=source,
        chunk_index=0,
        total_chunks=1,
        metadata={"page": 3},
    )


@asynccontextmanager
async def _bases(*names: str) -> AsyncIterator[list[KnowledgeBase]]:
    async with InMemoryVectorStore() as store:
        bases = []
        for name in names:
            base = KnowledgeBase(name, f"all about {name}", FakeEmbeddingModel(), store, name)
            await base.ensure_collection()
            for source, text in TEXTS.items():
                await base.insert_document([_chunk(source, text)])
            bases.append(base)
        yield bases


class Backwards:
    """Prefers what was last."""

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.query = query
        return list(range(len(texts)))


class Broken(KnowledgeBase):
    """Its store is down."""

    async def search(self, *args: Any, **kwargs: Any) -> list[SearchHit]:
        raise VectorStoreError


async def test_the_model_gets_one_tool_that_names_the_knowledge_bases() -> None:
    """OpenAI's form, with the names to choose from."""
    async with _bases("hr", "law") as bases:
        [tool] = RAGMiddleware(bases).openai_tools()
    function = tool["function"]
    assert function["name"] == "search_knowledge"
    names = function["parameters"]["properties"]["knowledge_bases"]["items"]["enum"]
    assert names == ["hr", "law"]
    assert "all about hr" in function["description"]


async def test_a_tool_call_returns_numbered_passages_with_their_source() -> None:
    """The best first, in one knowledge base or in all."""
    async with _bases("hr", "law") as bases:
        middleware = RAGMiddleware(bases, Parameters(top_k=3))
        for arguments in (
            {"query": "annual leave days"},
            '{"query": "annual leave days", "knowledge_bases": ["law"]}',
        ):
            result = await middleware.call_tool("search_knowledge", arguments)
            assert result.text.startswith("[1] leave.txt, page 3\nAnnual leave")
            assert not result.is_error
            assert result.hits


async def test_nothing_found_is_one_fixed_sentence() -> None:
    """A model must not take silence for an answer."""
    async with InMemoryVectorStore() as store:
        base = KnowledgeBase("empty", "", FakeEmbeddingModel(), store, "empty")
        result = await RAGMiddleware([base]).call_tool("search_knowledge", {"query": "anything"})
    assert result.text == "The knowledge base has no passage about this."
    assert not result.is_error


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_knowledge", "{not json"),
        ("search_knowledge", {}),
        ("search_knowledge", {"query": 3}),
        ("search_knowledge", "[]"),
        ("search_knowledge", {"query": "x", "knowledge_bases": ["another"]}),
        ("another_tool", {"query": "x"}),
    ],
)
async def test_a_wrong_call_is_an_error_result(name: str, arguments: Any) -> None:
    """The model can read it and try again."""
    async with _bases("hr") as bases:
        result = await RAGMiddleware(bases).call_tool(name, arguments)
    assert result.is_error
    assert result.text.startswith("The search failed.")


async def test_a_failed_search_never_breaks_the_turn() -> None:
    """Agentic: an error result; static: the messages as they were."""
    async with InMemoryVectorStore() as store:
        base = Broken("hr", "", FakeEmbeddingModel(), store, "hr")
        result = await RAGMiddleware([base]).call_tool("search_knowledge", {"query": "x"})
        assert result.is_error
        messages = [{"role": "user", "content": "x"}]
        prepared = await RAGMiddleware([base], Parameters(mode="static")).before_model(messages)
        assert prepared.messages == messages


async def test_static_mode_puts_hits_beside_the_question_and_takes_them_out() -> None:
    """On the first step of a turn only."""
    async with _bases("hr") as bases:
        middleware = RAGMiddleware(bases, Parameters(mode="static", top_k=1))
        question = {"role": "user", "name": "Ada", "content": "How long is annual leave?"}
        prepared = await middleware.before_model([question])
        assert prepared.messages[0] == question
        assert "twenty five days" in prepared.messages[1]["content"]
        assert [hit.chunk.source for hit in prepared.hits] == ["leave.txt"]
        assert middleware.after_model(prepared.messages) == [question]
        later = [question, {"role": "assistant", "content": "..."}]
        assert (await middleware.before_model(later)).messages == later
        assert middleware.openai_tools() == []


async def test_a_hint_stays_when_asked_to() -> None:
    """`persist_hint` keeps it in the conversation."""
    async with _bases("hr") as bases:
        middleware = RAGMiddleware(bases, Parameters(mode="static", persist_hint=True))
        content = [{"type": "text", "text": "annual leave"}]
        prepared = await middleware.before_model([{"role": "user", "content": content}])
        assert len(middleware.after_model(prepared.messages)) == 2


async def test_a_reranker_chooses_from_more_candidates() -> None:
    """It sees the query and decides the order."""
    reranker = Backwards()
    async with _bases("hr") as bases:
        plain = await RAGMiddleware(bases, Parameters(top_k=1)).search(["annual leave"], bases)
        middleware = RAGMiddleware(bases, Parameters(top_k=1, rerank_candidate_k=2), reranker)
        other = await middleware.search(["annual leave"], bases)
    assert plain[0].chunk.source == "leave.txt"
    assert other[0].chunk.source == "travel.txt"
    assert reranker.query == "annual leave"


@pytest.mark.parametrize(
    "values",
    [
        {"top_k": 0},
        {"top_k": 51},
        {"top_k": 10, "rerank_candidate_k": 5},
        {"hint_template": "no place"},
        {"hint_template": "{context} {context}"},
        {"rerank_prompt": "no place"},
        {"mode": "other"},
    ],
)
def test_bad_parameters_are_refused(values: dict[str, Any]) -> None:
    """Each with pydantic's error."""
    with pytest.raises(ValidationError):
        Parameters(**values)


def test_the_schema_is_the_documented_one() -> None:
    """Clients build a form from it."""
    shared = Path(os.environ.get("RAG_SHARED", Path(__file__).parents[4] / "shared"))
    sample = shared / "reference/samples/middleware_parameters_schema.json"
    if not sample.exists():
        if os.environ.get("CI"):
            pytest.fail("RAG_SHARED does not hold the samples")
        pytest.skip(f"no samples at {sample}")
    assert parameters_schema() == json.loads(sample.read_text())["parameter_schema"]
