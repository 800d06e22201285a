"""A migrated knowledge base answers like one that was made with the new model, on every store."""

import contextlib
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from tests.api.test_custom_parts import ListStore
from tests.congruence.test_vector_stores import opened

from agentscope.app.generations import EmbeddingModelConfig
from agentscope.app.rag.indexing.migrator import Migrator
from agentscope.app.rag.indexing.purge import Purger
from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.rag.knowledge_base_manager.models import fingerprint_fields
from agentscope.app.rag.knowledge_base_manager.shared_collection import SharedCollectionManager
from agentscope.app.records import KnowledgeBaseRecord, Policy
from agentscope.app.storage import migrations
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.app.transitions import migration as moves
from agentscope.app.transitions import run, upload
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.errors import KnowledgeBaseError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Run, SearchMode
from agentscope.rag.vector_store.base import VectorStoreBase
from agentscope.testing.embedding import FakeEmbeddingModel
from agentscope.testing.faults import MemoryBlobStore

KINDS = ["memory", "embedded", "qdrant_local", "qdrant_server", "postgres", "documented"]
POLICY = Policy()
FIRST = EmbeddingModelConfig("fake", "c", "first", 16)
SECOND = EmbeddingModelConfig("fake", "c", "second", 24)
LONG = timedelta(hours=1)


class HandClock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()


