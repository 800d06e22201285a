"""Text of all kinds: plain, Markdown, HTML, tables, data formats and source code."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from agentscope.errors import InvalidInputError, NoTextError, ParseError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.cleaning import is_blank
from agentscope.rag.parser.decoding import decoded
from agentscope.rag.parser.encoding import detect, known_codec

SECTION_CHARS = 1024 * 1024


class TextParser(SyncParser):
    """Reads text files in any encoding; `encoding` is tried first when it is not UTF-8."""

    supported_media_types: ClassVar[list[str]] = [
        "text/plain",
        "text/markdown",
        "text/csv",
        "text/html",
        "text/x-rst",
        "application/json",
        "application/xml",
        "application/x-yaml",
    ]

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding

    async def parse(self, file: bytes | str, filename: str) -> list[Section]:
        """As the contract says, but a `str` that names no file is taken as the text itself."""
        if isinstance(file, str) and not await asyncio.to_thread(_is_file, file):
            file = file.encode("utf-8", "surrogatepass")
        return await super().parse(file, filename)

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        report.parser, report.media_type = "text", options.media_type or "text/plain"
        report.coverage.unit = "section"
        try:
            encoding = self._encoding(file, options)
            report.encoding = encoding
            for text in parts(decoded(file, encoding)):
                report.coverage.total += 1
                report.coverage.with_text += 0 if is_blank(text) else 1
                yield Section(content=TextBlock(text=text), source=filename, metadata={})
        except ParseError as exc:
            exc.filename = exc.filename or filename
            raise
        if report.coverage.with_text == 0:
            raise NoTextError("No text was found in the file: it is empty or blank.")

    def _encoding(self, file: bytes | Path, options: ParseOptions) -> str:
        if options.encoding:
            name = known_codec(options.encoding)
            if name is None:
                raise InvalidInputError("The given text encoding is not known.")
            return name
        return detect(file)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def parts(pieces: Iterator[str], size: int = SECTION_CHARS) -> Iterator[str]:
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
