"""Text formats: readable, exact, with their structure."""

import tempfile
from pathlib import Path

import pytest

from agentscope.errors import InvalidInputError, NoTextError
from agentscope.rag.parser.base import ParseOptions
from agentscope.rag.parser.text import TextParser
from agentscope.testing.parser import read, shape


def text_of(data: bytes, filename: str, media_type: str = "") -> str:
    sections, _ = read(TextParser(), data, filename, ParseOptions(media_type=media_type))
    return "\n".join(item[0] for item in shape(sections))


def test_the_documented_types_and_extensions_are_there() -> None:
    """Every type of the public contract, and the extensions it lists."""
    parser = TextParser()
    assert {
        "text/plain", "text/markdown", "text/csv", "text/html", "text/x-rst",
        "application/json", "application/xml", "application/x-yaml",
    } <= set(parser.supported_media_types)  # fmt: skip
    assert {
        ".csv", ".htm", ".html", ".json", ".markdown", ".md", ".rst", ".txt", ".xml", ".yaml",
        ".yml",
    } <= set(parser.supported_extensions())  # fmt: skip


def test_plain_text_is_one_section_as_written() -> None:
    """With plain newlines and no metadata."""
    sections, report = read(TextParser(), b"one\r\ntwo\rthree\n", "a.txt")
    assert shape(sections) == [("one\ntwo\nthree\n", "a.txt", {})]
    assert (report.encoding, report.coverage.total, report.coverage.with_text) == ("utf-8", 1, 1)


async def test_a_string_that_names_no_file_is_the_text() -> None:
    """As documented; a path that exists is read."""
    (section,) = await TextParser().parse("the text itself", "a.txt")
    assert shape([section])[0][0] == "the text itself"
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x.txt"
        path.write_text("from the file")
        (section,) = await TextParser().parse(str(path), "x.txt")
        assert shape([section])[0][0] == "from the file"


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", "\ufeff\u200b".encode()])
def test_blank_files_say_that_there_is_no_text(data: bytes) -> None:
    """A distinct error, not an empty success."""
    with pytest.raises(NoTextError):
        read(TextParser(), data, "a.txt")


def test_a_huge_text_is_cut_at_line_ends() -> None:
    """Into sections of about a mebibyte that together are the text."""
    line = "a line of some words\n"
    data = (line * 150_000).encode()
    sections, _ = read(TextParser(), data, "a.txt")
    texts = [item[0] for item in shape(sections)]
    assert len(texts) == 3
    assert all(text.endswith("\n") for text in texts)
    assert "".join(texts) == data.decode()


def test_an_unknown_override_is_refused() -> None:
    """Before anything is read."""
    with pytest.raises(InvalidInputError):
        read(TextParser(), b"x", "a.txt", ParseOptions(encoding="nonsense"))


def test_the_language_is_named_when_the_text_shows_it() -> None:
    """And not for a few bare words."""
    _, report = read(
        TextParser(), "Das ist ein Satz, der in der Stadt und für alle gilt.".encode(), "a"
    )
    assert report.language == "de"
    _, report = read(
        TextParser(), "知识库检索增强生成，混合检索与重排序。知识库检索增强生成。".encode(), "a"
    )
    assert report.language == "zh"
    _, report = read(TextParser(), b"x = 1", "a.py")
    assert report.language is None


def test_a_page_is_its_words_and_not_its_scripts() -> None:
    """Scripts, styles, navigation and pictures in data URIs stay out; tables become rows."""
    page = (
        "<html><head><title>Fruit</title><style>p{color:red}</style></head><body>"
        "<nav><a href=/>Home</a></nav><script>alert('no')</script><h1>Fruit list</h1>"
        "<p>Ripe&nbsp;&amp; fresh<br>today</p><ul><li>Plum</li><li>Pear</li></ul>"
        "<table><tr><th>Name</th><th>Price</th></tr><tr><td>Plum</td><td>2 €</td></tr></table>"
        "<img alt='A basket' src='data:image/png;base64,AAAA'><pre>a\n  b</pre>"
        "<div hidden>secret</div><!-- note --></body></html>"
    )
    text = text_of(page.encode(), "a.html")
    for words in (
        "Fruit list",
        "Ripe\xa0& fresh\ntoday",
        "Name\tPrice\nPlum\t2 €",
        "A basket",
        "a\n  b",
    ):
        assert words in text
    for words in ("alert", "color", "Home", "AAAA", "secret", "note"):
        assert words not in text


