"""Names: what is kept, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.rag.service.metadata import parse_metadata
from agentscope.app.rag.service.names import clean_filename, clean_name, clean_query, is_id
from agentscope.errors import InvalidInputError


@given(st.text(max_size=300))
def test_a_cleaned_filename_is_safe_or_refused(raw: str) -> None:
    """No separator, no control character, never empty, never too long."""
    try:
        name = clean_filename(raw, max_chars=255)
    except InvalidInputError:
        return
    assert 0 < len(name) <= 255
    assert not set(name) & {"/", "\\", "\0", "\n", "\r"}
    assert name not in (".", "..")
    assert not raw or raw.endswith(name)


def test_names_are_trimmed_and_never_blank() -> None:
    """White space around a name is not part of it."""
    assert clean_name("  HR  docs ", what="name", max_chars=20) == "HR  docs"
    for bad in ("", " \n", "x" * 21, "a\x00", "\ud800"):
        with pytest.raises(InvalidInputError):
            clean_name(bad, what="name", max_chars=20)


def test_a_query_keeps_its_words() -> None:
    """What no back end can store becomes a blank."""
    assert clean_query("a\x00b\ud800c", max_chars=10) == "a b c"
    for bad in ("", "\x00", "  ", "x" * 11):
        with pytest.raises(InvalidInputError):
            clean_query(bad, max_chars=10)


@pytest.mark.parametrize("text", ["", " ", "a/b", "a\x00", "x" * 201, "\ud800", "a\x7f", "a b"])
def test_what_cannot_be_an_id_is_known_without_asking(text: str) -> None:
    """Nobody has it."""
    assert not is_id(text)
    assert is_id("0123456789abcdef")


@given(st.text(max_size=200))
def test_metadata_is_flat_json_or_refused(text: str) -> None:
    """Never anything else, whatever comes."""
    try:
        value = parse_metadata(text, ServiceLimits())
    except InvalidInputError:
        return
    assert all(isinstance(key, str) for key in value)


def test_metadata_bounds() -> None:
    """Size, number of keys, length of lists and names are bounded."""
    limits = ServiceLimits(metadata_bytes=100, metadata_keys=2)
    assert parse_metadata('{"a": [1, "x", true, null]}', limits) == {"a": [1, "x", True, None]}
    for bad in ('{"a":1,"b":2,"c":3}', '{"a":"' + "x" * 100 + '"}', '{"": 1}', '{"a": [[1]]}'):
        with pytest.raises(InvalidInputError):
            parse_metadata(bad, limits)
