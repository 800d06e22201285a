"""One document behind another tenant's ten thousand, and a worker that joins late.

Real workers over real servers; every text costs the embedding provider 0.3 s, so the service time
of a document is known. The 10,000 are put into storage and blob store as uploads put them.
`python -m benchmarks.bench_fairness [--backend redis] [--documents 10000] [--write]`.
"""

import asyncio
import contextlib
import hashlib
import re
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from agentscope.app.rag.blob_store import LocalBlobStore
from agentscope.app.records import OnDuplicate, Policy
from agentscope.app.storage import PostgresStorage, RedisStorage, StorageBase
from agentscope.identity import new_id
from benchmarks.bench_recovery import BACKENDS, Bench, installation
from benchmarks.chaos.history import History
from benchmarks.chaos.stack import Stack
from benchmarks.figures import arguments, report, spread

EMBEDDING_SECONDS = 0.3
PARALLEL = 32
WARM_UP = 40
SHARED = 1200
PATIENCE_SECONDS = 1800.0
SINGLES = 5
LINE = re.compile(r"^(\S+ \S+) .*?document_(claimed|ready) .*?document_id=(\w+)", re.MULTILINE)


def storage_of(stack: Stack) -> StorageBase:
    """Return the storage of the installation, without the proxy between."""
    if stack.backend == "redis":
        server, address = stack.servers["CHAOS_REDIS"]
        return RedisStorage(url=address.format(port=server.port))
    server, address = stack.servers["CHAOS_POSTGRES"]
    return PostgresStorage(url=address.format(port=server.port))


async def fill(stack: Stack, user: str, base: str, count: int) -> float:
    """Queue `count` tiny documents of one user; return how long it took."""
    blobs, begun, policy = LocalBlobStore(root_dir=stack.work / "blobs"), time.monotonic(), Policy()

    async def one(storage: StorageBase, number: int) -> None:
        document, data = new_id(), f"text number{number}".encode()
        key = f"kb/{base}/{document}/1"
        fields = {"id": document, "filename": f"{number}.txt", "blob_uri": blobs.uri(key)}
        await storage.documents.begin_upload(user, base, fields, policy=policy)
        stored = {
            "blob_uri": await blobs.write(key, _once(data)),
            "size": len(data),
            "content_sha256": hashlib.sha256(data).hexdigest(),
            "content_type": "text/plain",
        }
        await storage.documents.commit_upload(
            document, stored=stored, on_duplicate=OnDuplicate.KEEP, policy=policy
        )

    async with storage_of(stack) as storage:
        for start in range(0, count, PARALLEL):
            numbers = range(start, min(count, start + PARALLEL))
            await asyncio.gather(*(one(storage, number) for number in numbers))
    return time.monotonic() - begun


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


def ready(stack: Stack, worker: str) -> int:
    """Return how many documents a worker has finished."""
    return stack.processes[worker].log.read_text(errors="replace").count("document_ready ")


def service_times(stack: Stack, worker: str) -> list[float]:
    """Return how long a worker had each of its documents, from its log."""
    claimed: dict[str, datetime] = {}
    times = []
    log = stack.processes[worker].log.read_text(errors="replace")
    for stamp, event, document in LINE.findall(log):
        at = datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S,%f")  # noqa: DTZ007  # differences only
        if event == "claimed":
            claimed[document] = at
        elif document in claimed:
            times.append((at - claimed.pop(document)).total_seconds())
    return times


async def waits(bench: Bench) -> list[float]:
    """Upload one document after the other; return how long each took to become ready."""
    found = []
    for _ in range(SINGLES):
        ids = await bench.upload(1)
        begun = time.monotonic()
        found.append(await bench.until(ids, "ready") - begun)
    return found


async def joined(bench: Bench) -> dict[str, Any]:
    """Let a second worker join; return who finished how many of the next documents."""
    stack = bench.stack
    bench.start_worker("worker1")
    await bench.until_log("worker1", "index_worker_ready")
    before = Counter({name: ready(stack, name) for name in ("worker0", "worker1")})

    def done() -> Counter[str]:
        now = Counter({name: ready(stack, name) for name in ("worker0", "worker1")})
        return now - before

    await bench.when(lambda: done().total() >= SHARED, seconds=PATIENCE_SECONDS)
    shares = done()
    return {
        "documents": shares.total(),
        "share_of_the_second": round(shares["worker1"] / shares.total(), 3),
    }


async def measure(backend: str, documents: int) -> dict[str, Any]:
    """Measure one back end."""
    with tempfile.TemporaryDirectory(prefix="fairness") as work:
        async with installation(backend, Path(work)) as bench:
            history = History(bench.stack.base_url, bench.stack.provider_url)
            await history.set_up()
            base = history.knowledge_bases["oidc:bob"][0]
            filled = await fill(bench.stack, "oidc:bob", base, documents)
            await provider_takes(bench.stack, EMBEDDING_SECONDS)
            bench.start_worker("worker0")
            await bench.when(lambda: ready(bench.stack, "worker0") >= WARM_UP)
            waited = await waits(bench)
            times = service_times(bench.stack, "worker0")
            shares = await joined(bench)
    service = median(times)
    return {
        "documents": documents,
        "queued_in_seconds": round(filled, 1),
        "service_seconds": spread(times),
        "single_waited_seconds": spread(waited),
        "single_waited_service_times": round(max(waited) / service, 2),
        "late_worker": shares,
    }


async def provider_takes(stack: Stack, seconds: float) -> None:
    """Let every call of the embeddings endpoint take so long."""
    async with httpx.AsyncClient(trust_env=False) as http:
        with contextlib.suppress(httpx.HTTPError):
            await http.post(f"{stack.provider_url}/faults", json={"seconds": seconds})


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--backend", choices=BACKENDS, action="append")
    parser.add_argument("--documents", type=int, default=10_000)
    args = parser.parse_args()
    results = {
        backend: asyncio.run(measure(backend, args.documents))
        for backend in args.backend or BACKENDS
    }
    report("fairness", {"backends": results}, packages=("redis", "psycopg"))


if __name__ == "__main__":
    main()
