"""XML read without entities, network or unbounded depth.

Documents of office formats never need a document type declaration, so one with entities is
refused instead of being expanded or silently dropped. Elements are asked for by local name: the
strict and the transitional flavour of the same format then read alike.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import Any

from agentscope.errors import CorruptFileError, ParseError, ParseLimitError
from agentscope.optional import require

Element = Any
"""An element of lxml, which is imported late and has no types."""

_OPTIONS = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
_DOCTYPE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<\?.*?\?>|<!--.*?-->)*+<!DOCTYPE", re.IGNORECASE | re.DOTALL
)
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)


def parse_xml(data: bytes, filename: str = "") -> Element:
    """Return the root element of `data`; repairs what office programs repair, too.

    Raises:
        CorruptFileError: no root element can be made out.
        ParseLimitError: entities are declared, or elements nest too deeply.
    """
    etree = require("lxml.etree", package="lxml", extra="all")
    refuse_entities(data, filename)
    try:
        return etree.fromstring(data, etree.XMLParser(recover=False, **_OPTIONS))
    except etree.XMLSyntaxError as exc:
        if "xcessive depth" in str(exc):
            raise ParseLimitError("The file is nested too deeply.", filename=filename) from exc
    except ValueError as exc:
        raise CorruptFileError(filename=filename) from exc
    try:
        root = etree.fromstring(data, etree.XMLParser(recover=True, **_OPTIONS))
    except etree.XMLSyntaxError as exc:
        raise CorruptFileError(filename=filename) from exc
    if root is None:
        raise CorruptFileError(filename=filename)
    return root


def stream_xml(
    pieces: Iterable[bytes],
    tags: frozenset[str],
    filename: str = "",
    damage: list[str] | None = None,
) -> Iterator[Element]:
    """Yield each element with a local name in `tags` when it ends, then free it.

    Elements inside a yielded one are part of it. Memory stays at the size of one such element
    and of what stands outside of all of them.
    What had to be repaired is noted in `damage`.

    Raises:
        CorruptFileError: not XML.
        ParseLimitError: as for `parse_xml`.
    """
    etree = require("lxml.etree", package="lxml", extra="all")
    names = ["{*}" + tag for tag in sorted(tags)]
    parser = etree.XMLPullParser(events=("start", "end"), tag=names, recover=True, **_OPTIONS)
    try:
        yield from _outermost(parser, _checked(pieces, filename))
        parser.close()
    except ParseError:
        raise
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise CorruptFileError(filename=filename) from exc
    for entry in parser.feed_error_log:
        if "depth" in entry.message:
            raise ParseLimitError("The file is nested too deeply.", filename=filename)
        if damage is not None:
            damage.append(entry.message)


def _outermost(parser: Any, pieces: Iterable[bytes]) -> Iterator[Element]:
    """Yield the elements whose events the parser delivers, not those inside one of them."""
    open_element: Element = None
    for piece in pieces:
        parser.feed(piece)
        for event, element in parser.read_events():
            if event == "start":
                if open_element is None:
                    open_element = element
            elif element is open_element:
                yield element
                open_element = None
                _free(element)


def _checked(pieces: Iterable[bytes], filename: str) -> Iterator[bytes]:
    head = True
    for piece in pieces:
        if head:
            refuse_entities(piece, filename)
            head = False
        yield piece


def refuse_entities(data: bytes, filename: str = "") -> None:
    """Refuse XML whose prolog declares entities.

    Raises:
        ParseLimitError: an entity is declared.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data[:4]:
        data = data.replace(b"\0", b"")[2 * data.startswith((b"\xff\xfe", b"\xfe\xff")) :]
    if _DOCTYPE.match(data) and _ENTITY.search(data):
        raise ParseLimitError(
            "The file declares XML entities, which is not allowed.", filename=filename
        )


def local_name(element: Element) -> str:
    """Return the name without its namespace; comments and instructions give ""."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """Return the attribute with the local name `name`, whatever its namespace, or ""."""
    value = element.get(name)
    if value is not None:
        return str(value)
    for key, found in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(found)
    return ""


def child(element: Element, *path: str) -> Element:
    """Return the first descendant along `path` of local names, or None."""
    for name in path:
        element = next((found for found in element if local_name(found) == name), None)
        if element is None:
            return None
    return element


def children(element: Element, name: str) -> list[Element]:
    """Return the direct children with the local name `name`."""
    return [found for found in element if local_name(found) == name]


def descendants(element: Element, name: str) -> Iterator[Element]:
    """Yield `element` and everything inside it that has the local name `name`."""
    return (found for found in element.iter("{*}" + name))


def _free(element: Element) -> None:
    """Drop a finished element and what stands before it, so that a long part stays small."""
    element.clear(keep_tail=False)
    while element.getprevious() is not None:
        del element.getparent()[0]
