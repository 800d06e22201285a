"""The same calls on every vector store give the same answers."""

import contextlib
import functools
import random
import tempfile
from collections.abc import AsyncIterator

import pytest
from tests.contract.qdrant_edge_client import engine_store
from tests.contract.qdrant_server import qdrant_url

from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point, Run, SearchMode
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.filter import Filter, parse_filter
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing.embedding import FakeEmbeddingModel
from agentscope.testing.servers import shared_postgres
from agentscope.testing.vector_store_data import (
    DIMENSIONS,
    FILTERS,
    make_point,
    places,
    random_points,
)

COLLECTION = "kb_congruence"
OWN_FILTERS = ({"kb_id": "kb1"}, {"epoch": {"$gte": 2}})
OTHERS = ["embedded", "qdrant_local", "qdrant_server", "qdrant_engine", "postgres"]


@contextlib.asynccontextmanager
async def opened(kind: str) -> AsyncIterator[RunVectorStore]:
    """Give an empty store of the kind."""
    with tempfile.TemporaryDirectory() as directory:
        store: RunVectorStore
        match kind:
            case "memory":
                store = InMemoryVectorStore()
            case "embedded":
                store = EmbeddedVectorStore(directory)
            case "qdrant_local":
                store = QdrantStore()
            case "qdrant_engine":
                store = engine_store()
            case "qdrant_server":
                store = QdrantStore(url=qdrant_url())
            case _:
                store = PgVectorStore(shared_postgres().url, max_connections=2)
        async with store:
            await store.delete_collection(COLLECTION)
            yield store


@functools.cache
def scripted_points() -> tuple[Point, ...]:
    """Return points of several runs and knowledge bases, the same objects each time."""
    source = random.Random(3)
    points = [
        Point(p.vector, p.document_id, Run(f"r{n % 3}", n % 4), p.chunk, f"kb{n % 2}")
        for n, p in enumerate(random_points(31, 90, dimensions=DIMENSIONS))
    ]
    points += [
        make_point("same", n, points[0].vector, text=f"duplicate {n}", metadata={"page": n})
        for n in range(6)
    ]
    source.shuffle(points)
    return tuple(points)


async def transcript(store: RunVectorStore) -> tuple[list[object], list[float]]:
    """Return what a store answers to a fixed series of calls, and the scores of all hits."""
    said: list[object] = []
    scores: list[float] = []
    await store.create_collection(COLLECTION, DIMENSIONS)
    points = scripted_points()
    await store.upsert(COLLECTION, points)
    queries = [[1.0] * DIMENSIONS, points[5].vector, [(-1.0) ** n for n in range(DIMENSIONS)]]
    asked: list[tuple[list[float], Filter | None]] = [(query, None) for query in queries]
    asked += [(queries[0], parse_filter(value)) for value in (*FILTERS, *OWN_FILTERS)]
    for query, where in asked:
        hits = await store.search_vector(COLLECTION, query, top_k=7, where=where)
        said.append(places(hits))
        scores += [hit.score for hit in hits]
    for text in ("alpha", "检索 知识", "gamma 排序", "duplicate"):
        hits = await store.search_keyword(COLLECTION, text, top_k=99)
        said.append(sorted((hit.document_id, hit.run_id, hit.chunk.chunk_index) for hit in hits))
    await store.delete_run(COLLECTION, "d0003", "r1")
    await store.delete_stale(COLLECTION, "d0005", below_epoch=3, keep_run_id="r2")
    await store.delete_where(COLLECTION, parse_filter({"author": "Li", "year": {"$lt": 2020}}))
    await store.delete(COLLECTION, "d0007", {"public": True})
    said.append(sorted(map(repr, [run async for run in store.stored_runs(COLLECTION)])))
    said.append([repr(item) for item in await store.list_documents(COLLECTION)])
    said.append([chunk.chunk_index for chunk in await store.list_chunks(COLLECTION, "same")])
    said.append([c.model_dump() for c in await store.run_chunks(COLLECTION, "same", "r1", limit=3)])
    return said, scores


@pytest.mark.server
@pytest.mark.parametrize("kind", OTHERS)
async def test_every_store_tells_the_same_story(kind: str) -> None:
    """Vector search, filters, keyword matches, deletions and lists equal the exact store's."""
    async with opened("memory") as exact, opened(kind) as other:
        expected, scores = await transcript(exact)
        answered, other_scores = await transcript(other)
    for number, (left, right) in enumerate(zip(expected, answered, strict=True)):
        assert left == right, number
    assert other_scores == pytest.approx(scores, abs=1e-5)


@pytest.mark.server
@pytest.mark.parametrize("mode", list(SearchMode))
@pytest.mark.parametrize("kind", OTHERS)
async def test_a_knowledge_base_finds_the_same_first_hit_on_every_store(
    kind: str, mode: SearchMode
) -> None:
    """The passage that answers is first in every mode."""
    passages = {
        "Invoices are due at the end of the month.": "when are invoices due",
        "The backup failed with ERR-0x19 at midnight.": "err-0x19",
        "混合检索把向量检索和关键词检索的结果融合在一起。": "混合检索 融合",
        "知識ベースの検索は権限に従います。": "知識ベース 検索 権限",
        "Koalas sleep in eucalyptus trees.": "where do koalas sleep",
    }
    chunks = [
        Chunk(content=TextBlock(text=text), source="s", chunk_index=0, total_chunks=1)
        for text in passages
    ]
    async with opened(kind) as store:
        base = KnowledgeBase("kb", "", FakeEmbeddingModel(128), store, COLLECTION)
        await base.insert_document(chunks)
        for number, query in enumerate(passages.values()):
            hits = await base.search(query, top_k=1, mode=mode)
            assert [hit.chunk.chunk_index for hit in hits] == [number], query
