"""Presentations: groups, tables, notes and charts, slide by slide."""

import io
from typing import Any

import pytest
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from agentscope.errors import CorruptFileError, ParseLimitError
from agentscope.rag.parser.ppt import PPTParser
from agentscope.testing.office_files import parsed, replaced, zip_file

BOX = (Inches(1), Inches(1), Inches(3), Inches(1))


def saved(deck: Any) -> bytes:
    stream = io.BytesIO()
    deck.save(stream)
    return stream.getvalue()


def picture() -> io.BytesIO:
    stream = io.BytesIO()
    Image.new("RGB", (8, 8), "blue").save(stream, "PNG")
    stream.seek(0)
    return stream


def test_groups_tables_and_notes_are_found_and_kept_apart() -> None:
    """Shapes come in order with white space between them, at every depth of grouping."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(*BOX).text_frame.text = "first box"
    table = slide.shapes.add_table(2, 2, *BOX).table
    table.cell(0, 0).text = "a|b"
    table.cell(1, 1).text = "two\nlines"
    outer = slide.shapes.add_group_shape()
    inner = outer.shapes.add_group_shape()
    inner.shapes.add_textbox(*BOX).text_frame.text = "NESTED-WORD"
    inner.shapes.add_textbox(*BOX).text_frame.text = "SECOND-WORD"
    slide.notes_slide.notes_text_frame.text = "say hello"
    text = parsed(PPTParser(), saved(deck)).text
    assert text.splitlines() == [
        "<slide index=1>",
        "first box",
        "",
        "| a\\|b |  |",
        "| --- | --- |",
        "|  | two lines |",
        "",
        "NESTED-WORD",
        "",
        "SECOND-WORD",
        "",
        "Notes: say hello",
        "</slide>",
    ]


def test_charts_give_titles_categories_and_values() -> None:
    """The cached values of a chart are text like any other."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["North", "South"]
    data.add_series("Revenue", (10, 20))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data)
    assert "Revenue: North: 10; South: 20" in parsed(PPTParser(), saved(deck)).text


def test_pictures_split_a_slide_and_the_marks_enclose_its_text() -> None:
    """A slide with nothing but a picture has no text and is named in the coverage."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(*BOX).text_frame.text = "before"
    slide.shapes.add_picture(picture(), *BOX)
    slide.shapes.add_textbox(*BOX).text_frame.text = "after"
    deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_picture(picture(), *BOX)
    data = saved(deck)
    found = parsed(PPTParser(), data)
    assert found.kinds == ["text", "data", "text", "data"]
    assert found.text == "<slide index=1>\nbefore\nafter\n</slide>"
    assert [section.metadata["slide"] for section in found.sections] == [1, 1, 1, 2]
    assert found.report.coverage.without_text == [2]
    plain = parsed(PPTParser(include_image=False, slide_prefix=None, slide_suffix=None), data)
    assert plain.text == "before\n\nafter"


def test_a_table_can_be_a_section_of_its_own() -> None:
    """In the format that was asked for."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(*BOX).text_frame.text = "text"
    slide.shapes.add_table(1, 2, *BOX).table.cell(0, 0).text = "cell"
    found = parsed(PPTParser(separate_table=True, table_format="json"), saved(deck))
    assert found.text.splitlines()[-2:] == ['[["cell", ""]]', "</slide>"]
    assert len(found.sections) == 2
    with pytest.raises(ValueError, match="table_format"):
        PPTParser(table_format="csv")


def test_the_title_comes_first_and_master_text_once() -> None:
    """Text of a master is not repeated for every slide."""
    deck = Presentation()
    deck.slide_master.shapes  # noqa: B018 - loads the master part
    for number in range(3):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.add_textbox(*BOX).text_frame.text = f"body {number}"
        slide.shapes.title.text = f"title {number}"
    data = saved(deck)
    master = (
        '<m xmlns:a="a"><cSld><spTree><sp><txBody><a:p><a:r><a:t>ACME internal</a:t></a:r></a:p>'
        "</txBody></sp></spTree></cSld></m>"
    )
    text = parsed(PPTParser(), replaced(data, {"ppt/slideMasters/slideMaster1.xml": master})).text
    assert text.count("ACME internal") == 1
    assert text.index("title 1") < text.index("body 1") < text.index("title 2")


def test_a_damaged_slide_costs_only_itself() -> None:
    """The others are read, and a warning says that something is missing."""
    deck = Presentation()
    for number in range(3):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = f"title {number}"
    data = replaced(saved(deck), {"ppt/slides/slide2.xml": "\x01\x02"})
    found = parsed(PPTParser(), data)
    assert "title 0" in found.text
    assert "title 2" in found.text
    assert found.report.warnings
    with pytest.raises(CorruptFileError):
        parsed(PPTParser(), data[:-500])
    with pytest.raises(CorruptFileError):
        parsed(PPTParser(), zip_file({"other": "x"}))


def test_a_slide_that_declares_entities_stops_the_file() -> None:
    """Nothing is expanded on the way."""
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[5])
    laughs = '<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r>&b;</r>'
    with pytest.raises(ParseLimitError):
        parsed(PPTParser(), replaced(saved(deck), {"ppt/slides/slide1.xml": laughs}))
