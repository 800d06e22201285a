"""How soon work goes on after a stop, a kill and an outage: real processes over real servers.

The lease lasts 6 s, the drain 2 s, workers poll every 2 s. For each back end: SIGTERM to a worker
whose four documents cannot end (the provider hangs), until all are handed back; SIGKILL to such a
worker, until another one holds the first of its documents and until all are ready; ten seconds
without the server, until an upload made afterwards is ready. Nobody restarts anything.
`python -m benchmarks.bench_recovery [--backend redis] [--write]`.
"""

import asyncio
import contextlib
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx

from agentscope.testing import servers
from benchmarks.chaos.history import History
from benchmarks.chaos.stack import Stack
from benchmarks.chaos.wiring import TIMINGS
from benchmarks.figures import arguments, report

DOCUMENTS = 4
OUTAGE_SECONDS = 10.0
PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.02
BACKENDS = ("redis", "postgres")


class Bench:
    """One installation, one knowledge base, and the questions asked of them."""

    def __init__(self, stack: Stack, http: httpx.AsyncClient, base: str) -> None:
        self.stack = stack
        self._http = http
        self._documents = f"/knowledge_bases/{base}/documents"
        self._number = 0

    async def upload(self, count: int) -> list[str]:
        """Upload small texts and return their ids."""
        ids = []
        for _ in range(count):
            self._number += 1
            text = f"word{self._number} " + " ".join(f"filler{n}" for n in range(40))
            file = (f"{self._number}.txt", text.encode(), "text/plain")
            answer = await self._http.post(self._documents, files={"file": file})
            ids.append(answer.raise_for_status().json()["document_id"])
        return ids

    async def statuses(self, ids: list[str]) -> list[str]:
        """Return where the documents are."""
        query = {"ids": ",".join(ids)}
        answer = await self._http.get(f"{self._documents}/status", params=query)
        return [item["status"] for item in answer.raise_for_status().json()["items"]]

    async def until(self, ids: list[str], *wanted: str) -> float:
        """Wait until all documents are in one of the states; return when that was."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.HTTPError):
                if set(await self.statuses(ids)) <= set(wanted):
                    return time.monotonic()
            await asyncio.sleep(LOOK_SECONDS)
        raise TimeoutError(f"not {wanted} in time: {await self.statuses(ids)}")

    async def until_log(self, worker: str, text: str, times: int = 1) -> float:
        """Wait until a worker has logged `text`; return when that was."""
        log = self.stack.processes[worker].log
        return await self.when(lambda: log.read_text(errors="replace").count(text) >= times)

    async def when(
        self, condition: Callable[[], bool], *, seconds: float = PATIENCE_SECONDS
    ) -> float:
        """Wait until a condition holds; return when that was."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError("it did not happen in time")
            await asyncio.sleep(LOOK_SECONDS)
        return time.monotonic()

    def start_worker(self, name: str) -> None:
        """Start one more worker."""
        self.stack.add(name, ["-m", "agentscope.app.rag.index_worker"])


async def stopped(bench: Bench) -> dict[str, Any]:
    """SIGTERM: what the drain did not finish is handed back right after it."""
    bench.start_worker("worker0")
    await bench.until_log("worker0", "index_worker_ready")
    await bench.stack.provider("hang")
    ids = await bench.upload(DOCUMENTS)
    await bench.until(ids, "indexing")
    worker, begun = bench.stack.processes["worker0"], time.monotonic()
    assert worker.popen is not None
    worker.popen.send_signal(signal.SIGTERM)
    handed_back = await bench.until(ids, "pending") - begun
    ended = await bench.when(lambda: worker.ended) - begun
    drain = TIMINGS.drain_timeout.total_seconds()
    await bench.stack.provider("ok")
    return {
        "drain_seconds": drain,
        "handed_back_after_drain_seconds": round(handed_back - drain, 2),
        "ended_after_seconds": round(ended, 2),
        "exit_code": worker.popen.returncode,
        "ids": ids,
    }


