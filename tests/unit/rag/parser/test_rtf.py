"""Rich text: code pages, escapes, tables and notes."""

import pytest

from agentscope.errors import CorruptFileError, ParseLimitError
from agentscope.rag.parser.lzfu import decompress
from agentscope.rag.parser.rtf import RTFParser
from agentscope.testing.office_files import parsed

DBCS = b"{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset128 B;}}"


def text_of(data: bytes) -> str:
    return parsed(RTFParser(), data).text


def escaped(text: str, codec: str) -> bytes:
    return b"".join(b"\\'%02x" % byte for byte in text.encode(codec))


@pytest.mark.parametrize(
    ("page", "text"), [(1250, "zażółć"), (1251, "привет"), (1253, "καλημέρα"), (936, "知识库")]
)
def test_the_code_page_of_the_document_counts(page: int, text: str) -> None:
    """Two bytes of one character come as two escapes."""
    codec = "gb18030" if page == 936 else f"cp{page}"
    assert text_of(b"{\\rtf1\\ansicpg%d " % page + escaped(text, codec) + b"}") == text


def test_the_font_decides_before_the_document() -> None:
    """A group ends the font that it started."""
    data = DBCS + b"\\f0 caf\\'e9 {\\f1 " + escaped("検索", "cp932") + b"} \\'e9}"
    assert text_of(data) == "café 検索 é"


def test_unicode_escapes_skip_their_substitute() -> None:
    """Negative numbers and pairs beyond the basic plane included; a lone half is no text."""
    data = b"{\\rtf1\\uc1 \\u945? \\u-10179?\\u-8704? {\\uc0\\u246}x \\u-10179? end}"
    assert text_of(data) == "α 😀 öx  end"


def test_paragraphs_headings_tables_and_notes_have_their_place() -> None:
    """Header rows of a table included; styles, info and pictures are no text."""
    data = (
        b"{\\rtf1{\\info{\\title T}}{\\stylesheet{\\s1 Name;}}{\\pict\\bin4 {}}{}"
        b"{\\outlinelevel0 Head\\par}\\pard first{\\footnote note text}\\par "
        b"\\trowd\\intbl a|b\\cell c\\line d\\cell\\row\\intbl e\\cell\\cell\\row\\pard last\\par}"
    )
    found = parsed(RTFParser(), data)
    assert found.text.splitlines() == [
        "Head",
        "",
        "first",
        "",
        "| a\\|b | c d |",
        "| --- | --- |",
        "| e |  |",
        "",
        "last",
        "",
        "note text",
    ]
    assert found.sections[0].metadata == {"heading_path": ["Head"]}


def test_hidden_text_and_foreign_destinations_are_left_out() -> None:
    """Starred groups that the reader does not know are skipped as the format says."""
    assert text_of(b"{\\rtf1 a{\\v hidden}{\\*\\unknown gone}b\\~c\\{d\\}}") == "ab\u00a0c{d}"


@pytest.mark.parametrize("data", [b"", b"plain text", b"PK\x03\x04"])
def test_what_is_no_rich_text_is_refused(data: bytes) -> None:
    """The opening brace and word are required."""
    with pytest.raises(CorruptFileError):
        text_of(data)


def test_nesting_is_bounded_and_truncation_harmless() -> None:
    """Text before the end of a cut file is kept."""
    with pytest.raises(ParseLimitError):
        text_of(b"{\\rtf1 " + b"{" * 100_000)
    assert text_of(b"{\\rtf1 kept\\par {\\b lost brace") == "kept\n\nlost brace"


def test_compressed_rich_text_of_messages_is_unpacked() -> None:
    """The example of MS-OXRTFCP 3.1, and stored text."""
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b0"
        "6c647d0a800fa0"
    )
    assert decompress(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    stored = b"\x10\0\0\0\x04\0\0\0MELA\0\0\0\0{\\rt"
    assert decompress(stored) == b"{\\rt"
    assert decompress(b"short") == b""
    assert decompress(packed[:20] + b"\xff" * 20) is not None
