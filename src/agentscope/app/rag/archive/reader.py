"""Reads an archive in its one order and checks everything; nothing in it is trusted."""

from collections.abc import AsyncIterator

from agentscope.app.rag.archive import layout
from agentscope.app.rag.archive.layout import (
    ArchiveEnd,
    Document,
    DocumentEnd,
    Manifest,
)
from agentscope.app.rag.archive.tar import TarEntry, TarReader
from agentscope.errors import ArchiveInvalidError, TooLargeError

CHECKSUM = "The archive is damaged: a checksum does not match."
ORDER = "The archive is damaged: its entries are not in their order."
COUNT = "The archive is damaged: its totals do not match."


class IncomingDocument:
    """One document as it arrives; read `original`, then `batches`, or `finish` at any point.

    `end` is there once its last entry was read and every checksum matched.
    """

    def __init__(self, tar: TarReader, number: int, document: Document, digest: str) -> None:
        self.document = document
        self.end: DocumentEnd | None = None
        self._tar = tar
        self._number = number
        self._digests = {"document.json": digest}
        self._original_read = False

    @property
    def original_digest(self) -> str:
        """The SHA-256 of the file, once it was read to its end."""
        return self._digests["original"]

    async def original(self) -> AsyncIterator[bytes]:
        """Yield the file; its length and checksum are checked before the last piece ends."""
        self._original_read = True
        entry, part = await self._next()
        if part != "original":
            raise ArchiveInvalidError(ORDER)
        if entry.size != self.document.size:
            raise ArchiveInvalidError("The archive is damaged: a file has another length.")
        async for piece in self._tar.content():
            yield piece
        digest = self._tar.digest
        if self.document.sha256 not in (None, digest):
            raise ArchiveInvalidError(CHECKSUM)
        self._digests[part] = digest

    async def batches(self) -> AsyncIterator[tuple[bytes, bytes]]:
        """Yield (chunks, vectors) as they stand in the archive; `end` is there afterwards."""
        for batch in range(layout.MAX_BATCHES):
            entry, part = await self._next()
            if part == "end.json":
                await self._finish(entry)
                return
            if part != layout.chunks_name(batch):
                raise ArchiveInvalidError(ORDER)
            chunks = await self._read(entry, part)
            entry, part = await self._next()
            if part != layout.vectors_name(batch):
                raise ArchiveInvalidError(ORDER)
            yield chunks, await self._read(entry, part)
        raise TooLargeError("A document in the archive has too many parts.")

    async def finish(self) -> None:
        """Pass over what was not read; checksums are checked all the same."""
        if not self._original_read:
            async for _ in self.original():
                pass
        if self.end is None:
            async for _ in self.batches():
                pass

    async def _finish(self, entry: TarEntry) -> None:
        content = await self._tar.read(entry, max_bytes=layout.MAX_CHUNKS_BYTES)
        end = layout.decoded(DocumentEnd, content, what="end of a document")
        if end.entries != self._digests:
            raise ArchiveInvalidError(CHECKSUM)
        if end.complete and end.chunks != self.document.chunks:
            raise ArchiveInvalidError(COUNT)
        self.end = end

    async def _next(self) -> tuple[TarEntry, str]:
        entry = await self._tar.next()
        if entry is None:
            raise ArchiveInvalidError(ORDER)
        number, part = layout.split_name(entry.name)
        if number != self._number:
            raise ArchiveInvalidError(ORDER)
        return entry, part

    async def _read(self, entry: TarEntry, part: str) -> bytes:
        content = await self._tar.read(entry, max_bytes=layout.MAX_CHUNKS_BYTES)
        self._digests[part] = self._tar.digest
        return content


class ArchiveReader:
    """One archive: `manifest` first, then `documents` to the end, then `end` is there."""

    def __init__(self, pieces: AsyncIterator[bytes], *, max_bytes: int, max_documents: int) -> None:
        self._tar = TarReader(pieces, max_bytes=max_bytes)
        self._max_documents = max_documents
        self.end: ArchiveEnd | None = None

    async def manifest(self) -> Manifest:
        """Return the first entry.

        Raises:
            ArchiveInvalidError, ArchiveVersionError, ArchiveIncompleteError.
        """
        entry = await self._tar.next()
        if entry is None or entry.name != layout.MANIFEST:
            raise ArchiveInvalidError("This file is no export of a knowledge base.")
        content = await self._tar.read(entry, max_bytes=layout.MAX_JSON_BYTES)
        return layout.decoded_manifest(content)

    async def documents(self) -> AsyncIterator[IncomingDocument]:
        """Yield each document; what its reader leaves is passed over before the next.

        Raises:
            ArchiveInvalidError: the archive is not what an export writes.
            TooLargeError: it is larger than the limits.
        """
        number = chunks = 0
        while True:
            entry = await self._tar.next()
            if entry is None:
                raise ArchiveInvalidError(ORDER)
            if entry.name == layout.END:
                await self._finish(entry, number, chunks)
                return
            number += 1
            if number > self._max_documents:
                raise TooLargeError(
                    f"The archive has more than the limit of {self._max_documents} documents."
                )
            document = await self._begin(entry, number)
            yield document
            await document.finish()
            assert document.end is not None, "finish reads the end"
            chunks += document.end.chunks if document.end.complete else 0

    async def _begin(self, entry: TarEntry, number: int) -> IncomingDocument:
        if layout.split_name(entry.name) != (number, "document.json"):
            raise ArchiveInvalidError(ORDER)
        content = await self._tar.read(entry, max_bytes=layout.MAX_JSON_BYTES)
        document = layout.decoded(Document, content, what="record of a document")
        return IncomingDocument(self._tar, number, document, self._tar.digest)

    async def _finish(self, entry: TarEntry, documents: int, chunks: int) -> None:
        before = self._tar.before
        content = await self._tar.read(entry, max_bytes=layout.MAX_JSON_BYTES)
        end = layout.decoded(ArchiveEnd, content, what="end of the archive")
        if end.sha256 != before:
            raise ArchiveInvalidError(CHECKSUM)
        if (end.documents, end.chunks) != (documents, chunks):
            raise ArchiveInvalidError(COUNT)
        if await self._tar.next() is not None:
            raise ArchiveInvalidError(ORDER)
        await self._tar.finish()
        self.end = end
