"""OLE compound files (MS-CFB), the container of old office files and Outlook messages."""

import io
import struct
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from agentscope.errors import CorruptFileError, ParseLimitError
from agentscope.optional import require

COMPOUND_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
STREAM_BYTES_MAX = 64 << 20
# olefile lets the errors of its arithmetic through when the tables lie.
_DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    struct.error,
    RecursionError,
)


class CompoundFile:
    """A compound file whose streams are read by path; names compare without case."""

    def __init__(self, file: bytes | Path, filename: str = "") -> None:
        olefile = require("olefile", package="olefile", extra="all")
        self.filename = filename
        source = io.BytesIO(file) if isinstance(file, bytes) else str(file)
        try:
            self._ole: Any = olefile.OleFileIO(source)
        except _DAMAGE as exc:
            raise CorruptFileError(
                "The file is damaged: its container cannot be opened.", filename=filename
            ) from exc

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ole.close()

    def has(self, *path: str) -> bool:
        """Return whether the stream or folder exists."""
        return bool(self._ole.exists("/".join(path)))

    def entries(self, *folder: str) -> list[str]:
        """Return the distinct names directly below `folder`, in container order."""
        depth = len(folder)
        wanted = [name.casefold() for name in folder]
        found: dict[str, None] = {}
        for path in self._ole.listdir(streams=True, storages=True):
            if len(path) > depth and [name.casefold() for name in path[:depth]] == wanted:
                found[path[depth]] = None
        return list(found)

    def read(self, *path: str) -> bytes:
        """Return a stream's content, b"" when it does not exist.

        Raises:
            CorruptFileError: the stream cannot be followed.
            ParseLimitError: the stream is larger than `STREAM_BYTES_MAX`.
        """
        name = "/".join(path)
        try:
            if self._ole.get_type(name) != 2:  # a folder, or nothing
                return b""
            if self._ole.get_size(name) > STREAM_BYTES_MAX:
                raise ParseLimitError(filename=self.filename)
            with self._ole.openstream(name) as stream:
                return bytes(stream.read())
        except ParseLimitError:
            raise
        except _DAMAGE as exc:
            raise CorruptFileError(
                "The file is damaged: a part of its container cannot be read.",
                filename=self.filename,
            ) from exc
