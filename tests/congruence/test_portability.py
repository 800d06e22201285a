"""A knowledge base moves between back ends on real servers and is found as before."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.test_storage_postgres import fresh_schema

from agentscope.app.storage.redis.store import RedisStorage
from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.identity import new_id
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing.archives import content_of, exported, found_by, imported
from agentscope.testing.rest import RestService, memory_app
from agentscope.testing.servers import shared_postgres, shared_redis

TOPICS = ("leave", "travel", "fire", "night shifts", "入职 手续", "déménagement")
QUERIES = ("leave for travel", "fire", "night", "入职", "déménagement")


@contextlib.contextmanager
def embedded(folder: Path) -> Iterator[RestService]:
    """Run a service on files."""
    app = memory_app(
        folder,
        storage=SQLiteStorage(folder / "records.sqlite"),
        vector_store=EmbeddedVectorStore(folder / "vectors"),
    )
    with RestService(app) as service:
        yield service


@contextlib.contextmanager
def on_postgres(folder: Path) -> Iterator[RestService]:
    """Run a service on PostgreSQL with pgvector."""
    store = PgVectorStore(shared_postgres().url, max_connections=2)
    app = memory_app(
        folder, storage=PostgresStorage(fresh_schema(), connections=3), vector_store=store
    )
    with RestService(app) as service:
        yield service


@contextlib.contextmanager
def on_redis(folder: Path) -> Iterator[RestService]:
    """Run a service on Redis with Qdrant."""
    app = memory_app(
        folder,
        storage=RedisStorage(url=shared_redis().url, key_prefix=new_id()),
        vector_store=QdrantStore(path=str(folder / "qdrant")),
    )
    with RestService(app) as service:
        yield service


def filled(service: RestService) -> str:
    """Return a knowledge base with documents of one and of many chunks."""
    kb = service.knowledge_base(name="Rules", search_mode="hybrid")
    for number, topic in enumerate(TOPICS):
        text = "\n\n".join(f"Paragraph {n} about {topic}. " * 9 for n in range(1 + 8 * number))
        metadata = json.dumps({"topic": topic, "number": number})
        service.ready(kb, f"{number}.md", text.encode(), metadata=metadata)
    return kb


@pytest.mark.server
def test_a_knowledge_base_moves_through_every_back_end(tmp_path: Path) -> None:
    """SQLite and files, PostgreSQL and pgvector, Redis and Qdrant, and back to files."""
    with embedded(tmp_path / "first") as service:
        kb = filled(service)
        content = content_of(service, "alice", kb)
        expected = {query: found_by(service, "alice", kb, query, "vector") for query in QUERIES}
        words = {query: _sources(service, kb, query) for query in QUERIES}
        archive = exported(service, "alice", kb)
    assert sum(len(texts) for _, _, texts, _ in content) > len(TOPICS)
    for number, place in enumerate((on_postgres, on_redis, embedded)):
        folder = tmp_path / f"place{number}"
        folder.mkdir()
        with place(folder) as service:
            made = imported(service, "alice", archive)
            kb = made["knowledge_base_id"]
            assert made["documents"]["carried"] == len(TOPICS)
            assert content_of(service, "alice", kb) == content
            for query, hits in expected.items():
                found = found_by(service, "alice", kb, query, "vector")
                assert [hit[:4] for hit in found] == [hit[:4] for hit in hits]
                for hit, other in zip(found, hits, strict=True):
                    assert hit[4] == pytest.approx(other[4], abs=2e-4)
                assert _sources(service, kb, query) == words[query]
            report = service.json("POST", "/operator/audit", params={"deep": True})
            assert report["clean"], report["findings"]
            archive = exported(service, "alice", kb)


def _sources(service: RestService, kb: str, query: str) -> set[str]:
    """Return which documents a keyword search finds."""
    body = {"query": query, "top_k": 50, "mode": "keyword"}
    found = service.json("POST", f"/knowledge_bases/{kb}/search", json=body)["results"]
    assert found
    return {hit["chunk"]["source"] for hit in found}
