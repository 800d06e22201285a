"""Running text on its way into sections: headings, tables, pictures and their bounds."""

import base64
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from agentscope.errors import CorruptFileError
from agentscope.message.blocks import Base64Source, DataBlock, TextBlock
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.cleaning import cleaned

TableFormat = Literal["markdown", "json"]
Row = Sequence[str]

SECTION_CHARACTERS_MAX = 1_000_000
PICTURE_BYTES_MAX = 20 << 20
PICTURES_BYTES_MAX = 100 << 20
PICTURES_MAX = 2_000

_BLANK = re.compile(r"\s+")
# Symbol fonts keep their signs in a private area: two of them are bullets, no other means text.
_CHARACTERS = (
    dict.fromkeys(range(0xF000, 0xF100), "")
    | dict.fromkeys((0xF0A7, 0xF0B7), "\u2022")
    | {0x0B: "\n", 0x0C: "\n"}
)


def plain_text(text: str) -> str:
    """Return `text` with plain line ends and without control characters and lone surrogates."""
    if text.isprintable():  # excludes all that would change, and is true of most cells
        return text
    return cleaned(text.translate(_CHARACTERS))


def one_line(text: str) -> str:
    """Return `text` with each run of white space made one space."""
    if text.isprintable() and "  " not in text:  # printable text has no white space but this
        return text.strip()
    return _BLANK.sub(" ", plain_text(text)).strip()


def check_table_format(table_format: str) -> TableFormat:
    """Return the format, or raise ValueError."""
    if table_format == "markdown":
        return "markdown"
    if table_format == "json":
        return "json"
    raise ValueError("table_format is either 'markdown' or 'json'.")


def table_text(rows: Sequence[Row], table_format: TableFormat = "markdown") -> str:
    """Return a table as text; every row gets as many cells as the longest one has.

    In Markdown, bars are escaped and line ends become spaces, so that a cell stays a cell. A
    table of one column is written as plain lines. Rows without any text are left out.
    """
    lines = [[plain_text(cell) for cell in row] for row in rows]
    lines = [row for row in lines if any(cell.strip() for cell in row)]
    if not lines:
        return ""
    width = max(len(row) for row in lines)
    lines = [[*row, *[""] * (width - len(row))] for row in lines]
    if table_format == "json":
        return json.dumps(lines, ensure_ascii=False)
    if width == 1:
        return "\n".join(row[0].strip() for row in lines)
    first, *rest = [markdown_row(row) for row in lines]
    return "\n".join([first, markdown_row(["---"] * width), *rest])


def markdown_row(cells: Row) -> str:
    """Return one row of a Markdown table."""
    return "| " + " | ".join(one_line(cell).replace("|", "\\|") for cell in cells) + " |"


def text_section(text: str, source: str, metadata: dict[str, Any] | None = None) -> Section:
    """Return a section of text."""
    return Section(content=TextBlock(text=text), source=source, metadata=dict(metadata or {}))


def picture_type(data: bytes) -> str:
    """Return the media type of a picture by its first bytes, "" for anything else."""
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return "image/png"
    if data[:3] == b"\xff\xd8\xff":
        return "image/jpeg"
    if data[:6] in {b"GIF87a", b"GIF89a"}:
        return "image/gif"
    if data[:2] == b"BM" and len(data) > 26:
        return "image/bmp"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[:4] in {b"II*\0", b"MM\0*"}:
        return "image/tiff"
    if data[4:12] in {b"ftypavif", b"ftypavis"}:
        return "image/avif"
    return ""


class PictureBudget:
    """Turns pictures into sections until a document's share is used up."""

    def __init__(self, source: str, report: ParseReport) -> None:
        self._source = source
        self._report = report
        self._bytes = 0
        self._count = 0

    def section(self, data: bytes | None, metadata: dict[str, Any]) -> Section | None:
        """Return a section with the picture; None if it is none or is over the budget."""
        if not data:
            return None
        media_type = picture_type(data)
        if not media_type or media_type == "image/tiff":
            self._report.warn("Pictures of a kind that no model reads were left out.")
            return None
        fits = len(data) <= PICTURE_BYTES_MAX and self._bytes + len(data) <= PICTURES_BYTES_MAX
        if not fits or self._count >= PICTURES_MAX:
            self._report.warn("Pictures beyond the size or number allowed were left out.")
            return None
        self._bytes += len(data)
        self._count += 1
        return picture_section(data, media_type, self._source, metadata)


def picture_section(data: bytes, media_type: str, source: str, metadata: dict[str, Any]) -> Section:
    """Return a section that holds a picture."""
    encoded = base64.b64encode(data).decode("ascii")
    block = DataBlock(source=Base64Source(data=encoded, media_type=media_type), name=source)
    return Section(content=block, source=source, metadata={**metadata, "media_type": media_type})


class Flow:
    """Collects the paragraphs of a document and cuts them into sections at headings.

    Headings that follow each other directly start one section together. Notes belong to the
    section that refers to them and stand at its end.
    """

    def __init__(self, source: str, metadata: dict[str, Any] | None = None) -> None:
        self.source = source
        self.metadata = dict(metadata or {})
        self._lines: list[str] = []
        self._notes: list[str] = []
        self._size = 0
        self._has_body = False
        self._path: list[tuple[int, str]] = []

    def heading(self, text: str, level: int) -> Iterator[Section]:
        """Start a new part; `level` counts from 1, outermost."""
        text = one_line(text)
        if not text:
            return
        if self._has_body:
            yield from self.flush()
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, text[:500]))
        self._lines.append(text)

    def paragraph(self, text: str) -> Iterator[Section]:
        """Add a paragraph or any other block of text."""
        text = plain_text(text).strip("\n ")
        if not text.strip():
            return
        self._lines.append(text)
        self._has_body = True
        self._size += len(text)
        if self._size >= SECTION_CHARACTERS_MAX:
            yield from self.flush()

    def note(self, text: str) -> None:
        """Add a footnote, a comment or the like to the end of the current section."""
        text = one_line(text)
        if text and text not in self._notes:
            self._notes.append(text)
            self._has_body = True

    def flush(self, **metadata: Any) -> Iterator[Section]:
        """Yield what was collected as one section, if anything was."""
        text = "\n\n".join([*self._lines, *self._notes])
        self._lines, self._notes, self._size, self._has_body = [], [], 0, False
        if not text.strip():
            return
        found = {**self.metadata, **metadata}
        if self._path:
            found["heading_path"] = [title for _, title in self._path]
        yield text_section(text, self.source, found)


def counted(sections: Iterator[Section], report: ParseReport) -> Iterator[Section]:
    """Pass sections on and keep the report's coverage up to date."""
    for section in sections:
        report.coverage.total += 1
        report.coverage.with_text += section.content.type == "text"
        yield section


def refuse_empty(report: ParseReport, filename: str, *, damaged: bool) -> None:
    """Refuse a damaged file from which nothing could be read, after all was tried.

    Raises:
        CorruptFileError: so that damage is not taken for a file without text.
    """
    if damaged and report.coverage.with_text == 0:
        raise CorruptFileError(
            "The file is damaged and nothing could be read from it.", filename=filename
        )
