"""Workbooks in SpreadsheetML, read as streams: memory depends on the text, not on the range."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentscope.rag.parser.cellformat import (
    NumberKind,
    built_in_kind,
    cell_number,
    format_kind,
)
from agentscope.rag.parser.drawing import body_text, chart_lines, diagram_lines
from agentscope.rag.parser.ooxml import Package
from agentscope.rag.parser.sheet import Cells, Sheet
from agentscope.rag.parser.xmlguard import (
    Element,
    attribute,
    child,
    children,
    descendants,
    local_name,
    stream_xml,
)

SHARED_STRINGS_MAX = 5_000_000
SHARED_CHARACTERS_MAX = 256_000_000
COLUMNS_MAX = 16_384
_BLANK_CELL = re.compile(rb'<c r="[A-Z]{1,3}[0-9]{1,7}"[^<>]*/>')
_BLANK_ROW = re.compile(rb'<row r="[0-9]{1,7}"[^<>]*(?:/>|>\s*</row>)')
_ROW = frozenset({"row"})
_STRING = frozenset({"si"})


@dataclass(slots=True)
class XlsxBook:
    """One workbook; strings and formats are read once, rows when asked for."""

    package: Package
    part: str = ""
    strings: list[str] = field(default_factory=list)
    kinds: list[NumberKind] = field(default_factory=list)
    from_1904: bool = False
    damage: list[str] = field(default_factory=list)

    def sheets(self) -> Iterator[Sheet]:
        """Yield all sheets, hidden ones too, in the order of their tabs."""
        self.part = self.package.main_part("xl/workbook.xml")
        book = self.package.xml(self.part)
        settings = child(book, "workbookPr")
        self.from_1904 = settings is not None and attribute(settings, "date1904") in {"1", "true"}
        self._read_strings()
        self._read_kinds()
        for sheet in descendants(book, "sheet"):
            part = self.package.target(self.part, _relationship_id(sheet))
            if part in self.package.zip:
                yield Sheet(
                    name=attribute(sheet, "name"),
                    rows=self._rows(part),
                    lines=self._side_lines(part),
                    pictures=self._pictures(part),
                )

    def _rows(self, part: str) -> Iterator[Cells]:
        self.package.zip.measure(part)
        pieces = (without_blanks(piece) for piece in self.package.zip.iter_bytes(part))
        columns: dict[str, int] = {}
        number = 0
        for row in stream_xml(pieces, _ROW, self.package.filename, self.damage):
            stated = row.get("r")
            number = int(stated) if stated and stated.isdecimal() else number + 1
            cells: dict[int, str] = {}
            column = -1
            for cell in row:
                letters = (cell.get("r") or "").rstrip("0123456789")
                if letters not in columns:
                    columns[letters] = column_index(letters)
                column = columns[letters] if columns[letters] >= 0 else column + 1
                text = self._cell_text(cell) if len(cell) else ""
                if text and column < COLUMNS_MAX:
                    cells[column] = text
            if cells:
                yield Cells(number, cells)

    def _cell_text(self, cell: Element) -> str:
        kind = cell.get("t") or "n"
        if kind == "inlineStr":
            return _string_text(cell)
        found = cell[-1]
        if not found.tag.endswith("}v"):
            found = child(cell, "v")
        value = (found.text or "") if found is not None else ""
        if kind == "s":
            return self.strings[int(value)] if _is_index(value, self.strings) else ""
        if kind == "n" and value:
            return self._number_text(value, cell.get("s") or "0")
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        return value.replace("T", " ") if kind == "d" else value

    def _number_text(self, value: str, style: str) -> str:
        at = int(style) if style.isdecimal() and len(style) < 9 else 0
        kind = self.kinds[at] if at < len(self.kinds) else NumberKind.NUMBER
        if kind is NumberKind.NUMBER and len(value) < 16 and value.isdecimal():
            return value
        try:
            return cell_number(float(value), kind, from_1904=self.from_1904)
        except (ValueError, OverflowError):
            return value

    def _read_strings(self) -> None:
        for part in self.package.related(self.part, "sharedStrings"):
            if part not in self.package.zip:
                continue
            size = 0
            for item in self.package.stream(part, _STRING, self.damage):
                text = _string_text(item)
                size += len(text)
                if len(self.strings) >= SHARED_STRINGS_MAX or size > SHARED_CHARACTERS_MAX:
                    self.damage.append("too many shared strings")
                    return
                self.strings.append(text)

    def _read_kinds(self) -> None:
        for part in self.package.related(self.part, "styles"):
            root = self.package.side_xml(part)
            if root is None:
                continue
            codes = {
                attribute(item, "numFmtId"): attribute(item, "formatCode")
                for item in descendants(root, "numFmt")
            }
            formats = child(root, "cellXfs")
            for item in children(formats, "xf") if formats is not None else ():
                number = attribute(item, "numFmtId") or "0"
                if number in codes:
                    self.kinds.append(format_kind(codes[number]))
                else:
                    self.kinds.append(built_in_kind(int(number) if number.isdecimal() else 0))

    def _side_lines(self, part: str) -> Iterator[str]:
        """Yield cell notes, threaded comments, text boxes and charts of a sheet."""
        for kind, tag in (("comments", "comment"), ("threadedComment", "threadedComment")):
            for target in self.package.related(part, kind):
                root = self.package.side_xml(target)
                for note in descendants(root, tag) if root is not None else ():
                    text = "".join(item.text or "" for item in _texts(note))
                    if text.strip():
                        yield f"Comment {attribute(note, 'ref')}: {text}"
        for drawing in self.package.related(part, "drawing"):
            root = self.package.side_xml(drawing)
            if root is None:
                continue
            for body in descendants(root, "txBody"):
                yield body_text(body)
            for target in self.package.related(drawing, "chart"):
                chart = self.package.side_xml(target)
                yield from chart_lines(chart) if chart is not None else ()
            for target in self.package.related(drawing, "diagramData"):
                data = self.package.side_xml(target)
                yield from diagram_lines(data) if data is not None else ()

    def _pictures(self, part: str) -> Iterator[str]:
        for drawing in self.package.related(part, "drawing"):
            yield from self.package.related(drawing, "image")


def column_index(letters: str) -> int:
    """Return the column from 0 that letters such as `AB` name, -1 if they name none."""
    column = 0
    for character in letters[:4]:
        if not "A" <= character <= "Z":
            return -1
        column = column * 26 + ord(character) - 64
    return column - 1 if column <= COLUMNS_MAX else -1


def without_blanks(piece: bytes) -> bytes:
    """Drop cells and rows that only carry a format, before they cost an element each.

    Only those that state their place go: the others count for the place of what follows.
    """
    if b"<c r=" not in piece and b"<row r=" not in piece:
        return piece
    return _BLANK_ROW.sub(b"", _BLANK_CELL.sub(b"", piece))


def _string_text(item: Element) -> str:
    """Return the runs of a string without its phonetic guide."""
    return "".join(found.text or "" for found in _texts(item))


def _texts(item: Element) -> Iterator[Element]:
    for found in item.iter():
        name = local_name(found)
        if name in {"t", "text"} and local_name(found.getparent()) != "rPh":
            yield found


def _is_index(value: str, strings: list[str]) -> bool:
    return value.isdecimal() and len(value) < 9 and int(value) < len(strings)


def _relationship_id(sheet: Element) -> str:
    return next((str(v) for k, v in sheet.attrib.items() if k.endswith("}id")), "")
