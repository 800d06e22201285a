"""Pictures: shown as they are, read by a recogniser, and never unpacked without bounds."""

import gzip
import io
import struct
import zlib
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from agentscope.errors import CorruptFileError, ParseLimitError
from agentscope.rag.parser.image import ImageParser
from agentscope.rag.parser.ocr import RapidPageOcr
from agentscope.rag.parser.reading_order import Line, page_text
from agentscope.rag.parser.svg import SVGParser
from agentscope.testing.office_files import parsed


class Recogniser:
    """Reports the size of what it is given."""

    def read(self, image: Any) -> str:
        return f"{image.width}x{image.height}"


class BlindRecogniser:
    """Finds nothing."""

    def read(self, image: Any) -> str:
        del image
        return ""


def picture(kind: str, mode: str = "RGB", size: tuple[int, int] = (12, 6), **options: Any) -> bytes:
    stream = io.BytesIO()
    Image.new(mode, size).save(stream, kind, **options)
    return stream.getvalue()


def page(text: str, *, size: int = 28) -> Image.Image:
    image = Image.new("RGB", (900, 60 + 50 * len(text.splitlines())), "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(text.splitlines()):
        draw.text((30, 30 + 50 * number), line, fill="black", font=ImageFont.load_default(size))
    return image


@pytest.mark.parametrize(
    ("kind", "mode", "shown"),
    [
        ("PNG", "RGBA", "image/png"),
        ("JPEG", "CMYK", "image/jpeg"),
        ("GIF", "P", "image/gif"),
        ("BMP", "RGB", "image/bmp"),
        ("WEBP", "RGBA", "image/webp"),
        ("TIFF", "I;16", "image/png"),
        ("AVIF", "RGB", "image/png"),
        ("ICO", "RGBA", "image/png"),
    ],
)
def test_each_kind_is_shown_in_a_form_that_models_take(kind: str, mode: str, shown: str) -> None:
    """The picture comes first, its text after it."""
    found = parsed(ImageParser(Recogniser()), picture(kind, mode))
    assert found.kinds == ["data", "text"]
    assert found.sections[0].metadata["media_type"] == shown
    assert found.text == "12x6"
    assert found.report.coverage.unit == "image"


def test_pages_are_read_one_by_one_and_animations_once() -> None:
    """Page numbers count from one."""
    frames = [Image.new("L", (4, 4 + number)) for number in range(3)]
    stream = io.BytesIO()
    frames[0].save(stream, "TIFF", save_all=True, append_images=frames[1:])
    found = parsed(ImageParser(Recogniser()), stream.getvalue())
    assert found.text.split() == ["4x4", "4x5", "4x6"]
    assert [section.metadata["page"] for section in found.sections[::2]] == [1, 2, 3]
    stream = io.BytesIO()
    colours = [Image.new("P", (4, 4), number) for number in range(3)]
    colours[0].save(stream, "GIF", save_all=True, append_images=colours[1:])
    assert parsed(ImageParser(Recogniser()), stream.getvalue()).text == "4x4"


def test_a_photo_is_turned_upright_before_it_is_read() -> None:
    """The camera only notes how it was held."""
    tags = Image.Exif()
    tags[0x0112] = 6
    assert parsed(ImageParser(Recogniser()), picture("JPEG", exif=tags)).text == "6x12"


def test_a_picture_without_text_is_counted_as_such() -> None:
    """It is still shown."""
    found = parsed(ImageParser(BlindRecogniser()), picture("PNG"))
    assert found.kinds == ["data"]
    assert found.report.coverage.without_text == [1]


def test_damaged_foreign_and_exploding_pictures_are_refused() -> None:
    """By the size that the header claims, before a pixel is unpacked."""
    whole = picture("PNG", size=(200, 200))
    for data in (b"", b"text", whole[:60], picture("JPEG", size=(99, 99))[:300]):
        with pytest.raises(CorruptFileError):
            parsed(ImageParser(Recogniser()), data)
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    bomb = whole[:8] + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    with pytest.raises(ParseLimitError):
        parsed(ImageParser(Recogniser()), bomb + whole[33:])


def test_drawings_give_their_labels() -> None:
    """Packed or not; entities stand for nothing and references are not followed."""
    drawing = (
        b'<!DOCTYPE svg [<!ENTITY a "boom"><!ENTITY b "&a;&a;">]>'
        b'<svg xmlns="http://www.w3.org/2000/svg"><title>Chart</title><style>no</style>'
        b"<text>North <tspan>10</tspan></text><text>&b;x</text><script>no</script></svg>"
    )
    for data in (drawing, gzip.compress(drawing)):
        assert parsed(SVGParser(), data).text.split() == ["Chart", "North", "10", "x"]
    assert parsed(SVGParser(), b"<svg/>").sections == []
    for broken in (b"", b"text", b"\x1f\x8bbroken"):
        with pytest.raises(CorruptFileError):
            parsed(SVGParser(), broken)
    with pytest.raises(ParseLimitError):
        parsed(SVGParser(), gzip.compress(b"<svg>" + b"<g/>" * 30_000_000))


def box(left: float, top: float, right: float, text: str) -> Line:
    return Line(left, top, right, top + 20, text, 0.9)


def test_columns_of_prose_are_read_one_after_the_other() -> None:
    """A title above them comes first."""
    lines = [box(0, 0, 800, "title")]
    for row in range(6):
        lines.append(box(0, 40 + 30 * row, 380, f"l{row}"))
        lines.append(box(420, 42 + 30 * row, 800, f"r{row}"))
    words = page_text(lines).split()
    assert words == ["title", *(f"l{n}" for n in range(6)), *(f"r{n}" for n in range(6))]


def test_cells_of_a_row_stay_together() -> None:
    """Short texts in columns are a table, not prose."""
    lines = []
    for row in range(6):
        lines.append(box(0, 30 * row, 60 if row else 300, f"k{row}"))
        lines.append(box(420, 3 + 30 * row, 480 if row else 800, f"v{row}"))
    assert page_text(lines).splitlines()[1] == "k1 v1"
    assert page_text([]) == ""


def test_english_words_are_recognised_with_their_blanks() -> None:
    """In the order of the lines; a page on its side is turned."""
    text = "The committee meets on Monday\nin the small room at noon"
    recogniser = RapidPageOcr(threads=1)
    read = recogniser.read(page(text)).split()
    assert sum(word in read for word in text.split()) >= 9
    turned = recogniser.read(page(text).rotate(90, expand=True)).split()
    assert sum(word in turned for word in text.split()) >= 8


def test_a_blank_page_gives_no_text() -> None:
    """Whatever its size."""
    recogniser = RapidPageOcr(threads=1)
    assert recogniser.read(Image.new("RGB", (300, 20), "white")) == ""
    assert recogniser.read(Image.new("L", (1, 1))) == ""
