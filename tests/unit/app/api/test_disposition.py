"""The Content-Disposition header, both ways."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope.app.api.disposition import content_disposition, disposition_parameters


@pytest.mark.parametrize(
    ("header", "filename"),
    [
        ('form-data; name="file"; filename="a.txt"', "a.txt"),
        ("form-data; name=file; filename=a.txt", "a.txt"),
        ('form-data; name="file"; filename="a%22b.txt"', 'a"b.txt'),
        ('form-data; name="file"; filename="a\\"b.txt"', 'a"b.txt'),
        ('form-data; name="file"; filename="C:\\dir\\a.txt"', "C:\\dir\\a.txt"),
        ('form-data; name="file"; filename="a;b.txt"', "a;b.txt"),
        ('form-data; name="file"; filename="100%.txt"', "100%.txt"),
        ("form-data; name=\"file\"; filename*=UTF-8''%E6%8A%A5.txt", "报.txt"),
        ('form-data; name="file"; filename="x"; filename*=utf-8\'\'y', "y"),
        ('form-data; name="file"; filename="x"; filename*=koi8-r\'\'y', "x"),
        ('form-data; name="file"; filename="x"; filename*=broken', "x"),
    ],
)
def test_names_are_read_as_clients_write_them(header: str, filename: str) -> None:
    """Browsers, curl, old clients and RFC 5987."""
    assert disposition_parameters(header)["filename"] == filename


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300))
def test_a_written_header_is_plain_ascii_and_cannot_be_broken_out_of(filename: str) -> None:
    """Whatever the name holds."""
    header = content_disposition("inline", filename)
    assert header.isascii()
    assert header.isprintable()
    assert re.fullmatch(r"inline; filename\*=UTF-8''[\w.~%-]+(; filename=\"[^\"\\;%]+\")?", header)
    assert disposition_parameters(header)["filename"] == filename.encode().decode()


@given(st.text(max_size=300))
def test_reading_never_fails(header: str) -> None:
    """However broken the header is."""
    assert isinstance(disposition_parameters(header), dict)
