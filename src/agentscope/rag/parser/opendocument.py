"""OpenDocument files: texts (ODT), presentations (ODP) and the sheets of ODS."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.cellformat import number_text
from agentscope.rag.parser.flow import (
    Flow,
    PictureBudget,
    TableFormat,
    check_table_format,
    counted,
    refuse_empty,
    table_text,
)
from agentscope.rag.parser.odf import (
    NESTED_MAX,
    REPEATED_CELLS_MAX,
    REPEATED_ROWS_MAX,
    OdfInline,
    blocks,
    read_inline,
    read_table,
    simple_text,
)
from agentscope.rag.parser.sheet import Cells, Sheet
from agentscope.rag.parser.xmlguard import (
    Element,
    attribute,
    descendants,
    local_name,
    parse_xml,
    stream_xml,
)
from agentscope.rag.parser.zipguard import ZipContainer, ZipLimits

_ODF = "application/vnd.oasis.opendocument."
_TEXT_BLOCKS = frozenset({"h", "p", "table", "frame", "tracked-changes", "forms"})
_PICTURE_BYTES = 20 << 20


class OpenDocument:
    """The package of an OpenDocument file."""

    def __init__(
        self, file: bytes | Path, filename: str = "", limits: ZipLimits | None = None
    ) -> None:
        self.filename = filename
        self.zip = ZipContainer(file, filename, limits)
        self.damage: list[str] = []
        try:
            self._check()
        except ParseError:
            self.zip.__exit__(None, None, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.zip.__exit__(kind, error, trace)

    def _check(self) -> None:
        if "META-INF/manifest.xml" in self.zip:
            manifest = parse_xml(self.zip.read("META-INF/manifest.xml"), self.filename)
            if next(descendants(manifest, "encryption-data"), None) is not None:
                raise EncryptedFileError(filename=self.filename)
        if "content.xml" not in self.zip:
            raise CorruptFileError(
                "The file is damaged or not of its type: it has no content part.",
                filename=self.filename,
            )

    def stream(self, tags: frozenset[str]) -> Iterator[Element]:
        """Yield elements of the content part as they end."""
        self.zip.measure("content.xml")
        pieces = self.zip.iter_bytes("content.xml")
        return stream_xml(pieces, tags, self.filename, self.damage)

    def sheets(self) -> Iterator[Sheet]:
        """Yield the sheets of a spreadsheet; sheets without rows are left out."""
        rows = self.stream(frozenset({"table-row"}))
        for name, group in itertools.groupby(rows, _sheet_name):
            yield Sheet(name=name, rows=_sheet_rows(group))


class OpenDocumentParser(SyncParser):
    """Reads ODT texts, one section per heading, and ODP presentations, one per slide."""

    supported_media_types: ClassVar[list[str]] = [
        _ODF + "text",
        _ODF + "presentation",
        _ODF + "text-template",
        _ODF + "presentation-template",
    ]
    required_modules = ("lxml",)

    def __init__(self, include_image: bool = True, table_format: str = "markdown") -> None:
        self.include_image = include_image
        self.table_format: TableFormat = check_table_format(table_format)

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".odp", ".odt", ".otp", ".ott"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        with OpenDocument(file, filename) as document:
            reading = _Reading(self, document, filename, report)
            if _is_presentation(document, options.media_type):
                yield from reading.slides()
            else:
                yield from counted(reading.text(), report)
            refuse_empty(report, filename, damaged=bool(document.damage))
            if document.damage:
                report.warn("The document is damaged; text after the damage may be missing.")


class _Reading:
    """One pass over one text or presentation."""

    def __init__(
        self,
        parser: OpenDocumentParser,
        document: OpenDocument,
        source: str,
        report: ParseReport,
    ) -> None:
        self.parser = parser
        self.document = document
        self.source = source
        self.report = report
        self.flow = Flow(source)
        self.pictures = PictureBudget(source, report)

    def text(self) -> Iterator[Section]:
        margins = list(self._margins())
        for title, section in margins:
            if title.startswith("header"):
                yield section
        for block in self.document.stream(_TEXT_BLOCKS):
            yield from self._block(block)
        yield from self.flow.flush()
        for title, section in margins:
            if title.startswith("footer"):
                yield section

    def slides(self) -> Iterator[Section]:
        coverage = self.report.coverage
        coverage.unit = "slide"
        for index, page in enumerate(self.document.stream(frozenset({"page"})), 1):
            self.flow = Flow(self.source, {"slide": index})
            sections: list[Section] = []
            for block in blocks(page):
                sections += self._block(block)
            for notes in descendants(page, "notes"):
                for block in blocks(notes):
                    texts = [simple_text(found) for found in _paragraphs(block)]
                    text = "\n".join(filter(str.strip, texts))
                    sections += self.flow.paragraph(f"Notes: {text}" if text else "")
            sections += self.flow.flush()
            found = any(section.content.type == "text" for section in sections)
            coverage.total += 1
            coverage.with_text += found
            if not found and len(coverage.without_text) < 1_000:
                coverage.without_text.append(index)
            yield from sections

    def _block(self, block: Element, depth: int = 0) -> Iterator[Section]:
        name = local_name(block)
        inline = OdfInline()
        if name == "table":
            rows = read_table(block, inline)
            yield from self.flow.paragraph(table_text(rows, self.parser.table_format))
        elif name in {"h", "p", "frame"}:
            read_inline(block, inline)
            text = "".join(inline.text)
            level = attribute(block, "outline-level") if name == "h" else ""
            if level.isdecimal():
                yield from self.flow.heading(text, int(level))
            else:
                yield from self.flow.paragraph(text)
        for note in inline.notes:
            self.flow.note(note)
        for box in inline.boxes if depth < NESTED_MAX else ():
            for inner in [box] if local_name(box) == "table" else blocks(box):
                yield from self._block(inner, depth + 1)
        for href in inline.pictures if self.parser.include_image else ():
            yield from self._picture(href)

    def _picture(self, href: str) -> Iterator[Section]:
        name = href.removeprefix("./")
        if name not in self.document.zip:
            return
        try:
            data = self.document.zip.read(name, _PICTURE_BYTES)
        except ParseError:
            return
        section = self.pictures.section(data, self.flow.metadata)
        if section is not None:
            yield from self.flow.flush()
            yield section

    def _margins(self) -> Iterator[tuple[str, Section]]:
        """Yield headers and footers of the page styles, the same text once."""
        if "styles.xml" not in self.document.zip:
            return
        try:
            styles = parse_xml(self.document.zip.read("styles.xml"), self.document.filename)
        except CorruptFileError:
            self.document.damage.append("styles")
            return
        seen: set[str] = set()
        for kind in ("header", "header-first", "header-left", "footer", "footer-first"):
            for margin in descendants(styles, kind):
                flow = Flow(self.source)
                for block in blocks(margin):
                    text = simple_text(block).strip()
                    if text not in seen and any(map(str.isalpha, text)):
                        seen.add(text)
                        yield from ((kind, found) for found in flow.paragraph(text))
                yield from ((kind, found) for found in flow.flush(part=kind))


def _paragraphs(block: Element) -> Iterator[Element]:
    return descendants(block, "p") if local_name(block) == "frame" else iter([block])


def _is_presentation(document: OpenDocument, media_type: str) -> bool:
    """Tell by the package's own type entry, else by the declared type."""
    own = b""
    if "mimetype" in document.zip:
        own = document.zip.read("mimetype", 1_000)
    return "presentation" in (own.decode("latin-1") or media_type)


