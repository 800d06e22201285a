"""Outlook messages (MSG, described in MS-OXMSG): properties of a compound file."""

import codecs
import datetime
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from agentscope.errors import CorruptFileError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.attachments import ATTACHMENTS_MAX, AttachmentReader
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.compound import CompoundFile
from agentscope.rag.parser.flow import Flow, counted, one_line
from agentscope.rag.parser.hypertext import html_text
from agentscope.rag.parser.lzfu import decompress
from agentscope.rag.parser.rtf import rtf_sections

DEPTH_MAX = 5
_PROPERTIES = "__properties_version1.0"
_SUBJECT, _SENDER, _SENDER_ADDRESS, _TO, _CC = "0037", "0C1A", "0C1F", "0E04", "0E03"
_BODY, _HTML, _RTF = "1000", "1013", "1009"
_FILE_NAME, _SHORT_NAME, _MIME, _DATA = "3707", "3704", "370E", "3701"
_CODE_PAGES = (0x3FFD, 0x3FDE)  # PidTagMessageCodepage, PidTagInternetCodepage
_SENT = (0x0039, 0x0E06)  # PidTagClientSubmitTime, PidTagMessageDeliveryTime


class OutlookParser(SyncParser):
    """Reads Outlook messages; `attachments` decides what attached files become."""

    supported_media_types: ClassVar[list[str]] = ["application/vnd.ms-outlook"]
    required_modules = ("olefile", "lxml")

    def __init__(self, attachments: AttachmentReader | None = None) -> None:
        self.attachments = attachments

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".msg"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        """Yield the message first, then what is attached; the name is in the metadata there."""
        del options
        with CompoundFile(file, filename) as compound:
            if not compound.has(_PROPERTIES):
                raise CorruptFileError("The file is not an Outlook message.", filename=filename)
            reading = _Reading(compound, filename, report, self.attachments)
            yield from counted(reading.sections((), 0), report)


@dataclass(slots=True)
class _Reading:
    """One pass over one message and the messages inside it."""

    compound: CompoundFile
    source: str
    report: ParseReport
    attachments: AttachmentReader | None

    def sections(self, folder: tuple[str, ...], depth: int) -> Iterator[Section]:
        numbers = self._numbers(folder)
        codec = _codec(numbers)
        flow = Flow(self.source)
        yield from flow.paragraph("\n".join(self._header_lines(folder, numbers, codec)))
        yield from flow.paragraph(self._body(folder, codec))
        yield from flow.flush()
        names = [n for n in self.compound.entries(*folder) if n.startswith("__attach_version1.0")]
        for name in names[:ATTACHMENTS_MAX]:
            yield from self._attachment((*folder, name), codec, depth)

    def _attachment(self, folder: tuple[str, ...], codec: str, depth: int) -> Iterator[Section]:
        inner = (*folder, f"__substg1.0_{_DATA}000D")
        if self.compound.has(*inner, _PROPERTIES):
            if depth >= DEPTH_MAX:
                self.report.warn("Messages inside messages beyond the depth allowed were left out.")
                return
            yield from self.sections(inner, depth + 1)
            return
        data = self.compound.read(*folder, f"__substg1.0_{_DATA}0102")
        name = self._text(folder, _FILE_NAME, codec) or self._text(folder, _SHORT_NAME, codec)
        if self.attachments is None:
            self.report.warn("Attachments were left out.")
            return
        media_type = self._text(folder, _MIME, codec)
        yield from self.attachments.sections(
            data, one_line(name), media_type, self.source, self.report
        )

    def _header_lines(
        self, folder: tuple[str, ...], numbers: dict[int, int], codec: str
    ) -> Iterator[str]:
        sender = [self._text(folder, tag, codec) for tag in (_SENDER, _SENDER_ADDRESS)]
        if "@" not in sender[1] or sender[1] == sender[0]:
            sender[1] = ""
        values = (
            ("Subject", self._text(folder, _SUBJECT, codec)),
            ("From", f"{sender[0]} <{sender[1]}>" if sender[1] else sender[0]),
            ("To", self._text(folder, _TO, codec)),
            ("Cc", self._text(folder, _CC, codec)),
            ("Date", _date(numbers)),
        )
        for label, value in values:
            if value.strip():
                yield f"{label}: {one_line(value)}"

    def _body(self, folder: tuple[str, ...], codec: str) -> str:
        """Return the plain body, else the HTML body, else the compressed rich text."""
        plain = self._text(folder, _BODY, codec)
        if plain.strip():
            return plain
        html = self.compound.read(*folder, f"__substg1.0_{_HTML}0102")
        text = html_text(html) if html else html_text(self._text(folder, _HTML, codec))
        if text.strip():
            return text
        packed = self.compound.read(*folder, f"__substg1.0_{_RTF}0102")
        rich = decompress(packed) if packed else b""
        sections = rtf_sections(rich, self.source) if rich.startswith(b"{\\rtf") else iter(())
        return "\n\n".join(s.content.text for s in sections if s.content.type == "text")

    def _text(self, folder: tuple[str, ...], tag: str, codec: str) -> str:
        wide = self.compound.read(*folder, f"__substg1.0_{tag}001F")
        if wide:
            return wide.decode("utf-16-le", "ignore").rstrip("\0")
        narrow = self.compound.read(*folder, f"__substg1.0_{tag}001E")
        return narrow.decode(codec, "replace").rstrip("\0")

    def _numbers(self, folder: tuple[str, ...]) -> dict[int, int]:
        """Return the fixed-length properties of a message by their id."""
        data = self.compound.read(*folder, _PROPERTIES)
        start = 24 if folder else 32
        found: dict[int, int] = {}
        for at in range(start, len(data) - 15, 16):
            _, tag, _, value = struct.unpack_from("<HHIQ", data, at)
            found[tag] = value
        return found


def _codec(numbers: dict[int, int]) -> str:
    for tag in _CODE_PAGES:
        page = numbers.get(tag, 0) & 0xFFFFFFFF
        name = {65001: "utf-8", 20127: "ascii", 28591: "latin-1", 936: "gb18030"}.get(
            page, f"cp{page}"
        )
        try:
            codecs.lookup(name)
        except LookupError:
            continue
        return name
    return "cp1252"


def _date(numbers: dict[int, int]) -> str:
    """Return when the message was sent; the file counts 100 ns from the year 1601."""
    for tag in _SENT:
        ticks = numbers.get(tag, 0)
        if 0 < ticks < 2**62:
            start = datetime.datetime(1601, 1, 1, tzinfo=datetime.UTC)
            try:
                moment = start + datetime.timedelta(microseconds=ticks // 10)
            except OverflowError:
                continue
            return moment.replace(microsecond=0).isoformat(sep=" ")
    return ""
