"""`python -m benchmarks.chaos --backend redis|postgres|embedded --minutes 10 [--seed N]`."""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import random
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from agentscope.testing import servers
from benchmarks.chaos.history import USERS, History
from benchmarks.chaos.stack import Stack

QUIET_SECONDS = 120


async def run(stack: Stack, minutes: float, seed: int) -> dict[str, Any]:
    """Work under faults, heal, settle, audit; return the figures."""
    async with contextlib.AsyncExitStack() as exits:
        exits.push_async_callback(stack.close)
        await stack.start()
        history = History(stack.base_url, stack.provider_url)
        await history.set_up()
        faults = await hurting(stack, history, minutes, seed)
        await stack.provider("ok")
        stack.supervise()
        await stack.healthy()
        counts = await history.settle()
        audit = await last_audit(stack)
    return {
        "backend": stack.backend,
        "minutes": minutes,
        "seed": seed,
        "faults": sum(faults.values()),
        "kinds": dict(sorted(faults.items())),
        "restarts": stack.restarts,
        "calls": history.calls,
        "refused": history.refused,
        "accepted": len(history.uploads),
        "deleted": sum(u.deleted for u in history.uploads),
        "deleted_bases": history.deleted_bases,
        **counts,
        "problems": history.problems[:20],
        "audit": audit,
        "passed": not history.problems and audit["clean"] and not audit["unfinished"],
    }


async def hurting(stack: Stack, history: History, minutes: float, seed: int) -> Counter[str]:
    """Let clients work while one harm follows the other; return how often each kind was done."""
    choice = random.Random(seed)
    stop = asyncio.Event()
    clients = [asyncio.create_task(history.work(seed * 100 + n, stop)) for n in range(len(USERS))]
    faults = Counter[str]()
    deadline = asyncio.get_running_loop().time() + minutes * 60
    while asyncio.get_running_loop().time() < deadline:
        if not stack.servers:
            await stack.healthy()  # there is one process only: let it come back to work first
        await asyncio.sleep(choice.uniform(0.5, 3 if stack.servers else 10))
        faults[await stack.hurt(choice)] += 1
    stop.set()
    await asyncio.gather(*clients)
    return faults


async def last_audit(stack: Stack) -> dict[str, Any]:
    """Audit once nothing is unfinished any more, within the time that late writers may take."""
    headers = {"X-User-ID": "operator", "Authorization": f"Bearer {stack.operator_key}"}
    query = {"wait_seconds": QUIET_SECONDS, "deep": True}
    timeout = QUIET_SECONDS + 600
    async with httpx.AsyncClient(base_url=stack.base_url, timeout=timeout, trust_env=False) as http:
        answer = await http.post("/operator/audit", headers=headers, params=query)
    report: dict[str, Any] = answer.raise_for_status().json()
    return report


def main() -> int:
    """Run the chaos of one back end and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["redis", "postgres", "embedded"], default="embedded")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(2)))
    args = parser.parse_args()
    with ExitStack() as exits:
        work = Path(exits.enter_context(tempfile.TemporaryDirectory(prefix="chaos")))
        stack = Stack(args.backend, work)
        if args.backend != "embedded":
            address = "postgresql://postgres@127.0.0.1:{port}/postgres"
            stack.servers["CHAOS_POSTGRES"] = exits.enter_context(servers.postgres()), address
        if args.backend == "redis":
            address = "redis://127.0.0.1:{port}/0"
            stack.servers["CHAOS_REDIS"] = exits.enter_context(servers.redis()), address
        exits.callback(stack.stop)
        try:
            result = asyncio.run(run(stack, args.minutes, args.seed))
        except BaseException:
            show_logs(work)
            raise
        print(json.dumps({**result, "machine": f"{os.cpu_count()} cores, {platform.platform()}"}))
        if not result["passed"]:
            show_logs(work)
        return 0 if result["passed"] else 1


def show_logs(work: Path) -> None:
    """Print the end of every log."""
    for log in sorted(work.glob("*.log")):
        sys.stderr.write(f"--- {log.name}\n{log.read_text(errors='replace')[-6000:]}\n")


if __name__ == "__main__":
    sys.exit(main())
