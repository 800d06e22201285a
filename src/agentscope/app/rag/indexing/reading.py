"""Reading a document: from a file on disk to a spool of chunks. The seam of the parser pool.

A `DocumentReader` parses and chunks one file and leaves its chunks in a spool file, one JSON
object per line, so that embedding can restart without parsing and memory stays bounded. The real
one is `parser_pool.ParserPool` (a killable child per slot); the simulation has one in line.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agentscope.app.records import DocumentStatus
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.document import Chunk, ParseReport
from agentscope.rag.parser.base import ParseOptions, ParserBase


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bounds of reading one document; each names what the child may use at most."""

    wall_seconds: float = 600.0
    cpu_seconds: int = 600
    memory_bytes: int = 1024 * 1024 * 1024  # growth of the child over its idle size
    output_chars: int = 200_000_000
    max_chunks: int = 500_000


@dataclass(frozen=True, slots=True)
class ReadJob:
    """One file to read; parser and chunker are picklable objects."""

    document_id: str
    path: Path
    filename: str
    parser: ParserBase
    chunker: ChunkerBase
    spool: Path  # written by the reader; the caller removes it
    options: ParseOptions = field(default_factory=ParseOptions)
    limits: ReadLimits = field(default_factory=ReadLimits)


@dataclass(frozen=True, slots=True)
class ReadProgress:
    """How far reading is; `total` is 0 while unknown. `stage` becomes the document's status."""

    stage: DocumentStatus  # PARSING while sections come, CHUNKING for what is left after
    done: int
    total: int
    unit: str


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """What reading gave; the chunks are in the spool."""

    chunk_count: int
    text_chunks: int  # the others hold data blocks
    report: ParseReport
    seconds: float


class DocumentReader(Protocol):
    """Reads documents, bounded in time and memory."""

    async def read(
        self, job: ReadJob, *, on_progress: Callable[[ReadProgress], None]
    ) -> ReadOutcome:
        """Parse and chunk the file into `job.spool`.

        Cancelling the call stops the work at once. `on_progress` is called on the event loop.

        Raises:
            ParseError: the document's own fault (damaged, encrypted, ...).
            ParseLimitError: it took more than `job.limits` allow.
            ParserCrashError: the reading process died; the document is the suspect.
        """


def read_spool(spool: Path, total: int) -> Iterator[Chunk]:
    """Yield the chunks of a spool in order, with `total_chunks` set; call it off the event loop."""
    with spool.open("rb") as lines:
        for line in lines:
            chunk = Chunk.model_validate_json(line)
            yield chunk.model_copy(update={"total_chunks": total})
