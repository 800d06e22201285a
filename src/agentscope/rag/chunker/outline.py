"""Recognises headings, code, tables and paragraphs in plain text, Markdown and reStructuredText.

The blocks follow each other without gaps; blank lines belong to the block before them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

_ATX = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r"([=\-~^\"'#*+.:`_])\1{2,}\s*$")
_PIPE_ROW = re.compile(r"\s*\|.*\|\s*$|[^|]*\s\|\s.*")
_TITLE_MAX = 200
_HEADING_LINE_MAX = 200


class BlockKind(Enum):
    """What a block is; it decides where the block may be cut."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CODE = "code"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Block:
    """The range [start, end) of a text; headings have a level from 1 and a title."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the blocks of `text` in order."""
    yield from _Scan(text).blocks()


class _Scan:
    """One pass over the lines, collecting those of the current block."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: list[_Line] = []
        self._kind = BlockKind.PARAGRAPH
        self._fence = ""
        self._ended = False
        self._underlines: list[str] = []

    def blocks(self) -> Iterator[Block]:
        start = 0
        while start < len(self._text):
            end = self._text.find("\n", start) + 1 or len(self._text)
            # A very long line is prose; its beginning is enough to see that.
            shown = self._text[start : min(end, start + 4096)].rstrip("\r\n")
            yield from self._line(_Line(start, end, shown))
            start = end
        yield from self._flush()

    def _line(self, line: _Line) -> Iterator[Block]:
        if self._fence:
            self._lines.append(line)
            mark = line.text.strip()
            if mark.startswith(self._fence) and not mark.strip(self._fence[0]):
                self._fence, self._ended = "", True
            return
        if not line.text.strip():
            if self._lines:
                self._ended = True
            self._lines.append(line)
            return
        if self._ended:
            yield from self._flush()
        fence, atx = _FENCE.match(line.text), _ATX.match(line.text)
        if fence or atx:
            yield from self._flush()
        if fence:
            self._start(BlockKind.CODE, line)
            self._fence = fence.group(1)
        elif atx:
            yield from self._heading(line, len(atx.group(1)), atx.group(2))
        elif self._underlines_title(line):
            title = self._lines[-1]
            self._lines.append(line)
            yield from self._titled(title.text, line.text.strip()[0])
        else:
            yield from self._row_or_prose(line)

    def _row_or_prose(self, line: _Line) -> Iterator[Block]:
        kind = BlockKind.TABLE if _is_row(line.text) else BlockKind.PARAGRAPH
        if self._lines and self._shown() and kind is not self._kind:
            yield from self._flush()
        if not self._shown():
            self._kind = kind
        self._lines.append(line)

    def _start(self, kind: BlockKind, line: _Line) -> None:
        self._kind = kind
        self._lines.append(line)

    def _shown(self) -> list[_Line]:
        return [line for line in self._lines[:2] if line.text.strip()]

    def _underlines_title(self, line: _Line) -> bool:
        """Tell whether the line underlines the one line before it."""
        if not self._lines or len(self._lines) > 3 or not _UNDERLINE.match(line.text):
            return False
        title = self._lines[-1].text.strip()
        if len([one for one in self._lines if one.text.strip()]) != 1 or not title:
            return False
        return len(title) <= _HEADING_LINE_MAX and len(line.text.strip()) + 3 >= len(title) // 2

    def _titled(self, title: str, mark: str) -> Iterator[Block]:
        if mark not in self._underlines:
            self._underlines.append(mark)
        level = self._underlines.index(mark) + 1
        yield self._taken(BlockKind.HEADING, level, title)

    def _heading(self, line: _Line, level: int, title: str) -> Iterator[Block]:
        self._lines.append(line)
        yield self._taken(BlockKind.HEADING, level, title)

    def _flush(self) -> Iterator[Block]:
        if self._lines:
            yield self._taken(self._kind, 0, "")

    def _taken(self, kind: BlockKind, level: int, title: str) -> Block:
        start, end = self._lines[0].start, self._lines[-1].end
        self._lines.clear()
        self._kind, self._ended = BlockKind.PARAGRAPH, False
        return Block(kind, start, end, level, title.strip()[:_TITLE_MAX])


def _is_row(line: str) -> bool:
    return "\t" in line.strip() or ("|" in line and _PIPE_ROW.match(line) is not None)
