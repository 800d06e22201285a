"""Web pages: the readable text, cut before headings, tables row by row."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentscope.rag.parser.cleaning import squeezed
from agentscope.rag.parser.markup import Kind, Token, tokens

_DROPPED = frozenset(
    ["script", "style", "template", "iframe", "object", "canvas", "svg", "math-annotation", "head"]
)
_BOILERPLATE = frozenset({"nav", "noscript"})
_PARAGRAPHS = frozenset(
    [
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "dl",
        "table",
        "blockquote",
        "pre",
        "section",
        "article",
        "header",
        "footer",
        "figure",
    ]
)
_BLOCKS = _PARAGRAPHS | frozenset(
    [
        "div",
        "li",
        "dt",
        "dd",
        "tr",
        "caption",
        "main",
        "aside",
        "nav",
        "address",
        "form",
        "fieldset",
        "legend",
        "figcaption",
        "hr",
        "body",
        "html",
        "option",
        "details",
        "summary",
        "center",
        "thead",
        "tbody",
        "tfoot",
        "title",
    ]
)
_HIDEABLE = frozenset({"div", "section", "span", "aside", "ul", "table", "main"})
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HEADING = re.compile(r"h[1-6]")
_SPACES = re.compile(r"[^\S\xa0]+")
_SECTION_CHARS = 1200
_CELL_LINES_CHARS = 600
_BREAK = "\x1e"
_TITLE_MAX = 300


@dataclass(slots=True)
class PagePart:
    """A readable part of a page and the headings it stands under."""

    text: str
    heading_path: list[str] = field(default_factory=list)


def page_parts(text: str) -> Iterator[PagePart]:
    """Yield the readable parts of an HTML page.

    Navigation is left out; if nothing else remains, or it never ends, it is read after all.
    """
    for reader in (_Page(_DROPPED | _BOILERPLATE), _Page(_DROPPED - {"svg"})):
        parts = reader.parts(text)
        if parts and not reader.swallowed:
            break
    yield from parts


class _Page:
    """Collects lines while the tokens go by."""

    def __init__(self, dropped: frozenset[str]) -> None:
        self._dropped = dropped
        self._parts: list[PagePart] = []
        self._lines: list[str] = []
        self._length = 0
        self._line: list[str] = []
        self._path: list[str] = []
        self._part_path: list[str] = []
        self._title = ""
        self._skipped: list[str] = []
        self._rows = 0
        self._cells = 0
        self._pre = 0
        self._heading = 0
        self.swallowed = False

    def parts(self, text: str) -> list[PagePart]:
        for token in tokens(text, is_html=True):
            if self._skipped:
                self._skip(token)
            elif token.kind is Kind.TEXT:
                self._text(token)
            elif token.kind is Kind.END:
                self._end(token.name)
            else:
                self._start(token)
        self._flush_line()
        self._flush_part()
        self.swallowed = bool(self._skipped) and self._skipped[0] not in _DROPPED
        return self._parts

    def _skip(self, token: Token) -> None:
        if token.name == "title" and token.kind is Kind.TEXT and not self._title:
            self._title = _SPACES.sub(" ", token.value).strip()[:_TITLE_MAX]
        outer = self._skipped[-1]
        if token.name == "body" and token.kind is Kind.START and outer == "head":
            self._skipped.pop()
        elif token.name == outer and token.kind is Kind.START:
            self._skipped.append(outer)
        elif token.name == outer and token.kind is Kind.END:
            self._skipped.pop()

    def _text(self, token: Token) -> None:
        if token.name == "title":
            self._title = self._title or _SPACES.sub(" ", token.value).strip()[:_TITLE_MAX]
        elif token.name in ("", "textarea", "xmp"):
            self._line.append(token.value if self._pre else _SPACES.sub(" ", token.value))

    def _start(self, token: Token) -> None:
        name = token.name
        if name in self._dropped or _is_hidden(token):
            self._break()
            if not token.value.endswith("/"):
                self._skipped.append(name)
            return
        if name == "br":
            self._break()
        elif name == "img":
            self._line.append(f" {token.attribute('alt') or ''} ")
        elif name in ("td", "th"):
            self._cell()
        elif name in _BLOCKS:
            self._block(name)
            self._rows += name == "tr"
            self._pre += name == "pre"
        if _HEADING.fullmatch(name) and not self._rows:
            self._heading = int(name[1])

    def _end(self, name: str) -> None:
        if name == "tr" and self._rows:
            self._rows -= 1
            if not self._rows:
                self._row()
                return
        if name == "table" and self._rows:
            # The end tag of the last row may be missing.
            self._rows -= 1
            if not self._rows:
                self._row()
        if self._heading and _HEADING.fullmatch(name):
            self._end_heading()
        elif name in _BLOCKS:
            self._block(name)
        self._pre -= name == "pre" and self._pre > 0

    def _block(self, name: str) -> None:
        if name == "tr" and self._rows == 1 and self._cells:
            # A new row without an end tag of the last one.
            self._rows = 0
            self._row()
        self._break()
        if name in _PARAGRAPHS and not self._rows and self._lines and self._lines[-1]:
            self._lines.append("")

    def _break(self) -> None:
        if self._rows:
            self._line.append(_BREAK)
        else:
            self._flush_line()

    def _cell(self) -> None:
        if self._rows == 1:
            self._line.append("\t" if self._cells else "")
            self._cells += 1
        elif self._rows:
            self._line.append(_BREAK)

    def _row(self) -> None:
        """Write a row on one line, unless its cells hold whole paragraphs."""
        raw = "".join(self._line)
        joint = " " if len(raw) < _CELL_LINES_CHARS else "\n"
        lines = raw.replace(_BREAK, joint).split("\n")
        self._line.clear()
        self._cells = 0
        for line in lines:
            cells = [_SPACES.sub(" ", cell).strip() for cell in line.split("\t")]
            if any(cells):
                self._add("\t".join(cells).rstrip("\t"))

    def _flush_line(self) -> None:
        text = "".join(self._line).replace(_BREAK, "\n")
        self._line.clear()
        if not self._pre:
            text = _SPACES.sub(" ", text).strip()
        if text.strip():
            self._add(text.strip("\n"))

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._length += len(line)

    def _end_heading(self) -> None:
        level, self._heading = self._heading, 0
        title = _SPACES.sub(" ", "".join(self._line)).strip()
        if not title:
            return
        if self._length >= _SECTION_CHARS:
            held, self._line = self._line, []
            self._flush_part()
            self._line = held
        self._path = [*self._path[: level - 1], *[""] * (level - 1 - len(self._path))]
        self._path.append(title[:_TITLE_MAX])
        if not self._part_path:
            self._part_path = [part for part in self._path if part]
        self._flush_line()
        self._lines.append("")

    def _flush_part(self) -> None:
        text = squeezed("\n".join(self._lines))
        if not self._parts and self._title and not text.startswith(self._title):
            text = f"{self._title}\n\n{text}".strip()
        if text:
            self._parts.append(PagePart(text, self._part_path))
        self._lines.clear()
        self._length, self._part_path = 0, []


def _is_hidden(token: Token) -> bool:
    if token.name not in _HIDEABLE or not token.value:
        return False
    if "hidden" in token.value and token.attribute("hidden") is not None:
        return True
    if "navigation" in token.value and token.attribute("role") == "navigation":
        return True
    return "style" in token.value and bool(_HIDDEN.search(token.attribute("style") or ""))
