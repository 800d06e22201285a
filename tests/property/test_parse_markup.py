"""Markup and data formats: any mixture of fragments is read in one go, and words survive."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope.rag.parser.csv import table_parts
from agentscope.rag.parser.html import page_parts
from agentscope.rag.parser.json import json_pieces
from agentscope.rag.parser.xml import xml_lines

FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "<p>", "</p>", "<div>", "</div>", "<table>", "<tr>", "<td>", "</td>", "</tr>",
            "</table>", "<h1>", "</h1>", "<h2 class='x'>", "</h2>", "<pre>", "</pre>", "<br>",
            "<a href=\"",
            "\">", "<!--", "-->", "<![CDATA[", "]]>", "<?x", "?>", "<!DOCTYPE x [", "]>", "&amp;",
            "&x;", "<script>", "</script>", "<nav>", "</nav>", "word", " ", "\n", "<", ">", "'",
        ]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(FRAGMENTS)
def test_any_markup_is_read(text: str) -> None:
    """HTML and XML readers end and are deterministic, however broken the tags are."""
    pages = [(part.text, part.heading_path) for part in page_parts(text)]
    assert pages == [(part.text, part.heading_path) for part in page_parts(text)]
    assert list(xml_lines(text)) == list(xml_lines(text))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab 知<&\"'"), min_size=1, max_size=12), max_size=12))
def test_escaped_words_survive_in_html(words: list[str]) -> None:
    """Every paragraph comes out as it went in, apart from white space."""
    escaped = [
        word.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") for word in words
    ]
    page = "".join(f"<p>{word}</p>" for word in escaped)
    found = "".join("".join(part.text for part in page_parts(page)).split())
    assert found == "".join("".join(words).split())


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=10), st.integers(1, 7))
def test_json_pieces_may_be_cut_anywhere(texts: list[str], size: int) -> None:
    """The reading does not depend on where blocks end."""
    document = "[" + ",".join('"' + text.replace('"', "") + '"' for text in texts) + "]"
    pieces = [document[at : at + size] for at in range(0, len(document), size)]
    assert "".join(json_pieces(iter(pieces))) == "".join(json_pieces(iter([document])))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.sampled_from('ab,;"\t|1 '), min_size=1, max_size=20), max_size=60))
def test_every_row_of_a_table_is_kept(rows: list[str]) -> None:
    """Rows come out as written, in order; only a header row may come again."""
    table = "\n".join(rows)
    kept = [row for row in rows if row.strip()]
    found = [row for part in table_parts(iter([table])) for row in part.text.split("\n")]
    assert [row for row in found if row.strip()] == kept
