"""Spreadsheets: values as people read them, and ranges that cost only what is in them."""

import datetime
import io
import time

import openpyxl
import pytest
import xlwt
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image as SheetImage
from openpyxl.styles import Font
from PIL import Image

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseLimitError
from agentscope.rag.parser.cellformat import NumberKind, cell_number, format_kind
from agentscope.rag.parser.excel import ExcelParser
from agentscope.testing.office_files import compound_file, parsed, replaced, zip_file

SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def saved(book: openpyxl.Workbook) -> bytes:
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_numbers_dates_and_texts_read_as_people_write_them() -> None:
    """Whole numbers have no fraction, dates are ISO text, a share keeps its sign."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["n", "f", "d", "t", "p", "b", "x"])
    moment = datetime.datetime(2024, 2, 29, 13, 5, tzinfo=datetime.UTC).replace(tzinfo=None)
    sheet.append([3.0, 0.1, moment.date(), moment, 0.25, True, "a|b\nc"])
    sheet["E2"].number_format = "0.0%"
    line = parsed(ExcelParser(), saved(book)).text.splitlines()[-1]
    assert line == "| 3 | 0.1 | 2024-02-29 | 2024-02-29 13:05:00 | 25% | TRUE | a\\|b c |"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("yyyy-mm-dd", NumberKind.DATE),
        ("d/m/yy h:mm", NumberKind.DATETIME),
        ("[$-409]h:mm AM/PM;@", NumberKind.TIME),
        ("[h]:mm:ss", NumberKind.DURATION),
        ('#,##0.00 "days"', NumberKind.NUMBER),
        ("0.00E+00", NumberKind.NUMBER),
        ("General", NumberKind.NUMBER),
        ("0%", NumberKind.PERCENT),
    ],
)
def test_the_kind_of_a_format_is_told(code: str, kind: NumberKind) -> None:
    """Letters in quotes or brackets say nothing."""
    assert format_kind(code) is kind


def test_serial_numbers_follow_both_calendars() -> None:
    """The leap day that never was, and the one of 1904."""
    assert cell_number(1, NumberKind.DATE) == "1900-01-01"
    assert cell_number(61, NumberKind.DATE) == "1900-03-01"
    assert cell_number(0, NumberKind.DATE, from_1904=True) == "1904-01-01"
    assert cell_number(0.5, NumberKind.TIME) == "12:00:00"
    assert cell_number(1.5, NumberKind.DURATION) == "36:00:00"
    assert cell_number(-1, NumberKind.DATE) == "-1"
    assert cell_number(1e300, NumberKind.DATE) == "1e+300"


def test_sheets_are_one_section_or_one_each() -> None:
    """The name is the first line, and metadata when sheets stand alone."""
    book = openpyxl.Workbook()
    book.active.title = "One"
    book.active.append(["a", "b"])
    book.create_sheet("Empty")
    book.create_sheet("Two").append(["c"])
    data = saved(book)
    merged = parsed(ExcelParser(), data)
    assert merged.text == "Sheet: One\n| a | b |\n| --- | --- |\n\nSheet: Two\nc"
    assert merged.sections[0].metadata == {}
    single = parsed(ExcelParser(separate_sheet=True, include_sheet_names=False), data)
    assert [section.metadata for section in single.sections] == [{"sheet": "One"}, {"sheet": "Two"}]
    assert single.report.coverage.without_text == [2]
    coordinates = parsed(ExcelParser(include_cell_coordinates=True, table_format="json"), data)
    assert '[["A1: a", "B1: b"]]' in coordinates.text
    with pytest.raises(ValueError, match="table_format"):
        ExcelParser(table_format="xml")


def test_notes_formulas_and_pictures_are_read() -> None:
    """A formula counts by the value that was saved with it."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet["A1"] = "head"
    sheet["A1"].comment = Comment("check this", "Ann")
    stream = io.BytesIO()
    Image.new("RGB", (8, 8)).save(stream, "PNG")
    sheet.add_image(SheetImage(stream), "C3")
    formula = (
        f'<worksheet {SPACE}><sheetData><row r="1"><c r="A1"><f>1+1</f><v>2</v></c></row>'
        "</sheetData></worksheet>"
    )
    data = saved(book)
    found = parsed(ExcelParser(include_image=True), data)
    assert "check this" in found.text
    assert found.kinds == ["text", "data"]
    plain = replaced(data, {"xl/worksheets/sheet1.xml": formula})
    assert parsed(ExcelParser(), plain).text.startswith("Sheet: Sheet\n2\n")


