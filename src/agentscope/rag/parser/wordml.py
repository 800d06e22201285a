"""Paragraphs and tables of WordprocessingML, with everything that hides inside them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from agentscope.rag.parser.xmlguard import Element, attribute, child, children, local_name

NESTED_TABLES_MAX = 8

# Deleted and moved-away text, field instructions, properties and phonetic guides are not text.
_SKIPPED = frozenset(
    [
        "pPr",
        "rPr",
        "tblPr",
        "trPr",
        "tcPr",
        "tblGrid",
        "sectPr",
        "sdtPr",
        "sdtEndPr",
        "delText",
        "delInstrText",
        "instrText",
        "del",
        "moveFrom",
        "fldData",
        "numPr",
        "binData",
        "ffData",
        "annotationRef",
        "Fallback",
    ]
)
_CHARACTERS = {
    "tab": "\t",
    "ptab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "-",
    "softHyphen": "",
}
_MATH_MARKS = {"sSup": ("sup", "^"), "sSub": ("sub", "_"), "f": ("den", "/")}


@dataclass(slots=True)
class Inline:
    """What one paragraph holds besides its own text."""

    text: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    """(footnote, endnote or comment; id)."""
    pictures: list[str] = field(default_factory=list)
    """Relationship ids, in order."""
    parts: list[str] = field(default_factory=list)
    """Relationship ids of charts and SmartArt data."""

    def string(self) -> str:
        return "".join(self.text)


def read_inline(element: Element, inline: Inline) -> None:
    """Add everything inside `element` to `inline`, in document order."""
    for item in element:
        name = local_name(item)
        if name in _SKIPPED:
            continue
        if name == "t":
            inline.text.append(item.text or "")
        elif name in _CHARACTERS:
            inline.text.append(_CHARACTERS[name])
        elif name == "AlternateContent":
            read_inline(alternative(item), inline)
        elif name == "txbxContent":
            inline.boxes.append(item)
        elif name == "ruby":
            _read_ruby(item, inline)
        elif name in _MATH_MARKS:
            _read_math(item, inline, *_MATH_MARKS[name])
        elif not _read_reference(item, name, inline):
            read_inline(item, inline)


def alternative(element: Element) -> Element:
    """Return the branch of an AlternateContent to read: the first with text, never two."""
    branches = [item for item in element if local_name(item) in {"Choice", "Fallback"}]
    for branch in branches:
        if any(local_name(item) in {"t", "relIds", "chart"} for item in branch.iter()):
            return branch
    return branches[0] if branches else element


def _read_reference(item: Element, name: str, inline: Inline) -> bool:
    """Note what `item` points to; return False when it points to nothing."""
    if name in {"footnoteReference", "endnoteReference", "commentReference"}:
        inline.notes.append((name.removesuffix("Reference"), attribute(item, "id")))
    elif name == "blip":
        inline.pictures.append(attribute(item, "embed"))
    elif name == "imagedata":
        inline.pictures.append(attribute(item, "id"))
    elif name == "chart":
        inline.parts.append(attribute(item, "id"))
    elif name == "relIds":
        inline.parts.append(attribute(item, "dm"))
    else:
        return False
    return True


def _read_ruby(item: Element, inline: Inline) -> None:
    """Keep the base text and put its reading in brackets behind it."""
    for name, before, after in (("rubyBase", "", ""), ("rt", "(", ")")):
        part = child(item, name)
        if part is not None:
            inline.text.append(before)
            read_inline(part, inline)
            inline.text.append(after)


def _read_math(item: Element, inline: Inline, second: str, mark: str) -> None:
    """Keep fractions, powers and indices apart: a half is 1/2 and not 12."""
    for part in item:
        if local_name(part) == second:
            inline.text.append(mark)
        if not local_name(part).endswith("Pr"):
            read_inline(part, inline)


def blocks(element: Element) -> Iterator[Element]:
    """Yield the paragraphs, tables and foreign parts directly below, through any wrapper."""
    for item in element:
        name = local_name(item)
        if name in {"p", "tbl", "altChunk"}:
            yield item
        elif name == "AlternateContent":
            yield from blocks(alternative(item))
        elif name not in _SKIPPED:
            yield from blocks(item)


def read_table(table: Element, inline: Inline, depth: int = 1) -> list[list[str]]:
    """Return the cells of a table; merged cells hold their text once, at their first place.

    A nested table becomes text of the cell that holds it. Notes, pictures and text boxes of all
    cells are added to `inline`.
    """
    return [_read_row(row, inline, depth) for row in _rows(table)]


def _rows(table: Element) -> Iterator[Element]:
    for item in table:
        name = local_name(item)
        if name == "tr":
            if child(item, "trPr", "del") is None:
                yield item
        elif name not in _SKIPPED:
            yield from _rows(item)


def _cells(row: Element) -> Iterator[Element]:
    for item in row:
        name = local_name(item)
        if name == "tc":
            yield item
        elif name not in _SKIPPED:
            yield from _cells(item)


def _read_row(row: Element, inline: Inline, depth: int) -> list[str]:
    cells: list[str] = []
    for cell in _cells(row):
        merge = child(cell, "tcPr", "vMerge")
        continued = merge is not None and attribute(merge, "val") != "restart"
        cells.append("" if continued else cell_text(cell, inline, depth))
        span = child(cell, "tcPr", "gridSpan")
        if span is not None and attribute(span, "val").isdecimal():
            cells.extend([""] * min(int(attribute(span, "val")) - 1, 62))
    return cells


def cell_text(cell: Element, inline: Inline, depth: int = 1) -> str:
    """Return the text of a cell, one line per paragraph."""
    lines: list[str] = []
    for block in blocks(cell):
        if local_name(block) == "tbl":
            if depth >= NESTED_TABLES_MAX:
                lines.extend(str(text) for text in block.itertext("{*}t"))
                continue
            rows = read_table(block, inline, depth + 1)
            lines.extend(" ".join(filter(None, row)) for row in rows)
        elif local_name(block) == "p":
            start = len(inline.text)
            read_inline(block, inline)
            lines.append("".join(inline.text[start:]))
            del inline.text[start:]
    return "\n".join(line for line in lines if line.strip())


def outline_level(properties: Element) -> int | None:
    """Return the heading level from 1 that paragraph properties state, or None."""
    found = child(properties, "outlineLvl") if properties is not None else None
    if found is None or not attribute(found, "val").isdecimal():
        return None
    level = int(attribute(found, "val")) + 1
    return level if level <= 9 else None


def heading_styles(styles: Element) -> dict[str, int]:
    """Return the heading level from 1 of every paragraph style that has one."""
    if styles is None:
        return {}
    own: dict[str, int] = {}
    bases: dict[str, str] = {}
    for style in children(styles, "style"):
        style_id = attribute(style, "styleId")
        name = child(style, "name")
        label = attribute(name, "val").casefold() if name is not None else ""
        level = outline_level(child(style, "pPr"))
        if level is None and label == "title":
            level = 1
        if level is None and label.startswith("heading ") and label[8:].isdecimal():
            level = min(int(label[8:]), 9)
        if level is not None:
            own[style_id] = level
        based_on = child(style, "basedOn")
        if based_on is not None:
            bases[style_id] = attribute(based_on, "val")
    return own | {style: level for style in bases if (level := _inherited(style, own, bases))}


def _inherited(style: str, own: dict[str, int], bases: dict[str, str]) -> int | None:
    seen: set[str] = set()
    while style not in own and style in bases and style not in seen:
        seen.add(style)
        style = bases[style]
    return own.get(style)
