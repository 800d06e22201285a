"""Measures how well a knowledge base finds, on a set in the BEIR form.

A set is a folder with `corpus.jsonl`, `queries.jsonl` (`_id`, `title`, `text`) and `qrels.tsv`
(query id, document id, grade; a header line).
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope.embedding.base import EmbeddingModelBase
from agentscope.message.blocks import TextBlock
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.document import SearchMode, Section
from agentscope.rag.evaluation import Measures, measure
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.base import RunVectorStore

DEPTH = 10
CHUNKS_ASKED = 30


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Documents, questions and which document answers which."""

    documents: Mapping[str, str]
    queries: Mapping[str, str]
    judgements: Mapping[str, Mapping[str, float]]


def read_set(folder: Path, *, queries: Path | None = None, every: int = 1) -> RetrievalSet:
    """Read a set; `queries` names a folder whose questions are asked instead.

    Only each `every`th question is taken.

    Questions without judgements are left out, and so are documents without text.
    """
    documents = {
        str(row["_id"]): text for row in _rows(folder / "corpus.jsonl") if (text := _text(row))
    }
    judgements: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").split("\n")[1:]:
        if line.strip():
            query, document, grade = line.split("\t")
            judgements.setdefault(query, {})[document] = float(grade)
    asked = {
        str(row["_id"]): str(row["text"])
        for row in _rows((queries or folder) / "queries.jsonl")
        if str(row["_id"]) in judgements
    }
    asked = dict(list(asked.items())[::every])
    return RetrievalSet(documents, asked, {key: judgements[key] for key in asked})


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def _text(row: Mapping[str, Any]) -> str:
    title, text = str(row.get("title", "")).strip(), str(row["text"]).strip()
    return text if not title or text.startswith(title) or not text else f"{title}\n\n{text}"


@dataclass(frozen=True, slots=True)
class Answered:
    """How one mode of search did."""

    measures: Measures
    latencies_ms: Sequence[float]


class Exam:
    """One set in one collection, asked in several modes; chunked as a new knowledge base does."""

    def __init__(
        self, data: RetrievalSet, model: EmbeddingModelBase, store: RunVectorStore
    ) -> None:
        self.data = data
        self.knowledge = KnowledgeBase("exam", "", model, store, "exam")

    async def prepare(self) -> None:
        """Index every document."""
        chunker = ApproxTokenChunker()
        for identifier, text in self.data.documents.items():
            section = Section(content=TextBlock(text=text), source=identifier)
            await self.knowledge.insert_document(await chunker.chunk([section]), identifier)

    async def ask(self, mode: SearchMode) -> Answered:
        """Ask every question in this mode."""
        rankings, latencies = {}, []
        for identifier, query in self.data.queries.items():
            begun = time.perf_counter()
            hits = await self.knowledge.search(query, CHUNKS_ASKED, mode=mode)
            latencies.append((time.perf_counter() - begun) * 1000)
            rankings[identifier] = [hit.document_id for hit in hits]
        return Answered(measure(rankings, self.data.judgements, DEPTH), latencies)
