"""This product beside the reference, through REST, in one run, over the same servers and data.

The harness of `RAG_SHARED/bench` starts each product with the same Redis, the same stand-in for a
vector server and the same stub of an embedding provider, case by case, one after the other. Here
its rows become claims: what was wanted, what was reached, as a ratio. The reference is PyPI
`agentscope` 2.0.11; "cached" is the same with provider clients made once (`reference/cached_app`).

Run: python -m benchmarks.side_by_side --reference PYTHON [--harness PYTHON] [--scale 1] [--write]
`PYTHON` names an interpreter whose environment holds the reference (the harness's needs beside).
With `--rows FILE` nothing is run; the table is made from rows that are there.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import RESULTS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
HERE = Path(__file__).parent / "reference"
OURS, THEIRS, CACHED = "product", "upstream", "cached"
CACHED_CASE = "b_index_text_embedded"
CASES = (
    "z_start_time",
    "a_upload_latency",
    "a_upload_1gb_memory",
    "b_index_text_embedded",
    "b_index_text_workers1",
    "b_index_text_workers2",
    "b_index_pdf",
    "b_index_pptx",
    "b_growth",
    "c_api_while_parsing",
    "d_search",
)

HEAD = """# Beside the reference

Made by `python -m benchmarks.side_by_side`: both products through REST in one run, case by case,
over the same Redis, the same stand-in for a vector server and the same stub of an embedding
provider. The reference is PyPI `agentscope` 2.0.11; "cached" is the same with provider clients made
once, because a client per call is most of its processor time.

Machine: {machine}; load average at the start of the cases {least:g} to {most:g}; scale {scale:g} of
the harness. Wall-clock figures of a busy machine differ by 40 %, ratios less.

{table}"""

Row = Mapping[str, Any]
Rows = Mapping[str, Mapping[str, Sequence[Row]]]  # case, target


@dataclass(frozen=True)
class Claim:
    """One sentence, how to read it from rows, and what was wanted."""

    text: str
    wanted: str
    read: Callable[[Rows], tuple[str, bool] | None]


def figure(rows: Rows, case: str, target: str, *path: str) -> float | None:
    """Return the best of the repeated runs of a case, or None if it was not measured."""
    found = []
    for row in rows.get(case, {}).get(target, ()):
        value: Any = row
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, int | float):
            found.append(float(value))
    return min(found) if found else None


def ratio(
    case: str, *path: str, wanted: float, base: str = THEIRS, higher: bool = False
) -> Callable[[Rows], tuple[str, bool] | None]:
    """Return the reader of 'how many times better than `base`'."""

    def read(rows: Rows) -> tuple[str, bool] | None:
        ours, theirs = figure(rows, case, OURS, *path), figure(rows, case, base, *path)
        if not ours or not theirs:
            return None
        times = ours / theirs if higher else theirs / ours
        return f"{times:.1f}x ({ours:g} against {theirs:g})", times >= wanted

    return read


def at_most(case: str, *path: str, wanted: float) -> Callable[[Rows], tuple[str, bool] | None]:
    """Return the reader of a figure of ours with an upper bound."""

    def read(rows: Rows) -> tuple[str, bool] | None:
        ours = figure(rows, case, OURS, *path)
        return None if ours is None else (f"{ours:g}", ours <= wanted)

    return read


def added_memory(rows: Rows) -> tuple[str, bool] | None:
    """Read how much one 1 GB upload adds."""
    case = "a_upload_1gb_memory"
    before, peak = (figure(rows, case, OURS, name) for name in ("rss_before_mb", "rss_peak_mb"))
    if before is None or peak is None:
        return None
    return f"{peak - before:.0f} MB", peak - before < 64


def second_worker(rows: Rows) -> tuple[str, bool] | None:
    """Read what a second worker adds."""
    one, two = (figure(rows, f"b_index_text_workers{n}", OURS, "docs_per_s") for n in (1, 2))
    return None if not one or not two else (f"{two / one:.2f}x", two / one >= 1.5)


def while_parsing(what: str) -> Callable[[Rows], tuple[str, bool] | None]:
    """Return the reader of the slowest request while a large file is read, beside idle."""

    def read(rows: Rows) -> tuple[str, bool] | None:
        idle = figure(rows, f"c_idle_{what}", OURS, "p99_ms")
        busy = [figure(rows, f"c_{kind}_{what}", OURS, "p99_ms") for kind in ("pdf300", "xlsx20k")]
        known = [value for value in busy if value is not None]
        if not idle or not known:
            return None
        return f"{max(known) / idle:.2f}x ({max(known):g} ms, idle {idle:g})", max(
            known
        ) <= 1.5 * idle

    return read


def growth(operation: str, limit_ms: float) -> Callable[[Rows], tuple[str, bool] | None]:
    """Return the reader of a list call with the most documents that were loaded."""

    def read(rows: Rows) -> tuple[str, bool] | None:
        sizes = sorted(int(case.split("_")[2]) for case in rows if case.startswith("b_growth_"))
        if not sizes:
            return None
        case = f"b_growth_{sizes[-1]}_docs"
        ours, theirs = (figure(rows, case, one, operation, "p50_ms") for one in (OURS, THEIRS))
        if ours is None:
            return None
        beside = f", reference {theirs:g} ms" if theirs else ""
        return f"{ours:g} ms at {sizes[-1]} documents{beside}", ours < limit_ms

    return read


def searches(key: str, wanted: float, *, higher: bool) -> Callable[[Rows], tuple[str, bool] | None]:
    """Return the reader of searching at concurrency 16 in the largest store both filled."""

    def read(rows: Rows) -> tuple[str, bool] | None:
        both = [
            case
            for case, per in rows.items()
            if case.startswith("d_search_") and case.endswith("_c16") and {OURS, THEIRS} <= set(per)
        ]
        if not both:
            return None
        case = max(both, key=lambda name: int(name.split("_")[2]))
        return ratio(case, key, wanted=wanted, higher=higher)(rows)

    return read


CLAIMS = (
    Claim("documents of 8 KB indexed per second, one process", ">= 5x",
          ratio("b_index_text_embedded", "docs_per_s", wanted=5, higher=True)),
    Claim("the same against the cached reference", ">= 1.5x",
          ratio("b_index_text_embedded", "docs_per_s", wanted=1.5, base=CACHED, higher=True)),
    Claim("processor time of the API per document, ms", "< 8",
          at_most("b_index_text_embedded", "api_cpu_ms_per_doc", wanted=8)),
    Claim("a second worker", ">= 1.5x", second_worker),
    Claim("300-page PDF, upload to ready", ">= 5x",
          ratio("b_index_pdf300_embedded", "seconds", wanted=5)),
    Claim("100-slide deck, upload to ready", ">= 5x",
          ratio("b_index_pptx100_embedded", "seconds", wanted=5)),
    Claim("upload p50 while indexing", ">= 2x",
          ratio("a_upload_4KB_c1_busy", "p50_ms", wanted=2)),
    Claim("upload p99 while indexing", ">= 5x",
          ratio("a_upload_4KB_c1_busy", "p99_ms", wanted=5)),
    Claim("memory that a 1 GB upload adds", "< 64 MB", added_memory),
    Claim("list of knowledge bases while a large file is read, p99", "<= 1.5x idle",
          while_parsing("list_kbs")),
    Claim("search while a large file is read, p99", "<= 1.5x idle", while_parsing("search")),
    Claim("list of knowledge bases", "< 20 ms", growth("list_kbs", 20)),
    Claim("first page of documents", "< 20 ms", growth("list_docs_page1", 20)),
    Claim("searches per second at concurrency 16", ">= 5x", searches("qps", 5, higher=True)),
    Claim("processor time per search against the reference", ">= 5x",
          searches("api_cpu_ms_per_query", 5, higher=False)),
    Claim("start to ready, s", "< 2", at_most("z_start_time", "api_start_s", wanted=2)),
)  # fmt: skip


def harness(options: argparse.Namespace, out: Path) -> None:
    """Run the harness's cases on the three products; its rows go to `out`."""
    shared = Path(os.environ.get("RAG_SHARED", ROOT.parent / "shared")) / "bench"
    targets = shared / "targets"
    cached = json.loads((targets / "upstream.json").read_text())
    cached["name"] = CACHED
    cached["env"]["PYTHONPATH"] = f"{HERE}:{targets}"
    cached["api"]["cmd"][3] = "cached_app:make_app"
    cached["worker"]["env"]["AGENTSCOPE_WORKER_BOOTSTRAP"] = "cached_app:bootstrap"
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "cached.json"
        made.write_text(json.dumps(cached))
        ours = f"{targets / 'product-wired.json'},python={sys.executable}"
        theirs = f"{targets / 'upstream.json'},python={options.reference}"
        for cases, products in (
            (options.only or ",".join(CASES), (ours, theirs)),
            (CACHED_CASE, (f"{made},python={options.reference}",)),
        ):
            command = [
                options.harness, str(shared / "run.py"), "--suite", "perf", "--only", cases,
                *(word for product in products for word in ("--target", product)),
                "--scale", str(options.scale), "--repeat", str(options.repeat),
                "--work", str(Path(folder) / "work"), "--port-base", "8420", "--out", str(out),
            ]  # fmt: skip
            subprocess.run(command, check=True, cwd=shared)


