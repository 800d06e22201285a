"""What the service costs while nobody uses it, and what has to be installed for it.

Start to ready with warm files, processor time of a minute without a caller, memory, and the size of
the packages that `pip install agentscope-rag` brings, each with its share.

Run: python -m benchmarks.bench_idle [--seconds 65] [--write]
"""

import re
import tempfile
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import psutil

from agentscope.testing.processes import Served, serving
from benchmarks.figures import arguments, report

WANTED = {"start_seconds": 2.0, "share_of_a_core": 0.01}
SHOWN = 12


def family(service: Served) -> list[psutil.Process]:
    """Return the processes of the service."""
    assert service.popen is not None
    root = psutil.Process(service.popen.pid)
    return [root, *root.children(recursive=True)]


def used(service: Served) -> float:
    """Return the processor seconds that the service has used so far."""
    return sum(sum(process.cpu_times()[:2]) for process in family(service))


def idle(seconds: float) -> dict[str, Any]:
    """Start the service twice, and watch it the second time."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with serving(data):
            pass
        begun = time.perf_counter()
        with serving(data) as service:
            started = time.perf_counter() - begun
            time.sleep(5)
            before = used(service)
            time.sleep(seconds)
            spent = used(service) - before
            memory = {p.name(): round(p.memory_info().rss / 2**20) for p in family(service)}
    return {
        "start_seconds": round(started, 2),
        "idle_seconds": seconds,
        "share_of_a_core": round(spent / seconds, 4),
        "memory_mib": sum(memory.values()),
        "processes": len(memory),
    }


def needed(name: str, found: dict[str, float]) -> None:
    """Collect the size in MiB of a package and of everything it needs."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in found:
        return
    try:
        package = distribution(key)
    except PackageNotFoundError:
        return
    files = package.files or []
    sizes = [Path(str(package.locate_file(file))) for file in files]
    found[key] = sum(path.stat().st_size for path in sizes if path.is_file()) / 2**20
    for wanted in package.requires or []:
        if "extra ==" not in wanted:
            needed(re.split(r"[^A-Za-z0-9._-]", wanted, maxsplit=1)[0], found)


def installed() -> dict[str, Any]:
    """Return how many packages the base install has, their size, and the largest of them."""
    found: dict[str, float] = {}
    needed("agentscope-rag", found)
    largest = sorted(found.items(), key=lambda item: -item[1])[:SHOWN]
    return {
        "packages": len(found) - 1,
        "size_mib": round(sum(found.values())),
        "largest_mib": {name: round(size, 1) for name, size in largest},
    }


def main() -> None:
    """Measure and print."""
    parser = arguments(str(__doc__))
    parser.add_argument("--seconds", type=float, default=65)
    report("idle", {"wanted": WANTED, **idle(parser.parse_args().seconds), "install": installed()})


if __name__ == "__main__":
    main()
