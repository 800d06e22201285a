"""HTML inside other files (books, messages, Word parts) as headings, paragraphs and tables.

This reads well-meant HTML whose every block counts. Web pages, with navigation and boilerplate
around the text, have a parser of their own.
"""

import codecs
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentscope.optional import require
from agentscope.rag.parser.flow import TableFormat, one_line, plain_text, table_text
from agentscope.rag.parser.xmlguard import Element, local_name

_SKIPPED = frozenset(
    [
        "head",
        "script",
        "style",
        "template",
        "noscript",
        "iframe",
        "object",
        "svg",
        "canvas",
        "datalist",
        "title",
    ]
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CELL_CHARACTERS_MAX = 500
_ROWS_MAX = 20_000
_CHARSET = re.compile(rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?([\w.:-]+)""")
_TAG = re.compile(r"<[^<>]*>")
_HIDDEN_BEGIN = re.compile(r"<(?:script|style)\b", re.IGNORECASE)
_HIDDEN_END = re.compile(r"</(?:script|style)\s*>", re.IGNORECASE)
_INVISIBLE = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all")


@dataclass(frozen=True, slots=True)
class TextBlockItem:
    """One block of text; `level` is 1 to 6 for headings and 0 for anything else."""

    text: str
    level: int = 0


def html_text(data: bytes | str) -> str:
    """Return all blocks as text, separated by blank lines."""
    return "\n\n".join(block.text for block in html_blocks(data))


def html_blocks(
    data: bytes | str, table_format: TableFormat = "markdown"
) -> Iterator[TextBlockItem]:
    """Yield the blocks of an HTML page in document order, scripts and hidden parts left out.

    A table whose cells are short and hold no other table stays a table; tables that only lay
    out a page are read cell by cell. Bytes are decoded by their mark, declaration or as UTF-8.
    """
    etree = require("lxml.etree", package="lxml", extra="all")
    text = data if isinstance(data, str) else _decode(data)
    if not text.strip():
        return
    parser = etree.HTMLParser(
        encoding="utf-8",
        huge_tree=True,  # raises the depth at which text is lost; the tree is never recursed
        no_network=True,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    clean = plain_text(text).encode("utf-8")
    try:
        root = etree.fromstring(clean, parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None or any("depth" in entry.message for entry in parser.error_log):
        bare = one_line(html.unescape(_without_tags(text)))
        yield from [TextBlockItem(bare)] if bare else []
    else:
        yield from _Walk(etree.iterwalk(root, events=("start", "end")), table_format).blocks()


def _without_tags(text: str) -> str:
    """Return what stands between the tags, without scripts and styles; reads the text once."""
    kept, at = [], 0
    while (begin := _HIDDEN_BEGIN.search(text, at)) is not None:
        end = _HIDDEN_END.search(text, begin.end())
        if end is None:
            break
        kept.append(text[at : begin.start()])
        at = end.end()
    kept.append(text[at:])
    return _TAG.sub(" ", " ".join(kept))


class _Walk:
    """Turns start and end events into blocks; never recurses, whatever the nesting."""

    def __init__(self, events: Element, table_format: TableFormat) -> None:
        self.events = events
        self.table_format = table_format
        self.pieces: list[str] = []
        self.level = 0
        self.preformatted = 0

    def blocks(self) -> Iterator[TextBlockItem]:
        for event, element in self.events:
            name = local_name(element).lower()
            if event == "start":
                yield from self._start(element, name)
            else:
                yield from self._end(element, name)
        yield from self._flush()

    def _start(self, element: Element, name: str) -> Iterator[TextBlockItem]:
        if name in _SKIPPED or _INVISIBLE.search(element.get("style") or ""):
            self.events.skip_subtree()
            element.text = None
            return
        if name in _BLOCKS:
            yield from self._flush()
        if name == "table" and (rows := data_table(element)):
            yield TextBlockItem(table_text(rows, self.table_format))
            self.events.skip_subtree()
            return
        self.level = _HEADINGS.get(name, self.level)
        self.preformatted += name == "pre"
        if name == "br":
            self.pieces.append("\x0b")
        elif name == "img":
            self.pieces.append(f" {element.get('alt') or ''} ")
        self.pieces.append(element.text or "")

    def _end(self, element: Element, name: str) -> Iterator[TextBlockItem]:
        if name in _BLOCKS:
            yield from self._flush()
        if name in _HEADINGS:
            self.level = 0
        self.preformatted -= name == "pre" and self.preformatted > 0
        if name not in {"html"}:
            self.pieces.append(element.tail or "")

    def _flush(self) -> Iterator[TextBlockItem]:
        text = "".join(self.pieces)
        self.pieces.clear()
        if self.preformatted:
            text = plain_text(text).strip("\n")
        else:
            text = "\n".join(filter(None, (one_line(line) for line in text.split("\x0b"))))
        if text.strip():
            yield TextBlockItem(text, self.level)


def data_table(table: Element) -> list[list[str]]:
    """Return the cells of a table of data, [] for a table that lays out a page."""
    rows: list[list[str]] = []
    for element in table.iter():
        name = local_name(element).lower()
        if name in {"table", "form", "h1", "h2", "h3"} and element is not table:
            return []
        if name == "tr":
            rows.append([])
            if len(rows) > _ROWS_MAX:
                return []
        elif name in {"td", "th"} and rows:
            cell = one_line(" ".join(_visible(element)))
            if len(cell) > _CELL_CHARACTERS_MAX:
                return []
            span = element.get("colspan") or "1"
            rows[-1] += [cell, *[""] * (min(int(span), 64) - 1 if span.isdecimal() else 0)]
    return rows if len(rows) > 1 and max(map(len, rows)) > 1 else []


def _visible(cell: Element) -> Iterator[str]:
    for element in cell.iter():
        if local_name(element).lower() not in _SKIPPED and element.text:
            yield element.text
        if element is not cell and element.tail:
            yield element.tail


def _decode(data: bytes) -> str:
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(name, "replace")
    declared = _CHARSET.search(data[:4096])
    for name in (declared.group(1).decode("ascii") if declared else "", "utf-8", "cp1252"):
        try:
            return data.decode(name) if name else data.decode("utf-8")
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("latin-1")
