"""From a stored file to a complete, counted run in the vector store; nothing is published here.

Memory is bounded by a few batches, whatever the size of the file: the blob goes to a private
file, chunks go through a spool, and the knowledge base embeds and writes them batch by batch.
"""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentscope import observe, tracing
from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.app.rag.indexing.findings import (
    Findings,
    findings_of,
    no_text_reason,
    with_left_out,
)
from agentscope.app.rag.indexing.lease import Lease
from agentscope.app.rag.indexing.reading import (
    DocumentReader,
    ReadJob,
    ReadLimits,
    ReadOutcome,
    ReadProgress,
    read_spool,
)
from agentscope.app.rag.indexing.scratch import Scratch, fetch
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.records import (
    ChunkerConfig,
    Claim,
    DocumentRecord,
    DocumentStatus,
    KnowledgeBaseRecord,
    Timings,
)
from agentscope.app.transitions.guards import Progress
from agentscope.app.transitions.migration import generations_of_a_run
from agentscope.errors import (
    AgentScopeError,
    EmbeddingTimeoutError,
    GenerationMissedError,
    KnowledgeBaseNotFoundError,
    LeaseLostError,
    NoTextError,
    VectorStoreError,
)
from agentscope.message.blocks import TextBlock
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.document import Chunk, Run
from agentscope.rag.insertion import InsertProgress
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.parser.base import ParseOptions, ParserBase
from agentscope.rag.parser.media_types import plain_media_type
from agentscope.stopping import stopped

SPOOL_LINES = 64
STALL_REQUESTS = 10
"""A run that stores nothing for so many request timeouts is given up."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A complete run, counted, ready to be published."""

    chunk_count: int
    findings: Findings
    generations: frozenset[int] = frozenset({1})
    """Those whose collections hold the run."""