def _sheet_name(row: Element) -> str:
    for element in row.iterancestors():
        if local_name(element) == "table":
            return attribute(element, "name")
    return ""


def _sheet_rows(rows: Iterator[Element]) -> Iterator[Cells]:
    number = 1
    for row in rows:
        texts: dict[int, str] = {}
        column = 0
        for cell in row:
            repeated = attribute(cell, "number-columns-repeated")
            width = int(repeated) if repeated.isdecimal() and len(repeated) < 9 else 1
            text = _value_text(cell) if len(cell) else ""
            if text.strip():
                for offset in range(min(width, REPEATED_CELLS_MAX)):
                    texts[column + offset] = text
            column += width
        repeated = attribute(row, "number-rows-repeated")
        height = int(repeated) if repeated.isdecimal() and len(repeated) < 9 else 1
        if texts:
            for offset in range(min(height, REPEATED_ROWS_MAX)):
                yield Cells(number + offset, texts)
        number += height


def _value_text(cell: Element) -> str:
    """Return dates as ISO text, plain numbers in full and everything else as it is shown."""
    kind = attribute(cell, "value-type")
    if kind == "date":
        return attribute(cell, "date-value").replace("T", " ").removesuffix(" 00:00:00")
    if kind == "float":
        try:
            return number_text(float(attribute(cell, "value")))
        except (ValueError, OverflowError):
            pass
    inline = OdfInline()
    for block in blocks(cell):
        read_inline(block, inline)
        inline.text.append("\n")
    for item in cell:
        if local_name(item) == "annotation":
            holder = OdfInline()
            read_inline(cell, holder)
            inline.text += [f"({note})" for note in holder.notes if note.strip()]
            break
    return "".join(inline.text).strip()
