"""Zip containers opened with bounds that no directory entry can talk its way around.

Every size is measured while inflating; what the zip directory claims is never trusted. Entries
are only ever read into memory or iterated, never written to a disk, so their names cannot point
anywhere.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseError, ParseLimitError

STEP_BYTES = 1 << 16
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    struct.error,
    ValueError,
    OSError,
)


class _CountingStream(io.RawIOBase):
    """Counts what is read, to know how much stored data an inflated size comes from."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream
        self.count = 0

    def read(self, size: int | None = -1) -> bytes:
        data = self._stream.read(-1 if size is None else size)
        self.count += len(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class ZipLimits:
    """What one container may cost; sizes are inflated bytes."""

    entries: int = 20_000
    directory_bytes: int = 8 << 20
    single_bytes: int = 96 << 20
    total_bytes: int = 1 << 30
    ratio: int = 150
    """Inflated by consumed bytes; repetitive sheets stay below 100, deflate bombs reach 1,000."""
    ratio_floor_bytes: int = 8 << 20
    """The ratio only counts above this size: small entries may be as repetitive as they like."""


class ZipContainer:
    """A zip file whose entries are read by name, without regard to case and slash direction."""

    def __init__(
        self, file: bytes | Path, filename: str = "", limits: ZipLimits | None = None
    ) -> None:
        self.filename = filename
        self.limits = limits or ZipLimits()
        self._inflated = 0
        self._stream: IO[bytes] = io.BytesIO(file) if isinstance(file, bytes) else file.open("rb")
        try:
            self._check_directory()
            self._counter = _CountingStream(self._stream)
            self._zip = zipfile.ZipFile(self._counter)
        except ParseError:
            self._stream.close()
            raise
        except _DAMAGE as exc:
            self._stream.close()
            raise CorruptFileError(
                "The file is damaged: its archive cannot be opened.", filename=filename
            ) from exc
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            self._entries.setdefault(self._key(info.filename), info)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()
        self._stream.close()

    @property
    def names(self) -> list[str]:
        """Return the entry names in directory order, folders left out."""
        return [info.filename for info in self._entries.values() if not info.is_dir()]

    def __contains__(self, name: str) -> bool:
        return self._key(name) in self._entries

    def read(self, name: str, limit_bytes: int | None = None) -> bytes:
        """Return the content of the entry `name`.

        Raises:
            KeyError: there is no such entry.
            CorruptFileError: the entry is damaged.
            EncryptedFileError: the entry needs a password.
            ParseLimitError: it is larger than `limit_bytes` or than the container's limits.
        """
        return b"".join(self.iter_bytes(name, limit_bytes))

    def iter_bytes(self, name: str, limit_bytes: int | None = None) -> Iterator[bytes]:
        """Yield the content of the entry `name` piece by piece; errors are those of `read`."""
        info = self._entries[self._key(name)]
        if info.flag_bits & 0x1:
            raise EncryptedFileError(filename=self.filename)
        single = min(limit_bytes or self.limits.single_bytes, self.limits.total_bytes)
        size = stored = 0
        try:
            with self._zip.open(info) as stream:
                while True:
                    before = self._counter.count
                    piece = stream.read(STEP_BYTES)
                    stored += self._counter.count - before
                    if not piece:
                        return
                    size += len(piece)
                    self._inflated += len(piece)
                    self._check_size(size, single, stored)
                    yield piece
        except ParseError:
            raise
        except _DAMAGE as exc:
            raise CorruptFileError(
                "The file is damaged: a part of its archive cannot be read.",
                filename=self.filename,
            ) from exc

    def measure(self, *names: str) -> None:
        """Inflate the entries once and keep nothing, all of them if none is named.

        For content that is costly to read, so that a bomb is found before work is spent on it,
        and for libraries that open the file themselves.

        Raises:
            ParseError: as `read` for the first entry that breaks a rule.
        """
        before = self._inflated
        for name in names or self.names:
            for _ in self.iter_bytes(name, None if names else self.limits.total_bytes):
                pass
        self._inflated = before

    @staticmethod
    def _key(name: str) -> str:
        return name.replace("\\", "/").lstrip("/").casefold()

    def _check_size(self, size: int, single: int, stored: int) -> None:
        inflates_absurdly = size > self.limits.ratio_floor_bytes and (
            size > self.limits.ratio * max(stored, 1)
        )
        if size > single or inflates_absurdly or self._inflated > self.limits.total_bytes:
            raise ParseLimitError(
                "The file unpacks to more data than allowed.", filename=self.filename
            )

    def _check_directory(self) -> None:
        """Bound the directory before the zip library reads it as a whole."""
        self._stream.seek(0, io.SEEK_END)
        length = self._stream.tell()
        tail_start = max(0, length - 65_557)
        self._stream.seek(tail_start)
        tail = self._stream.read()
        at = tail.rfind(b"PK\x05\x06")
        if at < 0 or len(tail) - at < 22:
            raise zipfile.BadZipFile
        count, size = struct.unpack_from("<HI", tail, at + 10)
        if (count == 0xFFFF or size == 0xFFFFFFFF) and tail[at - 20 : at - 16] == b"PK\x06\x07":
            (record,) = struct.unpack_from("<Q", tail, at - 12)
            self._stream.seek(min(record, length))
            count, size = struct.unpack_from("<QQ", self._stream.read(56), 32)
        if count > self.limits.entries or size > self.limits.directory_bytes:
            raise ParseLimitError(
                "The file is an archive with more entries than allowed.", filename=self.filename
            )
        self._stream.seek(0)