class Attempt:
    """One run of one document: what it is, where it stands, and what it learned so far."""

    def __init__(self, claim: Claim, lease: Lease) -> None:
        self.claim = claim
        self.lease = lease
        self._stage = "fetching"
        self._stage_began = time.perf_counter()
        self._place = tracing.here()
        self.findings = Findings()
        self.handles: list[KnowledgeBase] = []  # of the collections that may hold its chunks
        self.outcome = ""

    def ended(self, outcome: str, code: str = "") -> None:
        """Count how the run ended."""
        self.outcome = outcome
        observe.RUNS.labels(outcome, code).inc()

    @property
    def document(self) -> DocumentRecord:
        """The document as it was claimed."""
        return self.claim.document

    @property
    def stage(self) -> str:
        """What is being done; assigning another stage measures the one that ends."""
        return self._stage

    @stage.setter
    def stage(self, stage: str) -> None:
        if stage != self._stage:
            self.stage_ended()
            self._stage = stage

    def stage_ended(self) -> None:
        """Measure the stage up to now."""
        now = time.perf_counter()
        seconds = now - self._stage_began
        observe.STAGES.labels(self._stage).observe(seconds)
        self._place.ended(self._stage, seconds)
        self._stage_began = now


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The parts that every run of a worker shares."""

    manager: KnowledgeBaseManagerBase
    blobs: StreamingBlobStore
    reader: DocumentReader
    parser_of: Callable[[DocumentRecord, bytes], tuple[ParserBase, str]]
    chunker_of: Callable[[ChunkerConfig | None], ChunkerBase]
    scratch: Scratch
    timings: Timings
    read_limits: ReadLimits = field(default_factory=ReadLimits)
    max_file_bytes: int = 2 * 1024**3

    async def index(self, attempt: Attempt) -> Indexed:
        """Write the run of `attempt` and return once the store holds exactly its chunks.

        Raises:
            LeaseLostError: the lease ended; nothing more may be written.
            AgentScopeError: the run failed; `attempt` says at which stage.
        """
        async with self.scratch.files() as (path, spool):
            outcome = await self._read(attempt, path, spool)
            return await self._insert(attempt, spool, outcome)

    async def _read(self, attempt: Attempt, path: Path, spool: Path) -> ReadOutcome:
        document = attempt.document
        uri = document.blob_uri
        await fetch(self.blobs, uri, path, max_bytes=self.max_file_bytes)
        attempt.stage = "parsing"
        head = await asyncio.to_thread(_head, path)
        parser, media_type = self.parser_of(document, head)
        job = ReadJob(
            document_id=document.id,
            path=path,
            filename=document.filename,
            parser=parser,
            chunker=self.chunker_of(attempt.claim.knowledge_base.chunker_config),
            spool=spool,
            options=ParseOptions(media_type=media_type, encoding=document.encoding),
            limits=self.read_limits,
        )

        def on_progress(progress: ReadProgress) -> None:
            attempt.stage = str(progress.stage)
            attempt.lease.report(
                progress.stage,
                Progress(attempt.stage, progress.done, progress.total, progress.unit),
            )

        outcome = await self.reader.read(job, on_progress=on_progress)
        attempt.findings = findings_of(document, outcome)
        return outcome

    async def _insert(self, attempt: Attempt, spool: Path, outcome: ReadOutcome) -> Indexed:
        attempt.stage = str(DocumentStatus.INDEXING)
        handle, generation = await self._opened(attempt)
        text_only = not handle.embedding_model.supports_multimodal
        total = outcome.text_chunks if text_only else outcome.chunk_count
        attempt.findings = with_left_out(attempt.findings, outcome.chunk_count - total)
        if total == 0:
            raise NoTextError(no_text_reason(outcome, text_only=text_only))
        spooled = _Spooled(spool, total, text_only)
        started = time.perf_counter()
        await self._store(attempt, handle, spooled)
        held = await self._also_stored(attempt, generation, spooled)
        report = {
            **attempt.findings.report,
            "index_seconds": round(time.perf_counter() - started, 3),
        }
        return Indexed(total, Findings(attempt.findings.warnings, report), held)

    async def _opened(self, attempt: Attempt) -> tuple[KnowledgeBase, int]:
        """Return the handle of the active generation and its number.

        The handle does not say which it is; numbers never fall, so the same before and after do.
        """
        document = attempt.document
        generation = attempt.claim.knowledge_base.generation
        while True:
            handle = await self.manager.get_knowledge(document.user_id, document.knowledge_base_id)
            record = await self._knowledge_base(attempt)
            if record.generation == generation:
                return handle, generation
            generation = record.generation

    async def _knowledge_base(self, attempt: Attempt) -> KnowledgeBaseRecord:
        document = attempt.document
        record = await self.manager.storage.knowledge_bases.get(
            document.user_id, document.knowledge_base_id
        )
        if record is None:
            raise KnowledgeBaseNotFoundError
        return record

    async def _also_stored(
        self, attempt: Attempt, generation: int, spooled: "_Spooled"
    ) -> frozenset[int]:
        """Store the run in the next generation, too, if the knowledge base is about to move there.

        Raises:
            GenerationMissedError: the run is for a generation that is no more, or the next model
                does not work; no fault of the document.
        """
        record = await self._knowledge_base(attempt)
        missing = generations_of_a_run(record) - {generation}
        if not missing:
            return frozenset({generation})
        if record.generation in missing or not isinstance(self.manager, RecordedManager):
            raise GenerationMissedError
        try:
            await self._store(attempt, await self.manager.next_knowledge(record), spooled)
        except LeaseLostError:
            raise
        except AgentScopeError as exc:
            raise GenerationMissedError(context={"next_model_failed": exc.code}) from exc
        return missing | {generation}

    async def _store(self, attempt: Attempt, handle: KnowledgeBase, spooled: "_Spooled") -> None:
        """Write the run into one collection and return once it holds exactly its chunks."""
        document, lease = attempt.document, attempt.lease
        attempt.handles.append(handle)
        watch = _Watch()

        def on_progress(progress: InsertProgress) -> None:
            watch.moved = True
            done = min(progress.stored, spooled.total)
            lease.report(
                DocumentStatus.INDEXING, Progress(attempt.stage, done, spooled.total, "chunk")
            )

        on_progress(InsertProgress(stored=0, dropped=0))
        await self._guarded(
            watch,
            handle.insert_document(
                spooled_chunks(spooled.path, spooled.total, text_only=spooled.text_only),
                document.id,
                document_metadata(document),
                run=Run(attempt.claim.run_id, document.epoch),
                on_progress=on_progress,
                before_write=lease.check,
            ),
        )
        await self._verify(attempt, handle, spooled.total)

    async def _guarded(self, watch: "_Watch", insertion: Any) -> None:
        """Await the insertion; give it up if nothing is stored for too long."""
        limit = STALL_REQUESTS * self.timings.request_timeout.total_seconds()
        task = asyncio.ensure_future(insertion)
        try:
            while True:
                watch.moved = False
                done, _ = await asyncio.wait({task}, timeout=limit)
                if done:
                    task.result()
                    return
                if not watch.moved:
                    raise EmbeddingTimeoutError
        finally:
            await stopped([task])

    async def _verify(self, attempt: Attempt, handle: KnowledgeBase, total: int) -> None:
        """◆ verify: a run that is not complete in the store is never published."""
        attempt.lease.check()
        try:
            async with asyncio.timeout(self.timings.request_timeout.total_seconds()):
                stored = await self.manager.store.count(
                    handle.collection, attempt.document.id, attempt.claim.run_id
                )
        except TimeoutError as exc:
            raise VectorStoreError from exc
        if stored != total:
            raise VectorStoreError(
                "The vector store does not hold all chunks of the document.",
                context={"stored": stored, "expected": total},
            )


@dataclass(slots=True)
class _Watch:
    moved: bool = False


@dataclass(frozen=True, slots=True)
class _Spooled:
    path: Path
    total: int  # chunks to store
    text_only: bool


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(8192)


def document_metadata(document: DocumentRecord) -> dict[str, Any]:
    """Return what every chunk can be filtered by: the upload's metadata and file facts."""
    return {
        **document.metadata,
        "filename": document.filename,
        "media_type": plain_media_type(document.content_type),
        "size_bytes": document.size,
    }


async def spooled_chunks(spool: Path, total: int, *, text_only: bool) -> AsyncIterator[Chunk]:
    """Yield the chunks of a spool numbered 0..total-1, without pictures if the model is blind."""
    lines = read_spool(spool, total)
    number = 0
    try:
        while batch := await asyncio.to_thread(_some, lines):
            for chunk in batch:
                if text_only and not isinstance(chunk.content, TextBlock):
                    continue
                yield chunk.model_copy(update={"chunk_index": number})
                number += 1
    finally:
        await asyncio.to_thread(_close, lines)


def _some(lines: Iterator[Chunk]) -> list[Chunk]:
    return list(itertools.islice(lines, SPOOL_LINES))


def _close(lines: Iterator[Chunk]) -> None:
    close = getattr(lines, "close", None)
    if close is not None:
        close()
