"""OpenDocument texts, presentations and sheets."""

import pytest

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseLimitError
from agentscope.rag.parser.excel import ExcelParser
from agentscope.rag.parser.opendocument import OpenDocumentParser
from agentscope.testing.office_files import parsed, zip_file

SPACES = "".join(
    f' xmlns:{p}="urn:{p}"'
    for p in ("office", "text", "table", "draw", "dc", "xlink", "presentation", "style")
)
TEXT = "application/vnd.oasis.opendocument.text"
SLIDES = "application/vnd.oasis.opendocument.presentation"


def odf(body: str, kind: str = TEXT, parts: dict[str, str] | None = None) -> bytes:
    content = (
        f"<office:document-content{SPACES}><office:body><office:x>{body}</office:x>"
        "</office:body></office:document-content>"
    )
    return zip_file({"mimetype": kind, "content.xml": content, **(parts or {})})


def test_headings_lists_spaces_and_notes_are_read() -> None:
    """Deleted text is not; a note stands at the end of its section."""
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Top</text:h>'
        '<text:p>a<text:s text:c="2"/>b<text:tab/>c<text:note><text:note-body>'
        "<text:p>see below</text:p></text:note-body></text:note> d</text:p>"
        "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
        '<text:h text:outline-level="2">Sub</text:h><text:p>end</text:p>'
    )
    found = parsed(OpenDocumentParser(), odf(body))
    assert [section.metadata["heading_path"] for section in found.sections] == [
        ["Top"],
        ["Top", "Sub"],
    ]
    assert found.text == "Top\n\na  b\tc d\n\nitem\n\nsee below\nSub\n\nend"


def test_tables_keep_their_shape_and_frames_their_text() -> None:
    """Covered cells are empty; a text box follows the paragraph that holds it."""
    body = (
        "<table:table><table:table-row>"
        '<table:table-cell table:number-columns-spanned="2"><text:p>wide|one</text:p>'
        "</table:table-cell><table:covered-table-cell/></table:table-row><table:table-row>"
        "<table:table-cell><text:p>x</text:p></table:table-cell>"
        "<table:table-cell><text:p>y</text:p><text:p>z</text:p></table:table-cell>"
        "</table:table-row></table:table>"
        "<text:p>before<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box>"
        "</draw:frame></text:p>"
    )
    text = parsed(OpenDocumentParser(), odf(body)).text
    assert text.splitlines()[:3] == ["| wide\\|one |  |", "| --- | --- |", "| x | y z |"]
    assert text.split()[-2:] == ["before", "boxed"]


def test_headers_come_first_and_footers_last() -> None:
    """Page numbers alone are no text."""
    styles = (
        f"<office:styles{SPACES}><style:header><text:p>Letter</text:p></style:header>"
        "<style:footer><text:p>Confidential</text:p><text:p>7</text:p></style:footer></office:styles>"
    )
    data = odf("<text:p>body</text:p>", parts={"styles.xml": styles})
    assert parsed(OpenDocumentParser(), data).text.split() == ["Letter", "body", "Confidential"]


def test_slides_have_numbers_and_notes() -> None:
    """An empty slide is named in the coverage."""
    body = (
        "<draw:page><draw:frame><draw:text-box><text:p>hello</text:p></draw:text-box></draw:frame>"
        "<draw:g><draw:custom-shape><text:p>shape</text:p></draw:custom-shape></draw:g>"
        "<presentation:notes><draw:frame><draw:text-box><text:p>aside</text:p></draw:text-box>"
        "</draw:frame></presentation:notes></draw:page><draw:page/>"
    )
    found = parsed(OpenDocumentParser(), odf(body, SLIDES))
    assert found.text.split() == ["hello", "shape", "Notes:", "aside"]
    assert found.sections[0].metadata == {"slide": 1}
    assert found.report.coverage.without_text == [2]


def test_sheets_repeat_cells_within_bounds() -> None:
    """Numbers in full, dates in ISO form, and a repeated corner of the sheet costs nothing."""
    body = (
        '<table:table table:name="Data"><table:table-row>'
        '<table:table-cell office:value-type="float" office:value="3"><text:p>3,0</text:p>'
        '</table:table-cell><table:table-cell office:value-type="date" '
        'office:date-value="2024-01-31T00:00:00"><text:p>31.1.</text:p></table:table-cell>'
        '</table:table-row><table:table-row table:number-rows-repeated="1048570">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell '
        'table:number-columns-repeated="16000"><text:p>again</text:p></table:table-cell>'
        "</table:table-row></table:table>"
    )
    text = parsed(ExcelParser(), odf(body)).text
    assert text.startswith("Sheet: Data\n| 3 | 2024-01-31 |")
    assert 0 < text.count("again") < 10_000


def test_encrypted_damaged_and_hostile_packages_are_told_apart() -> None:
    """By manifest, by content, by what they declare."""
    manifest = '<m><file-entry full-path="content.xml"><encryption-data/></file-entry></m>'
    with pytest.raises(EncryptedFileError):
        parsed(OpenDocumentParser(), odf("x", parts={"META-INF/manifest.xml": manifest}))
    for data in (b"", b"no zip", zip_file({"mimetype": TEXT}), zip_file({"content.xml": "<<<"})):
        with pytest.raises(CorruptFileError):
            parsed(OpenDocumentParser(), data)
    laughs = '<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r>&b;</r>'
    with pytest.raises(ParseLimitError):
        parsed(OpenDocumentParser(), zip_file({"content.xml": laughs}))
