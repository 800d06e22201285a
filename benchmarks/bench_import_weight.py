"""What `import agentscope.rag` costs: time and memory, in fresh interpreters.

Run: python -m benchmarks.bench_import_weight [--write]
"""

import json
import subprocess
import sys

from benchmarks.figures import arguments, report, spread

RUNS = 9
MODULES = ("agentscope.rag", "agentscope.app", "agentscope.app.rag.index_worker")
CODE = """
import json, resource, sys, time
begun, cpu = time.perf_counter(), time.process_time()
__import__(sys.argv[1])
print(json.dumps([time.perf_counter() - begun, time.process_time() - cpu,
                  resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                  "fastapi" in sys.modules]))
"""


def measured(module: str) -> dict[str, object]:
    """Return seconds and resident MiB of one import, over several interpreters."""
    rows = []
    for _ in range(RUNS + 1):
        done = subprocess.run(
            [sys.executable, "-c", CODE, module], capture_output=True, text=True, check=True
        )
        rows.append(json.loads(done.stdout))
    rows = rows[1:]  # the first one also compiles
    return {
        "wall_seconds": spread([row[0] for row in rows]),
        "cpu_seconds": spread([row[1] for row in rows]),
        "rss_mib": spread([row[2] for row in rows], 1),
        "loads_web_framework": any(row[3] for row in rows),
    }


def main() -> None:
    """Measure and print."""
    arguments(str(__doc__)).parse_args()
    report(
        "import_weight",
        {"limits": "0.5 s, 80 MiB", **{module: measured(module) for module in MODULES}},
        packages=("pydantic",),
    )


if __name__ == "__main__":
    main()
