"""Field reports about reading files: nothing lost, nothing made up, nothing hurt."""

import io
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import openpyxl
import pytest
import xlwt
from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from PIL import Image
from pptx import Presentation
from pptx.util import Inches
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.errors import CorruptFileError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.ocr import RapidPageOcr
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.text import TextParser
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.live_service import whole_text
from agentscope.testing.rest import RestService, memory_app

OOXML = "application/vnd.openxmlformats-officedocument."
DOCX = OOXML + "wordprocessingml.document"
PPTX = OOXML + "presentationml.presentation"
XLSX = OOXML + "spreadsheetml.sheet"
PDF = "application/pdf"
MIB = 1024 * 1024
SECONDS = 120


def saved(document: Any) -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def outcome(
    service: RestService, name: str, data: bytes, media_type: str, **fields: str
) -> tuple[str, dict[str, Any]]:
    """Upload a file into a new knowledge base; return that and how the document ended."""
    kb = service.knowledge_base()
    sent = service.upload(kb, name, data, media_type=media_type, **fields)
    assert sent.status_code == 201, sent.text
    return kb, service.settled(kb, sent.json()["document_id"], seconds=SECONDS)


def read(service: RestService, name: str, data: bytes, media_type: str, **fields: str) -> str:
    """Return the text of a file that must become ready."""
    kb, view = outcome(service, name, data, media_type, **fields)
    assert view["status"] == "ready", view
    return whole_text(chunks(service, kb, view["id"]))


def chunks(service: RestService, kb: str, document_id: str) -> list[dict[str, Any]]:
    path = f"/knowledge_bases/{kb}/documents/{document_id}/chunks"
    found: list[dict[str, Any]] = service.json("GET", path, params={"page_size": 128})["chunks"]
    return found


def hits(service: RestService, kb: str, query: str, **options: Any) -> list[dict[str, Any]]:
    body = {"query": query, **options}
    found: list[dict[str, Any]] = service.json("POST", f"/knowledge_bases/{kb}/search", json=body)[
        "results"
    ]
    return found


def grouped_slide() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, Inches(3), Inches(1)).text_frame.text = "BEFORE-WORD"
    table = slide.shapes.add_table(2, 2, 0, Inches(1), Inches(3), Inches(1)).table
    for number, cell in enumerate(table.iter_cells()):
        cell.text = f"CELL{number}"
    inner = slide.shapes.add_group_shape().shapes.add_group_shape()
    box = inner.shapes.add_textbox(0, Inches(3), Inches(3), Inches(1))
    box.text_frame.text = "NESTED-WORD"
    slide.shapes.add_textbox(0, Inches(5), Inches(3), Inches(1)).text_frame.text = "AFTER-WORD"
    return saved(deck)


def test_field_report_05_text_in_grouped_shapes(reading_service: RestService) -> None:
    """Text of a group in a group is found, apart from its neighbours and in reading order."""
    kb, view = outcome(reading_service, "deck.pptx", grouped_slide(), PPTX)
    assert view["status"] == "ready", view
    [hit] = hits(reading_service, kb, "NESTED-WORD", mode="keyword")
    words = re.findall(r"[\w-]+", hit["chunk"]["content"]["text"])
    wanted = ["BEFORE-WORD", *(f"CELL{n}" for n in range(4)), "NESTED-WORD", "AFTER-WORD"]
    assert [word for word in words if word in wanted] == wanted