def read_rows(path: Path) -> Rows:
    """Return the rows by case and target."""
    rows: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for line in path.read_text().splitlines():
        row = json.loads(line)
        rows[row["case"]][row["target"]].append(row)
    return rows


def table(rows: Rows) -> str:
    """Return the claims as a Markdown table."""
    lines = ["| claim | wanted | reached | |", "|---|---|---|---|"]
    for claim in CLAIMS:
        found = claim.read(rows)
        reached, met = found or ("not measured", False)
        lines.append(f"| {claim.text} | {claim.wanted} | {reached} | {'yes' if met else 'no'} |")
    return "\n".join(lines) + "\n"


def page(rows: Rows, scale: float) -> str:
    """Return the page with the table."""
    loads = [row.get("load1", 0) for per in rows.values() for many in per.values() for row in many]
    return HEAD.format(
        machine=f"{platform.machine()}, {os.cpu_count()} cores",
        least=min(loads),
        most=max(loads),
        scale=scale,
        table=table(rows),
    )


def main() -> None:
    """Run, or read rows, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", help="python with the reference")
    parser.add_argument("--harness", default=sys.executable, help="python with the harness's needs")
    parser.add_argument("--rows", type=Path, help="rows of an earlier run")
    parser.add_argument("--only", default="", help="prefixes of cases")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="keep rows and page")
    options = parser.parse_args()
    out = options.rows
    if out is None:
        if options.reference is None:
            parser.error("--reference or --rows is needed")
        out = RESULTS / "side_by_side.jsonl" if options.write else Path(tempfile.mkstemp()[1])
        harness(options, out)
    rows = read_rows(out)
    print(table(rows))
    if options.write:
        PAGE.write_text(page(rows, options.scale))


if __name__ == "__main__":
    main()