class ListingStore(ListStore):
    """A documented store that can also give back the chunks it holds."""

    async def list_chunks(
        self,
        collection: str,
        document_id: str,
        *,
        offset: int = 0,
        limit: int = 30,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[Chunk]:
        del metadata_filter
        chunks = [
            record.chunk
            for record in self.collections[collection]
            if record.document_id == document_id
        ]
        return sorted(chunks, key=lambda chunk: chunk.chunk_index)[offset : offset + limit]


@contextlib.asynccontextmanager
async def store_of(kind: str) -> AsyncIterator[VectorStoreBase]:
    """Give an empty store; `documented` knows nothing of runs."""
    if kind == "documented":
        yield ListingStore()
        return
    async with opened(kind) as store:
        for name in await store.list_collections():
            await store.delete_collection(name)
        yield store


@dataclass
class House:
    """A manager, and short ways to fill, migrate and ask."""

    manager: RecordedManager
    storage: InMemoryStorage
    clock: HandClock

    async def base(self, config: EmbeddingModelConfig) -> KnowledgeBaseRecord:
        """Return a new knowledge base with four documents."""
        record = await self.manager.create_knowledge_base("u", "n", "", config)
        for number, count in enumerate((1, 3, 70, 2)):
            await self._index(record, f"{record.id[:8]}{number}", count)
        return record

    async def _index(self, base: KnowledgeBaseRecord, name: str, count: int) -> None:
        documents = self.storage.documents
        await documents.begin_upload("u", base.id, {"id": name, "filename": name}, policy=POLICY)
        commit = partial(upload.commit_upload, stored={"size": 1}, duplicate_of=None)
        await documents.apply(name, commit)
        claim = partial(run.claim, owner="w", run_id=f"run-{name}", policy=POLICY)
        record = await documents.apply(name, claim)
        assert record is not None
        chunks = [_chunk(name[-1], number, count) for number in range(count)]
        handle = await self.manager.get_knowledge("u", base.id)
        await handle.insert_document(chunks, name, run=Run(f"run-{name}", record.epoch))
        publish = partial(
            run.publish,
            run_id=f"run-{name}",
            chunk_count=count,
            warnings=(),
            report={},
            policy=POLICY,
        )
        await documents.apply(name, publish)

    async def migrate(self, base: KnowledgeBaseRecord, config: EmbeddingModelConfig) -> None:
        """Let a worker bring a migration to its end."""
        model = await self.manager.embedding_models("u", config)
        change = partial(
            moves.begin,
            config=config,
            fingerprint=fingerprint_fields(await model.fingerprint()),
            collection_name=lambda number: self.manager.collection_name(base.id, number, config),
            total=4,
        )
        await self.storage.knowledge_bases.apply(base.id, change)
        await migrations.announce(self.storage.registry, base.id)
        worker = Migrator(manager=self.manager, owner="w", policy=POLICY, clock=self.clock)
        assert await worker.look()
        assert not await worker.look()

    async def answers(self, base: KnowledgeBaseRecord) -> list[Any]:
        """Return what searches of each kind find, without what differs between knowledge bases."""
        handle = await self.manager.get_knowledge("u", base.id)
        modes = [SearchMode.VECTOR]
        if self.manager.store.supports_keyword:
            modes += [SearchMode.KEYWORD, SearchMode.HYBRID]
        said: list[Any] = []
        for mode in modes:
            for query in ("red apple pie", "word7 number3", "green"):
                hits = await handle.search(query, top_k=8, mode=mode)
                said.append([_told(hit.document_id, hit.chunk, hit.score) for hit in hits])
        filtered = await handle.search("red", top_k=8, metadata_filter={"part": {"$lte": 1}})
        said.append(sorted(_told(hit.document_id, hit.chunk, 0)[:2] for hit in filtered))
        listed = [await handle.list_chunks(f"{base.id[:8]}2", offset=60, limit=100)]
        said.append([_told("", chunk, 0)[1:] for chunk in listed[0]])
        return said


def _chunk(document: str, number: int, count: int) -> Chunk:
    rng = random.Random(f"{document} {number}")
    words = [rng.choice(["red", "green", "apple", "pie", "word7"]) for _ in range(12)]
    return Chunk(
        content=TextBlock(text=" ".join([*words, f"number{number}"])),
        source=f"{document}.txt",
        chunk_index=number,
        total_chunks=count,
        metadata={"part": number, "heading_path": ["a", "b"], "nested": {"deep": True}},
    )


def _told(document_id: str, chunk: Chunk, score: float) -> tuple[Any, ...]:
    metadata = {name: value for name, value in chunk.metadata.items() if name != "kb_id"}
    content = chunk.content
    assert isinstance(content, TextBlock)
    place = (document_id[-1:], chunk.chunk_index)
    return (*place, content.text, chunk.source, chunk.total_chunks, str(metadata), round(score, 4))


@contextlib.asynccontextmanager
async def house(kind: str, manager: type[RecordedManager]) -> AsyncIterator[House]:
    """Open a manager over a store of the kind."""
    clock = HandClock()
    known = {
        config.model: FakeEmbeddingModel(config.dimensions, model=config.model)
        for config in (FIRST, SECOND, SAME)
    }

    async def models(user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
        del user_id
        return known[config.model]

    async with InMemoryStorage(clock=clock) as storage, store_of(kind) as store:
        built = manager(storage, store)
        built.bind(embedding_models=models, policy=POLICY)
        yield House(built, storage, clock)


SAME = EmbeddingModelConfig("fake", "c", "same-size", 16)


@pytest.mark.server
@pytest.mark.parametrize("kind", KINDS)
async def test_the_answers_are_those_of_a_new_knowledge_base(kind: str) -> None:
    """Hits, scores, order, metadata, filters and chunk lists; then the old collection goes."""
    async with house(kind, CollectionPerKbManager) as home:
        moved = await home.base(FIRST)
        fresh = await home.base(SECOND)
        await home.migrate(moved, SECOND)
        assert await home.answers(moved) == await home.answers(fresh)
        store = home.manager.store
        assert await store.has_collection(moved.collection_name)
        home.clock.time += LONG
        purger = Purger(
            storage=home.storage,
            manager=home.manager,
            blobs=MemoryBlobStore(lambda: 0.0),
            policy=POLICY,
        )
        for claim in await home.storage.knowledge_bases.claim_maintenance(5, policy=POLICY):
            await purger.run(claim)
        assert not await store.has_collection(moved.collection_name)
        assert await home.answers(moved) == await home.answers(fresh)


async def test_a_store_that_cannot_give_back_its_chunks_is_refused() -> None:
    """And one that cannot remove a part of a collection, where collections are shared."""
    storage = InMemoryStorage()
    for manager, words in (
        (CollectionPerKbManager(storage, ListStore()), "cannot give back"),
        (SharedCollectionManager(storage, ListingStore()), "cannot remove"),
    ):
        manager.bind(embedding_models=_models, policy=POLICY)
        record = await manager.create_knowledge_base("u", "n", "", FIRST)
        with pytest.raises(KnowledgeBaseError, match=words):
            await manager.require_migratable(record)


async def _models(user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
    del user_id
    return FakeEmbeddingModel(config.dimensions, model=config.model)


@pytest.mark.server
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "documented"])
async def test_so_are_those_of_one_that_shares_its_collection(kind: str) -> None:
    """And a neighbour in the old collection keeps all it had."""
    async with house(kind, SharedCollectionManager) as home:
        moved, neighbour = await home.base(FIRST), await home.base(FIRST)
        before = await home.answers(neighbour)
        fresh = await home.base(SAME)
        await home.migrate(moved, SAME)
        assert await home.answers(moved) == await home.answers(fresh)
        home.clock.time += LONG
        purger = Purger(
            storage=home.storage,
            manager=home.manager,
            blobs=MemoryBlobStore(lambda: 0.0),
            policy=POLICY,
        )
        for claim in await home.storage.knowledge_bases.claim_maintenance(5, policy=POLICY):
            await purger.run(claim)
        runs = [run async for run in home.manager.store.stored_runs(neighbour.collection_name)]
        assert {run.document_id[:8] for run in runs} == {neighbour.id[:8]}
        # How rare a word is counts over the whole collection, which one has left: only meaning.
        assert (await home.answers(neighbour))[:3] == before[:3]
        assert await home.answers(moved) == await home.answers(fresh)
