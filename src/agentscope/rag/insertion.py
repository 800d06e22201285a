"""Embeds chunks in bounded batches and hands them to a vector store."""

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentscope.embedding.base import EmbeddingModelBase
from agentscope.errors import EmbeddingCountError, VectorStoreError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point, Run, Vector
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.stopping import stopped

BATCH_CHUNKS = 64
BATCH_TEXT_BYTES = 1024 * 1024
BATCHES_AT_A_TIME = 4
PAUSES_SECONDS = (0.5, 2.0)
"""Before a batch is written again: its vectors are paid for, and writing it twice is harmless."""

logger = logging.getLogger(__name__)

Chunks = Iterable[Chunk] | AsyncIterable[Chunk]


@dataclass(frozen=True, slots=True)
class InsertProgress:
    """How far an insertion is."""

    stored: int
    """Chunks that are in the vector store."""
    dropped: int
    """Chunks of data left out because the model takes text only."""


ProgressCallback = Callable[[InsertProgress], Awaitable[None] | None]


@dataclass(slots=True)
class Insertion:
    """One document on its way into one collection.

    Batches run side by side within a bound; the first failure cancels the others, and the call
    ends only when all of them have ended.
    """

    model: EmbeddingModelBase
    store: RunVectorStore
    collection: str
    document_id: str
    run: Run
    knowledge_base_id: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    """Metadata that a chunk's own overrides."""
    after: Mapping[str, Any] = field(default_factory=dict)
    """Metadata that overrides a chunk's own."""
    on_progress: ProgressCallback | None = None
    before_write: Callable[[], None] | None = None
    """Called before every write; what it raises ends the insertion."""
    stored: int = 0
    dropped: int = 0

    async def store_all(self, chunks: Chunks) -> int:
        """Store every chunk and return how many there were; they are numbered densely from 0."""
        running: set[asyncio.Task[None]] = set()
        try:
            async for batch in self._batches(chunks):
                if len(running) >= BATCHES_AT_A_TIME:
                    running = await self._settle(running, asyncio.FIRST_COMPLETED)
                running.add(asyncio.create_task(self._store(batch)))
            while running:
                running = await self._settle(running, asyncio.FIRST_COMPLETED)
        except BaseException:
            await stopped(running)
            raise
        if self.dropped:
            logger.info(
                "chunks_without_text_dropped",
                extra={"document_id": self.document_id, "dropped": self.dropped},
            )
        return self.stored

    async def _settle(
        self, running: set[asyncio.Task[None]], until: str
    ) -> set[asyncio.Task[None]]:
        done, pending = await asyncio.wait(running, return_when=until)
        running -= done  # in place, so that the caller cancels only what still runs
        failures = [error for task in done if (error := task.exception()) is not None]
        if failures:  # every outcome was read above, or the loop would complain about the others
            raise failures[0]
        return pending

    async def _batches(self, chunks: Chunks) -> AsyncIterator[list[Chunk]]:
        batch: list[Chunk] = []
        size = number = 0
        async for chunk in _each(chunks):
            is_text = isinstance(chunk.content, TextBlock)
            if not is_text and not self.model.supports_multimodal:
                self.dropped += 1
                continue
            weight = _text_bytes(chunk)
            if batch and (len(batch) >= BATCH_CHUNKS or size + weight > BATCH_TEXT_BYTES):
                yield batch
                batch, size = [], 0
            batch.append(self._numbered(chunk, number))
            number += 1
            size += weight
        if batch:
            yield batch

    def _numbered(self, chunk: Chunk, number: int) -> Chunk:
        metadata = {**self.before, **chunk.metadata, **self.after}
        return chunk.model_copy(
            update={
                "content": _storable(chunk.content),
                "chunk_index": number,
                "metadata": _storable(metadata),
            }
        )

    async def _store(self, batch: list[Chunk]) -> None:
        inputs = [chunk.content for chunk in batch]
        response = await self.model(inputs)
        if len(response.embeddings) != len(batch):
            raise EmbeddingCountError
        await self._write(
            [
                Point(vector, self.document_id, self.run, chunk, self.knowledge_base_id)
                for vector, chunk in zip(response.embeddings, batch, strict=True)
            ]
        )
        self.stored += len(batch)
        if self.on_progress is not None:
            waiting = self.on_progress(InsertProgress(self.stored, self.dropped))
            if waiting is not None:
                await waiting

    async def _write(self, points: list[Point]) -> None:
        """Write a batch; a store that fails for a moment does not cost the whole document."""
        for pause in (*PAUSES_SECONDS, None):
            if self.before_write is not None:
                self.before_write()
            try:
                await self.store.upsert(self.collection, points)
            except VectorStoreError as exc:
                if pause is None or not exc.retryable:
                    raise
                logger.warning(
                    "batch_written_again",
                    extra={"document_id": self.document_id, "error_code": exc.code},
                )
                await asyncio.sleep(pause)
            else:
                return


def carried_points(
    chunks: Iterable[Chunk],
    vectors: Iterable[Vector],
    document_id: str,
    run: Run,
    *,
    knowledge_base_id: str,
    after: Mapping[str, Any],
) -> list[Point]:
    """Return points of chunks that were embedded elsewhere; `after` overrides their metadata."""
    return [
        Point(
            vector,
            document_id,
            run,
            chunk.model_copy(
                update={
                    "content": _storable(chunk.content),
                    "metadata": _storable({**chunk.metadata, **after}),
                }
            ),
            knowledge_base_id,
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]


async def _each(chunks: Chunks) -> AsyncIterator[Chunk]:
    if isinstance(chunks, AsyncIterable):
        async for chunk in chunks:
            yield chunk
    else:
        for chunk in chunks:
            yield chunk


def _text_bytes(chunk: Chunk) -> int:
    if isinstance(chunk.content, TextBlock):
        text = chunk.content.text
        return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return len(getattr(chunk.content.source, "data", ""))


def _storable(value: Any) -> Any:
    """Return `value` without NUL and lone surrogates, which no store can keep; lengths stay."""
    if isinstance(value, str):
        if "\0" in value:
            value = value.replace("\0", " ")
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, TextBlock):
        text = _storable(value.text)
        return value if text == value.text else value.model_copy(update={"text": text})
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value
