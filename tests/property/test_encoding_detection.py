"""Encodings: what was written comes back, and nothing unprintable leaves a parser."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope.errors import ParseError
from agentscope.rag.parser.decoding import decoded
from agentscope.rag.parser.encoding import detect
from agentscope.rag.parser.text import TextParser
from agentscope.testing.parser import read, shape

TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"], exclude_characters="\ufeff"),
    min_size=1,
    max_size=80,
)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_unicode_comes_back_exactly(text: str) -> None:
    """UTF-8 always; UTF-16 and UTF-32 with their mark."""
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        data = text.encode(encoding)
        expected = text.replace("\r\n", "\n").replace("\r", "\n")
        assert "".join(decoded(data, detect(data))) == expected


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400), st.sampled_from([".txt", ".html", ".csv", ".json", ".xml", ".md"]))
def test_any_bytes_give_clean_text_or_a_parse_error(data: bytes, extension: str) -> None:
    """No other error, no NUL, no lone surrogate; the same twice."""
    try:
        sections, _ = read(TextParser(), data, "file" + extension)
    except ParseError:
        return
    for text, _, _ in shape(sections):
        assert "\x00" not in text
        text.encode("utf-8")
    assert shape(read(TextParser(), data, "file" + extension)[0]) == shape(sections)


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.sampled_from(["gb18030", "utf-16-le", "utf-8", "utf-32-be"]))
def test_an_override_is_taken_without_asking(text: str, encoding: str) -> None:
    """Codecs that hold every character give the text back."""
    assert "".join(decoded(text.encode(encoding), encoding)) == text
