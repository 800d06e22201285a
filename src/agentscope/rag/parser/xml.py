"""XML: the text of the elements, records as `name: value` lines.

No entity is fetched and none is expanded into others; damaged or half-written XML is read as
far as it makes sense.
"""

import re
from collections.abc import Iterator

from agentscope.rag.parser.markup import Kind, Token, tokens

_SPACES = re.compile(r"\s+")
_VALUE_MAX = 300
_ATTRIBUTE = re.compile(r"([\w.:-]{1,100})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}:\S+|\d*|true|false|yes|no", re.IGNORECASE)


def xml_lines(text: str) -> Iterator[str]:
    """Yield the content of an XML document line by line."""
    walk = _Walk()
    for token in tokens(text, is_html=False):
        yield from walk.feed(token)
    yield from walk.rest()


class _Walk:
    """Joins the text of an element with the marked words inside it."""

    def __init__(self) -> None:
        self._depth = 0
        self._text: list[str] = []
        self._text_depth = 0
        self._fresh = False
        self._held: tuple[str, str] | None = None

    def feed(self, token: Token) -> Iterator[str]:
        if token.kind is Kind.TEXT:
            self._add(token.value)
            return
        if self._held:
            name, text = self._held
            self._held = None
            yield f"{name}: {text}"
        if token.kind is Kind.END:
            yield from self._end(token.name)
            return
        self._depth += token.kind is Kind.START
        self._fresh = token.kind is Kind.START
        words = _attribute_text(token)
        if self._text:
            self._text.append(f" {words} " if words else " " * (token.kind is Kind.EMPTY))
        elif words:
            yield words

    def _add(self, value: str) -> None:
        if not value.strip():
            if self._text:
                self._text.append(" ")
            return
        if self._held:
            # Text after an element: its words were only marked, the sentence goes on.
            self._text, self._text_depth = [self._held[1]], self._depth
            self._held = None
        elif not self._text:
            self._text_depth = self._depth
        self._text.append(value)

    def _end(self, name: str) -> Iterator[str]:
        if self._text and self._depth <= self._text_depth:
            text = self._take()
            if self._fresh and len(text) <= _VALUE_MAX:
                self._held = (name, text)
            elif text:
                yield text
        self._depth = max(0, self._depth - 1)
        self._fresh = False

    def _take(self) -> str:
        text = _SPACES.sub(" ", "".join(self._text)).strip()
        self._text.clear()
        return text

    def rest(self) -> Iterator[str]:
        """Yield what was still open when the document ended."""
        if self._held:
            yield self._held[1]
        text = self._take()
        if text:
            yield text


def _attribute_text(token: Token) -> str:
    """Return the attribute values that read like words; numbers and addresses do not."""
    found = []
    for name, double, single in _ATTRIBUTE.findall(token.value[:20_000]):
        value = _SPACES.sub(" ", double or single).strip()
        if name.startswith("xmlns") or _ADDRESS.fullmatch(value) or " " not in value:
            continue
        found.append(value)
    return " ".join(found)
