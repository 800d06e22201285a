"""`python -m benchmarks.chaos --backend redis|postgres|embedded --minutes 10 [--seed N]`."""

import argparse
import asyncio
import json
import os
import platform
import random
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from agentscope.testing import servers
from benchmarks.chaos.history import USERS, History
from benchmarks.chaos.stack import Stack

QUIET_SECONDS = 120
DURABLE = ("--appendonly", "yes", "--appendfsync", "always")


async def run(stack: Stack, minutes: float, seed: int) -> dict[str, Any]:
    """Work under faults, heal, settle, audit; return the figures."""
    choice = random.Random(seed)
    await stack.start()
    history = History(stack.base_url, stack.provider_url)
    await history.set_up()
    stop = asyncio.Event()
    clients = [asyncio.create_task(history.work(seed * 100 + n, stop)) for n in range(len(USERS))]
    faults: list[str] = []
    deadline = asyncio.get_running_loop().time() + minutes * 60
    while asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(choice.uniform(0.5, 3))
        faults.append(await stack.hurt(choice))
    stop.set()
    await asyncio.gather(*clients)
    await stack.provider("ok")
    await stack.healthy()
    counts = await history.settle()
    audit = await last_audit(stack)
    return {
        "backend": stack.backend,
        "minutes": minutes,
        "seed": seed,
        "faults": len(faults),
        "calls": history.calls,
        "refused": history.refused,
        "accepted": len(history.uploads),
        "deleted": sum(u.deleted for u in history.uploads),
        **counts,
        "problems": history.problems[:20],
        "audit": audit,
        "passed": not history.problems and audit["clean"] and not audit["unfinished"],
    }


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
        urls = {}
        if args.backend != "embedded":
            urls["CHAOS_POSTGRES"] = exits.enter_context(servers.postgres()).url
        if args.backend == "redis":
            urls["CHAOS_REDIS"] = exits.enter_context(servers.redis(options=DURABLE)).url
        stack = Stack(args.backend, work, urls)
        exits.callback(stack.stop)
        result = asyncio.run(run(stack, args.minutes, args.seed))
        print(json.dumps({**result, "machine": f"{os.cpu_count()} cores, {platform.platform()}"}))
        if not result["passed"]:
            for log in sorted(work.glob("*.log")):
                sys.stderr.write(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}\n")
        return 0 if result["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
