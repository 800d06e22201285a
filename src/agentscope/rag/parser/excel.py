"""Spreadsheets: XLSX, XLS, XLSB and ODS, whatever the extension says."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from agentscope.errors import CorruptFileError, ParseLimitError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.binarysheet import binary_sheets
from agentscope.rag.parser.compound import COMPOUND_MAGIC
from agentscope.rag.parser.flow import (
    SECTION_CHARACTERS_MAX,
    Flow,
    PictureBudget,
    TableFormat,
    check_table_format,
    counted,
    plain_text,
    refuse_empty,
    text_section,
)
from agentscope.rag.parser.hypertext import html_blocks
from agentscope.rag.parser.ooxml import Package, picture_bytes
from agentscope.rag.parser.opendocument import OpenDocument
from agentscope.rag.parser.sheet import Sheet, sheet_blocks
from agentscope.rag.parser.xlsx import XlsxBook
from agentscope.rag.parser.zipguard import ZipContainer, ZipLimits

_OOXML = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_MACRO = "application/vnd.ms-excel."
# Sheets are streamed, so their size costs time only; the caller's clock bounds that. Up to the
# floor it is below a minute, so a long sheet may repeat the same cell as often as it likes.
_LIMITS = ZipLimits(single_bytes=2 << 30, total_bytes=4 << 30, ratio_floor_bytes=160 << 20)
_PICTURE_BYTES = 20 << 20
_PAGE_BYTES = 64 << 20
_TABLE = re.compile(rb"<(?:\w+:)?table\b", re.IGNORECASE)


class ExcelParser(SyncParser):
    """Reads sheets as tables, with their names, dates as ISO text and the values of formulas."""

    supported_media_types: ClassVar[list[str]] = [
        _OOXML + "sheet",
        "application/vnd.ms-excel",
        _OOXML + "template",
        _MACRO + "sheet.macroenabled.12",
        _MACRO + "template.macroenabled.12",
        _MACRO + "sheet.binary.macroenabled.12",
        "application/vnd.oasis.opendocument.spreadsheet",
    ]
    required_modules = ("lxml", "olefile", "python_calamine")

    def __init__(
        self,
        include_sheet_names: bool = True,
        include_cell_coordinates: bool = False,
        include_image: bool = False,
        separate_sheet: bool = False,
        table_format: str = "markdown",
    ) -> None:
        self.include_sheet_names = include_sheet_names
        self.include_cell_coordinates = include_cell_coordinates
        self.include_image = include_image
        self.separate_sheet = separate_sheet
        self.table_format: TableFormat = check_table_format(table_format)

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".ods", ".xls", ".xlsb", ".xlsm", ".xlsx", ".xltm", ".xltx"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        """Yield one section per sheet, or one for all; a very long one is cut between tables."""
        del options
        report.coverage.unit = "sheet"
        kind = _kind(file, filename)
        if kind == "xlsx":
            with Package(file, filename, _LIMITS) as package:
                book = XlsxBook(package)
                yield from self._sections(book.sheets(), filename, report, package)
                damaged = bool(book.damage or package.damaged)
                refuse_empty(report, filename, damaged=damaged)
                if damaged:
                    report.warn("Parts of the file are damaged; cells may be missing.")
        elif kind == "html":
            yield from counted(_html_sections(file, filename), report)
        elif kind == "ods":
            with OpenDocument(file, filename, _LIMITS) as document:
                yield from self._sections(document.sheets(), filename, report)
        else:
            yield from self._sections(binary_sheets(file, filename, kind), filename, report)

    def _sections(
        self,
        sheets: Iterator[Sheet],
        source: str,
        report: ParseReport,
        package: Package | None = None,
    ) -> Iterator[Section]:
        budget = PictureBudget(source, report)
        pictures: list[Section] = []
        pending: list[str] = []
        for index, sheet in enumerate(sheets, 1):
            metadata: dict[str, Any] = {"sheet": sheet.name} if self.separate_sheet else {}
            if self.separate_sheet:
                pending = []
            found = False
            for text in self._texts(sheet):
                found = True
                pending.append(text)
                if sum(map(len, pending)) > SECTION_CHARACTERS_MAX:
                    yield text_section("\n\n".join(pending), source, metadata)
                    pending = []
            self._count(report, index, found)
            for part in sheet.pictures if self.include_image and package else ():
                data = picture_bytes(package, part, _PICTURE_BYTES) if package else None
                section = budget.section(data, {"sheet": sheet.name})
                pictures += [section] if section is not None else []
            if self.separate_sheet and pending:
                yield text_section("\n\n".join(pending), source, metadata)
        if pending and not self.separate_sheet:
            yield text_section("\n\n".join(pending), source)
        yield from pictures

    def _texts(self, sheet: Sheet) -> Iterator[str]:
        """Yield the tables of a sheet, the first one under the sheet's name."""
        heading = f"Sheet: {sheet.name}\n" if self.include_sheet_names else ""
        blocks = sheet_blocks(
            sheet.rows, self.table_format, coordinates=self.include_cell_coordinates
        )
        for texts in (blocks, sheet.lines):
            for text in texts:
                clean = plain_text(text).strip()
                if clean:
                    yield heading + clean
                    heading = ""

    @staticmethod
    def _count(report: ParseReport, index: int, found: bool) -> None:
        report.coverage.total += 1
        report.coverage.with_text += found
        if not found and len(report.coverage.without_text) < 1_000:
            report.coverage.without_text.append(index)


def _kind(file: bytes | Path, filename: str) -> str:
    """Return xlsx, ods, xlsb, xls or html by content; web programs call a page a workbook."""
    if isinstance(file, bytes):
        head = file[:8]
    else:
        with file.open("rb") as stream:
            head = stream.read(8)
    if head.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<"):
        return "html"
    if head == COMPOUND_MAGIC or head[:4] in {b"\x09\x08\x10\0", b"\x09\x08\x08\0"}:
        return "xls"
    with ZipContainer(file, filename, _LIMITS) as container:
        if "xl/workbook.bin" in container:
            return "xlsb"
        if "content.xml" in container:
            return "ods"
    return "xlsx"


def _html_sections(file: bytes | Path, filename: str) -> Iterator[Section]:
    """Yield the tables of a web page that was saved under the name of a workbook.

    Raises:
        CorruptFileError: a page without any table, such as the error that a download gave.
    """
    if isinstance(file, Path) and file.stat().st_size > _PAGE_BYTES:
        raise ParseLimitError(filename=filename)
    page = file if isinstance(file, bytes) else file.read_bytes()
    if not _TABLE.search(page):
        raise CorruptFileError(
            "The file is a web page without a table, not a workbook.", filename=filename
        )
    flow = Flow(filename)
    for block in html_blocks(page):
        yield from flow.paragraph(block.text)
    yield from flow.flush()
