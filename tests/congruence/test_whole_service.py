"""The whole service on every vector store, with both kinds of manager: what is left behind."""

import asyncio
import contextlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.contract.qdrant_edge_client import engine_store
from tests.contract.qdrant_server import qdrant_url

from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.rag.knowledge_base_manager.dimension_policy import DimensionPolicyKind
from agentscope.app.rag.knowledge_base_manager.models import EmbeddingModels
from agentscope.app.rag.knowledge_base_manager.shared_collection import SharedCollectionManager
from agentscope.app.records import EmbeddingModelConfig, Policy, Timings
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.errors import CollectionNotFoundError
from agentscope.rag.document import StoredRun
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing.embedding import FakeEmbeddingModel
from agentscope.testing.rest import DIMENSIONS, FakeModelsManager, RestService, memory_app
from agentscope.testing.servers import shared_postgres

REINDEXINGS = 20
FAST = Timings(
    lease_ttl=Timings().lease_ttl / 30,
    heartbeat=Timings().heartbeat / 30,
    margin=Timings().margin / 30,
    request_timeout=timedelta(seconds=3),
    sweep_interval=timedelta(seconds=0.2),
    grace_extra=timedelta(),
)
"""What is old goes after six seconds instead of three minutes."""

STORES = ["embedded", "qdrant_engine", "qdrant_server", "postgres"]


class SharedFakeModelsManager(SharedCollectionManager):
    """Shares collections, and answers every configuration with one deterministic model."""

    def bind(self, *, embedding_models: EmbeddingModels, policy: Policy) -> None:
        del embedding_models
        model = FakeEmbeddingModel(DIMENSIONS)

        async def models(user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
            return model

        super().bind(embedding_models=models, policy=policy)


MANAGERS: list[type[RecordedManager]] = [FakeModelsManager, SharedFakeModelsManager]


def store_of(kind: str, folder: Path) -> RunVectorStore:
    """Return a store of the kind."""
    match kind:
        case "embedded":
            return EmbeddedVectorStore(folder / "vectors")
        case "qdrant_engine":
            return engine_store()
        case "qdrant_server":
            return QdrantStore(url=qdrant_url())
        case _:
            return PgVectorStore(shared_postgres().url, max_connections=4)


class House:
    """A service over a store."""

    def __init__(self, service: RestService, manager: RecordedManager) -> None:
        self.service = service
        self.manager = manager

    def runs(self) -> list[StoredRun]:
        """Return every run in every collection."""

        async def read() -> list[StoredRun]:
            store, found = self.manager.store, []
            for name in await store.list_collections():
                with contextlib.suppress(CollectionNotFoundError):  # gone since it was listed
                    found += [run async for run in store.stored_runs(name)]
            return found

        found: list[StoredRun] = self.service.run(read())
        return found

    def settled_runs(self, count: int) -> list[StoredRun]:
        """Return the runs once only `count` are left: what is old goes soon, not at once."""
        for _ in range(1200):
            if len(self.runs()) == count:
                break
            self.service.run(asyncio.sleep(0.05))
        return self.runs()

    def hits(self, base: str, user: str, query: str, **options: Any) -> list[str]:
        """Return the documents that a search finds."""
        answer = self.service.json(
            "POST",
            f"/knowledge_bases/{base}/search",
            user=user,
            json={"query": query, "top_k": 10, **options},
        )
        return [hit["document_id"] for hit in answer["results"]]


@contextlib.contextmanager
def house(kind: str, manager_class: type[RecordedManager], folder: Path) -> Iterator[House]:
    """Run a service over an empty store."""
    storage = InMemoryStorage()
    manager = manager_class(storage, store_of(kind, folder))
    app = memory_app(folder, storage=storage, knowledge_base_manager=manager, timings=FAST)
    with RestService(app) as service:
        service.run(_emptied(manager.store))
        yield House(service, manager)
        service.run(_emptied(manager.store))


async def _emptied(store: RunVectorStore) -> None:
    for name in await store.list_collections():
        await store.delete_collection(name)


@pytest.mark.server
@pytest.mark.parametrize("manager_class", MANAGERS)
@pytest.mark.parametrize("kind", STORES)
def test_reindexings_and_a_deletion_leave_nothing(
    kind: str, manager_class: type[RecordedManager], tmp_path: Path
) -> None:
    """One run per document stays, tenants never meet, and a purged knowledge base is empty."""
    with house(kind, manager_class, tmp_path) as home:
        service = home.service
        mine, theirs = service.knowledge_base(user="alice"), service.knowledge_base(user="bob")
        text = b"\n\n".join(b"zebras graze at night, herd %d" % n for n in range(40))
        own = service.ready(mine, "own.txt", text, user="alice")
        foreign = service.ready(theirs, "foreign.txt", text, user="bob")
        points = sorted((run.document_id, run.count) for run in home.settled_runs(2))
        for _ in range(REINDEXINGS):
            path = f"/knowledge_bases/{mine}/documents/{own}/reindex"
            service.json("POST", path, status=202, user="alice")
            assert service.settled(mine, own, user="alice")["status"] == "ready"
        left = sorted((run.document_id, run.count) for run in home.settled_runs(2))
        assert left == points
        for mode in ("vector", "keyword", "hybrid"):
            assert set(home.hits(mine, "alice", "zebras", mode=mode)) == {own}
            assert set(home.hits(theirs, "bob", "zebras", mode=mode)) == {foreign}
        service.json("DELETE", f"/knowledge_bases/{mine}", status=204, user="alice")
        assert [run.document_id for run in home.settled_runs(1)] == [foreign]
        assert set(home.hits(theirs, "bob", "zebras")) == {foreign}


@pytest.mark.server
@pytest.mark.parametrize("kind", STORES)
def test_the_dimension_policy_follows_what_exists(kind: str, tmp_path: Path) -> None:
    """Free at first, locked by the first knowledge base, free again when all are gone."""
    with house(kind, SharedFakeModelsManager, tmp_path) as home:
        service, manager = home.service, home.manager

        def policy() -> DimensionPolicyKind:
            kind_now: DimensionPolicyKind = service.run(manager.get_dimension_policy()).kind
            return kind_now

        assert policy() is DimensionPolicyKind.ANY
        base = service.knowledge_base()
        assert policy() is DimensionPolicyKind.LOCKED_BY_EXISTING
        config = {
            "type": "local_credential",
            "credential_id": "local",
            "model": "fake-embedding",
            "dimensions": DIMENSIONS * 2,
        }
        body = {"name": "Other", "embedding_model_config": config}
        refused = service.call("POST", "/knowledge_bases/", json=body)
        assert refused.status_code in (409, 422), refused.text
        assert str(DIMENSIONS) in refused.json()["detail"]
        service.json("DELETE", f"/knowledge_bases/{base}", status=204)
        assert policy() is DimensionPolicyKind.ANY
