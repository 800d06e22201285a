"""E-books: chapters in the order of the spine."""

import pytest

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseLimitError
from agentscope.rag.parser.epub import EPUBParser
from agentscope.rag.parser.hypertext import html_blocks, html_text
from agentscope.testing.office_files import parsed, zip_file

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/a.opf"/></rootfiles></container>'
PACKAGE = """<package><manifest>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="b" href="two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/>
</manifest><spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>"""


def book(**parts: str | bytes) -> dict[str, str | bytes]:
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/a.opf": PACKAGE,
        "OPS/nav.xhtml": "<nav>contents</nav>",
        "OPS/one.xhtml": "<html><head><title/></head><body><h1>One</h1><p>first</p></body></html>",
        "OPS/two b.xhtml": "<html><body><h1>Two</h1><h2>Sub</h2><p>second</p></body></html>",
        **{name.replace("__", "/"): content for name, content in parts.items()},
    }


def test_chapters_follow_the_spine_with_their_headings() -> None:
    """The table of contents is not a chapter; short forms of tags swallow nothing."""
    found = parsed(EPUBParser(), zip_file(book()))
    assert found.text.split() == ["One", "first", "Two", "Sub", "second"]
    assert [section.metadata["heading_path"] for section in found.sections] == [
        ["One"],
        ["Two", "Sub"],
    ]


def test_a_book_without_order_is_read_by_name() -> None:
    """Pages are found even if nothing lists them."""
    data = zip_file({"b.html": "<p>second</p>", "a.html": "<p>first</p>"})
    assert parsed(EPUBParser(), data).text.split() == ["first", "second"]


def test_protected_books_say_so_but_garbled_fonts_do_not_matter() -> None:
    """The encryption list names what is encrypted and how."""
    entry = (
        '<encryption><EncryptedData><EncryptionMethod Algorithm="{}"/><CipherData>'
        '<CipherReference URI="OPS/one.xhtml"/></CipherData></EncryptedData></encryption>'
    )
    with pytest.raises(EncryptedFileError):
        parsed(EPUBParser(), zip_file({**book(), "META-INF/encryption.xml": entry.format("aes")}))
    fonts = entry.format("http://www.idpf.org/2008/embedding")
    parts = {**book(), "META-INF/encryption.xml": fonts}
    assert "first" in parsed(EPUBParser(), zip_file(parts)).text


def test_damage_and_bombs_are_refused() -> None:
    """A container without pages is no book."""
    for data in (b"", b"no zip", zip_file({"mimetype": "application/epub+zip"})):
        with pytest.raises(CorruptFileError):
            parsed(EPUBParser(), data)
    with pytest.raises(ParseLimitError):
        parsed(EPUBParser(), zip_file({**book(), "OPS/one.xhtml": b"a" * (64 << 20)}))


def test_blocks_of_html_are_kept_apart_and_tables_stay_tables() -> None:
    """Layout tables are read cell by cell; scripts and hidden parts are left out."""
    page = (
        "<div>a<p>b <b>bold</b><br>c</p>d</div><script>x()</script><style>y</style>"
        "<table><tr><td>1|2</td><td>3</td></tr><tr><td>4</td><td>5</td></tr></table>"
        "<table><tr><td><table><tr><td>deep</td></tr></table></td><td>side</td></tr></table>"
        '<span style="display:none">hidden</span><pre>x  =\n  1</pre>'
    )
    assert [block.text for block in html_blocks(page)] == [
        "a",
        "b bold\nc",
        "d",
        "| 1\\|2 | 3 |\n| --- | --- |\n| 4 | 5 |",
        "deep",
        "side",
        "x  =\n  1",
    ]


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "gb18030", "cp1251"])
def test_html_is_decoded_by_mark_or_declaration(codec: str) -> None:
    """Without either it is UTF-8."""
    word = "привет"
    name = codec.removesuffix("-sig")
    page = f'<html><head><meta charset="{name}"></head><body>{word}</body></html>'
    assert html_text(page.encode(codec)) == word


def test_absurd_nesting_loses_no_text() -> None:
    """The reader gives up the structure, not the words."""
    assert html_text("<div>" * 50_000 + "core" + "</div>" * 50_000 + "tail") == "core tail"
    assert html_text("") == ""
    assert html_text(" \n ") == ""
