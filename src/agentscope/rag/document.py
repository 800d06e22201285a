"""What flows through the pipeline: sections, chunks, points and hits."""

import enum
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from agentscope.message.blocks import ContentBlock

Vector = list[float]


class Section(BaseModel):
    """A natural part of a document: a page, a slide, a sheet, a text.

    `metadata` may hold `page`, `slide` or `sheet`, and `heading_path` (list of str, outermost
    first). Chunks never cross sections.
    """

    content: ContentBlock
    source: str
    metadata: dict[str, Any] = Field(default_factory=dict)


class Chunk(BaseModel):
    """The unit that is embedded and found.

    `chunk_index` counts from 0 over the whole document. A text chunk that was cut from a
    section has `char_start` and `char_end` in `metadata`: code points into that section's text,
    and `section_index`, which counts sections from 0.
    """

    content: ContentBlock
    source: str
    chunk_index: int
    total_chunks: int
    metadata: dict[str, Any] = Field(default_factory=dict)


class VectorRecord(BaseModel):
    """One chunk with its vector, as the documented vector store contract takes it."""

    vector: Vector
    document_id: str
    chunk: Chunk


class VectorSearchResult(BaseModel):
    """One hit; `score` is higher for better hits, its scale is stated by whoever produced it."""

    score: float
    document_id: str
    chunk: Chunk


class LegScore(BaseModel):
    """Where one search leg put a hit: its raw score and its rank from 1."""

    score: float
    rank: int


class SearchHit(VectorSearchResult):
    """A hit of `KnowledgeBase.search` with what is needed to explain and show it."""

    knowledge_base_id: str = ""
    vector: LegScore | None = None
    keyword: LegScore | None = None
    rerank: LegScore | None = None
    highlights: list[tuple[int, int]] = Field(default_factory=list)
    """Code point ranges [start, end) of the chunk's text that match the query."""
    before: list[Chunk] = Field(default_factory=list)
    """Neighbouring chunks that precede the hit, in document order."""
    after: list[Chunk] = Field(default_factory=list)
    """Neighbouring chunks that follow the hit, in document order."""


class DocumentSummary(BaseModel):
    """A document as a vector store sees it."""

    document_id: str
    source: str
    chunk_count: int
    metadata: dict[str, Any] = Field(default_factory=dict)


class SearchMode(enum.StrEnum):
    """Which legs a search uses."""

    VECTOR = "vector"
    KEYWORD = "keyword"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class Run:
    """The namespace in which one indexing attempt writes; library mode uses the empty run."""

    run_id: str = ""
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    """What a vector store keeps for one chunk of one run."""

    vector: Vector
    document_id: str
    run: Run
    chunk: Chunk
    knowledge_base_id: str = ""


@dataclass(frozen=True, slots=True)
class StoreHit:
    """One hit of one leg of a vector store, before any visibility check."""

    score: float
    document_id: str
    run_id: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The points of one run of one document, as an audit sees them."""

    document_id: str
    run_id: str
    epoch: int
    count: int


@dataclass(slots=True)
class Coverage:
    """How much of a document had text; `unit` is page, slide, sheet, image or section."""

    unit: str = "section"
    total: int = 0
    with_text: int = 0
    without_text: list[int] = field(default_factory=list)
    """Numbers, from 1, of the parts without text; at most the first 1,000."""


@dataclass(slots=True)
class ParseReport:
    """What a parser noticed while it read a file; filled as the sections are read."""

    media_type: str = ""
    parser: str = ""
    encoding: str | None = None
    language: str | None = None
    coverage: Coverage = field(default_factory=Coverage)
    warnings: list[str] = field(default_factory=list)
    """Plain sentences for the user; at most 100, each at most 500 characters."""

    def warn(self, sentence: str) -> None:
        """Add a warning once, within the bounds."""
        if sentence not in self.warnings and len(self.warnings) < 100:
            self.warnings.append(sentence[:500])
