"""JSON and JSON lines: readable lines with the escapes of strings resolved.

The text is scanned, not loaded: depth and size do not matter, and half a file is half a text.
"""

import json
import re
from collections.abc import Iterator

from agentscope.rag.parser.cleaning import without_forbidden

_BARE = re.compile(r"[{}\[\],]|\s+|[^\"{}\[\],\s]+|\"")
_TOKEN = re.compile(r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"|[{}\[\],]|\s+|[^\"{}\[\],\s]+|\"", re.DOTALL)
_HELD_MAX = 4 * 1024 * 1024
_LONG_LINE = 500
_BINARY = re.compile(r"[A-Za-z0-9+/=_-]{2000,}")
_INDENT_MAX = 20


def json_pieces(pieces: Iterator[str]) -> Iterator[str]:
    """Yield the same document, one value per line if it came as endless lines."""
    held, lines = "", _Lines()
    for piece in pieces:
        text = held + piece
        cut = _safe_cut(text)
        held = text[cut:]
        yield lines.render(text[:cut])
    yield lines.render(held)


def _safe_cut(text: str) -> int:
    """Return where the text can be cut without tearing a string; a huge string is torn."""
    if len(text) > _HELD_MAX:
        return len(text)
    end = 0
    for match in _TOKEN.finditer(text):
        if match.group() == '"':
            return match.start()
        end = match.start()
    return end


def _tokens(text: str) -> Iterator[str]:
    """Yield the tokens; behind a string that never ends there is no other that does."""
    for match in _TOKEN.finditer(text):
        yield match.group()
        if match.group() == '"':
            # Looking for the end of each would read the rest once per quotation mark.
            yield from (rest.group() for rest in _BARE.finditer(text, match.end()))
            return


class _Lines:
    """Breaks lines at commas and brackets, if the source does not."""

    def __init__(self) -> None:
        self._reflow: bool | None = None
        self._depth = 0

    def render(self, text: str) -> str:
        if self._reflow is None and text:
            self._reflow = len(text) > _LONG_LINE * (text.count("\n") + 1)
        if not self._reflow:
            return "".join(_resolved(token) for token in _tokens(text))
        return "".join(self._broken(token) for token in _tokens(text))

    def _broken(self, piece: str) -> str:
        if piece.isspace():
            return "\n" if "\n" in piece else " "
        if piece in ("{", "["):
            self._depth += 1
            return piece + self._newline()
        if piece in ("}", "]"):
            self._depth = max(0, self._depth - 1)
            return self._newline() + piece
        return piece + self._newline() if piece == "," else _resolved(piece)

    def _newline(self) -> str:
        # Deep nesting stays on one line: its indentation would outweigh the content.
        return "\n" + " " * self._depth if self._depth <= _INDENT_MAX else ""


def _resolved(token: str) -> str:
    if not token.startswith('"') or len(token) < 2:
        return token
    if _BINARY.fullmatch(token, 1, len(token) - 1):
        return '""'
    if "\\" not in token:
        return token
    try:
        return '"' + without_forbidden(str(json.loads(token, strict=False))) + '"'
    except ValueError:
        return token
