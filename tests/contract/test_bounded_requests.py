"""A large document goes to a vector store in requests of bounded size."""

from collections.abc import Iterable

import httpx
import pytest

from agentscope.rag.document import Point
from agentscope.rag.vector_store import pgvector
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.pgvector_rows import encoded
from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing.servers import shared_postgres
from agentscope.testing.vector_store_data import make_point

CHUNKS = 3_000
DIMENSIONS = 1_536
COLLECTION = "kb_bounded"


def points() -> list[Point]:
    """Return the chunks of one large document; every fortieth is very long."""
    return [
        make_point(
            "big",
            n,
            [(n % 7 + 1) / 7.3 + d / 10_000 for d in range(DIMENSIONS)],
            text=f"chunk {n} " * (4000 if n % 40 == 0 else 40),
        )
        for n in range(CHUNKS)
    ]


def check(sent: list[tuple[int, int]]) -> None:
    """Check the number of points and bytes of each request."""
    assert sum(count for count, _ in sent) == CHUNKS
    assert max(count for count, _ in sent) <= RunVectorStore.max_batch_points
    assert max(size for _, size in sent) <= RunVectorStore.max_batch_bytes


async def test_qdrant_gets_bounded_requests() -> None:
    """Counted where they leave, as JSON."""
    sent: list[tuple[int, int]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            info = {
                "status": "green",
                "optimizer_status": "ok",
                "segments_count": 1,
                "config": {
                    "params": {"vectors": {"size": DIMENSIONS, "distance": "Cosine"}},
                    "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
                    "optimizer_config": {
                        "deleted_threshold": 0.2,
                        "vacuum_min_vector_number": 1000,
                        "default_segment_number": 0,
                        "flush_interval_sec": 5,
                    },
                },
                "payload_schema": {},
            }
            return httpx.Response(200, json={"result": info, "status": "ok", "time": 0})
        body = request.read()
        assert request.url.params["wait"] == "true"
        assert request.url.params["ordering"] == "medium"
        sent.append((body.count(b'"payload":'), len(body)))
        done = {"operation_id": 1, "status": "completed"}
        return httpx.Response(200, json={"result": done, "status": "ok", "time": 0})

    store = QdrantStore(
        url="http://qdrant.invalid:6333",
        client_kwargs={"transport": httpx.MockTransport(answer)},
    )
    async with store:
        await store.upsert(COLLECTION, points())
    check(sent)


@pytest.mark.server
async def test_postgres_gets_bounded_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted where they leave, as rows of COPY; the real server has all of them afterwards."""
    sent: list[tuple[int, int]] = []

    def counted(batch: Iterable[Point]) -> bytes:
        batch = list(batch)
        rows = encoded(batch)
        sent.append((len(batch), len(rows)))
        return rows

    monkeypatch.setattr(pgvector, "encoded", counted)
    async with PgVectorStore(shared_postgres().url, max_connections=2) as store:
        await store.create_collection(COLLECTION, DIMENSIONS)
        await store.upsert(COLLECTION, points())
        assert await store.count(COLLECTION, "big", "r1") == CHUNKS
        await store.delete_collection(COLLECTION)
    check(sent)
