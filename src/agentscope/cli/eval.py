"""`agentscope-rag eval`: how well a knowledge base finds, on questions with known answers."""

import json
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from agentscope.app.settings import Settings
from agentscope.cli.beir import ID, read_judgements, read_queries
from agentscope.cli.connection import Client, connection_options, knowledge_base_named, run_command
from agentscope.errors import InvalidInputError, KnowledgeBaseNotFoundError
from agentscope.rag.evaluation import Judgements, measure

MAX_HITS = 50
HITS_PER_DOCUMENT = 5
"""Several passages of a document count once, so more passages are asked for than documents."""


@click.command()
@click.option("--kb", "name", required=True, help="Name or id of the knowledge base.")
@click.option(
    "--queries",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Questions, JSON lines with _id and text.",
)
@click.option(
    "--qrels",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Judgements with tabs: query, document, grade.",
)
@click.option("--mode", type=click.Choice(["vector", "keyword", "hybrid"]), help="How to compare.")
@click.option("--top-k", type=click.IntRange(1, MAX_HITS), default=10, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@connection_options
def command(
    *,
    name: str,
    queries: Path,
    qrels: Path,
    mode: str | None,
    top_k: int,
    as_json: bool,
    **given: Any,
) -> None:
    """Ask every judged question and print nDCG, recall, MRR and latency.

    A document is known by `_id` in its metadata (`ingest --beir` sets it), else by its file name
    without the ending.
    """
    judgements = read_judgements(qrels)
    asked = {key: text for key, text in read_queries(queries).items() if key in judgements}
    if not asked:
        raise InvalidInputError("No question of the queries file is judged in the qrels file.")
    judged = {key: judgements[key] for key in asked}

    async def work(client: Client, settings: Settings) -> dict[str, Any]:
        del settings
        found = await knowledge_base_named(client, name)
        if found is None:
            raise KnowledgeBaseNotFoundError(f"There is no knowledge base '{name}'.")
        return await _Exam(client, found["id"], mode, top_k).figures(asked, judged)

    figures = run_command(given, work)
    if as_json:
        click.echo(json.dumps(figures, ensure_ascii=False))
    else:
        show(figures, top_k)


class _Exam:
    """Questions to one knowledge base, one after another, so that latencies mean something."""

    def __init__(
        self, client: Client, knowledge_base_id: str, mode: str | None, top_k: int
    ) -> None:
        self._client = client
        self._path = f"/knowledge_bases/{knowledge_base_id}"
        self._top_k = top_k
        self._options = {"top_k": min(MAX_HITS, top_k * HITS_PER_DOCUMENT)}
        if mode is not None:
            self._options["mode"] = mode  # type: ignore[assignment]

    async def figures(self, asked: Mapping[str, str], judged: Judgements) -> dict[str, Any]:
        """Return the measures and latencies of all questions."""
        names = await self._names()
        known = set(names.values())
        rankings, latencies, mode = {}, [], ""
        for key, text in asked.items():
            begun = time.perf_counter()
            answer = await self._client.call(
                "POST", f"{self._path}/search", json={"query": text, **self._options}
            )
            latencies.append((time.perf_counter() - begun) * 1000)
            hits = answer["results"]
            rankings[key] = [names.get(hit["document_id"], hit["document_id"]) for hit in hits]
            mode = answer["mode"]
        measures = measure(rankings, judged, self._top_k)
        absent = {name for gains in judged.values() for name in gains if name not in known}
        return {
            "queries": measures.queries,
            "mode": mode,
            f"ndcg@{self._top_k}": round(measures.ndcg, 4),
            f"recall@{self._top_k}": round(measures.recall, 4),
            f"mrr@{self._top_k}": round(measures.mrr, 4),
            "latency_p50_ms": round(statistics.median(latencies), 1),
            "latency_p95_ms": round(_percentile(latencies, 0.95), 1),
            "judged_documents_absent": len(absent),
        }

    async def _names(self) -> dict[str, str]:
        """Return the corpus id of each document."""
        return {
            known["id"]: str(known["metadata"].get(ID) or Path(known["filename"]).stem)
            async for known in self._client.pages(f"{self._path}/documents", "documents")
        }


def _percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(part * (len(ordered) - 1)))]


def show(figures: Mapping[str, Any], top_k: int) -> None:
    """Print the figures for people."""
    click.echo(f"{figures['queries']} questions, {figures['mode']} search")
    for label, key in (("nDCG", "ndcg"), ("Recall", "recall"), ("MRR", "mrr")):
        click.echo(f"  {f'{label}@{top_k}':<12}{figures[f'{key}@{top_k}']:.4f}")
    for part in ("p50", "p95"):
        click.echo(f"  {f'latency {part}':<12}{figures[f'latency_{part}_ms']:.1f} ms")
    if absent := figures["judged_documents_absent"]:
        click.echo(f"{absent} judged documents are not in this knowledge base.", err=True)
