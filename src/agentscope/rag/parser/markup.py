"""Cuts HTML and XML into tags and text, in one pass that no input can make slow.

There is no tree: tree builders take minutes for deeply nested tags, and nothing here needs one.
Nothing is fetched, and entities are never expanded into other entities.
"""

import html
import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

_OPENING = re.compile(r"<(?:!--|!\[CDATA\[|[!?]|/?[A-Za-z_:\u0080-\U0010ffff])")
_NAME = re.compile(r"</?([^\s/>]+)")
_ATTRIBUTE_STOP = re.compile(r"[>\"']")
_ATTRIBUTE = re.compile(r"([^\s=\"'/>]{1,100})(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_ENTITY = re.compile(
    r"<!ENTITY\s+([\w.:-]{1,100})\s+(?:\"([^\"&%]{0,1000})\"|'([^'&%]{0,1000})')\s*>"
)
_RAW_TEXT = frozenset({"script", "style", "textarea", "title", "xmp", "noframes", "noembed"})


class Kind(Enum):
    """What a token is."""

    TEXT = "text"
    START = "start"
    END = "end"
    EMPTY = "empty"


class Token(NamedTuple):
    """A piece of markup; `value` is the text, or the attributes as written."""

    kind: Kind
    name: str
    value: str

    def attribute(self, name: str) -> str | None:
        """Return the value of an attribute, empty if it has none, None if it is missing."""
        for key, double, single, bare in _ATTRIBUTE.findall(self.value[:20_000]):
            if key.lower() == name:
                return html.unescape(double or single or bare)
        return None


def tokens(text: str, *, is_html: bool) -> Iterator[Token]:
    """Yield the tokens of `text`; entities in text are resolved, unknown ones stay as they are."""
    scanner = _Scanner(text, is_html)
    at = 0
    while at < len(text):
        match = _OPENING.search(text, at)
        if match is None:
            break
        if match.start() > at:
            yield scanner.text(at, match.start())
        end = scanner.end_of(match.start(), match.group())
        if end <= match.start():
            # An opening that never closes is text.
            yield scanner.text(match.start(), match.end())
            at = match.end()
            continue
        for token in scanner.tokens_of(match.start(), end, match.group()):
            yield token
            if is_html and token.kind is Kind.START and token.name in _RAW_TEXT:
                stop = scanner.raw_end(token.name, end)
                yield Token(Kind.TEXT, token.name, _resolved(token.name, text[end:stop]))
                end = stop
        at = end
    if at < len(text):
        yield scanner.text(at, len(text))


def _resolved(name: str, raw: str) -> str:
    return html.unescape(raw) if name in ("title", "textarea") else raw


class _Scanner:
    """Finds where things end, and remembers what does not occur any more."""

    def __init__(self, text: str, is_html: bool) -> None:
        self._text, self._is_html = text, is_html
        self._absent: set[str] = set()
        self._entities: dict[str, str] = {}
        self._expanded = 0

    def text(self, start: int, end: int) -> Token:
        raw = self._text[start:end]
        if "&" not in raw:
            return Token(Kind.TEXT, "", raw)
        if self._entities:
            raw = re.sub(r"&([\w.:-]{1,100});", self._declared, raw)
        return Token(Kind.TEXT, "", html.unescape(raw))

    def _declared(self, match: re.Match[str]) -> str:
        value = self._entities.get(match.group(1), match.group())
        self._expanded += len(value)
        return value if self._expanded < 1_000_000 else match.group()

    def _find(self, what: str, start: int) -> int:
        """Return the end of the next `what`, or -1; a miss is paid only once per string."""
        if what in self._absent:
            return -1
        found = self._text.find(what, start)
        if found < 0:
            self._absent.add(what)
            return -1
        return found + len(what)

    def end_of(self, start: int, opening: str) -> int:
        if opening == "<!--":
            return self._find("-->", start + 4)
        if opening == "<![CDATA[":
            return self._find("]]>", start)
        if opening == "<?":
            return self._find("?>" if not self._is_html else ">", start)
        if opening == "<!":
            return self._declaration_end(start)
        return self._tag_end(start)

    def _declaration_end(self, start: int) -> int:
        end = self._find(">", start)
        subset = self._text.find("[", start, end if end > 0 else start)
        if subset < 0:
            return end
        close = re.compile(r"\]\s*>").search(self._text, subset)
        if close is None:
            return end
        for name, double, single in _ENTITY.findall(self._text[subset : close.start()]):
            self._entities.setdefault(name, double or single)
        return close.end()

    def _tag_end(self, start: int) -> int:
        at = start
        while ">" not in self._absent:
            match = _ATTRIBUTE_STOP.search(self._text, at)
            if match is None:
                self._absent.add(">")
                return -1
            if match.group() == ">":
                return match.end()
            closing = self._find(match.group(), match.end())
            at = closing if closing > 0 else match.end()
        return -1

    def tokens_of(self, start: int, end: int, opening: str) -> Iterator[Token]:
        if opening == "<![CDATA[":
            yield Token(Kind.TEXT, "", self._text[start + 9 : end - 3])
            return
        if opening[1] in "!?":
            return
        match = _NAME.match(self._text, start, end)
        if match is None:
            return
        name = match.group(1).rpartition(":")[2] or match.group(1)
        name = name.lower() if self._is_html else name
        if opening[1] == "/":
            yield Token(Kind.END, name, "")
            return
        value = self._text[match.end() : end - 1]
        empty = value.endswith("/") and not self._is_html
        yield Token(Kind.EMPTY if empty else Kind.START, name, value)

    def raw_end(self, name: str, start: int) -> int:
        """Return where the text of a script or the like ends; without an end it is the rest."""
        match = re.compile(f"</{name}", re.IGNORECASE).search(self._text, start)
        return match.start() if match else len(self._text)
