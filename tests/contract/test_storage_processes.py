"""Eight processes in eight time zones share the work of one server."""

import asyncio
import json
import os
import subprocess
import sys
from datetime import timedelta

import psycopg
import pytest

from agentscope.app.records import RUNNING
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.redis.store import RedisStorage
from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.storage import World
from agentscope.testing.storage_world import TTL

PROCESSES = 8
DOCUMENTS = 500
ZONES = (
    "UTC",
    "Asia/Shanghai",
    "America/Los_Angeles",
    "Asia/Kathmandu",
    "Pacific/Kiritimati",
    "Etc/GMT+12",
    "Europe/Berlin",
    "Australia/Lord_Howe",
)
# The clock of a client must never be asked; a local one is set days wrong to prove it.
WORKER = """
import asyncio, datetime, json, sys
import agentscope.clock
from agentscope.app.records import ClaimRequest
from agentscope.app.storage import PostgresStorage, RedisStorage

def wrong(self):
    raise SystemExit("a client's clock was asked")

agentscope.clock.SystemClock.now = wrong
kind, address, prefix, owner = sys.argv[1:]
storage = (
    PostgresStorage(address, connections=2)
    if kind == "postgres"
    else RedisStorage(url=address, key_prefix=prefix)
)

async def main():
    found = []
    async with storage:
        print("ready", flush=True)
        sys.stdin.readline()
        misses = 0
        while misses < 3:
            request = ClaimRequest(owner=owner, limit=4, idle=True)
            claims = (await storage.documents.claim_index(request)).claims
            found += [[claim.document.id, claim.document.epoch] for claim in claims]
            misses = 0 if claims else misses + 1
            if not claims:
                await asyncio.sleep(0.1)
    print(json.dumps(found))

asyncio.run(main())
"""


async def race(kind: str, address: str, prefix: str) -> list[list[tuple[str, int]]]:
    """Start all workers, let them go at once, and return what each was given."""

    def run() -> list[list[tuple[str, int]]]:
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", WORKER, kind, address, prefix, f"w{number}"],
                env={**os.environ, "TZ": ZONES[number]},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(PROCESSES)
        ]
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        answers = [worker.communicate(timeout=120)[0] for worker in workers]
        assert [worker.returncode for worker in workers] == [0] * PROCESSES
        return [json.loads(answer) for answer in answers]

    return await asyncio.to_thread(run)


async def check_race(storage: StorageBase, kind: str, address: str, prefix: str) -> None:
    """Fill, race, and judge."""
    world = World(storage, _still)
    async with storage:
        bases = [await world.knowledge_base(f"u{number}") for number in range(5)]
        for start in range(0, DOCUMENTS, 20):
            await asyncio.gather(*(world.upload(bases[n % 5]) for n in range(start, start + 20)))
        parts = await race(kind, address, prefix)
        given = [name for part in parts for name, _ in part]
        assert len(given) == len(set(given)) == DOCUMENTS
        assert sum(1 for part in parts if part) > 1
        now = await storage.now()
        for record in await world.everything():
            assert record.status in RUNNING
            assert record.attempt == 1
            assert record.lease_expires_at is not None
            assert timedelta() < record.lease_expires_at - now <= TTL
        await world.check_totals()


def _still(step: timedelta) -> None:
    raise AssertionError(f"time is real here: {step}")


@pytest.mark.server
@pytest.mark.slow
async def test_eight_processes_share_five_hundred_documents_on_postgres() -> None:
    """Each document is claimed once."""
    server, name = servers.shared_postgres(), f"s{new_id()}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    url = f"{server.url}?options=-csearch_path%3D{name}"
    await check_race(PostgresStorage(url), "postgres", url, "")


@pytest.mark.server
@pytest.mark.slow
async def test_eight_processes_share_five_hundred_documents_on_redis() -> None:
    """Each document is claimed once."""
    url, prefix = servers.shared_redis().url, new_id()
    await check_race(RedisStorage(url=url, key_prefix=prefix), "redis", url, prefix)
