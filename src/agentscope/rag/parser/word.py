"""Word documents (DOCX)."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from agentscope.errors import CorruptFileError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.drawing import chart_lines, diagram_lines
from agentscope.rag.parser.flow import (
    Flow,
    PictureBudget,
    TableFormat,
    check_table_format,
    counted,
    refuse_empty,
    table_text,
)
from agentscope.rag.parser.hypertext import html_text
from agentscope.rag.parser.ooxml import Package, picture_bytes
from agentscope.rag.parser.wordml import (
    Inline,
    blocks,
    heading_styles,
    outline_level,
    read_inline,
    read_table,
)
from agentscope.rag.parser.xmlguard import (
    Element,
    attribute,
    child,
    children,
    local_name,
)

_OOXML = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_BLOCKS = frozenset({"p", "tbl", "altChunk", "sectPr"})
_PICTURE_BYTES = 20 << 20
_FOREIGN_BYTES = 16 << 20
_BOX_DEPTH_MAX = 8


class WordParser(SyncParser):
    """Reads text, tables and pictures of DOCX files, one section per heading."""

    supported_media_types: ClassVar[list[str]] = [
        _OOXML + "document",
        _OOXML + "template",
        "application/vnd.ms-word.document.macroenabled.12",
        "application/vnd.ms-word.template.macroenabled.12",
    ]
    required_modules = ("lxml", "olefile")

    def __init__(
        self,
        include_image: bool = True,
        separate_table: bool = False,
        table_format: str = "markdown",
    ) -> None:
        self.include_image = include_image
        self.separate_table = separate_table
        self.table_format: TableFormat = check_table_format(table_format)

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".docm", ".docx", ".dotm", ".dotx"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        """Yield sections in document order; notes and comments stand in the part they belong to.

        Headers come first and footers last, once each.
        """
        del options
        with Package(file, filename) as package:
            reading = _Reading(self, package, filename, report)
            yield from counted(reading.sections(), report)
            refuse_empty(report, filename, damaged=bool(package.damaged or reading.damage))
            if package.damaged:
                report.warn("Parts of the file are damaged and were left out.")


class _Reading:
    """One pass over one document."""

    def __init__(
        self, parser: WordParser, package: Package, source: str, report: ParseReport
    ) -> None:
        self.parser = parser
        self.package = package
        self.source = source
        self.report = report
        self.part = package.main_part("word/document.xml")
        self.flow = Flow(source)
        self.pictures = PictureBudget(source, report)
        self.styles: dict[str, int] = {}
        self.notes: dict[tuple[str, str], str] = {}
        self.damage: list[str] = []

    def sections(self) -> Iterator[Section]:
        self.styles = heading_styles(self._side_part("styles"))
        self._read_notes()
        yield from self._margins("header")
        for block in self.package.stream(self.part, _BLOCKS, self.damage):
            yield from self._block(block)
        if self.damage:
            self.report.warn("The document is damaged; text after the damage may be missing.")
        for text in self.notes.values():
            self.flow.note(text)
        yield from self.flow.flush()
        yield from self._margins("footer")

    def _block(self, block: Element) -> Iterator[Section]:
        name = local_name(block)
        if name == "p":
            yield from self._paragraph(block)
        elif name == "tbl":
            yield from self._table(block)
        elif name == "altChunk":
            yield from self.flow.paragraph(self._foreign_text(attribute(block, "id")))

    def _paragraph(self, paragraph: Element) -> Iterator[Section]:
        inline = Inline()
        read_inline(paragraph, inline)
        level = self._heading_level(child(paragraph, "pPr"))
        if level:
            yield from self.flow.heading(inline.string(), level)
        else:
            yield from self.flow.paragraph(inline.string())
        yield from self._attached(inline)

    def _table(self, table: Element) -> Iterator[Section]:
        inline = Inline()
        text = table_text(read_table(table, inline), self.parser.table_format)
        if self.parser.separate_table and text:
            yield from self.flow.flush()
            yield from self.flow.paragraph(text)
            yield from self.flow.flush(part="table")
        else:
            yield from self.flow.paragraph(text)
        yield from self._attached(inline)

    def _attached(self, inline: Inline, depth: int = 0) -> Iterator[Section]:
        """Add what hangs on a paragraph or table: notes, boxes, charts and pictures."""
        for key in inline.notes:
            self.flow.note(self.notes.pop(key, ""))
        for box in inline.boxes if depth < _BOX_DEPTH_MAX else ():
            inner = Inline()
            for text in self._texts(box, inner):
                yield from self.flow.paragraph(text)
            yield from self._attached(inner, depth + 1)
        for relationship_id in inline.parts:
            yield from self.flow.paragraph(self._drawing_text(relationship_id))
        if self.parser.include_image:
            for relationship_id in inline.pictures:
                yield from self._picture(relationship_id)

    def _picture(self, relationship_id: str) -> Iterator[Section]:
        target = self.package.target(self.part, relationship_id)
        data = picture_bytes(self.package, target, _PICTURE_BYTES)
        section = self.pictures.section(data, {})
        if section is not None:
            yield from self.flow.flush()
            yield section

    def _texts(self, holder: Element, inline: Inline) -> Iterator[str]:
        """Yield the text of each paragraph and table of a box, a note or a header."""
        for block in blocks(holder):
            if local_name(block) == "tbl":
                yield table_text(read_table(block, inline), self.parser.table_format)
            elif local_name(block) == "p":
                start = len(inline.text)
                read_inline(block, inline)
                yield "".join(inline.text[start:])

    def _heading_level(self, properties: Element) -> int | None:
        if properties is None:
            return None
        style = child(properties, "pStyle")
        return outline_level(properties) or (
            self.styles.get(attribute(style, "val")) if style is not None else None
        )

    def _side_part(self, kind: str) -> Element:
        for part in self.package.related(self.part, kind):
            root = self.package.side_xml(part)
            if root is not None:
                return root
        return None

    def _read_notes(self) -> None:
        for kind in ("footnote", "endnote", "comment"):
            root = self._side_part(kind + "s")
            for note in children(root, kind) if root is not None else ():
                if attribute(note, "type") in {"separator", "continuationSeparator"}:
                    continue
                text = " ".join(self._all_texts(note))
                author = attribute(note, "author") if kind == "comment" else ""
                if text.strip():
                    label = f"{author}: {text}" if author else text
                    self.notes[kind, attribute(note, "id")] = label

    def _all_texts(self, holder: Element) -> Iterator[str]:
        """Yield the texts of `holder` and of the boxes inside it."""
        inline = Inline()
        yield from self._texts(holder, inline)
        for box in inline.boxes:
            yield from self._texts(box, Inline())

    def _margins(self, kind: str) -> Iterator[Section]:
        """Yield the headers or footers of all pages as one section, each text once."""
        flow = Flow(self.source)
        seen: set[str] = set()
        for part in self.package.related(self.part, kind):
            root = self.package.side_xml(part)
            for text in self._all_texts(root) if root is not None else ():
                if text.strip() not in seen and any(map(str.isalpha, text)):
                    seen.add(text.strip())
                    yield from flow.paragraph(text)
        yield from flow.flush(part=kind)

    def _drawing_text(self, relationship_id: str) -> str:
        root = self.package.side_xml(self.package.target(self.part, relationship_id))
        if root is None:
            return ""
        lines = chart_lines(root) if local_name(root) == "chartSpace" else diagram_lines(root)
        return "\n".join(lines)

    def _foreign_text(self, relationship_id: str) -> str:
        """Return the text of an HTML or plain part that stands in for a piece of the body."""
        part = self.package.target(self.part, relationship_id)
        if not part or part not in self.package.zip:
            return ""
        try:
            data = self.package.zip.read(part, _FOREIGN_BYTES)
        except CorruptFileError:
            self.package.damaged.append(part)
            return ""
        if data.startswith(b"PK") or data.startswith(b"{\\rtf"):
            self.report.warn("Embedded documents were left out.")
            return ""
        return html_text(data)
