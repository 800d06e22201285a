"""Writes an archive: gives the bytes of each entry and keeps the checksums."""

import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence

from agentscope.app.rag.archive import layout, tar
from agentscope.app.rag.archive.layout import (
    ArchiveEnd,
    Document,
    DocumentEnd,
    Manifest,
    Skipped,
)
from agentscope.app.rag.archive.vectors import line_of, packed
from agentscope.errors import BlobStoreError, TooLargeError
from agentscope.rag.document import Chunk, Vector


class ArchiveWriter:
    """One archive; every method yields bytes, which must be sent in the order of the calls."""

    def __init__(self, *, modified: int) -> None:
        self._modified = modified
        self._whole = hashlib.sha256()
        self._documents = 0
        self._chunks = 0
        self._skipped: list[Skipped] = []
        self._entries: dict[str, str] = {}
        self._batches = 0
        self._written = 0

    def manifest(self, manifest: Manifest) -> Iterator[bytes]:
        """Yield the first entry."""
        yield from self._entry(layout.MANIFEST, layout.encoded(manifest))

    def skip(self, document_id: str, filename: str, reason: str) -> None:
        """Note a document that cannot be exported; at most 1,000 are told one by one."""
        if len(self._skipped) < layout.LISTED:
            self._skipped.append(Skipped(id=document_id, filename=filename, reason=reason))

    def document(self, document: Document) -> Iterator[bytes]:
        """Yield the entry that begins a document."""
        self._documents += 1
        self._entries, self._batches, self._written = {}, 0, 0
        yield from self._part("document.json", layout.encoded(document))

    async def original(self, size: int, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the file; its length is told before its bytes.

        Raises:
            BlobStoreError: the file has another length.
        """
        name, digest, left = "original", hashlib.sha256(), size
        yield self._counted(self._header(name, size))
        async for piece in pieces:
            left -= len(piece)
            if left < 0:
                break
            digest.update(piece)
            yield self._counted(piece)
        if left:
            raise BlobStoreError("An original file does not have the length that was recorded.")
        self._entries[name] = digest.hexdigest()
        yield self._counted(tar.padding(size))

    def chunks(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> Iterator[bytes]:
        """Yield chunks with their vectors, in batches of a bounded size.

        Raises:
            TooLargeError: one chunk is larger than an entry may be.
        """
        every = [line_of(chunk) for chunk in chunks]
        if any(len(line) > layout.MAX_CHUNKS_BYTES for line in every):
            raise TooLargeError
        first = weight = 0
        for number, line in enumerate(every):
            if number > first and weight + len(line) > layout.BATCH_BYTES:
                yield from self._batch(every[first:number], vectors[first:number])
                first, weight = number, 0
            weight += len(line)
        if every:
            yield from self._batch(every[first:], vectors[first:])

    def _batch(self, lines: list[bytes], vectors: Sequence[Vector]) -> Iterator[bytes]:
        yield from self._part(layout.chunks_name(self._batches), b"".join(lines))
        yield from self._part(layout.vectors_name(self._batches), packed(vectors))
        self._batches += 1
        self._written += len(lines)

    def end_document(self, *, complete: bool) -> Iterator[bytes]:
        """Yield the entry that ends a document."""
        end = DocumentEnd(complete=complete, chunks=self._written, entries=self._entries)
        self._chunks += self._written if complete else 0
        yield from self._part("end.json", layout.encoded(end))

    def end(self) -> Iterator[bytes]:
        """Yield the last entry and the end mark."""
        end = ArchiveEnd(
            documents=self._documents,
            chunks=self._chunks,
            sha256=self._whole.hexdigest(),
            skipped=self._skipped,
        )
        yield from self._entry(layout.END, layout.encoded(end))
        yield tar.END

    def _part(self, name: str, content: bytes) -> Iterator[bytes]:
        self._entries[name] = hashlib.sha256(content).hexdigest()
        yield from self._entry(f"{layout.folder(self._documents)}/{name}", content)

    def _entry(self, name: str, content: bytes) -> Iterator[bytes]:
        framed = tar.header(name, len(content), modified=self._modified)
        yield self._counted(framed + content + tar.padding(len(content)))

    def _header(self, name: str, size: int) -> bytes:
        place = f"{layout.folder(self._documents)}/{name}"
        return tar.header(place, size, modified=self._modified)

    def _counted(self, piece: bytes) -> bytes:
        self._whole.update(piece)
        return piece
