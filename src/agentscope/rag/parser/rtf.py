"""Rich Text Format, read by its control words; code pages, fonts and Unicode escapes included."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from agentscope.errors import CorruptFileError, ParseLimitError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.flow import Flow, counted, table_text
from agentscope.rag.parser.rtfwords import CHARACTERS, SKIPPED, codec_of_charset, codec_of_page

FILE_BYTES_MAX = 256 << 20
DEPTH_MAX = 2_000
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)"
    rb"|[\r\n]+|\\"
)


class RTFParser(SyncParser):
    """Reads RTF files: paragraphs, tables, notes; pictures and objects are left out."""

    supported_media_types: ClassVar[list[str]] = ["application/rtf", "text/rtf"]

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".rtf"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        del options
        if isinstance(file, Path) and file.stat().st_size > FILE_BYTES_MAX:
            raise ParseLimitError(filename=filename)
        data = file if isinstance(file, bytes) else file.read_bytes()
        start = data[:1024].find(b"{\\rtf")
        if start < 0:
            raise CorruptFileError("The file is not a rich text document.", filename=filename)
        yield from counted(rtf_sections(data[start:], filename), report)


def rtf_sections(data: bytes, source: str) -> Iterator[Section]:
    """Yield the sections of a document that starts with its opening brace.

    Raises:
        ParseLimitError: groups nest too deeply.
    """
    return _Reader(data, source).sections()


@dataclass(slots=True)
class _State:
    """What a group inherits and loses again at its end."""

    skipped: bool = False
    hidden: bool = False
    codec: str = "cp1252"
    unicode_skip: int = 1
    note: bool = False
    font_table: bool = False


@dataclass(slots=True)
class _Font:
    number: int = -1
    codecs: dict[int, str] = field(default_factory=dict)


class _Reader:
    """One pass over one document."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.flow = Flow(source)
        self.state = _State()
        self.stack: list[_State] = []
        self.page_codec = "cp1252"
        self.font = _Font()
        self.text: list[str] = []
        self.note: list[str] = []
        self.raw = bytearray()
        self.to_skip = 0
        self.high = 0
        self.rows: list[list[str]] = []
        self.cells: list[str] = []
        self.in_table = False
        self.level = 0
        self.starred = False

    def sections(self) -> Iterator[Section]:
        at = 0
        while match := _TOKEN.match(self.data, at):
            at = match.end()
            word, number, code, symbol, brace, text = match.groups()
            if text is not None:
                self._plain(text)
            elif code is not None:
                self._byte(int(code, 16))
            elif brace is not None:
                self._brace(brace)
            elif symbol is not None:
                self._symbol(symbol)
            elif word is not None:
                argument = int(number) if number else None
                yield from self._word(word.decode("ascii"), argument)
                if word == b"bin":
                    at += max(argument or 0, 0)
            if brace == b"}" and not self.stack:
                break
        yield from self._paragraph()
        yield from self._table()
        yield from self.flow.flush()

    def _brace(self, brace: bytes) -> None:
        self._decode()
        self.starred = False
        self.to_skip = 0
        if brace == b"{":
            if len(self.stack) >= DEPTH_MAX:
                raise ParseLimitError("The file is nested too deeply.")
            self.stack.append(replace(self.state))
        elif self.stack:
            was_note = self.state.note
            self.state = self.stack.pop()
            if was_note and not self.state.note:
                self.flow.note("".join(self.note))
                self.note.clear()

    def _plain(self, text: bytes) -> None:
        if self.to_skip:
            skipped = min(self.to_skip, len(text))
            self.to_skip -= skipped
            text = text[skipped:]
        if not self.state.skipped and not self.state.hidden:
            self.raw += text

    def _byte(self, value: int) -> None:
        if self.to_skip:
            self.to_skip -= 1
        elif not self.state.skipped and not self.state.hidden:
            self.raw.append(value)

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self.starred = True
        elif symbol in {b"\\", b"{", b"}"}:
            self._plain(symbol)
        elif symbol == b"~":
            self._add("\u00a0")
        elif symbol == b"_":
            self._add("-")
        elif symbol in {b"\n", b"\r"}:
            self._add("\n")

    def _word(self, word: str, number: int | None) -> Iterator[Section]:
        self._decode()
        if word == "u" and number is not None:
            self._unicode(number)
            return
        if self.starred or word in SKIPPED:
            self._destination(word)
            return
        if word in {"par", "sect", "page", "row", "nestrow", "pard", "cell", "nestcell", "intbl"}:
            if not self.state.skipped:
                yield from self._layout(word)
            return
        if word in CHARACTERS:
            self._add(CHARACTERS[word])
        else:
            self._property(word, number)

    def _destination(self, word: str) -> None:
        """Enter a group that is no body text; the few starred ones with text stay open."""
        starred, self.starred = self.starred, False
        if word == "fonttbl":
            self.state.font_table = True
            self.state.skipped = True
        elif word not in SKIPPED and word in {"shptxt", "shpinst", "txbx", "background"}:
            return
        elif starred or word in SKIPPED:
            self.state.skipped = True

    def _property(self, word: str, number: int | None) -> None:
        if word in {"ansicpg", "mac", "pc", "pca"}:
            self.page_codec = codec_of_page(word, number)
            self.state.codec = self.page_codec
        elif word == "uc":
            self.state.unicode_skip = max(0, min(number or 0, 8))
        elif word == "v":
            self.state.hidden = number != 0
        elif word in {"footnote", "annotation"}:
            self.state.note = True
            self.state.skipped = False
        elif word == "outlinelevel" and number is not None and 0 <= number < 9:
            self.level = number + 1
        elif word in {"f", "fcharset"} and number is not None:
            self._font_property(word, number)
        elif word == "plain":
            self.state.hidden = False
            self.state.codec = self.page_codec

    def _font_property(self, word: str, number: int) -> None:
        """Follow the font: each one has a character set, so a code page, of its own."""
        if word == "fcharset":
            codec = codec_of_charset(number) if self.state.font_table else ""
            if codec:
                self.font.codecs[self.font.number] = codec
            return
        self.font.number = number
        if not self.state.font_table:
            self.state.codec = self.font.codecs.get(number, self.page_codec)

    def _layout(self, word: str) -> Iterator[Section]:
        if word == "pard":
            self.level = 0
            self.in_table = False
        elif word == "intbl":
            self.in_table = True
        elif self.state.note:
            self.note.append(" ")
        elif word in {"cell", "nestcell"}:
            self.cells.append("".join(self.text))
            self.text.clear()
        elif word in {"row", "nestrow"}:
            self.rows.append(self.cells)
            self.cells = []
        elif self.in_table:
            self._add("\n")
        else:
            yield from self._paragraph()

    def _paragraph(self) -> Iterator[Section]:
        self._decode()
        yield from self._table()
        text = "".join(self.text)
        self.text.clear()
        if self.level:
            yield from self.flow.heading(text, self.level)
        else:
            yield from self.flow.paragraph(text)

    def _table(self) -> Iterator[Section]:
        if self.cells:
            self.rows.append(self.cells)
            self.cells = []
        if self.rows:
            yield from self.flow.paragraph(table_text(self.rows))
            self.rows = []

    def _unicode(self, number: int) -> None:
        """Add a UTF-16 unit; two escapes make one character beyond the basic plane."""
        unit = number & 0xFFFF
        self.to_skip = self.state.unicode_skip
        if 0xD800 <= unit < 0xDC00:
            self.high = unit
        elif 0xDC00 <= unit < 0xE000:
            if self.high:
                self._add(chr(0x10000 + ((self.high - 0xD800) << 10) + unit - 0xDC00))
            self.high = 0
        else:
            self._add(chr(unit))

    def _add(self, text: str) -> None:
        self._decode()
        if not self.state.skipped and not self.state.hidden:
            (self.note if self.state.note else self.text).append(text)

    def _decode(self) -> None:
        """Turn collected bytes into text: neighbours may be the halves of one character."""
        if self.raw:
            text = bytes(self.raw).decode(self.state.codec, "replace")
            self.raw.clear()
            (self.note if self.state.note else self.text).append(text)
