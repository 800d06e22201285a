"""Memory that a text file of 100 MB takes, read and chunked as the product does it.

Run: python -m benchmarks.bench_parse_text [--write]
"""

import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agentscope.app.rag.indexing.parser_child import read_document
from agentscope.app.rag.indexing.reading import ReadJob
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.parser.base import ParseOptions
from agentscope.rag.parser.text import TextParser
from benchmarks.figures import arguments, report, spread

SIZE_BYTES, SEED, RUNS = 100_000_000, 7, 3
KINDS = {"text": ("text/plain", "a.txt"), "csv": ("text/csv", "a.csv")}


def fill(path: Path, *, rows: bool) -> None:
    """Write lines of words and numbers, some of them Chinese."""
    randomness = random.Random(SEED)
    lines = [
        f"第{n}行 the record {randomness.random()} is the truth, 信号只是提示" for n in range(2000)
    ]
    joint = "," if rows else " "
    block = "\n".join(line.replace(" ", joint) for line in lines).encode() + b"\n"
    with path.open("wb") as out:
        for _ in range(SIZE_BYTES // len(block) + 1):
            out.write(block)


def read(path: Path, media_type: str) -> int:
    """Read one file in this process; return how many chunks it has."""
    job = ReadJob(
        "d", path, path.name, TextParser(), ApproxTokenChunker(), path.with_suffix(".spool"),
        ParseOptions(media_type=media_type),
    )  # fmt: skip
    return read_document(job, lambda progress: None).chunk_count


def measured(path: Path, media_type: str) -> dict[str, object]:
    """Return peak memory and time of reading in fresh processes."""
    peaks, seconds, chunks = [], [], 0
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.bench_parse_text", "--read", str(path), media_type],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        peak, cpu, count = done.stdout.split()
        peaks.append(float(peak))
        seconds.append(float(cpu))
        chunks = int(count)
    return {
        "rss_peak_mib": spread(peaks, 1),
        "cpu_seconds": spread(seconds, 2),
        "chunks": chunks,
    }


def main() -> None:
    """Measure and print."""
    if "--read" in sys.argv:
        begun = time.process_time()
        count = read(Path(sys.argv[2]), sys.argv[3])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(peak, time.process_time() - begun, count)
        return
    arguments(str(__doc__)).parse_args()
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, (media_type, name) in KINDS.items():
            path = Path(folder) / name
            fill(path, rows=kind == "csv")
            found[kind] = measured(path, media_type)
    report("parse_text", {"seed": SEED, "bytes": SIZE_BYTES, "limit_mib": 200, **found})


if __name__ == "__main__":
    main()
