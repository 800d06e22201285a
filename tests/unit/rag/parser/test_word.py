"""Word documents: whatever holds text is found, in reading order, once."""

import io

import docx
import pytest
from PIL import Image

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseLimitError
from agentscope.rag.parser.word import WordParser
from agentscope.testing.office_files import (
    compound_file,
    parsed,
    relationships,
    replaced,
    word_file,
    zip_file,
)


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def saved(document: "docx.document.Document") -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def picture() -> io.BytesIO:
    stream = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(stream, "PNG")
    stream.seek(0)
    return stream


def test_headings_start_sections_and_leave_their_path() -> None:
    """The path names the headings above, outermost first; headings in a row stay together."""
    document = docx.Document()
    document.add_heading("Guide", 0)
    document.add_heading("Setup", 1)
    document.add_paragraph("Install it.")
    document.add_heading("Linux", 2)
    document.add_paragraph("Use the package.")
    document.add_heading("Usage", 1)
    document.add_paragraph("Run it.")
    found = parsed(WordParser(), saved(document))
    assert [section.metadata.get("heading_path") for section in found.sections] == [
        ["Setup"],
        ["Setup", "Linux"],
        ["Usage"],
    ]
    assert found.sections[0].content.type == "text"
    assert found.sections[0].content.text == "Guide\n\nSetup\n\nInstall it."


def test_a_bar_or_a_line_end_in_a_cell_keeps_the_table() -> None:
    """Each row has as many cells as before, and the text is all there."""
    document = docx.Document()
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).text = "a|b"
    table.cell(0, 1).text = "one\ntwo"
    table.cell(1, 0).text = "c"
    lines = parsed(WordParser(), saved(document)).text.splitlines()
    assert lines == ["| a\\|b | one two |", "| --- | --- |", "| c |  |"]


def test_nested_and_merged_cells_hold_their_text_once() -> None:
    """A table in a cell becomes text of that cell."""
    document = docx.Document()
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    inner = table.cell(1, 1).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "left", "right"
    text = parsed(WordParser(), saved(document)).text
    assert text.count("wide") == 1
    assert "left right" in text
    assert all(line.count("|") == 3 for line in text.splitlines())


def test_tables_can_stand_alone_and_be_json() -> None:
    """As the documented arguments say."""
    document = docx.Document()
    document.add_paragraph("before")
    document.add_table(rows=1, cols=2).cell(0, 0).text = "x"
    document.add_paragraph("after")
    parser = WordParser(separate_table=True, table_format="json")
    texts = [
        s.content.text for s in parsed(parser, saved(document)).sections if s.content.type == "text"
    ]
    assert texts == ["before", '[["x", ""]]', "after"]


@pytest.mark.parametrize("bad", ["html", "", "Markdown"])
def test_an_unknown_table_format_is_refused(bad: str) -> None:
    """At once, not at the first table."""
    with pytest.raises(ValueError, match="table_format"):
        WordParser(table_format=bad)


def test_text_boxes_of_both_kinds_are_read_once() -> None:
    """New drawings carry an old copy of themselves; a bare old one has no picture id."""
    box = f"<w:txbxContent>{paragraph('boxed words')}</w:txbxContent>"
    body = (
        paragraph("around")
        + "<w:p><w:r><mc:AlternateContent><mc:Choice><wps:txbx>"
        + box
        + "</wps:txbx></mc:Choice><mc:Fallback><v:textbox>"
        + box
        + "</v:textbox></mc:Fallback></mc:AlternateContent></w:r></w:p>"
        + "<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent>"
        + paragraph("old box")
        + "</w:txbxContent></v:textbox></v:shape><v:shape/></w:pict></w:r></w:p>"
    )
    text = parsed(WordParser(), word_file(body)).text
    assert text.count("boxed words") == 1
    assert text.split() == ["around", "boxed", "words", "old", "box"]


def test_deleted_text_and_field_codes_are_no_text() -> None:
    """Inserted text is; so is what a field shows."""
    body = (
        "<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        '<w:r><w:instrText>HYPERLINK "x"</w:instrText></w:r><w:r><w:t> shown</w:t></w:r></w:p>'
    )
    assert parsed(WordParser(), word_file(body)).text == "new shown"


