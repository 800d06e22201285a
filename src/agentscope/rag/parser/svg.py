"""Drawings (SVG): the text in them. Nothing is rendered and no reference is followed."""

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from agentscope.errors import CorruptFileError, ParseLimitError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.flow import Flow, counted, one_line
from agentscope.rag.parser.xmlguard import stream_xml

FILE_BYTES_MAX = 64 << 20
_TEXTS = frozenset({"text", "title", "desc", "flowRoot", "foreignObject"})
# Drawing programs declare name spaces as entities. They matter to no text, so the declarations
# go, and a reference to one of them stands for nothing.
_ROOT = re.compile(rb"<(?:[\w.-]+:)?svg\b")
_SUBSET = re.compile(rb"<!DOCTYPE[^>\[]{0,1000}\[", re.IGNORECASE)
_SUBSET_END = re.compile(rb"\]\s*>")
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z_][\w.-]{0,60};")


class SVGParser(SyncParser):
    """Reads labels, titles and descriptions of SVG drawings."""

    supported_media_types: ClassVar[list[str]] = ["image/svg+xml"]
    required_modules = ("lxml",)

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".svg", ".svgz"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        del options
        if isinstance(file, Path) and file.stat().st_size > FILE_BYTES_MAX:
            raise ParseLimitError(filename=filename)
        data = file if isinstance(file, bytes) else file.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = _unpacked(data, filename)
        if not _ROOT.search(data[: 1 << 20].replace(b"\0", b"")):
            raise CorruptFileError("The file is not an SVG drawing.", filename=filename)
        data = _without_subset(data)
        yield from counted(_sections(data, filename, report), report)


def _without_subset(data: bytes) -> bytes:
    begin = _SUBSET.search(data)
    end = None if begin is None else _SUBSET_END.search(data, begin.end())
    if begin is None or end is None:
        return data
    return _REFERENCE.sub(b"", data[: begin.start()] + data[end.end() :])


def _sections(data: bytes, source: str, report: ParseReport) -> Iterator[Section]:
    flow = Flow(source)
    damage: list[str] = []
    pieces = (data[at : at + (1 << 16)] for at in range(0, len(data), 1 << 16))
    for element in stream_xml(pieces, _TEXTS, source, damage):
        yield from flow.paragraph(one_line(" ".join(element.itertext())))
    if damage:
        report.warn("The drawing is damaged; some text may be missing.")
    yield from flow.flush()


def _unpacked(data: bytes, filename: str) -> bytes:
    stream = zlib.decompressobj(wbits=31)
    try:
        text = stream.decompress(data, FILE_BYTES_MAX)
    except zlib.error as exc:
        raise CorruptFileError(filename=filename) from exc
    if stream.unconsumed_tail or len(text) > 200 * len(data) + (8 << 20):
        raise ParseLimitError("The file unpacks to more data than allowed.", filename=filename)
    return text
