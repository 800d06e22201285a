"""Office, mail and book parsers on any text and on any damage."""

import functools
import io
from collections.abc import Callable

import docx
import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pptx import Presentation
from pptx.util import Inches

from agentscope.errors import ParseError
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.email import EmailParser
from agentscope.rag.parser.epub import EPUBParser
from agentscope.rag.parser.excel import ExcelParser
from agentscope.rag.parser.flow import plain_text, table_text
from agentscope.rag.parser.hypertext import html_text
from agentscope.rag.parser.msg import OutlookParser
from agentscope.rag.parser.opendocument import OpenDocumentParser
from agentscope.rag.parser.ppt import PPTParser
from agentscope.rag.parser.ppt97 import LegacyPPTParser
from agentscope.rag.parser.rtf import RTFParser
from agentscope.rag.parser.svg import SVGParser
from agentscope.rag.parser.word import WordParser
from agentscope.rag.parser.word97 import LegacyWordParser
from agentscope.testing.office_files import compound_file, parsed, zip_file

FAST = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")),
    min_size=1,
    max_size=30,
)
ROWS = st.lists(st.lists(st.text(max_size=12), min_size=1, max_size=5), min_size=1, max_size=6)


def is_clean(text: str) -> bool:
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text)


@functools.cache  # the libraries write the time into the file
def word_sample() -> bytes:
    document = docx.Document()
    document.add_heading("Head", 1)
    document.add_paragraph("some text")
    document.add_table(rows=2, cols=2).cell(0, 0).text = "cell"
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


@functools.cache  # the libraries write the time into the file
def slides_sample() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame.text = "words"
    stream = io.BytesIO()
    deck.save(stream)
    return stream.getvalue()


@functools.cache  # the libraries write the time into the file
def sheet_sample() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["a", 1, 2.5])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def page_sample() -> bytes:
    return zip_file({"a.html": "<h1>Head</h1><p>text</p>", "content.xml": "<d><p>text</p></d>"})


def mail_sample() -> bytes:
    return (
        b'Subject: =?utf-8?q?x?=\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n'
        b"Content-Type: text/html; charset=utf-8\n\n<p>text</p>\n--b\n"
        b"Content-Type: message/rfc822\n\nSubject: y\n\nbody\n--b--\n"
    )


def compound_sample() -> bytes:
    return compound_file(
        {
            "WordDocument": b"\xec\xa5\xc1\0" + bytes(600),
            "1Table": bytes(range(256)),
            "PowerPoint Document": b"\x0f\0\xee\x03\x10\0\0\0\0\0\xa0\x0f\x04\0\0\0a\0b\0" * 9,
            "Current User": bytes(40),
            "__properties_version1.0": bytes(64),
            "__substg1.0_1000001F": "text".encode("utf-16-le"),
        }
    )


SAMPLES: list[tuple[ParserBase, Callable[[], bytes]]] = [
    (WordParser(), word_sample),
    (PPTParser(), slides_sample),
    (ExcelParser(), sheet_sample),
    (OpenDocumentParser(), page_sample),
    (EPUBParser(), page_sample),
    (EmailParser(), mail_sample),
    (RTFParser(), lambda: b"{\\rtf1{\\fonttbl{\\f0 A;}}\\u945? \\'e9\\par{\\b x}\\cell\\row}"),
    (LegacyWordParser(), compound_sample),
    (LegacyPPTParser(), compound_sample),
    (OutlookParser(), compound_sample),
    (SVGParser(), lambda: b"<svg><text>a<tspan>b</tspan></text></svg>"),
]


@FAST
@given(st.text(st.characters(), max_size=200))
def test_no_text_leaves_with_forbidden_characters(text: str) -> None:
    """Lone surrogates, NUL and other controls are removed; the rest stays in order."""
    clean = plain_text(text)
    assert is_clean(clean)
    assert [c for c in clean if c.isalnum()] == [
        c for c in text if c.isalnum() and not "\uf000" <= c <= "\uf0ff"
    ]


@FAST
@given(ROWS)
def test_a_table_never_changes_its_number_of_columns(rows: list[list[str]]) -> None:
    """Whatever the cells hold, each line has one more unescaped bar than columns."""
    text = table_text(rows)
    kept = [row for row in rows if any(plain_text(cell).strip() for cell in row)]
    width = max((len(row) for row in kept), default=0)
    if width > 1:
        lines = text.split("\n")
        assert len(lines) == len(kept) + 1
        assert all(line.replace("\\|", "").count("|") == width + 1 for line in lines)


@FAST
@given(st.lists(WORDS, min_size=1, max_size=5))
def test_what_is_written_to_a_document_is_read_from_it(words: list[str]) -> None:
    """In a paragraph, in a cell, on a slide, in a sheet."""
    document = docx.Document()
    for word in words:
        document.add_paragraph(word)
    document.add_table(rows=1, cols=1).cell(0, 0).text = words[0]
    stream = io.BytesIO()
    document.save(stream)
    found = parsed(WordParser(), stream.getvalue()).text
    assert found.split("\n\n") == [*words, words[0]]


@FAST
@given(st.lists(WORDS, min_size=1, max_size=5))
def test_rich_text_escapes_give_every_character_back(words: list[str]) -> None:
    """Also those that need two escapes."""
    units = [
        "".join(
            f"\\u{int.from_bytes(w.encode('utf-16-le')[i : i + 2], 'little')}?"
            for i in range(0, len(w.encode("utf-16-le")), 2)
        )
        for w in words
    ]
    data = "{\\rtf1\\uc1 " + "\\par ".join(units) + "}"
    assert parsed(RTFParser(), data.encode()).text == "\n\n".join(words)


@FAST
@given(st.text(max_size=300))
def test_any_text_is_html_of_some_kind(text: str) -> None:
    """It never fails and never leaves forbidden characters."""
    assert is_clean(html_text(text))


@pytest.mark.parametrize("index", range(len(SAMPLES)))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_damage_gives_clean_text_or_a_clear_error(index: int, data: st.DataObject) -> None:
    """Flipped bytes and cut ends; two runs agree."""
    parser, sample = SAMPLES[index]
    damaged = bytearray(sample())
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(damaged[: data.draw(st.integers(1, len(damaged)))])
    outcomes = []
    for _ in range(2):
        try:
            outcomes.append(parsed(parser, content).text)
        except ParseError as error:
            outcomes.append(error.code)
    assert outcomes[0] == outcomes[1]
    assert is_clean(outcomes[0])
