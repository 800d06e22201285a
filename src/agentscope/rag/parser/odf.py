"""The text of OpenDocument elements: paragraphs, lists, frames, notes and tables."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from agentscope.rag.parser.xmlguard import Element, attribute, children, local_name

REPEATED_CELLS_MAX = 64
REPEATED_ROWS_MAX = 100
SPACES_MAX = 200
NESTED_MAX = 8
_SKIPPED = frozenset(
    [
        "tracked-changes",
        "forms",
        "sequence-decls",
        "variable-decls",
        "user-field-decls",
        "title",
        "desc",
        "table-of-content-source",
        "index-source",
        "ruby-text",
        "event-listeners",
        "creator",
        "date",
        "date-string",
        "initials",
        "enhanced-geometry",
        "glue-point",
        "settings",
        "script",
    ]
)


@dataclass(slots=True)
class OdfInline:
    """What one paragraph holds besides its own text."""

    text: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)


def read_inline(element: Element, inline: OdfInline) -> None:
    """Add the text of `element` and everything inside it, in document order."""
    inline.text.append(element.text or "")
    for item in element:
        name = local_name(item)
        if name == "s":
            count = attribute(item, "c")
            inline.text.append(" " * min(int(count) if count.isdecimal() else 1, SPACES_MAX))
        elif name == "tab":
            inline.text.append("\t")
        elif name == "line-break":
            inline.text.append("\n")
        elif name == "note":
            inline.notes.extend(_note_texts(item))
        elif name == "annotation":
            inline.notes.append(_annotation_text(item))
        elif name in {"text-box", "custom-shape", "table"}:
            inline.boxes.append(item)
        elif name == "image":
            inline.pictures.append(attribute(item, "href"))
        elif name not in _SKIPPED:
            read_inline(item, inline)
        inline.text.append(item.tail or "")


def simple_text(element: Element) -> str:
    """Return the text of `element` alone, without notes and frames."""
    inline = OdfInline()
    read_inline(element, inline)
    return "".join(inline.text)


def blocks(element: Element) -> Iterator[Element]:
    """Yield headings, paragraphs, tables and frames below `element`, through lists and groups."""
    for item in element:
        name = local_name(item)
        if name in {"h", "p", "table", "frame"}:
            yield item
        elif name not in _SKIPPED and name not in {"notes", "annotation"}:
            yield from blocks(item)


def read_table(table: Element, inline: OdfInline, depth: int = 1) -> list[list[str]]:
    """Return the cells of a table in a text; covered cells are empty, nested tables are text."""
    rows: list[list[str]] = []
    for row in _rows(table):
        cells: list[str] = []
        for cell in row:
            name = local_name(cell)
            if name == "table-cell":
                cells += [_cell_text(cell, inline, depth)] * _repeats(cell, "columns")
            elif name == "covered-table-cell":
                cells += [""] * _repeats(cell, "columns")
        rows += [cells] * _repeats(row, "rows")
    return rows


def _rows(table: Element) -> Iterator[Element]:
    for item in table:
        name = local_name(item)
        if name == "table-row":
            yield item
        elif name in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(item)


def _repeats(element: Element, unit: str) -> int:
    count = attribute(element, f"number-{unit}-repeated")
    return min(int(count), REPEATED_CELLS_MAX) if count.isdecimal() and len(count) < 9 else 1


def _cell_text(cell: Element, inline: OdfInline, depth: int) -> str:
    lines: list[str] = []
    for block in blocks(cell):
        if local_name(block) == "table":
            if depth < NESTED_MAX:
                nested = read_table(block, inline, depth + 1)
                lines.extend(" ".join(filter(None, row)) for row in nested)
            continue
        start = len(inline.text)
        read_inline(block, inline)
        lines.append("".join(inline.text[start:]))
        del inline.text[start:]
    return "\n".join(line for line in lines if line.strip())


def _note_texts(note: Element) -> Iterator[str]:
    for body in children(note, "note-body"):
        text = " ".join(simple_text(block) for block in blocks(body))
        if text.strip():
            yield text


def _annotation_text(annotation: Element) -> str:
    author = next((item.text or "" for item in children(annotation, "creator")), "")
    text = " ".join(simple_text(block) for block in blocks(annotation))
    return f"{author}: {text}" if author and text.strip() else text
