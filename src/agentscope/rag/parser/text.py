"""Text of all kinds: plain, Markdown, HTML, tables, data formats and source code."""

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from agentscope.errors import InvalidInputError, NoTextError, ParseError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.cleaning import is_blank, without_forbidden
from agentscope.rag.parser.csv import table_parts
from agentscope.rag.parser.decoding import decoded, head_of
from agentscope.rag.parser.encoding import decodes, detect, known_codec
from agentscope.rag.parser.html import page_parts
from agentscope.rag.parser.json import json_pieces
from agentscope.rag.parser.language_score import language_of
from agentscope.rag.parser.media_types import (
    MEDIA_TYPE_OF_EXTENSION,
    SYNONYMS,
    charset_of,
    extension_of,
    extensions_of,
    plain_media_type,
)
from agentscope.rag.parser.xml import xml_lines

SECTION_CHARS = 1024 * 1024
_MARKUP_CHARS = 4 * SECTION_CHARS
_DATA_URI = re.compile(r"data:[\w.+-]{1,40}/[\w.+-]{1,80};base64,[A-Za-z0-9+/=%]{64,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=%]*")
_DECLARED = re.compile(
    rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})|coding[:=]\s*([\w.-]{2,40})"""
)
_DECLARATION_BYTES = 2048


@dataclass(frozen=True, slots=True)
class TextPart:
    """What becomes one section."""

    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


Reader = Callable[[Iterator[str]], Iterator[TextPart]]


def read_plain(pieces: Iterator[str]) -> Iterator[TextPart]:
    """Read text as it stands, cut at line ends into parts of about 1 MiB."""
    for part in parts(pieces, SECTION_CHARS):
        yield TextPart(part)


def read_markdown(pieces: Iterator[str]) -> Iterator[TextPart]:
    """Read text as it stands, without pictures that are written out as base64."""
    for part in parts(_without_data_uris(pieces), SECTION_CHARS):
        yield TextPart(part)


def _without_data_uris(pieces: Iterator[str]) -> Iterator[str]:
    """Leave out the base64 of pictures, also where a picture goes on in the next piece."""
    inside = False
    for piece in pieces:
        rest = _BASE64.match(piece) if inside else None
        start = rest.end() if rest else 0
        inside = inside and start == len(piece)
        ends = [match.end() for match in _DATA_URI.finditer(piece, start)]
        inside = inside or (bool(ends) and ends[-1] == len(piece))
        yield _DATA_URI.sub("", piece[start:])


def read_html(pieces: Iterator[str]) -> Iterator[TextPart]:
    """Read the words of a page; a huge page is read in parts of 4 MiB."""
    for part in parts(pieces, _MARKUP_CHARS):
        for page in page_parts(part):
            path = {"heading_path": page.heading_path} if page.heading_path else {}
            yield TextPart(page.text, path)


def read_xml(pieces: Iterator[str]) -> Iterator[TextPart]:
    """Read the words of the elements, one record field or paragraph per line."""
    lines = (line + "\n" for part in parts(pieces, _MARKUP_CHARS) for line in xml_lines(part))
    yield from read_plain(lines)


def read_json(pieces: Iterator[str]) -> Iterator[TextPart]:
    """Read JSON with resolved escapes and without endless lines."""
    yield from read_plain(json_pieces(pieces))


def read_table(pieces: Iterator[str]) -> Iterator[TextPart]:
    """Read rows as written; each section but the first repeats the header row."""
    for part in table_parts(pieces):
        yield TextPart(part.text, {"row_start": part.first_row, "row_end": part.last_row})


_READERS: dict[str, Reader] = {
    "text/plain": read_plain,
    "text/markdown": read_markdown,
    "text/csv": read_table,
    "text/tab-separated-values": read_table,
    "text/html": read_html,
    "application/xhtml+xml": read_html,
    "text/x-rst": read_plain,
    "application/json": read_json,
    "application/x-ndjson": read_json,
    "application/geo+json": read_json,
    "application/ld+json": read_json,
    "application/x-ipynb+json": read_json,
    "application/xml": read_xml,
    "text/xml": read_xml,
    "application/rss+xml": read_xml,
    "application/atom+xml": read_xml,
    "application/x-yaml": read_plain,
    "application/yaml": read_plain,
    "application/toml": read_plain,
    "application/sql": read_plain,
    "application/x-subrip": read_plain,
    **{
        name: read_plain
        for name in sorted(set(MEDIA_TYPE_OF_EXTENSION.values()))
        if name.startswith("text/x-") or name in ("text/css", "text/javascript", "text/vtt")
    },
}


class TextParser(SyncParser):
    """Reads text files in any encoding.

    The encoding is detected. An `encoding` other than UTF-8 comes first if the file fits it; one
    in the options is taken without asking.
    """

    supported_media_types: ClassVar[list[str]] = list(_READERS)

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return extensions_of(cls.supported_media_types)

    async def parse(self, file: bytes | str, filename: str) -> list[Section]:
        """As the contract says, but a `str` that names no file is taken as the text itself."""
        if isinstance(file, str) and not await asyncio.to_thread(_is_file, file):
            file = without_forbidden(file).encode("utf-8")
        return await super().parse(file, filename)

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        media_type = _media_type(options, filename)
        report.parser, report.media_type = "text", media_type
        report.coverage.unit = "section"
        try:
            report.encoding = self._encoding(file, options)
        except ParseError as exc:
            exc.filename, exc.media_type = filename, media_type
            raise
        for part in _READERS[media_type](decoded(file, report.encoding)):
            text = without_forbidden(part.text)
            if is_blank(text):
                continue
            if report.coverage.total == 0:
                report.language = language_of(text)
            report.coverage.total += 1
            report.coverage.with_text += 1
            metadata = dict(part.metadata)
            yield Section(content=TextBlock(text=text), source=filename, metadata=metadata)
        if report.coverage.total == 0:
            raise NoTextError(
                "No text was found in the file: it is empty or blank.",
                filename=filename,
                media_type=media_type,
            )

    def _encoding(self, file: bytes | Path, options: ParseOptions) -> str:
        if options.encoding:
            name = known_codec(options.encoding)
            if name is None:
                raise InvalidInputError("The given text encoding is not known.")
            return name
        own = known_codec(self.encoding)
        if own and own != "utf-8" and decodes(file, own):
            return own
        return detect(file, charset_of(options.media_type) or _declared(file))


def _media_type(options: ParseOptions, filename: str) -> str:
    """Return the type to read as: the given one, else the one of the file name."""
    usual = MEDIA_TYPE_OF_EXTENSION.get(extension_of(filename), "text/plain")
    for name in (plain_media_type(options.media_type), usual):
        for known in (name, *SYNONYMS.get(name, ())):
            if known in _READERS:
                return known
    return "text/plain"


def _declared(file: bytes | Path) -> str | None:
    """Return the encoding that the file itself declares in its first lines."""
    match = _DECLARED.search(head_of(file, _DECLARATION_BYTES))
    if match is None:
        return None
    name: bytes = match.group(1) or match.group(2)
    return name.decode("ascii", "ignore")


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def parts(pieces: Iterator[str], size: int) -> Iterator[str]:
    """Join `pieces` and cut them again at line ends into parts of about `size` characters."""
    buffer: list[str] = []
    length = 0
    for piece in pieces:
        buffer.append(piece)
        length += len(piece)
        while length > size + size // 8:
            text = "".join(buffer)
            cut = text.rfind("\n", size // 2, size) + 1 or size
            yield text[:cut]
            buffer, length = [text[cut:]], len(text) - cut
    if length:
        yield "".join(buffer)
