"""One knowledge base as one file, written as it is sent: memory does not grow with its size."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from agentscope.app.rag.archive import layout
from agentscope.app.rag.archive.layout import Chunker, Document, Embedding, Manifest, Settings
from agentscope.app.rag.archive.writer import ArchiveWriter
from agentscope.app.rag.service.details import describe
from agentscope.app.rag.service.opening import OpenedKnowledgeBase, open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import VISIBLE, DocumentRecord, KnowledgeBaseRecord
from agentscope.errors import (
    BlobNotFoundError,
    CollectionNotFoundError,
    KnowledgeBaseNotFoundError,
    TooLargeError,
)
from agentscope.identity import new_id
from agentscope.installation import installed_version
from agentscope.rag.document import Chunk, Vector
from agentscope.rag.vector_store.base import VectorReader

logger = logging.getLogger(__name__)

PAGE = 100
GONE = "The original file is missing."


@dataclass(frozen=True, slots=True)
class Export:
    """An archive that is made while it is read."""

    record: KnowledgeBaseRecord
    pieces: AsyncIterator[bytes]


async def export_knowledge_base(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str
) -> Export:
    """Return the archive of a knowledge base, with the original files.

    Documents that are not indexed at the moment come without chunks. What changes meanwhile is
    exported as it is when its turn comes; a document is never exported half.

    Raises:
        KnowledgeBaseNotFoundError: there is none that the viewer may read.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id)
    manifest = await _manifest(service, opened)
    return Export(opened.record, _archive(service, opened.record, manifest))


async def _manifest(service: KnowledgeBaseService, opened: OpenedKnowledgeBase) -> Manifest:
    record = opened.record
    (details,) = await describe(service, [opened])
    config, chunker = record.embedding_model_config, record.chunker_config
    return Manifest(
        format=layout.FORMAT,
        version=layout.VERSION,
        archive_id=new_id(),
        created_at=(await service.storage.now()).isoformat(),
        program=f"agentscope-rag {installed_version()}",
        knowledge_base=Settings(
            name=record.name,
            description=record.description,
            search_mode=record.search_mode,
            embedding=Embedding(
                type=config.type,
                credential_name=details.credential_name,
                model=config.model,
                dimensions=config.dimensions,
                parameters=dict(config.parameters),
                fingerprint=dict(record.fingerprint),
            ),
            chunker=Chunker(type=chunker.type, parameters=dict(chunker.parameters))
            if chunker
            else None,
        ),
    )


async def _archive(
    service: KnowledgeBaseService, record: KnowledgeBaseRecord, manifest: Manifest
) -> AsyncIterator[bytes]:
    writer = ArchiveWriter(modified=int((await service.storage.now()).timestamp()))
    for piece in writer.manifest(manifest):
        yield piece
    after = ""
    while page := await service.storage.documents.of_knowledge_base(
        record.id, after=after, limit=PAGE
    ):
        if await service.storage.knowledge_bases.get(record.user_id, record.id) is None:
            raise KnowledgeBaseNotFoundError  # deleted meanwhile: the answer is cut
        for document in page:
            if document.status in VISIBLE:
                async for piece in _DocumentExport(service, record, writer).pieces(document.id):
                    yield piece
        after = page[-1].id
    for piece in writer.end():
        yield piece
    logger.info("knowledge_base_exported", extra={"knowledge_base_id": record.id})


class _DocumentExport:
    """Writes one document."""

    def __init__(
        self, service: KnowledgeBaseService, record: KnowledgeBaseRecord, writer: ArchiveWriter
    ) -> None:
        self._service = service
        self._record = record
        self._writer = writer

    async def pieces(self, document_id: str) -> AsyncIterator[bytes]:
        """Yield the entries of the document as it is now; nothing if it is gone."""
        document = await self._service.storage.documents.get(
            self._record.user_id, self._record.id, document_id
        )
        if document is None:
            return
        original = await self._opened(document)
        if original is None:
            self._writer.skip(document.id, document.filename, GONE)
            return
        reads = isinstance(self._service.manager.store, VectorReader)
        carried = document.chunk_count if reads and document.active_run_id else 0
        for piece in self._writer.document(_entry_of(document, carried)):
            yield piece
        async for piece in self._writer.original(document.size, original):
            yield piece
        written = 0
        while written < carried:
            batch = await self._batch(document, written)
            if batch is None:
                break
            count, pieces = batch
            for piece in pieces:
                yield piece
            written += count
        for piece in self._writer.end_document(complete=written == carried):
            yield piece

    async def _opened(self, document: DocumentRecord) -> AsyncIterator[bytes] | None:
        """Return the original with its first bytes read, or None if it cannot be had."""
        blobs = self._service.blobs
        try:
            size = await blobs.size(document.blob_uri)
            if size is not None and size != document.size:
                return None
            pieces = blobs.read_range(document.blob_uri, 0)
            first = await anext(pieces, b"")
        except (BlobNotFoundError, FileNotFoundError):
            return None
        return _with_first(first, pieces)

    async def _batch(
        self, document: DocumentRecord, offset: int
    ) -> tuple[int, Iterator[bytes]] | None:
        """Return how many chunks come next and their entries; None: the run is gone."""
        store, run_id = self._service.manager.store, document.active_run_id
        assert isinstance(store, VectorReader) and run_id is not None, "asked before"
        limit = min(layout.BATCH_CHUNKS, document.chunk_count - offset)
        place = (self._record.collection_name, document.id, run_id)
        try:
            chunks = await store.run_chunks(*place, offset=offset, limit=limit)
            vectors = await store.run_vectors(*place, offset=offset, limit=limit)
        except CollectionNotFoundError:
            return None
        if len(chunks) != limit or len(vectors) != limit:
            return None  # a newer run is shown and this one was collected
        try:
            return limit, iter(await asyncio.to_thread(self._encoded, chunks, vectors))
        except TooLargeError:
            return None

    def _encoded(self, chunks: list[Chunk], vectors: list[Vector]) -> list[bytes]:
        return list(self._writer.chunks(chunks, vectors))


def _entry_of(document: DocumentRecord, chunks: int) -> Document:
    return Document(
        id=document.id,
        filename=document.filename,
        size=document.size,
        sha256=document.content_sha256,
        content_type=document.content_type,
        encoding=document.encoding,
        metadata=dict(document.metadata),
        duplicate_of=document.duplicate_of,
        created_at=document.created_at.isoformat(),
        chunks=chunks,
        warnings=list(document.warnings)[: layout.LISTED],
        report=dict(document.report),
    )


async def _with_first(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if first:
        yield first
    async for piece in pieces:
        yield piece
