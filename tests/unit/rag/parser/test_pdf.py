"""PDF files: pages in order, honest about what could not be read."""

import io
from typing import Any

import pypdfium2
import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from agentscope.errors import CorruptFileError, EncryptedFileError, NoTextError
from agentscope.rag.parser.base import ParseOptions
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.pdf_text import repaired_line_ends, repaired_mojibake
from agentscope.testing.parser import read, shape


def pdf(draw: Any, pages: int = 1, **options: Any) -> bytes:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=A4, invariant=True, **options)
    for page in range(pages):
        draw(canvas, page)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def numbered(canvas: Canvas, page: int) -> None:
    canvas.drawString(72, 700, f"This is page number {page + 1}.")


def picture(canvas: Canvas, _: int) -> None:
    canvas.drawImage(ImageReader(Image.new("L", (40, 40), 128)), 72, 600)


class Reader:
    """Recognises the same words on every picture."""

    def __init__(self) -> None:
        self.sizes: list[tuple[int, int]] = []

    def read(self, image: Image.Image) -> str:
        self.sizes.append(image.size)
        return "recognised words"


def test_every_page_is_a_section_with_its_number() -> None:
    """In order, from 1."""
    sections, report = read(PDFParser(), pdf(numbered, 3), "a.pdf")
    assert [(item[0], item[2]["page"]) for item in shape(sections)] == [
        (f"This is page number {page}.", page) for page in (1, 2, 3)
    ]
    assert (report.coverage.unit, report.coverage.total, report.coverage.with_text) == (
        "page",
        3,
        3,
    )


def test_the_outline_becomes_the_heading_path() -> None:
    """Pages stand under the last bookmark before them."""

    def draw(canvas: Canvas, page: int) -> None:
        numbered(canvas, page)
        if page in (0, 2):
            canvas.bookmarkPage(f"p{page}")
            canvas.addOutlineEntry(f"Part {page}", f"p{page}", level=0 if page == 0 else 1)

    sections, _ = read(PDFParser(), pdf(draw, 4), "a.pdf")
    assert [section.metadata["heading_path"] for section in sections] == [
        ["Part 0"],
        ["Part 0"],
        ["Part 0", "Part 2"],
        ["Part 0", "Part 2"],
    ]


def test_chinese_in_a_font_that_is_not_embedded_is_read() -> None:
    """The usual case of official documents."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))

    def draw(canvas: Canvas, _: int) -> None:
        canvas.setFont("STSong-Light", 12)
        canvas.drawString(72, 700, "知识库检索")

    assert shape(read(PDFParser(), pdf(draw), "a.pdf")[0])[0][0] == "知识库检索"


def test_pages_without_text_are_named() -> None:
    """The rest is read, and the warning says which pages hold nothing."""

    def draw(canvas: Canvas, page: int) -> None:
        (picture if page in (1, 3) else numbered)(canvas, page)

    sections, report = read(PDFParser(), pdf(draw, 4), "a.pdf")
    assert len(sections) == 4
    assert report.coverage.without_text == [2, 4]
    assert report.warnings == ["No text was found on pages 2, 4."]


def test_a_scan_says_that_there_is_no_text() -> None:
    """A distinct error, not an empty success."""
    with pytest.raises(NoTextError, match="scanned"):
        read(PDFParser(), pdf(picture, 2), "a.pdf")


def test_scanned_pages_go_to_the_reader_of_pictures() -> None:
    """Only those, at a bounded size."""
    reader = Reader()

    def draw(canvas: Canvas, page: int) -> None:
        (picture if page == 1 else numbered)(canvas, page)

    sections, report = read(PDFParser(ocr=reader), pdf(draw, 3), "a.pdf")
    assert shape(sections)[1][0] == "recognised words"
    assert len(reader.sizes) == 1
    assert reader.sizes[0][0] * reader.sizes[0][1] <= 12_100_000
    assert report.warnings == ["The text of page 2 was recognised from a picture."]


def test_pages_with_nothing_to_recognise_cost_no_recognition() -> None:
    """A blank page or one with a frame is not rendered; letters drawn as outlines are."""

    def draw(canvas: Canvas, page: int) -> None:
        if page == 1:
            canvas.rect(10, 10, 100, 100)
        if page == 2:
            outline = canvas.beginPath()
            outline.moveTo(50, 50)
            for step in range(60):
                outline.lineTo(50 + 5 * (step % 7), 50 + 3 * step)
            canvas.drawPath(outline)

    reader = Reader()
    _, report = read(PDFParser(ocr=reader), pdf(draw, 3), "a.pdf")
    assert len(reader.sizes) == 1
    assert report.coverage.without_text == [1, 2]


def test_a_file_that_needs_a_password_says_so() -> None:
    """The right one opens it; an empty user password is none."""
    from reportlab.lib.pdfencrypt import StandardEncryption

    locked = pdf(numbered, encrypt=StandardEncryption("user", "owner", canPrint=0))
    with pytest.raises(EncryptedFileError):
        read(PDFParser(), locked, "a.pdf")
    sections, _ = read(PDFParser(), locked, "a.pdf", ParseOptions(password="user"))
    assert "page number 1" in shape(sections)[0][0]
    opened = pdf(numbered, encrypt=StandardEncryption("", "owner", canCopy=0))
    assert "page number 1" in shape(read(PDFParser(), opened, "a.pdf")[0])[0][0]


@pytest.mark.parametrize("keep", [20, 200, 500])
def test_the_beginning_of_a_file_is_damaged_or_repaired(keep: int) -> None:
    """Never an empty success, never another error."""
    data = pdf(numbered, 2)
    with pytest.raises(CorruptFileError):
        read(PDFParser(), data[:keep], "a.pdf")


def test_a_lost_table_of_objects_is_repaired() -> None:
    """The pages are still there."""
    data = pdf(numbered, 2)
    broken = data[: data.rindex(b"xref\n0")]
    sections, _ = read(PDFParser(), broken, "a.pdf")
    assert "page number 2" in "".join(item[0] for item in shape(sections))


def test_a_damaged_page_does_not_lose_the_others() -> None:
    """A page that cannot be loaded is named, the rest is read."""
    data = pdf(numbered, 3)
    document = pypdfium2.PdfDocument(data)
    assert len(document) == 3
    document.close()

    class Stubborn(PDFParser):
        pass

    broken = data.replace(b"/Type /Page\n", b"/Type /Pogo\n", 1)
    sections, report = read(Stubborn(), broken, "a.pdf")
    text = "".join(item[0] for item in shape(sections))
    assert "page number 3" in text
    assert report.coverage.with_text >= 2


def test_words_cut_at_line_ends_are_joined() -> None:
    """A real hyphen stays."""
    assert repaired_line_ends("adip\ufffeiscing and IA\ufffe32e") == "adipiscing and IA-32e"
    assert repaired_line_ends("nothing here") == "nothing here"


def test_bytes_of_a_double_byte_font_are_read_again() -> None:
    """European text with many accents is left alone; private characters are called garbled."""
    garbled = "知识库检索增强生成，混合检索与重排序。".encode("gbk").decode("latin-1")
    assert repaired_mojibake(garbled) == ("知识库检索增强生成，混合检索与重排序。", True)
    french = "é à è ù ç ê î ô û ë ï ü é à è ù ç ê î ô û"
    assert repaired_mojibake(french) == (french, True)
    assert repaired_mojibake("\ue001" * 40)[1] is False
