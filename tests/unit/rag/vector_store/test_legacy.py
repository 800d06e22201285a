"""Stores written to the documented contract, as a user would write them."""

import math
from typing import Any

import pytest

from agentscope.errors import InvalidInputError, VectorStoreError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import (
    Chunk,
    DocumentSummary,
    Run,
    SearchMode,
    StoredRun,
    Vector,
    VectorRecord,
    VectorSearchResult,
)
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.base import VectorStoreBase
from agentscope.rag.vector_store.filter import And, Equals, Not, Or, parse_filter
from agentscope.rag.vector_store.legacy import as_run_store
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel
from agentscope.testing.vector_store_data import COLLECTION, DIMENSIONS, make_point, unit


class ListStore(VectorStoreBase):
    """The least a user can write; `delete` has no third parameter, as in the first release."""

    def __init__(self) -> None:
        self.collections: dict[str, list[VectorRecord]] = {}
        self.entered = 0
        self.closed = 0

    async def __aenter__(self) -> "ListStore":
        self.entered += 1
        return self

    async def aclose(self) -> None:
        self.closed += 1

    async def create_collection(self, name: str, dimensions: int) -> None:
        self.collections.setdefault(name, [])

    async def delete_collection(self, name: str) -> None:
        self.collections.pop(name, None)

    async def has_collection(self, name: str) -> bool:
        return name in self.collections

    async def insert(self, collection: str, records: list[VectorRecord]) -> None:
        self.collections[collection].extend(records)

    async def delete(self, collection: str, document_id: str) -> None:  # type: ignore[override]
        records = self.collections[collection]
        self.collections[collection] = [r for r in records if r.document_id != document_id]

    async def search(
        self,
        collection: str,
        query_vector: Vector,
        top_k: int = 5,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[VectorSearchResult]:
        results = [
            VectorSearchResult(
                score=-math.dist(record.vector, query_vector),
                document_id=record.document_id,
                chunk=record.chunk,
            )
            for record in self._passing(collection, metadata_filter)
        ]
        return sorted(results, key=lambda result: -result.score)[:top_k]

    async def list_documents(
        self, collection: str, metadata_filter: dict[str, Any] | None = None
    ) -> list[DocumentSummary]:
        summaries: dict[str, DocumentSummary] = {}
        for record in self._passing(collection, metadata_filter):
            summary = summaries.setdefault(
                record.document_id,
                DocumentSummary(
                    document_id=record.document_id,
                    source=record.chunk.source,
                    chunk_count=0,
                    metadata=record.chunk.metadata,
                ),
            )
            summary.chunk_count += 1
        return list(summaries.values())

    def _passing(
        self, collection: str, metadata_filter: dict[str, Any] | None
    ) -> list[VectorRecord]:
        wanted = (metadata_filter or {}).items()
        return [
            record
            for record in self.collections[collection]
            if all(record.chunk.metadata.get(key) == value for key, value in wanted)
        ]


class ListingStore(ListStore):
    """One that can list chunks, too."""

    async def list_chunks(
        self,
        collection: str,
        document_id: str,
        *,
        offset: int = 0,
        limit: int = 30,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[Chunk]:
        chunks = [
            record.chunk
            for record in self._passing(collection, metadata_filter)
            if record.document_id == document_id
        ]
        return sorted(chunks, key=lambda chunk: chunk.chunk_index)[offset : offset + limit]


def text_chunks(*texts: str) -> list[Chunk]:
    """Return text chunks."""
    return [
        Chunk(content=TextBlock(text=text), source="s", chunk_index=n, total_chunks=len(texts))
        for n, text in enumerate(texts)
    ]


def test_a_store_that_knows_runs_is_left_alone() -> None:
    """Only foreign stores are wrapped."""
    store = InMemoryVectorStore()
    assert as_run_store(store) is store


async def test_runs_are_kept_apart_counted_and_removed() -> None:
    """Everything the protocol asks of a store."""
    store = as_run_store(ListingStore())
    await store.create_collection(COLLECTION, DIMENSIONS)
    for document_id in ("d:1", "d2"):
        for epoch, run_id in ((1, "old"), (2, "new")):
            await store.upsert(
                COLLECTION,
                [make_point(document_id, n, unit(1, n), run=Run(run_id, epoch)) for n in range(3)],
            )
    assert await store.count(COLLECTION, "d:1", "old") == 3
    chunks = await store.run_chunks(COLLECTION, "d:1", "new", offset=1, limit=5)
    assert [chunk.chunk_index for chunk in chunks] == [1, 2]
    assert chunks[0].metadata == {}
    runs = {run async for run in store.stored_runs(COLLECTION)}
    assert StoredRun("d:1", "new", 2, 3) in runs
    assert len(runs) == 4
    documents = await store.list_documents(COLLECTION)
    assert [(item.document_id, item.chunk_count) for item in documents] == [("d2", 6), ("d:1", 6)]
    await store.delete_stale(COLLECTION, "d:1", below_epoch=2, keep_run_id="new")
    await store.delete_run(COLLECTION, "d2", "new")
    assert [await store.count(COLLECTION, d, r) for d in ("d:1", "d2") for r in ("old", "new")] == [
        0,
        3,
        3,
        0,
    ]
    await store.delete_document(COLLECTION, "d2")
    await store.delete_document("kb_none", "d2")
    assert await store.count(COLLECTION, "d2", "old") == 0


async def test_filters_are_answered_by_fetching_more() -> None:
    """The point that passes is found behind hundreds of nearer ones."""
    store = as_run_store(ListStore())
    await store.create_collection(COLLECTION, DIMENSIONS)
    crowd = [make_point("crowd", n, unit(1, n / 1000), run=Run("r", 1)) for n in range(300)]
    lone = make_point("lone", 0, unit(0, 9), run=Run("r", 1), metadata={"tag": "x"})
    await store.upsert(COLLECTION, [*crowd, lone])
    for where in (
        Equals("tag", "x"),
        Not(Or((And((Equals("document_id", "crowd"), Equals("run_id", "r"))),))),
        parse_filter({"tag": {"$gte": "w"}}),
    ):
        hits = await store.search_vector(COLLECTION, unit(1), top_k=2, where=where)
        assert [(hit.document_id, hit.run_id) for hit in hits] == [("lone", "r")]


async def test_a_knowledge_base_works_on_a_documented_store() -> None:
    """Hybrid falls back to vectors; what cannot be done is said."""
    inner = ListStore()
    base = KnowledgeBase("kb", "", FakeEmbeddingModel(64), inner, COLLECTION)
    assert base.vector_store is inner
    await base.insert_document(text_chunks("red apples", "green pears"), "d1")
    hits = await base.search("green pears", top_k=1)
    assert [(hit.document_id, hit.chunk.chunk_index) for hit in hits] == [("d1", 1)]
    with pytest.raises(InvalidInputError):
        await base.search("pears", mode=SearchMode.KEYWORD)
    with pytest.raises(NotImplementedError):
        await base.list_chunks("d1")
    await base.delete_document("d1")
    assert await base.list_documents() == []


async def test_the_adapter_passes_the_life_of_the_store_on() -> None:
    """Entering and leaving reach the user's store; it cannot list or filter deletions."""
    inner = ListStore()
    async with as_run_store(inner) as store:
        await store.ping()
        assert await store.list_collections() == []
        with pytest.raises(VectorStoreError):
            await store.delete_where(COLLECTION, Equals("a", 1))
    assert (inner.entered, inner.closed) == (1, 1)