async def killed(bench: Bench, waiting: list[str]) -> dict[str, Any]:
    """SIGKILL: another worker goes on when the lease has run out."""
    bench.start_worker("worker1")
    bench.start_worker("worker2")
    await bench.until(waiting, "ready")
    await bench.until_log("worker2", "index_worker_ready")
    heir = bench.stack.processes["worker2"]
    heir.signal(signal.SIGSTOP)  # so that the other one takes all documents
    known = heir.log.read_text(errors="replace").count("document_claimed")
    await bench.stack.provider("hang")
    ids = await bench.upload(DOCUMENTS)
    await bench.until(ids, "indexing")
    heir.signal(signal.SIGCONT)
    begun = time.monotonic()
    bench.stack.processes["worker1"].stop()
    await bench.stack.provider("ok")
    claimed = await bench.until_log("worker2", "document_claimed", known + 1) - begun
    ready = await bench.until(ids, "ready") - begun
    return {
        "lease_seconds": TIMINGS.lease_ttl.total_seconds(),
        "poll_seconds": TIMINGS.poll_interval.total_seconds(),
        "taken_up_after_seconds": round(claimed, 2),
        "all_ready_after_seconds": round(ready, 2),
    }


async def cut_off(bench: Bench, outage_seconds: float) -> dict[str, Any]:
    """The server of storage and bus is away while documents wait."""
    name = "CHAOS_REDIS" if bench.stack.backend == "redis" else "CHAOS_POSTGRES"
    server, _ = bench.stack.servers[name]
    ids = await bench.upload(DOCUMENTS)
    await asyncio.to_thread(server.kill)
    await asyncio.sleep(outage_seconds)
    await asyncio.to_thread(server.start)
    begun = time.monotonic()
    await bench.stack.healthy()
    healthy = time.monotonic() - begun
    ids += await bench.upload(1)
    ready = await bench.until(ids, "ready") - begun
    alive = [p for n, p in bench.stack.processes.items() if n in ("api", "worker2")]
    return {
        "outage_seconds": outage_seconds,
        "healthy_after_seconds": round(healthy, 2),
        "all_ready_after_seconds": round(ready, 2),
        "processes_ended": sum(process.ended for process in alive),
    }


@contextlib.asynccontextmanager
async def installation(backend: str, work: Path) -> AsyncIterator[Bench]:
    """Run servers, provider and API; workers are started by what is measured."""
    async with contextlib.AsyncExitStack() as exits:
        stack = Stack(backend, work, workers=0)
        address = "postgresql://postgres@127.0.0.1:{port}/postgres"
        database = exits.enter_context(servers.postgres())
        stack.servers["CHAOS_POSTGRES"] = database, address
        if backend == "redis":
            memory = exits.enter_context(servers.redis())
            stack.servers["CHAOS_REDIS"] = memory, "redis://127.0.0.1:{port}/0"
        exits.push_async_callback(stack.close)
        exits.callback(stack.stop)
        await stack.start()
        history = History(stack.base_url, stack.provider_url)
        await history.set_up()
        http = await exits.enter_async_context(history.client("alice"))
        yield Bench(stack, http, history.knowledge_bases["alice"][0])


async def measure(backend: str, *, outage_seconds: float = OUTAGE_SECONDS) -> dict[str, Any]:
    """Measure one back end."""
    with tempfile.TemporaryDirectory(prefix="recovery") as work:
        async with installation(backend, Path(work)) as bench:
            after_stop = await stopped(bench)
            after_kill = await killed(bench, after_stop.pop("ids"))
            after_outage = await cut_off(bench, outage_seconds)
    return {"sigterm": after_stop, "sigkill": after_kill, "outage": after_outage}


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--backend", choices=BACKENDS, action="append")
    chosen = parser.parse_args().backend or BACKENDS
    results = {backend: asyncio.run(measure(backend)) for backend in chosen}
    report("recovery", {"backends": results}, packages=("redis", "psycopg"))


if __name__ == "__main__":
    main()
