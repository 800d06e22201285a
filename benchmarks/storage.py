"""How long the calls take that must not grow with the number of documents.

Run: python benchmarks/storage.py [--documents 100000] [--backend sqlite|postgres|redis]
Prints one JSON object: machine, versions, data, and per call the median and spread in ms.
"""

import argparse
import asyncio
import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from agentscope.app.records import (
    ClaimRequest,
    DocumentQuery,
    DocumentRecord,
    DocumentStatus,
    KnowledgeBaseRecord,
    OnDuplicate,
    Page,
    Policy,
)
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.changes import document_write
from agentscope.app.storage.redis.commit import Commit
from agentscope.app.storage.redis.documents import RedisDocuments
from agentscope.app.storage.redis.store import RedisStorage
from agentscope.app.storage.sql.documents import SQLDocuments
from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.app.storage.sql.session import Session
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.app.storage.sql.transaction import Transaction
from agentscope.app.storage.verbs import RunWriter
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.storage_world import World

POLICY = Policy()
USERS = 20
PARALLEL = 64
BULK = 200


async def fill(world: World, documents: int) -> list[KnowledgeBaseRecord]:
    """Store finished documents in bulk; half of them in one knowledge base of the first user."""
    bases = [await world.knowledge_base(f"user{number}") for number in range(USERS)]
    now = await world.storage.now()
    for start in range(0, documents, BULK):
        records = []
        for number in range(start, min(documents, start + BULK)):
            base = bases[0] if number % 2 else bases[number // 2 % USERS]
            at = now - timedelta(seconds=documents - number)
            records.append(
                DocumentRecord(
                    id=new_id(),
                    user_id=base.user_id,
                    knowledge_base_id=base.id,
                    filename=f"report {number}.txt",
                    size=1000,
                    content_sha256=new_id(),
                    content_type="text/plain",
                    status=DocumentStatus.READY,
                    epoch=1,
                    run_id="r",
                    active_run_id="r",
                    active_epoch=1,
                    chunk_count=5,
                    created_at=at,
                    updated_at=at,
                )
            )
        await insert(world.storage, records)
    return bases


async def insert(storage: StorageBase, records: list[DocumentRecord]) -> None:
    """Write finished records in one step, below the contract: only a benchmark may."""
    documents = storage.documents
    if isinstance(documents, RedisDocuments):
        server = documents._server
        first = server.keys.document(records[0].id)

        async def step(_: int) -> None:
            micros = (await server.load_one(first))[0]
            commit = Commit(server.keys, first, micros)
            for record in records:
                commit.document(document_write(None, record, record.created_at))
            await server.commit(commit)

        await server.repeated(step)
        return
    assert isinstance(documents, SQLDocuments)

    def work(session: Session) -> None:
        transaction = Transaction(session)
        for record in records:
            transaction.write_document(None, record)
        transaction.finish()

    await documents._database.write(work)


async def measure(call: Callable[[], Awaitable[object]], rounds: int = 15) -> dict[str, float]:
    """Return median and spread of the call in milliseconds."""
    await call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        await call()
        times.append((time.perf_counter() - start) * 1000)
    return {
        "median_ms": round(statistics.median(times), 3),
        "min_ms": round(min(times), 3),
        "max_ms": round(max(times), 3),
    }


async def figures(world: World, documents: int) -> dict[str, Any]:
    """Fill the storage and measure."""
    start = time.perf_counter()
    bases = await fill(world, documents)
    filled = time.perf_counter() - start
    storage, base = world.storage, bases[0]
    request = ClaimRequest(owner="w", limit=4, idle=True)

    async def sweep() -> None:
        await storage.documents.claim_maintenance(50, policy=POLICY)
        await storage.knowledge_bases.claim_maintenance(50, policy=POLICY)

    async def page(**fields: Any) -> None:
        found, _ = await storage.documents.page(
            base.user_id, base.id, fields.pop("query", DocumentQuery()), Page(**fields)
        )
        assert found

    async def whole_life() -> None:
        begun = await world.begin(base)
        await storage.documents.commit_upload(
            begun.id,
            stored={"size": 1, "content_sha256": begun.id},
            on_duplicate=OnDuplicate.KEEP,
            policy=POLICY,
        )
        (claim,) = (await storage.documents.claim_index(request)).claims
        writer = RunWriter(storage.documents, claim.document.id, claim.run_id, POLICY)
        await writer.renew()
        await writer.publish(1, warnings=(), report={})

    async def many_uploads() -> None:
        await asyncio.gather(*(world.begin(base) for _ in range(PARALLEL)))

    return {
        "documents": documents,
        "in_one_knowledge_base": (await storage.knowledge_bases.counts([base.id]))[
            base.id
        ].documents,
        "bulk_inserts_per_second": round(documents / filled),
        "idle_sweep": await measure(sweep),
        "idle_claim": await measure(lambda: storage.documents.claim_index(request)),
        "due": await measure(storage.documents.due),
        "first_page": await measure(page),
        "page_100": await measure(lambda: page(number=min(100, documents // 100))),
        "substring_filter": await measure(
            lambda: page(query=DocumentQuery(filename_contains="report 4")), rounds=3
        ),
        "order_by_name": await measure(lambda: page(order_by="name"), rounds=3),
        "counts": await measure(lambda: storage.knowledge_bases.counts([b.id for b in bases])),
        "upload_claim_renew_publish": await measure(whole_life),
        f"{PARALLEL}_parallel_uploads": await measure(many_uploads),
    }


@asynccontextmanager
async def opened(backend: str) -> AsyncIterator[StorageBase]:
    """Yield an empty storage of the kind."""
    if backend == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            async with SQLiteStorage(Path(folder) / "rag.db") as storage:
                yield storage
        return
    if backend == "postgres":
        with servers.postgres(options=("-c", "fsync=on")) as database:
            async with PostgresStorage(database.url) as shared:
                yield shared
        return
    with servers.redis() as server:
        async with RedisStorage(url=server.url) as other:
            yield other


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--backend", choices=("sqlite", "postgres", "redis"), default="sqlite")
    options = parser.parse_args()
    async with opened(options.backend) as storage:
        found = await figures(World(storage, _still), options.documents)
    print(
        json.dumps(
            {
                "backend": options.backend,
                "machine": platform.platform(),
                "python": sys.version.split()[0],
                **found,
            },
            indent=2,
        )
    )


def _still(step: timedelta) -> None:
    raise AssertionError(f"time is real here: {step}")


if __name__ == "__main__":
    asyncio.run(main())