def test_notes_comments_headers_and_footers_are_read() -> None:
    """Notes stand in the section that refers to them; headers come first, footers last."""
    body = (
        '<w:p><w:r><w:t>claim</w:t><w:footnoteReference w:id="1"/></w:r></w:p>'
        + '<w:p><w:r><w:t>draft</w:t><w:commentReference w:id="7"/></w:r></w:p>'
    )
    rels = relationships(
        ("a", "footnotes", "footnotes.xml"),
        ("b", "comments", "comments.xml"),
        ("c", "header", "header1.xml"),
        ("d", "header", "header2.xml"),
        ("e", "footer", "footer1.xml"),
    )
    parts = {
        "word/footnotes.xml": f'<n><footnote id="1">{paragraph("proof")}</footnote></n>',
        "word/comments.xml": f'<n><comment id="7" author="Ann">{paragraph("why")}</comment></n>',
        "word/header1.xml": f"<h>{paragraph('Report')}</h>",
        "word/header2.xml": f"<h>{paragraph('Report')}</h>",
        "word/footer1.xml": f"<h>{paragraph('Page 1')}{paragraph('1')}</h>",
    }
    parts = {name: content.replace("w:", "") for name, content in parts.items()}
    found = parsed(WordParser(), word_file(body, parts, rels=rels))
    texts = [s.content.text for s in found.sections if s.content.type == "text"]
    assert texts == ["Report", "claim\n\ndraft\n\nproof\n\nAnn: why", "Page 1"]


def test_pictures_split_the_text_unless_they_are_not_wanted() -> None:
    """A picture becomes a section of its own, with its media type."""
    document = docx.Document()
    document.add_paragraph("before")
    document.add_picture(picture())
    document.add_paragraph("after")
    data = saved(document)
    found = parsed(WordParser(), data)
    assert found.kinds == ["text", "data", "text"]
    assert found.sections[1].metadata["media_type"] == "image/png"
    assert parsed(WordParser(include_image=False), data).kinds == ["text"]


def test_formulas_keep_fractions_and_powers_apart() -> None:
    """One half is not twelve."""
    body = (
        "<w:p><m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num>"
        "<m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
        "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>3</m:t></m:r></m:sup></m:sSup>"
        "</m:oMath></w:p>"
    )
    assert parsed(WordParser(), word_file(body)).text == "1/2x^3"


def test_a_part_of_html_is_read() -> None:
    """An alternative chunk stands in for a piece of the body."""
    body = paragraph("own") + '<w:altChunk r:id="h"/>'
    found = parsed(
        WordParser(),
        word_file(
            body,
            {"word/a.html": "<html><h1>Title</h1><p>foreign <b>text</b></p></html>"},
            rels=relationships(("h", "aFChunk", "a.html")),
        ),
    )
    assert found.text.split() == ["own", "Title", "foreign", "text"]


def test_an_encrypted_document_says_so() -> None:
    """It is a compound file with the encrypted package inside."""
    data = compound_file({"EncryptionInfo": b"x" * 100, "EncryptedPackage": b"y" * 5_000})
    with pytest.raises(EncryptedFileError):
        parsed(WordParser(), data)


@pytest.mark.parametrize(
    "data", [b"", b"text", zip_file({}), zip_file({"a": "b"}), compound_file({"Other": b"x"})]
)
def test_what_is_no_document_is_refused(data: bytes) -> None:
    """With one plain sentence."""
    with pytest.raises(CorruptFileError) as caught:
        parsed(WordParser(), data)
    assert caught.value.message.endswith(".")


def test_damage_is_not_taken_for_an_empty_document() -> None:
    """What stands before the damage is kept with a warning; nothing at all is an error."""
    whole = word_file(paragraph("kept") * 3)
    cut = replaced(whole, {"word/document.xml": "<d><body><p><r><t>kept</t></r></p><p><r"})
    found = parsed(WordParser(), cut)
    assert found.text == "kept"
    assert found.report.warnings
    with pytest.raises(CorruptFileError):
        parsed(WordParser(), replaced(whole, {"word/document.xml": "\x00\x01 no xml"}))


def test_a_bomb_in_any_part_stops_the_file() -> None:
    """Also in parts that hold no text, as soon as they are read."""
    laughs = '<!DOCTYPE r [<!ENTITY a "x">]><r>&a;</r>'
    for part in ("_rels/.rels", "word/document.xml", "word/_rels/document.xml.rels"):
        with pytest.raises(ParseLimitError):
            parsed(WordParser(), replaced(word_file(paragraph("x")), {part: laughs}))
    bomb = "<d><body>" + "<p><r><t>aaaa</t></r></p>" * 1_000_000 + "</body></d>"
    with pytest.raises(ParseLimitError):
        parsed(WordParser(), replaced(word_file(""), {"word/document.xml": bomb}))