def cells(line: str) -> list[str]:
    """Return the cells of a line of a Markdown table; an escaped bar is part of its cell."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_field_report_07_bars_and_line_ends_in_table_cells(
    reading_service: RestService, kind: str
) -> None:
    """Such a cell stays one cell, and its text stays whole."""
    rows = [["name", "value"], ["a|b", "first\nsecond"], ["plain", "x"]]
    document: Any = Document() if kind == "docx" else Presentation()
    if kind == "docx":
        table = document.add_table(3, 2)
    else:
        slide = document.slides.add_slide(document.slide_layouts[6])
        table = slide.shapes.add_table(3, 2, 0, 0, Inches(4), Inches(2)).table
    for i, row in enumerate(rows):
        for j, text in enumerate(row):
            table.cell(i, j).text = text
    media_type = DOCX if kind == "docx" else PPTX
    text = read(reading_service, f"table.{kind}", saved(document), media_type)
    lines = [cells(line) for line in text.splitlines() if line.strip().startswith("|")]
    lines = [line for line in lines if set("".join(line)) - set("-: ")]
    assert [len(line) for line in lines] == [2, 2, 2]
    assert lines[1][0].replace("\\", "") == "a|b"
    assert re.fullmatch(r"first\W+(br\W+)?second", lines[1][1])


VML = """<w:r {w} xmlns:v="urn:schemas-microsoft-com:vml"><w:pict>
<v:shape id="without-picture" style="width:10pt"><v:imagedata/></v:shape>
<v:rect><v:textbox><w:txbxContent><w:p><w:r><w:t>BOXED-WORD</w:t></w:r></w:p></w:txbxContent>
</v:textbox></v:rect></w:pict></w:r>"""


def test_field_report_08_old_vml_shapes(reading_service: RestService) -> None:
    """A text box of old Word is read; a shape without a picture id is no reason to fail."""
    document = Document()
    document.add_paragraph("Before.")._p.append(parse_xml(VML.format(w=nsdecls("w"))))
    document.add_paragraph("After.")
    text = read(reading_service, "old.docx", saved(document), DOCX)
    assert re.search(r"Before\.\s+BOXED-WORD\s+After\.", text)


class NeedsMissing(SyncParser):
    """Reads a type of its own with a library that is not installed."""

    supported_media_types: ClassVar[list[str]] = ["application/x-odd"]
    required_modules = ("a_library_that_nobody_has",)

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".odd"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        yield Section(content=TextBlock(text="never"), source=filename)


def test_field_report_09_only_what_can_be_read_is_advertised(
    reading_service: RestService, tmp_path: Path
) -> None:
    """`.xls` is offered and read; a type whose library is missing is refused at the door."""
    offered = reading_service.json("GET", "/knowledge_bases/supported_content_types")
    assert ".xls" in offered["extensions"]
    book = xlwt.Workbook()
    book.add_sheet("Prices").write(0, 0, "lemons")
    assert "lemons" in read(reading_service, "old.xls", saved(book), "application/vnd.ms-excel")
    app = memory_app(tmp_path, knowledge_parsers=[TextParser(), NeedsMissing()])
    with RestService(app) as service:
        offered = service.json("GET", "/knowledge_bases/supported_content_types")
        assert ".odd" not in offered["extensions"]
        assert "application/x-odd" not in offered["media_types"]
        refused = service.upload(service.knowledge_base(), "a.odd", b"x", media_type="")
        assert refused.status_code == 415
        assert "a_library_that_nobody_has" in refused.json()["detail"]


class Refuses(TextParser):
    """Gives one section, then finds the file to be damaged."""

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        yield Section(content=TextBlock(text="a first section"), source=filename)
        raise CorruptFileError("The second half is missing.")


def test_field_report_31_an_error_is_never_content(
    reading_service: RestService, tmp_path: Path
) -> None:
    """What goes wrong while reading is told as an error; no word of it is indexed."""
    with RestService(memory_app(tmp_path, knowledge_parsers=[Refuses()])) as service:
        kb, view = outcome(service, "half.txt", b"whatever", "text/plain")
        assert (view["status"], view["error"]) == ("error", "The second half is missing.")
        assert view["chunk_count"] == 0
        assert hits(service, kb, "first section half missing error") == []
    for name, media_type in [("a.pdf", PDF), ("a.docx", DOCX), ("a.xlsx", XLSX), ("a.pptx", PPTX)]:
        kb, view = outcome(reading_service, name, b"<html>404 Not Found</html>", media_type)
        assert view["status"] == "error", (name, view)
        assert hits(reading_service, kb, "404 not found") == []


CHINESE = "知识库检索 㐀"
ENCODED = [
    ("gb18030", CHINESE),
    ("gbk", "知识库的文档会先解析，再切分成片段，最后写入向量数据库。"),
    ("big5", "知識庫的文件會先解析，再切分成片段，最後寫入向量資料庫。"),
    ("shift_jis", "知識ベースの文書は解析され、断片に分けられて、検索できるようになります。"),
    ("euc-kr", "지식 베이스의 문서는 분석되고 나뉘어 검색할 수 있게 됩니다."),
    ("utf-16", CHINESE),
    ("utf-16-le", CHINESE + " and some words in English"),
    ("utf-16-be", CHINESE + " and some words in English"),
]


@pytest.mark.parametrize(("encoding", "text"), ENCODED, ids=[known[0] for known in ENCODED])
def test_field_report_33_text_in_other_encodings(
    reading_service: RestService, encoding: str, text: str
) -> None:
    """The text is right in every kind of text file, and the encoding that was found is told."""
    for name, media_type in [("a.txt", "text/plain"), ("a.md", ""), ("a.csv", "text/csv")]:
        kb, view = outcome(reading_service, name, text.encode(encoding), media_type)
        assert view["status"] == "ready", (name, view)
        found = whole_text(chunks(reading_service, kb, view["id"]))
        assert text in found, (name, found)
        assert "\ufffd" not in found
        info = reading_service.json("GET", f"/knowledge_bases/{kb}/documents/{view['id']}/info")
        assert info["report"]["encoding"]


def test_field_report_33_the_encoding_can_be_given(reading_service: RestService) -> None:
    """A file too short to judge is read as its owner says."""
    text = read(reading_service, "a.txt", "検索".encode("euc-jp"), "text/plain", encoding="euc-jp")
    assert text.strip() == "検索"


def pdf_objects(*objects: bytes) -> bytes:
    """Return a PDF of numbered objects; the first is the catalogue."""
    data = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        data += b"%010d 00000 n \n" % place
    data += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(data)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<</Length %d%b>>\nstream\n%b\nendstream" % (len(content), entries, content)


def one_page_pdf(content: bytes, resources: bytes, *more: bytes) -> bytes:
    """Return a PDF whose page is object 3 and its content 4; `more` objects begin at 5."""
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<<%b>>>>"
        % resources
    )
    return pdf_objects(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page,
        stream(content),
        *more,
    )


def pdf_with_nul() -> bytes:
    """Return a PDF whose font says that one of its characters is U+0000."""
    to_unicode = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap "
        b"1 begincodespacerange <00> <FF> endcodespacerange "
        b"1 beginbfchar <7E> <0000> endbfchar endcmap end end"
    )
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>"
    content = b"BT /F1 12 Tf 20 200 Td (alpha~beta gamma) Tj ET"
    return one_page_pdf(content, b"/Font<</F1 5 0 R>>", font, stream(to_unicode))


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.txt", b"alpha\x00beta gamma", "text/plain"),
        ("a.pdf", pdf_with_nul(), PDF),
        ("a.json", b'{"key": "alpha\\u0000beta gamma"}', "application/json"),
        ("a.csv", b"alpha\x00,beta\x00,gamma\r\n", "text/csv"),
    ],
    ids=["text", "pdf", "json", "csv"],
)
def test_field_report_34_nul_characters(
    reading_service: RestService, name: str, data: bytes, media_type: str
) -> None:
    """They vanish; the words are found, and the ranges still fit the text."""
    kb, view = outcome(reading_service, name, data, media_type)
    assert view["status"] == "ready", view
    found = chunks(reading_service, kb, view["id"])
    text = whole_text(found)
    assert "\x00" not in text
    assert re.search(r"alpha.*beta.*gamma", text, re.DOTALL)
    for chunk in found:
        where = chunk["metadata"]
        assert where["char_end"] - where["char_start"] == len(chunk["content"]["text"])
    assert hits(reading_service, kb, "gamma", mode="keyword")


def picture_pdf(*, pages: int, with_text: int) -> bytes:
    """Return a PDF whose first pages hold text and the others a picture without a word."""
    canvas_stream = io.BytesIO()
    canvas = Canvas(canvas_stream)
    picture = ImageReader(Image.linear_gradient("L").resize((64, 64)))
    for number in range(pages):
        if number < with_text:
            canvas.drawString(72, 700, f"Words on page {number + 1}.")
        else:
            canvas.drawImage(picture, 72, 72, 400, 400)
        canvas.showPage()
    canvas.save()
    return canvas_stream.getvalue()


def test_field_report_36_files_without_text_say_so(tmp_path: Path) -> None:
    """Nothing to read is an error with its own code; pages without text are named."""
    parsers = [TextParser(), PDFParser()]
    with RestService(memory_app(tmp_path, knowledge_parsers=parsers)) as service:
        for name, data, media_type in [
            ("scan.pdf", picture_pdf(pages=1, with_text=0), PDF),
            ("blank.txt", b"   \n", "text/plain"),
            ("empty.txt", b"", "text/plain"),
        ]:
            kb, view = outcome(service, name, data, media_type)
            assert (view["status"], view["error_detail"]["code"]) == ("error", "no_text"), view
            path = f"/knowledge_bases/{kb}/documents"
            listed = service.json("GET", path, params={"status": "error"})
            assert [document["id"] for document in listed["documents"]] == [view["id"]]
        kb, view = outcome(service, "partly.pdf", picture_pdf(pages=10, with_text=3), PDF)
        assert view["status"] == "ready"
        assert any("4, 5, 6, 7, 8, 9, 10" in warning for warning in view["warnings"]), view
        info = service.json("GET", f"/knowledge_bases/{kb}/documents/{view['id']}/info")
        assert info["report"]["coverage"]["without_text"] == [4, 5, 6, 7, 8, 9, 10]


class SeesWords:
    """A text recognition that finds the same words in every picture."""

    def read(self, image: Any) -> str:
        return f"RECOGNISED {image.width > 0}"


def test_field_report_36_a_scan_can_be_read_again_once_ocr_is_there(tmp_path: Path) -> None:
    """The same document becomes ready when it is re-indexed by a service with OCR."""
    parts: dict[str, Any] = {"storage": InMemoryStorage(), "vector_store": InMemoryVectorStore()}
    with RestService(memory_app(tmp_path, knowledge_parsers=[PDFParser()], **parts)) as service:
        kb, view = outcome(service, "scan.pdf", picture_pdf(pages=1, with_text=0), PDF)
        assert view["error_detail"]["code"] == "no_text"
    parser = PDFParser(ocr=SeesWords())
    with RestService(memory_app(tmp_path, knowledge_parsers=[parser], **parts)) as service:
        path = f"/knowledge_bases/{kb}/documents/{view['id']}/reindex"
        service.json("POST", path, status=202)
        again = service.settled(kb, view["id"], seconds=SECONDS)
        assert again["status"] == "ready", again
        assert hits(service, kb, "RECOGNISED", mode="keyword")


def test_field_report_51_a_page_that_never_ends(reading_service: RestService) -> None:
    """A monstrous page, a form that draws itself and an outline in a circle end in time."""
    operators = b"BT /F1 12 Tf 20 200 Td (alpha) Tj ET " + b"0 0 m 9 9 l S " * 1_000_000
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    paths = one_page_pdf(operators, b"/Font<</F1 5 0 R>>", font)
    form = stream(b"/X Do", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources 7 0 R")
    looped = one_page_pdf(
        b"BT /F1 12 Tf 20 200 Td (alpha) Tj ET /X Do",
        b"/Font<</F1 5 0 R>>/XObject<</X 6 0 R>>",
        font,
        form,
        b"<</XObject<</X 6 0 R>>>>",
    )
    outline = pdf_objects(
        b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        stream(b"BT /F1 12 Tf 20 200 Td (alpha) Tj ET"),
        font,
        b"<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>",
        b"<</Title(Loop)/Parent 6 0 R/Next 7 0 R/First 7 0 R/Dest[3 0 R/Fit]>>",
    )
    for name, data in [("paths", paths), ("form", looped), ("outline", outline)]:
        kb, view = outcome(reading_service, f"{name}.pdf", data, PDF)
        ended_well = view["status"] == "ready" and hits(reading_service, kb, "alpha")
        assert ended_well or view["error_detail"]["code"] == "parse_limit", (name, view)


def test_field_report_51_one_bad_page_does_not_lose_the_others(
    reading_service: RestService,
) -> None:
    """Ten pages, one of which cannot be read: nine are found, and one is named."""
    data = picture_pdf(pages=10, with_text=10)
    broken = data.replace(b"/FlateDecode", b"/NoSuchCode!", 1)
    broken = broken.replace(b"/ASCII85Decode", b"/NoSuchCode", 1)
    kb, view = outcome(reading_service, "broken.pdf", broken, PDF)
    assert view["status"] == "ready", view
    text = whole_text(chunks(reading_service, kb, view["id"]))
    assert len(set(re.findall(r"Words on page (\d+)", text))) == 9
    assert any("page 1" in warning for warning in view["warnings"]), view


class BreaksOnPictures:
    """A text recognition that fails with an error of its own."""

    def read(self, image: Any) -> str:
        raise RuntimeError(f"out of memory at {image.size}")


def test_field_report_51_a_recognition_that_fails_costs_its_page_only(tmp_path: Path) -> None:
    """The pages with text are read, and the others are named."""
    parsers = [PDFParser(ocr=BreaksOnPictures())]
    with RestService(memory_app(tmp_path, knowledge_parsers=parsers)) as service:
        data = picture_pdf(pages=4, with_text=2)
        kb, view = outcome(service, "partly.pdf", data, PDF)
        assert view["status"] == "ready", view
        text = whole_text(chunks(service, kb, view["id"]))
        assert re.findall(r"Words on page (\d+)", text) == ["1", "2"]
        assert "Text recognition failed on pages 3, 4." in view["warnings"]


def test_field_report_51_a_picture_without_a_shape_is_not_recognised() -> None:
    """A page of a line's width and a mile's length never reaches the engine."""
    assert RapidPageOcr().read(Image.new("L", (2, 6_000_000))) == ""
    assert RapidPageOcr().read(Image.new("L", (10_000, 9))) == ""


def sheet_xml(rows: Iterator[str], extra: str = "") -> str:
    return (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"<sheetData>{''.join(rows)}</sheetData>{extra}</worksheet>"
    )


def with_sheet(xml: str) -> bytes:
    """Return a workbook whose only sheet is `xml`."""
    source = zipfile.ZipFile(io.BytesIO(saved(openpyxl.Workbook())))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            sheet = name == "xl/worksheets/sheet1.xml"
            out.writestr(name, xml if sheet else source.read(name))
    return target.getvalue()


def filled_row(number: int) -> str:
    value = f"<is><t>value{number}</t></is>"
    return f'<row r="{number}"><c r="A{number}" t="inlineStr">{value}</c></row>'


def test_field_report_52_a_sheet_with_a_million_rows(reading_service: RestService) -> None:
    """Rows after a gap are read; a used range of a million rows costs next to nothing."""
    numbers = [*range(1, 201), *range(801, 1001)]
    rows = [*map(filled_row, numbers), '<row r="1048000"><c r="A1048000" s="0"/></row>']
    data = with_sheet(sheet_xml(iter(rows)))
    kb, view = outcome(reading_service, "gap.xlsx", data, XLSX)
    assert view["status"] == "ready", view
    text = whole_text(chunks(reading_service, kb, view["id"]))
    assert [int(n) for n in re.findall(r"value(\d+)", text)] == numbers
    info = reading_service.json("GET", f"/knowledge_bases/{kb}/documents/{view['id']}/info")
    assert info["report"]["parse_seconds"] < 10
    styled = (f'<row r="{n}"><c r="A{n}" s="0"/></row>' for n in range(1, 1_000_000))
    rows_again = [filled_row(1_000_001)]
    data = with_sheet(sheet_xml(iter([*styled, *rows_again])))
    assert "value1000001" in read(reading_service, "styled.xlsx", data, XLSX)


def test_field_report_54_twenty_thousand_merged_ranges(reading_service: RestService) -> None:
    """They cost a moment."""
    ranges = "".join(f'<mergeCell ref="A{n}:B{n}"/>' for n in range(1, 20_001))
    extra = f'<mergeCells count="20000">{ranges}</mergeCells>'
    data = with_sheet(sheet_xml(map(filled_row, range(1, 20_001)), extra))
    kb, view = outcome(reading_service, "merged.xlsx", data, XLSX)
    assert view["status"] == "ready", view
    assert hits(reading_service, kb, "value19999", mode="keyword", top_k=1)
    info = reading_service.json("GET", f"/knowledge_bases/{kb}/documents/{view['id']}/info")
    assert info["report"]["parse_seconds"] < 20


def bomb(*, false_size: bool) -> bytes:
    """Return a document whose text inflates to 400 MB, with honest or false sizes."""
    source = zipfile.ZipFile(io.BytesIO(saved(Document())))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            if name != "word/document.xml":
                out.writestr(name, source.read(name))
                continue
            with out.open(name, "w", force_zip64=True) as entry:
                entry.write(
                    b'<w:document xmlns:w="http://schemas.openxmlformats.org/'
                    b'wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>'
                )
                for _ in range(400):
                    entry.write(b"A" * MIB)
    data = bytearray(target.getvalue())
    if false_size:
        place = data.rindex(b"word/document.xml") - 46  # its entry in the directory
        assert data[place : place + 4] == b"PK\x01\x02"
        data[place + 24 : place + 28] = struct.pack("<I", 1000)
    return bytes(data)


def laughing() -> bytes:
    """Return a document whose relations are a billion laughs."""
    source = zipfile.ZipFile(io.BytesIO(saved(Document())))
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    xml = f"<!DOCTYPE r [{entities}]><Relationships>&l9;</Relationships>"
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            out.writestr(name, xml if name == "_rels/.rels" else source.read(name))
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("bomb.docx", lambda: bomb(false_size=False)),
        ("false.docx", lambda: bomb(false_size=True)),
        ("laugh.docx", laughing),
        ("bomb.doc", lambda: bomb(false_size=False)),
        ("laugh.doc", laughing),
    ],
)
def test_field_report_55_bombs(reading_service: RestService, name: str, make: Any) -> None:
    """A bomb ends in a clear error, and a neighbour is read meanwhile."""
    kb = reading_service.knowledge_base()
    media_type = DOCX if name.endswith("docx") else "application/msword"
    sent = reading_service.upload(kb, name, make(), media_type=media_type)
    assert reading_service.ready(kb, "neighbour.txt", b"quiet words")
    view = reading_service.settled(kb, sent.json()["document_id"], seconds=SECONDS)
    assert view["status"] == "error", view
    assert view["error_detail"]["code"] in ("parse_limit", "corrupt_file"), view