def test_a_used_range_of_a_million_rows_costs_what_is_in_it() -> None:
    """Blocks before and after a gap are both there, and a far cell costs nothing."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (*range(1, 201), *range(801, 1001)):
        sheet.cell(row, 1, f"row{row}")
        sheet.cell(row, 2, row)
    sheet.cell(1_048_000, 1).font = Font(bold=True)
    sheet.cell(1_048_576, 16_384, "corner")
    data = saved(book)
    started = time.process_time()
    text = parsed(ExcelParser(), data).text
    assert time.process_time() - started < 5
    assert all(word in text for word in ("row1 ", "row200 ", "row801 ", "row1000 ", "corner"))


def test_formatted_but_empty_cells_and_many_merged_ranges_are_cheap() -> None:
    """Neither becomes text, neither is held."""
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    rows = "".join(
        f'<row r="{r}"><c r="A{r}" s="0"/><c r="B{r}" s="0"/></row>' for r in range(2, 50_000)
    )
    merges = "".join(f'<mergeCell ref="A{r}:C{r}"/>' for r in range(1, 20_001))
    xml = (
        f'<worksheet {SPACE}><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>kept</t></is></c>'
        f"</row>{rows}</sheetData><mergeCells>{merges}</mergeCells></worksheet>"
    )
    data = replaced(saved(book), {"xl/worksheets/sheet1.xml": xml})
    started = time.process_time()
    assert parsed(ExcelParser(), data).text == "Sheet: Sheet\nkept"
    assert time.process_time() - started < 2


def test_long_tables_are_cut_with_their_header() -> None:
    """Each piece starts with the first row."""
    book = openpyxl.Workbook()
    book.active.append(["id", "name"])
    for number in range(2_500):
        book.active.append([number, f"n{number}"])
    text = parsed(ExcelParser(), saved(book)).text
    assert text.count("| id | name |") == 3
    assert text.count("| 1500 | n1500 |") == 1


def test_old_workbooks_are_read() -> None:
    """XLS, with dates and whole numbers."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Old")
    style = xlwt.easyxf(num_format_str="yyyy-mm-dd")
    sheet.write(0, 0, "day")
    sheet.write(0, 1, 7)
    sheet.write(1, 0, datetime.date(2001, 2, 3), style)
    stream = io.BytesIO()
    book.save(stream)
    text = parsed(ExcelParser(separate_sheet=True), stream.getvalue()).text
    assert text == "Sheet: Old\n| day | 7 |\n| --- | --- |\n| 2001-02-03 |  |"


def test_a_web_page_under_the_name_of_a_workbook_is_read() -> None:
    """Many programs export tables that way."""
    page = b"\n<html><table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>"
    assert parsed(ExcelParser(), page).text == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_a_web_page_without_a_table_is_no_workbook() -> None:
    """It is what a server says instead of the file, and must not become its text."""
    with pytest.raises(CorruptFileError, match="web page"):
        parsed(ExcelParser(), b"<html><p>Not Found</p></html>")


def test_a_long_sheet_may_repeat_itself() -> None:
    """Repetition deflates like a bomb; what is streamed in moderate time is read all the same."""
    book = openpyxl.Workbook()
    cell = f'<row><c t="inlineStr"><is><t>{"a" * 6_000}</t></is></c></row>'
    sheet = f"<worksheet {SPACE}><sheetData>{cell * 2_000}</sheetData></worksheet>"
    data = replaced(saved(book), {"xl/worksheets/sheet1.xml": sheet})
    assert len(sheet) > 150 * len(data)
    assert len(parsed(ExcelParser(), data).text) > 12_000_000


def test_passwords_and_damage_are_told_apart() -> None:
    """For old workbooks by the record of the password."""
    with_password = b"\x09\x08\x10\x00" + bytes(16) + b"\x2f\x00\x36\x00" + bytes(54)
    with pytest.raises(EncryptedFileError):
        parsed(ExcelParser(), compound_file({"Workbook": with_password.ljust(5_000, b"\0")}))
    with pytest.raises(EncryptedFileError):
        parsed(ExcelParser(), compound_file({"EncryptedPackage": b"x"}))
    for data in (b"", b"a,b\n1,2\n", zip_file({}), compound_file({"Workbook": b"junk" * 9})):
        with pytest.raises(CorruptFileError):
            parsed(ExcelParser(), data)


def test_entities_and_bombs_in_any_part_are_refused() -> None:
    """In the workbook, in a sheet, in the formats."""
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    data = saved(book)
    laughs = '<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r>&b;</r>'
    for part in ("xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/styles.xml"):
        with pytest.raises(ParseLimitError):
            parsed(ExcelParser(), replaced(data, {part: laughs}))
    bomb = f"<worksheet {SPACE}><sheetData>" + "<row><c><v>1</v></c></row>" * 7_000_000
    with pytest.raises(ParseLimitError):
        parsed(ExcelParser(), replaced(data, {"xl/worksheets/sheet1.xml": bomb}))
