"""E-books (EPUB 2 and 3): chapters in reading order."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseLimitError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.flow import Flow, counted
from agentscope.rag.parser.hypertext import html_blocks
from agentscope.rag.parser.xmlguard import attribute, child, children, descendants, parse_xml
from agentscope.rag.parser.zipguard import ZipContainer

CHAPTERS_MAX = 10_000
_CHAPTER_BYTES = 32 << 20
_PAGES = (".xhtml", ".html", ".htm", ".xml")
# Fonts are garbled by these two on purpose; that is no protection of the text.
_FONT_METHODS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
# An HTML reader takes a short form such as <a id="x"/> for an opening tag.
_SHORT = re.compile(
    rb"<(a|b|em|i|p|div|span|script|style|title|td|th|li|section|iframe|textarea)\b([^<>]*)/>",
    re.IGNORECASE,
)


class EPUBParser(SyncParser):
    """Reads the chapters of an e-book, one section per heading."""

    supported_media_types: ClassVar[list[str]] = ["application/epub+zip"]
    required_modules = ("lxml",)

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".epub"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        """Yield sections in the order of the spine; a chapter that cannot be read is reported.

        Raises:
            EncryptedFileError: the text is under digital rights management.
        """
        del options
        with ZipContainer(file, filename) as book:
            names = _chapters(book)
            _refuse_protected(book, frozenset(names))
            yield from counted(_sections(book, names, filename, report), report)


def _sections(
    book: ZipContainer, names: list[str], source: str, report: ParseReport
) -> Iterator[Section]:
    if len(names) > CHAPTERS_MAX:
        report.warn(f"Only the first {CHAPTERS_MAX} chapters were read.")
    failed = 0
    flow = Flow(source)
    for name in names[:CHAPTERS_MAX]:
        try:
            page = _SHORT.sub(rb"<\1\2></\1>", book.read(name, _CHAPTER_BYTES))
        except (CorruptFileError, KeyError):
            failed += 1
            continue
        for block in html_blocks(page):
            if block.level:
                yield from flow.heading(block.text, block.level)
            else:
                yield from flow.paragraph(block.text)
        yield from flow.flush()
    if failed and failed == len(names):
        raise CorruptFileError(filename=source)
    if failed:
        report.warn("Some chapters of the book are damaged and were left out.")


def _chapters(book: ZipContainer) -> list[str]:
    """Return the pages in reading order, or all pages by name if no order is stated.

    Raises:
        CorruptFileError: there are no pages.
    """
    found: list[str] = []
    package = _package_name(book)
    if package in book:
        found = _spine(book, package)
    if not found:
        found = sorted(
            name
            for name in book.names
            if name.casefold().endswith(_PAGES) and not name.startswith("META-INF/")
        )
    if not found:
        raise CorruptFileError(
            "The file is damaged or not of its type: it holds no chapters.",
            filename=book.filename,
        )
    return found


def _package_name(book: ZipContainer) -> str:
    if "META-INF/container.xml" in book:
        try:
            container = parse_xml(book.read("META-INF/container.xml"), book.filename)
        except CorruptFileError:
            container = None
        for root in descendants(container, "rootfile") if container is not None else ():
            return unquote(attribute(root, "full-path"))
    return next((name for name in book.names if name.casefold().endswith(".opf")), "")


def _spine(book: ZipContainer, package: str) -> list[str]:
    try:
        root = parse_xml(book.read(package), book.filename)
    except CorruptFileError:
        return []
    manifest, spine = child(root, "manifest"), child(root, "spine")
    if manifest is None or spine is None:
        return []
    folder = posixpath.dirname(package)
    targets: dict[str, str] = {}
    for item in children(manifest, "item"):
        is_page = "html" in attribute(item, "media-type") or attribute(
            item, "href"
        ).casefold().endswith(_PAGES)
        if is_page and "nav" not in attribute(item, "properties").split():
            path = unquote(attribute(item, "href")).partition("#")[0]
            targets[attribute(item, "id")] = posixpath.normpath(posixpath.join(folder, path))
    order = (targets.get(attribute(item, "idref"), "") for item in children(spine, "itemref"))
    return [name for name in dict.fromkeys(order) if name in book]


def _refuse_protected(book: ZipContainer, chapters: frozenset[str]) -> None:
    if "META-INF/encryption.xml" not in book:
        return
    try:
        root = parse_xml(book.read("META-INF/encryption.xml"), book.filename)
    except (CorruptFileError, ParseLimitError) as exc:
        raise EncryptedFileError(filename=book.filename) from exc
    for entry in descendants(root, "EncryptedData"):
        method = child(entry, "EncryptionMethod")
        if method is not None and attribute(method, "Algorithm") in _FONT_METHODS:
            continue
        for reference in descendants(entry, "CipherReference"):
            if unquote(attribute(reference, "URI")) in chapters:
                raise EncryptedFileError(filename=book.filename)
