"""PDF files: the text of each page in reading order, with page label and outline path."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from agentscope.errors import AgentScopeError, CorruptFileError, NoTextError, ParseError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.cleaning import cleaned, is_blank
from agentscope.rag.parser.language_score import language_of
from agentscope.rag.parser.magic import in_words, sniffed
from agentscope.rag.parser.pdf_engine import (
    OxideReader,
    PageOcr,
    PageUnreadableError,
    PdfiumReader,
)
from agentscope.rag.parser.pdf_text import repaired_line_ends, repaired_mojibake

# What the first pages do not tell, the thousandth will not tell either.
_LANGUAGE_PAGES = 5
_MAX_PAGE_CHARS = 5_000_000
_MAX_TITLE = 200
_HEAD_BYTES = 8192
# Even a file that lost its first bytes holds these words near its beginning.
_PDF_WORDS = re.compile(rb"\d+ \d+ obj\b|%%EOF|startxref|/Type\s*/|endobj")
_MAX_NAMED_PAGES = 20
# A long scan would otherwise pay for the second reader on each of its pages.
_SECOND_LOOKS = 20


@dataclass(slots=True)
class _Tally:
    """What went wrong on which pages, numbered from 1."""

    without_text: list[int] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    recognised: list[int] = field(default_factory=list)
    unrecognised: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    garbled: list[int] = field(default_factory=list)


class PDFParser(SyncParser):
    """Reads PDF files; pages without text go to `ocr` when it is given."""

    supported_media_types: ClassVar[list[str]] = ["application/pdf"]
    required_modules: ClassVar[tuple[str, ...]] = ("pypdfium2", "pdf_oxide")

    def __init__(self, ocr: PageOcr | None = None) -> None:
        self.ocr = ocr

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".pdf"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        report.media_type, report.parser = "application/pdf", "pdf"
        report.coverage.unit = "page"
        _check_header(file, filename)
        try:
            yield from _Reading(self.ocr, file, filename, options, report).sections()
        except ParseError as exc:
            exc.filename = exc.filename or filename
            exc.media_type = exc.media_type or "application/pdf"
            raise


class _Reading:
    """One pass over one file."""

    def __init__(
        self,
        ocr: PageOcr | None,
        file: bytes | Path,
        filename: str,
        options: ParseOptions,
        report: ParseReport,
    ) -> None:
        self._ocr, self._file, self._filename = ocr, file, filename
        self._password, self._report = options.password, report
        self._tally = _Tally()
        self._second: OxideReader | None = None
        self._second_looks = _SECOND_LOOKS

    def sections(self) -> Iterator[Section]:
        try:
            reader = PdfiumReader(self._file, self._password)
        except CorruptFileError:
            yield from self._repaired()
            return
        try:
            paths = _HeadingPaths(reader.outline())
            for page in range(reader.page_count):
                text = self._page_text(reader, page)
                yield self._section(page, text, reader.label(page), paths.at(page))
        finally:
            reader.close()
        self._finish(reader.page_count)

    def _repaired(self) -> Iterator[Section]:
        """Read a file that PDFium refuses; without any text it counts as damaged."""
        reader = OxideReader(self._file, self._password)
        self._report.warn("The PDF is damaged; what could be repaired was read.")
        for page in range(reader.page_count):
            try:
                text = self._tidy(reader.text(page), page)
            except PageUnreadableError:
                self._tally.unreadable.append(page + 1)
                text = ""
            yield self._section(page, text, "", [])
        if self._report.coverage.with_text == 0:
            raise CorruptFileError("The PDF is damaged; no text could be recovered from it.")
        self._finish(reader.page_count)

    def _page_text(self, reader: PdfiumReader, page: int) -> str:
        try:
            text = self._tidy(reader.text(page), page)
        except PageUnreadableError:
            self._tally.unreadable.append(page + 1)
            text = ""
        if is_blank(text):
            text = self._second_look(page)
        if is_blank(text) and self._ocr is not None:
            text = self._recognised(reader, page)
        return text

    def _second_look(self, page: int) -> str:
        if self._second_looks <= 0:
            return ""
        self._second_looks -= 1
        try:
            if self._second is None:
                self._second = OxideReader(self._file, self._password)
            text = self._tidy(self._second.text(page), page)
        except (CorruptFileError, PageUnreadableError):
            return ""
        if not is_blank(text):
            self._second_looks += 1
        return text

    def _recognised(self, reader: PdfiumReader, page: int) -> str:
        assert self._ocr is not None
        try:
            picture = reader.picture(page)
            text = "" if picture is None else cleaned(self._ocr.read(picture))
        except PageUnreadableError:
            return ""
        except AgentScopeError:
            raise
        except Exception:
            # Engines raise errors of their own, memory among them; the other pages must not pay.
            self._tally.unrecognised.append(page + 1)
            return ""
        if not is_blank(text):
            self._tally.recognised.append(page + 1)
        return text

    def _tidy(self, raw: str, page: int) -> str:
        if len(raw) > _MAX_PAGE_CHARS:
            raw = raw[:_MAX_PAGE_CHARS]
            self._tally.cut.append(page + 1)
        text = cleaned(repaired_line_ends(raw))
        text, readable = repaired_mojibake(text)
        if not readable:
            self._tally.garbled.append(page + 1)
        return text

    def _section(self, page: int, text: str, label: str, path: list[str]) -> Section:
        number = page + 1
        coverage = self._report.coverage
        coverage.total += 1
        metadata: dict[str, object] = {"page": number}
        if label and label != str(number):
            metadata["page_label"] = label[:_MAX_TITLE]
        if path:
            metadata["heading_path"] = path
        if is_blank(text):
            text = ""
            self._tally.without_text.append(number)
        else:
            coverage.with_text += 1
            if not self._report.language and coverage.with_text <= _LANGUAGE_PAGES:
                self._report.language = language_of(text)
        return Section(content=TextBlock(text=text), source=self._filename, metadata=metadata)

    def _finish(self, page_count: int) -> None:
        tally, report = self._tally, self._report
        report.coverage.without_text = tally.without_text[:1000]
        if page_count == 0:
            raise CorruptFileError("The PDF has no pages.")
        if report.coverage.with_text == 0:
            if len(tally.unreadable) == page_count:
                raise CorruptFileError("The PDF is damaged; none of its pages can be read.")
            raise NoTextError(
                "No text was found in the PDF (scanned?). Its pages hold pictures or nothing."
            )
        for pages, sentence in (
            (tally.without_text, "No text was found on {}."),
            (tally.unreadable, "The file is damaged: {} could not be read completely."),
            (tally.recognised, "The text of {} was recognised from a picture."),
            (tally.unrecognised, "Text recognition failed on {}."),
            (tally.cut, "The text of {} is too long and was cut."),
            (
                tally.garbled,
                "The text of {} may be garbled: its fonts do not say which characters they show.",
            ),
        ):
            if pages:
                report.warn(sentence.format(_named(pages)))


def _named(pages: list[int]) -> str:
    shown = ", ".join(str(page) for page in pages[:_MAX_NAMED_PAGES])
    more = len(pages) - _MAX_NAMED_PAGES
    tail = f" and {more} more" if more > 0 else ""
    return f"{'page' if len(pages) == 1 else 'pages'} {shown}{tail}"


class _HeadingPaths:
    """Answers which bookmarks a page stands under."""

    def __init__(self, outline: list[tuple[int, int, str]]) -> None:
        entries: list[tuple[int, list[str]]] = []
        trail: list[str] = []
        for page, level, title in outline:
            trail = [*trail[:level], cleaned(title).strip()[:_MAX_TITLE]]
            entries.append((page, [part for part in trail if part]))
        entries.sort(key=lambda entry: entry[0])
        self._pages = [page for page, _ in entries]
        self._paths = [path for _, path in entries]

    def at(self, page: int) -> list[str]:
        """Return the path of the first bookmark on the page, else of the last one before it."""
        position = bisect_right(self._pages, page - 1)
        if position < len(self._pages) and self._pages[position] == page:
            return self._paths[position]
        return self._paths[position - 1] if position else []


def _check_header(file: bytes | Path, filename: str) -> None:
    if isinstance(file, Path):
        with file.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    else:
        head = file[:_HEAD_BYTES]
    found = sniffed(head)
    sentence = ""
    if not head:
        sentence = "The file is empty; it is not a PDF."
    elif found and found != "application/pdf":
        sentence = f"The file is not a PDF: it is {in_words(found)}."
    elif b"%PDF" not in head and not _PDF_WORDS.search(head):
        sentence = "The file is not a PDF: it does not begin like one."
    if sentence:
        raise CorruptFileError(sentence, filename=filename, media_type="application/pdf")
