"""Entries of a tar archive as a stream: headers to write, and a reader that trusts nothing.

Only plain files are read: no links, no folders, no long-name extensions. The standard library
writes and checks the header blocks.
"""

import hashlib
import tarfile
from collections.abc import AsyncIterator
from dataclasses import dataclass

from agentscope.errors import ArchiveIncompleteError, ArchiveInvalidError, TooLargeError

BLOCK = 512
END = bytes(2 * BLOCK)
PIECE_BYTES = 1024 * 1024
_PLAIN_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)


def header(name: str, size: int, *, modified: int) -> bytes:
    """Return the header block of a file; `modified` is in seconds since 1970."""
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size, modified, 0o600
    return info.tobuf(tarfile.GNU_FORMAT)


def padding(size: int) -> bytes:
    """Return what fills the last block of a file."""
    return bytes(-size % BLOCK)


@dataclass(frozen=True, slots=True)
class TarEntry:
    """A file whose content comes next."""

    name: str
    size: int


class TarReader:
    """Reads entries one after the other; what was not read of one is passed over.

    `digest` is the SHA-256 of the content of the current entry once it was read to its end,
    `before` that of everything in front of its header.
    """

    def __init__(self, pieces: AsyncIterator[bytes], *, max_bytes: int) -> None:
        self._pieces = pieces
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._seen = 0
        self._whole = hashlib.sha256()
        self._entry = hashlib.sha256()
        self._left = 0
        self._padding = 0
        self.before = ""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the entry that was read."""
        assert self._left == 0, "the entry was read to its end"
        return self._entry.hexdigest()

    async def next(self) -> TarEntry | None:
        """Return the next entry, or None at the end mark.

        Raises:
            ArchiveIncompleteError: the stream ends before the end mark.
            ArchiveInvalidError: the header is damaged or no plain file.
        """
        async for _ in self.content():
            pass
        if any(await self._take(self._padding)):
            raise ArchiveInvalidError("The archive is damaged: its padding is not empty.")
        self.before = self._whole.hexdigest()
        block = await self._take(BLOCK)
        if block == bytes(BLOCK):
            return None
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError) as exc:
            raise ArchiveInvalidError("The archive is damaged: a header is not valid.") from exc
        if info.type not in _PLAIN_FILES or info.size < 0:
            raise ArchiveInvalidError("The archive holds something that is no plain file.")
        self._left, self._padding = info.size, -info.size % BLOCK
        self._entry = hashlib.sha256()
        return TarEntry(info.name, info.size)

    async def content(self) -> AsyncIterator[bytes]:
        """Yield what is left of the current entry, in pieces of at most 1 MiB."""
        while self._left:
            piece = await self._some(min(self._left, PIECE_BYTES))
            self._left -= len(piece)
            self._entry.update(piece)
            yield piece

    async def read(self, entry: TarEntry, *, max_bytes: int) -> bytes:
        """Return the whole content of the current entry.

        Raises:
            TooLargeError: it is larger than `max_bytes`.
        """
        if entry.size > max_bytes:
            raise TooLargeError(
                f"The entry '{entry.name[:100]}' is larger than the limit of {max_bytes} bytes."
            )
        found = bytearray()
        async for piece in self.content():
            found += piece
        return bytes(found)

    async def finish(self) -> None:
        """Read to the end of the stream; only zeros may follow the end mark.

        Raises:
            ArchiveInvalidError: something else follows.
        """
        while True:
            if self._buffer.strip(b"\0"):
                raise ArchiveInvalidError("Something follows the end of the archive.")
            self._buffer.clear()
            if not await self._more():
                return

    async def _more(self) -> bool:
        piece: bytes | None = await anext(self._pieces, None)
        if piece is None:
            return False
        self._seen += len(piece)
        if self._seen > self._max_bytes:
            raise TooLargeError(f"The archive is larger than the limit of {self._max_bytes} bytes.")
        self._buffer += piece
        return True

    async def _some(self, most: int) -> bytes:
        while not self._buffer:
            if not await self._more():
                raise ArchiveIncompleteError
        found = bytes(self._buffer[:most])
        del self._buffer[:most]
        self._whole.update(found)
        return found

    async def _take(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            found += await self._some(size - len(found))
        return found
