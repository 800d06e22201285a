"""Bytes to text, piece by piece, so that a file of any size needs little memory."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from agentscope.rag.parser.cleaning import without_forbidden

_BLOCK = 256 * 1024
_ERRORS = "agentscope_single_byte"


def _as_single_byte(error: UnicodeError) -> tuple[str, int]:
    """Read a byte that does not fit the encoding as Windows-1252, the most common stray one."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.start + 1]
    return stray.decode("cp1252", "ignore"), error.start + 1


codecs.register_error(_ERRORS, _as_single_byte)


def blocks(file: bytes | Path, size: int = _BLOCK) -> Iterator[bytes]:
    """Yield the content of `file` in blocks of at most `size` bytes."""
    if isinstance(file, bytes):
        for start in range(0, len(file), size):
            yield file[start : start + size]
        return
    with file.open("rb") as stream:
        while block := stream.read(size):
            yield block


def head_of(file: bytes | Path, size: int) -> bytes:
    """Return the first `size` bytes of `file`."""
    return next(blocks(file, size), b"")


def decoded(file: bytes | Path, encoding: str) -> Iterator[str]:
    """Yield the text of `file` with plain newlines, without NUL, surrogates or byte order mark."""
    decoder = codecs.getincrementaldecoder(encoding)(_ERRORS)
    first, held = True, ""
    for block in blocks(file):
        text = held + decoder.decode(block)
        held = "\r" if text.endswith("\r") else ""
        text = text[: len(text) - len(held)]
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        if text:
            yield _tidy(text)
    rest = held + decoder.decode(b"", final=True)
    if rest:
        yield _tidy(rest)


def _tidy(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return without_forbidden(text)