def test_rows_without_end_tags_are_rows() -> None:
    """As browsers read them; what follows the table is no cell."""
    page = b"<table><tr><td>a<td>b<tr><td>c<td>d</table>after<table><tr> <td></td> <td>x</table>"
    assert text_of(page, "a.html") == "a\tb\nc\td\n\nafter\n\n\tx"


def test_navigation_is_read_when_there_is_nothing_else() -> None:
    """Or when its end is missing."""
    assert "Only link" in text_of(b"<nav><a>Only link</a></nav>", "a.html")
    assert "Body words" in text_of(b"<nav><p>Body words", "a.html")


def test_long_pages_are_cut_before_headings_with_their_path() -> None:
    """The path holds the headings above, outermost first."""
    para = "<p>" + "words of a paragraph " * 80 + "</p>"
    page = f"<h1>Book</h1>{para}<h2>One</h2>{para}<h2>Two</h2>{para}"
    sections, _ = read(TextParser(), page.encode(), "a.html")
    assert [section.metadata["heading_path"] for section in sections] == [
        ["Book"],
        ["Book", "One"],
        ["Book", "Two"],
    ]


def test_pictures_written_out_in_markdown_are_left_out() -> None:
    """Their base64 is no text; the words around them are."""
    data = b"before ![x](data:image/png;base64," + b"QUJD" * 200_000 + b") after"
    text = text_of(data, "a.md")
    assert "before" in text
    assert "after" in text
    assert len(text) < 100


def test_table_rows_stay_exact_and_come_with_their_header() -> None:
    """Each section of a long table begins with the header row and says which rows it holds."""
    rows = "".join(f'{number};Place {number};"a; b"\n' for number in range(300))
    sections, _ = read(TextParser(), ("id;name;note\n" + rows).encode(), "a.csv")
    assert len(sections) > 2
    for item in shape(sections):
        assert item[0].startswith("id;name;note\n")
    assert sections[0].metadata["row_start"] == 1
    assert sections[-1].metadata["row_end"] == 301
    assert '7;Place 7;"a; b"' in shape(sections)[0][0]


def test_a_quoted_cell_may_go_over_lines_but_not_over_the_file() -> None:
    """A quote that never closes costs nothing."""
    assert text_of(b'a,b\n"x\ny",1\n', "a.csv") == 'a,b\n"x\ny",1'
    text = text_of(b'size\n5" pipe\n' + b"row\n" * 500 + b"last\n", "a.csv")
    assert text.split("\n")[-1] == "last"


def test_json_shows_its_words() -> None:
    """Escapes are resolved, endless lines are broken, depth does not matter."""
    assert text_of(b'{"a": "\\u77e5\\u8bc6 \\ud83d\\ude00"}', "a.json") == '{"a": "知识 😀"}'
    text = text_of(b'{"list":[' + b'"item",' * 300 + b'"end"]}', "a.json")
    assert max(map(len, text.split("\n"))) < 100
    assert text_of(b"[" * 100_000 + b'"deep"', "a.json").endswith('"deep"')


def test_xml_shows_records_as_lines_and_sentences_whole() -> None:
    """Nothing is fetched, unknown entities stay, entities never expand each other."""
    data = (
        b"<!DOCTYPE r [<!ENTITY co 'Acme &amp; Co'><!ENTITY lol '&co;&co;'>"
        b"<!ENTITY x SYSTEM 'file:///etc/hostname'>]>"
        b"<r><item><name>Plum</name><price>2</price></item>"
        b"<p>A <b>bold</b> word &nope; &lol; &x;</p><![CDATA[<raw>]]></r>"
    )
    text = text_of(data, "a.xml")
    assert "name: Plum\nprice: 2\n" in text
    assert "A bold word &nope; &lol; &x;" in text
    assert "<raw>" in text


@pytest.mark.parametrize("name", ["a.py", "a.rst", "a.yaml", "a.toml", "a.sql", "a.unknown"])
def test_source_and_configuration_stay_as_written(name: str) -> None:
    """Indentation counts."""
    assert text_of(b"key:\n    - value\n", name) == "key:\n    - value\n"


@pytest.mark.parametrize(
    ("filename", "data"),
    [
        ("a.html", b"<div>" * 100_000 + b"deep"),
        ("a.html", b"<!--" * 100_000 + b"x"),
        ("a.html", b'<a b="' * 100_000),
        ("a.xml", b"<a>" * 100_000 + b"deep"),
        ("a.xml", b"<!DOCTYPE [" * 50_000),
        ("a.csv", b'a,"b\n' * 50_000),
    ],
)
def test_hostile_markup_is_read_in_time(filename: str, data: bytes) -> None:
    """No input makes the readers slower than linear; the global time limit would end this test."""
    text_of(data, filename)
