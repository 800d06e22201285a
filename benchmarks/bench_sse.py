"""A thousand listeners of event streams on one process, cut off again and again.

Run: python -m benchmarks.bench_sse [--listeners 1000] [--users 10] [--uploads 20] [--write]
"""

import asyncio
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import psutil

from agentscope.testing.event_streams import StreamListener
from agentscope.testing.live_service import connected
from benchmarks.figures import arguments, quantile, report

CUT_SHARE, SEED, PAUSE_SECONDS = 0.1, 11, 0.25
READY = "AgentScope RAG is ready: "


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Run a service without indexing: one upload is one event."""
    program = [sys.executable, "-m", "agentscope.cli", "serve", "--port", "0", "--no-index"]
    process = subprocess.Popen(
        [*program, "--no-ui", "--data-dir", str(folder)],
        env={name: value for name, value in os.environ.items() if name not in ("PORT", "DATA_DIR")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith(READY), line
        yield line.removeprefix(READY).split()[0], psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(60)


def bases_of(url: str, users: list[str]) -> dict[str, str]:
    """Make a knowledge base for every user: the first event of each."""
    made = {}
    for user in users:
        with connected(url, user=user) as service:
            made[user] = service.knowledge_base("Boats")
    return made


async def upload_all(url: str, bases: dict[str, str], uploads: int) -> None:
    """Upload for every user in turn, at a steady pace."""
    async with httpx.AsyncClient(base_url=url, timeout=120, trust_env=False) as client:
        for number in range(uploads):
            for user, base in bases.items():
                answer = await client.post(
                    f"/knowledge_bases/{base}/documents",
                    headers={"X-User-ID": user},
                    files={"file": (f"{number}.txt", f"boat {number}".encode(), "text/plain")},
                )
                assert answer.status_code == 201, answer.text
            await asyncio.sleep(PAUSE_SECONDS)


async def listen(url: str, bases: dict[str, str], count: int, uploads: int) -> dict[str, Any]:
    """Return what the listeners heard and how late."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    users = list(bases)
    listeners = [
        StreamListener(
            host,
            int(port),
            "/events",
            users[number % len(users)],
            cut_share=CUT_SHARE,
            rng=random.Random(SEED + number),
        )
        for number in range(count)
    ]
    started = time.perf_counter()
    tasks = [asyncio.create_task(one.run(uploads + 1)) for one in listeners]
    await asyncio.gather(*(one.connected.wait() for one in listeners))
    connected_seconds = time.perf_counter() - started
    await upload_all(url, bases, uploads)
    await asyncio.gather(*tasks)
    late = [
        (frame.received - datetime.fromisoformat(frame.data["at"])).total_seconds()
        for one in listeners
        for frame in one.frames[1:]  # the first is older than the stream
    ]
    return {
        "connect_all_seconds": round(connected_seconds, 2),
        "events_heard": sum(len(one.frames) for one in listeners),
        "connections_cut": sum(one.cuts for one in listeners),
        "listeners_with_gap_or_repetition": sum(not one.whole for one in listeners),
        "latency_ms": {
            "median": round(1000 * quantile(late, 0.5), 1),
            "p95": round(1000 * quantile(late, 0.95), 1),
            "p99": round(1000 * quantile(late, 0.99), 1),
            "max": round(1000 * max(late), 1),
        },
    }


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--listeners", type=int, default=1000)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--uploads", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (url, process):
        bases = bases_of(url, [f"user-{number}" for number in range(given.users)])
        idle = process.memory_info().rss
        figures = asyncio.run(listen(url, bases, given.listeners, given.uploads))
        peak, cpu = process.memory_info().rss, process.cpu_times()
    report(
        "sse",
        {
            "listeners": given.listeners,
            "users": given.users,
            "uploads_per_user": given.uploads,
            "cut_share": CUT_SHARE,
            **figures,
            "server_memory_mb": {"idle": idle >> 20, "with_listeners": peak >> 20},
            "server_cpu_seconds": round(cpu.user + cpu.system, 1),
        },
        packages=["uvicorn", "starlette"],
    )


if __name__ == "__main__":
    main()
