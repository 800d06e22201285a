"""Embeds what a knowledge base shows into its next generation, some documents at a time.

A copy has the run id, the numbers and the text of what it copies, so writing it twice is harmless
and a search judges it by the same record. What is there already is found by counting, so nothing
has to be remembered about a document.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from agentscope.app.records import DocumentRecord, DocumentStatus, KnowledgeBaseRecord
from agentscope.app.storage.base import DocumentStorage
from agentscope.errors import EmbeddingCountError, KnowledgeBaseError, VectorStoreError
from agentscope.message.blocks import TextBlock
from agentscope.rag.concurrency import together
from agentscope.rag.document import Chunk, Point, Run
from agentscope.rag.insertion import BATCH_CHUNKS, BATCH_TEXT_BYTES, BATCHES_AT_A_TIME
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.points import chunk_text
from agentscope.stopping import stopped

PARALLEL_COUNTS = 8

Entry = tuple[DocumentRecord, Chunk]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copier:
    """Copies shown runs from the active collection to that of the next generation."""

    documents: DocumentStorage
    store: RunVectorStore
    record: KnowledgeBaseRecord
    target: KnowledgeBase
    before_write: Callable[[], None]
    """Raises if nothing may be written any more."""

    async def copy(self, page: Sequence[DocumentRecord]) -> None:
        """Return once the next generation holds every run of the page that is still shown.

        Raises:
            EmbeddingError, VectorStoreError: a model or store failed; what was copied stays.
            KnowledgeBaseError: a chunk is a picture and the new model takes text only.
        """
        missing = await self._missing([item for item in page if _shown(item)])
        running: set[asyncio.Task[None]] = set()
        try:
            async for batch in _batches(self._entries(missing)):
                if len(running) >= BATCHES_AT_A_TIME:
                    running = await _settle(running)
                running.add(asyncio.create_task(self._copy(batch)))
            while running:
                running = await _settle(running)
        finally:
            await stopped(running)
        await self._verify(missing)

    async def _missing(self, page: Sequence[DocumentRecord]) -> list[DocumentRecord]:
        found: list[DocumentRecord] = []
        for start in range(0, len(page), PARALLEL_COUNTS):
            some = page[start : start + PARALLEL_COUNTS]
            counts = await together([partial(self._count, item) for item in some])
            pairs = zip(some, counts, strict=True)
            found += [item for item, count in pairs if count != item.chunk_count]
        return found

    async def _count(self, document: DocumentRecord) -> int:
        return await self.store.count(
            self.target.collection, document.id, str(document.active_run_id)
        )

    async def _entries(self, documents: Sequence[DocumentRecord]) -> AsyncIterator[Entry]:
        for document in documents:
            offset = 0
            while chunks := await self.store.run_chunks(
                self.record.collection_name,
                document.id,
                str(document.active_run_id),
                offset=offset,
                limit=BATCH_CHUNKS,
            ):
                for chunk in chunks:
                    yield document, chunk
                offset += len(chunks)
                if len(chunks) < BATCH_CHUNKS:
                    break

    async def _copy(self, batch: Sequence[Entry]) -> None:
        model = self.target.embedding_model
        if not model.supports_multimodal and any(
            not isinstance(chunk.content, TextBlock) for _, chunk in batch
        ):
            raise KnowledgeBaseError(
                "The knowledge base holds pictures, and the new embedding model takes text only."
            )
        response = await model([chunk.content for _, chunk in batch])
        if len(response.embeddings) != len(batch):
            raise EmbeddingCountError
        shown = await self._still_shown([document for document, _ in batch])
        points = [
            Point(vector, document.id, _run(document), chunk, self.record.id)
            for (document, chunk), vector in zip(batch, response.embeddings, strict=True)
            if document.id in shown
        ]
        self.before_write()
        if points:
            await self.store.upsert(self.target.collection, points)

    async def _still_shown(self, documents: Sequence[DocumentRecord]) -> set[str]:
        """◆ late_copy: leave out what was deleted or replaced meanwhile, or it would never go."""
        now = await self.documents.get_many(
            self.record.user_id, self.record.id, sorted({item.id for item in documents})
        )
        return {
            item.id
            for item in documents
            if item.id in now and now[item.id].active_run_id == item.active_run_id
        }

    async def _verify(self, copied: Sequence[DocumentRecord]) -> None:
        """◆ copy_verify: whatever is shown of the page is complete in the next generation."""
        incomplete = await self._missing(copied)
        if incomplete and await self._still_shown(incomplete):
            raise VectorStoreError("The vector store does not hold all chunks of a copy.")


def _shown(document: DocumentRecord) -> bool:
    return document.active_run_id is not None and document.status is not DocumentStatus.DELETING


def _run(document: DocumentRecord) -> Run:
    return Run(str(document.active_run_id), document.active_epoch)


async def _batches(entries: AsyncIterator[Entry]) -> AsyncIterator[list[Entry]]:
    """Pack chunks of any documents, so that many small ones cost few requests."""
    batch: list[Entry] = []
    size = 0
    async for entry in entries:
        weight = len(chunk_text(entry[1]).encode("utf-8", "replace"))
        if batch and (len(batch) >= BATCH_CHUNKS or size + weight > BATCH_TEXT_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += weight
    if batch:
        yield batch


async def _settle(running: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    done, pending = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    running -= done  # in place, so that the caller cancels only what still runs
    failures = [error for task in done if (error := task.exception()) is not None]
    if failures:
        raise failures[0]
    return pending
