"""What all Office packages share: telling one kind of file from another."""

import io

import docx
import openpyxl
import pptx
import pytest

from agentscope.errors import CorruptFileError
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.excel import ExcelParser
from agentscope.rag.parser.ppt import PPTParser
from agentscope.rag.parser.word import WordParser
from agentscope.testing.office_files import parsed, replaced


def word() -> bytes:
    stream = io.BytesIO()
    document = docx.Document()
    document.add_paragraph("some words")
    document.save(stream)
    return stream.getvalue()


def deck() -> bytes:
    stream = io.BytesIO()
    pptx.Presentation().save(stream)
    return stream.getvalue()


def workbook() -> bytes:
    stream = io.BytesIO()
    openpyxl.Workbook().save(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("parser", "data", "sentence"),
    [
        (PPTParser(), word(), "The file is a Word document, not a PowerPoint presentation."),
        (ExcelParser(), word(), "The file is a Word document, not an Excel workbook."),
        (WordParser(), deck(), "The file is a PowerPoint presentation, not a Word document."),
        (WordParser(), workbook(), "The file is an Excel workbook, not a Word document."),
    ],
)
def test_a_file_under_the_name_of_another_program_is_called_what_it_is(
    parser: ParserBase, data: bytes, sentence: str
) -> None:
    """A wrong name is the fault of the name, so neither damage nor a lack of text is blamed."""
    with pytest.raises(CorruptFileError) as caught:
        parsed(parser, data)
    assert caught.value.message == sentence


def test_a_package_without_readable_types_is_read_by_its_parts() -> None:
    """The list of types only serves the wording of a refusal; reading does not depend on it."""
    assert parsed(WordParser(), replaced(word(), {"[Content_Types].xml": "<"})).text == "some words"
