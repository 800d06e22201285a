"""Previews of chunks, read in the same kind of child process as documents that are indexed."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.app.rag.indexing.assembly import stored_parser
from agentscope.app.rag.indexing.parser_pool import ParserPool
from agentscope.app.rag.indexing.reading import ReadJob, ReadLimits, ReadProgress, read_spool
from agentscope.app.rag.indexing.scratch import Scratch, fetch
from agentscope.app.rag.service.previewer import PREVIEW_CHUNKS, Preview, PreviewSource
from agentscope.errors import QuotaExceededError
from agentscope.identity import new_id
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.document import Chunk
from agentscope.rag.parser.base import ParseOptions
from agentscope.rag.parser.registry import HEAD_BYTES, ParserRegistry

LIMITS = ReadLimits(
    wall_seconds=30.0,
    cpu_seconds=30,
    memory_bytes=512 * 1024 * 1024,
    output_chars=20_000_000,
    max_chunks=50_000,
)
MAX_FILE_BYTES = 64 * 1024 * 1024
WAITING = 8  # previews that may wait for the one that is read


class ParserPoolPreviewer:
    """One preview at a time in a pool of its own, which starts with the first one asked for.

    Not the pool of the indexing slots: a preview would wait behind documents of any size.
    """

    def __init__(
        self,
        parsers: ParserRegistry,
        blobs: StreamingBlobStore,
        *,
        temporary: Path | None = None,
        limits: ReadLimits = LIMITS,
    ) -> None:
        self._parsers = parsers
        self._blobs = blobs
        self._temporary = temporary
        self._limits = limits
        self._stack = AsyncExitStack()
        self._opened: tuple[ParserPool, Scratch] | None = None
        self._turn = asyncio.Lock()
        self._asked = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def preview(self, source: PreviewSource, chunker: ChunkerBase) -> Preview:
        if self._asked > WAITING:
            raise QuotaExceededError("Too many previews are waiting.", retry_after_seconds=5)
        self._asked += 1
        try:
            async with self._turn:
                return await self._preview(source, chunker)
        finally:
            self._asked -= 1

    async def _preview(self, source: PreviewSource, chunker: ChunkerBase) -> Preview:
        if self._opened is None:
            pool = await self._stack.enter_async_context(ParserPool(1))
            self._opened = pool, await self._stack.enter_async_context(Scratch(self._temporary))
        pool, scratch = self._opened
        async with scratch.files() as (path, spool):
            if source.text is not None:
                await asyncio.to_thread(path.write_text, source.text, encoding="utf-8")
            elif source.blob_uri is not None:
                await fetch(self._blobs, source.blob_uri, path, max_bytes=MAX_FILE_BYTES)
            job = await asyncio.to_thread(self._job, source, chunker, path, spool)
            outcome = await pool.read(job, on_progress=_unseen)
            chunks = await asyncio.to_thread(_first, spool, outcome.chunk_count)
        return Preview(chunks, outcome.chunk_count, outcome.report)

    def _job(self, source: PreviewSource, chunker: ChunkerBase, path: Path, spool: Path) -> ReadJob:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        parser, media_type = stored_parser(
            self._parsers, source.filename, source.content_type or "", head
        )
        encoding = "utf-8" if source.text is not None else source.encoding
        return ReadJob(
            document_id=new_id(),
            path=path,
            filename=source.filename,
            parser=parser,
            chunker=chunker,
            spool=spool,
            options=ParseOptions(media_type=media_type, encoding=encoding),
            limits=self._limits,
        )


def _unseen(progress: ReadProgress) -> None:
    del progress


def _first(spool: Path, total: int) -> list[Chunk]:
    chunks = []
    for chunk in read_spool(spool, total):
        chunks.append(chunk)
        if len(chunks) == PREVIEW_CHUNKS:
            break
    return chunks
