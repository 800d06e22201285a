"""Whether search finds the right passage: nDCG@10 per set and mode, through a knowledge base.

Run: python benchmarks/retrieval.py [--set xquad-zh ...] [--store embedded|memory|qdrant]
The sets are folders with corpus.jsonl, queries.jsonl and qrels.tsv under RAG_SHARED/retrieval.
`a:b` asks the queries of set a over the texts of set b. Prints one JSON object per set and mode.
"""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, SearchMode
from agentscope.rag.evaluation import Judgements, measure
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore

SETS = (
    "xquad-en",
    "xquad-zh",
    "cmrc2018-dev-zh",
    "cranfield-en",
    "xquad-zh:xquad-en",
    "xquad-en:xquad-zh",
)
TOP_K = 10


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the JSON objects of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def read_judgements(path: Path) -> Judgements:
    """Return the gains per query."""
    judgements: dict[str, dict[str, float]] = {}
    for line in path.read_text("utf-8").split("\n")[1:]:
        if line.strip():
            query, document, gain = line.split("\t")
            judgements.setdefault(query, {})[document] = float(gain)
    return judgements


@contextlib.asynccontextmanager
async def opened(kind: str) -> AsyncIterator[RunVectorStore]:
    """Give an empty store."""
    with tempfile.TemporaryDirectory() as directory:
        stores: dict[str, RunVectorStore] = {
            "embedded": EmbeddedVectorStore(directory),
            "memory": InMemoryVectorStore(),
            "qdrant": QdrantStore(),
        }
        async with stores[kind] as store:
            yield store


async def fill(base: KnowledgeBase, corpus: list[dict[str, Any]]) -> float:
    """Store every text as a document of one chunk; return the seconds it took."""
    begin = time.perf_counter()
    gate = asyncio.Semaphore(16)

    async def one(row: dict[str, Any]) -> None:
        async with gate:
            block = TextBlock(text=row["text"])
            chunk = Chunk(content=block, source=row["_id"], chunk_index=0, total_chunks=1)
            await base.insert_document([chunk], row["_id"])

    await base.ensure_collection()
    await asyncio.gather(*(one(row) for row in corpus if row["text"].strip()))
    return time.perf_counter() - begin


async def run(
    name: str, folder: Path, store: RunVectorStore, model: EmbeddingModelBase
) -> AsyncIterator[dict[str, Any]]:
    """Yield one row of results per mode."""
    asked, _, texts = name.partition(":")
    corpus = read_lines(folder / (texts or asked) / "corpus.jsonl")
    queries = read_lines(folder / asked / "queries.jsonl")
    judgements = read_judgements(folder / (texts or asked) / "qrels.tsv")
    base = KnowledgeBase(name, "", model, store, f"kb_{name}")
    seconds = await fill(base, corpus)
    for mode in SearchMode:
        rankings: dict[str, list[str]] = {}
        latencies = []
        for query in queries:
            if query["_id"] not in judgements:
                continue
            begin = time.perf_counter()
            hits = await base.search(query["text"], TOP_K, mode=mode)
            latencies.append(1000 * (time.perf_counter() - begin))
            rankings[query["_id"]] = [hit.document_id for hit in hits]
        measures = measure(rankings, judgements, TOP_K)
        yield {
            "set": name,
            "mode": mode.value,
            "queries": measures.queries,
            "ndcg10": round(measures.ndcg, 4),
            "recall10": round(measures.recall, 4),
            "mrr10": round(measures.mrr, 4),
            "latency_ms_p50": round(statistics.median(latencies), 1),
            "documents": len(corpus),
            "load_seconds": round(seconds, 1),
        }


async def main() -> None:
    """Run the sets that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", action="append", dest="sets")
    parser.add_argument("--store", choices=("embedded", "memory", "qdrant"), default="embedded")
    arguments = parser.parse_args()
    shared = Path(os.environ.get("RAG_SHARED") or Path(__file__).parents[2] / "shared")
    machine = {"python": platform.python_version(), "cpus": os.cpu_count()}
    async with LocalEmbeddingModel() as model, opened(arguments.store) as store:
        for name in arguments.sets or SETS:
            async for row in run(name, shared / "retrieval", store, model):
                print(json.dumps({**row, "store": arguments.store, **machine}), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
