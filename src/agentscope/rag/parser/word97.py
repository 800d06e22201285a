"""Binary Word documents (DOC): the text pieces of Word 97 to 2003, and of Word 6 and 95.

Read after MS-DOC: the file information block names the piece table, and that says where each run
of characters stands and how wide they are. Formatting is not read, so headings are paragraphs.
"""

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from agentscope.errors import CorruptFileError, EncryptedFileError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.compound import COMPOUND_MAGIC, CompoundFile
from agentscope.rag.parser.decoding import head_of
from agentscope.rag.parser.flow import Flow, counted, table_text
from agentscope.rag.parser.rtf import RTFParser
from agentscope.rag.parser.word import WordParser

CHARACTERS_MAX = 64_000_000
PIECES_MAX = 500_000
_WORD_97, _WORD_95 = 0xA5EC, 0xA5DC
_ENCRYPTED, _TABLE_1 = 0x0100, 0x0200
_FIELD_BEGIN, _FIELD_SEPARATOR, _FIELD_END = "\x13", "\x14", "\x15"
_FIELD_MARKS = re.compile("([\x13\x14\x15])")
# Each part of the text follows the one before; the macro part is a relic of Word 6.
_PARTS = ("body", "footnote", "header", "macro", "comment", "endnote", "text_box", "header_box")
_LANGUAGES = {
    0x0411: "cp932", 0x0412: "cp949", 0x0804: "gb18030", 0x0404: "cp950", 0x0419: "cp1251",
    0x0415: "cp1250", 0x0405: "cp1250", 0x040E: "cp1250", 0x0408: "cp1253", 0x041F: "cp1254",
    0x040D: "cp1255", 0x0401: "cp1256", 0x041E: "cp874",
}  # fmt: skip


class LegacyWordParser(SyncParser):
    """Reads DOC files; RTF and DOCX content under that name is read, too."""

    supported_media_types: ClassVar[list[str]] = ["application/msword"]
    required_modules = ("olefile", "lxml")

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".doc", ".dot"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        head = head_of(file, 8)
        other: SyncParser | None = None
        if head.startswith(b"{\\rtf"):
            other = RTFParser()
        elif head.startswith(b"PK"):
            other = WordParser()
        if other is not None:
            yield from other.iter_sections(file, filename, options, report)
            return
        if head != COMPOUND_MAGIC:
            raise CorruptFileError("The file is not a Word document.", filename=filename)
        with CompoundFile(file, filename) as compound:
            parts = _read_parts(compound)
        yield from counted(_sections(parts, filename), report)


def _sections(parts: dict[str, str], source: str) -> Iterator[Section]:
    for part, text in parts.items():
        flow = Flow(source)
        for block in _blocks(_without_fields(text)):
            yield from flow.paragraph(block)
        yield from flow.flush(**({} if part == "body" else {"part": part}))


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and tables; a cell ends with a mark of its own."""
    rows: list[list[str]] = []
    cells: list[str] = []
    for line in text.replace("\x0c", "\r").split("\r"):
        if "\x07" not in line:
            if cells:  # a paragraph inside a cell that has more of them
                cells[-1] += line + " "
                continue
            yield table_text(rows)
            rows = []
            yield line
            continue
        rows += _rows(cells, line)
    yield table_text(rows)


def _rows(cells: list[str], line: str) -> Iterator[list[str]]:
    """Yield the rows that end in `line`, leaving an open row in `cells`; two marks end a row."""
    *ended, rest = line.split("\x07")
    for cell in ended:
        if cell or not cells:
            cells.append(cell)
            continue
        yield cells.copy()
        cells.clear()
    if rest:
        cells.append(rest + " ")


def _without_fields(text: str) -> str:
    """Keep what fields show and drop their instructions."""
    kept: list[str] = []
    in_instruction: list[bool] = []
    for piece in _FIELD_MARKS.split(text):
        if piece == _FIELD_BEGIN:
            in_instruction.append(True)
        elif piece == _FIELD_SEPARATOR:
            in_instruction[-1:] = [False] * bool(in_instruction)
        elif piece == _FIELD_END:
            del in_instruction[-1:]
        elif not any(in_instruction):
            kept.append(piece)
    return "".join(kept).replace("\x1e", "-").replace("\x1f", "").replace("\xa0", " ")


def _read_parts(compound: CompoundFile) -> dict[str, str]:
    """Return the text of each part that has any.

    Raises:
        EncryptedFileError: the text is encrypted.
        CorruptFileError: no text can be located.
    """
    if compound.has("EncryptedPackage") or compound.has("EncryptionInfo"):
        raise EncryptedFileError(filename=compound.filename)
    stream = compound.read("WordDocument")
    if len(stream) < 0x60:
        raise CorruptFileError("The file is not a Word document.", filename=compound.filename)
    magic, version = struct.unpack_from("<HH", stream)
    (flags,) = struct.unpack_from("<H", stream, 0x0A)
    if flags & _ENCRYPTED and magic in {_WORD_95, _WORD_97}:
        raise EncryptedFileError(filename=compound.filename)
    if magic == _WORD_95 or (magic == _WORD_97 and version < 101):
        return {"body": _old_text(stream)}
    if magic != _WORD_97 or len(stream) < 0x1AA:
        raise CorruptFileError("The file is not a Word document.", filename=compound.filename)
    table = compound.read("1Table" if flags & _TABLE_1 else "0Table")
    start, size = struct.unpack_from("<II", stream, 0x1A2)
    text = "".join(_pieces(stream, _piece_table(table[start : start + size])))
    if not text and any(struct.unpack_from("<8I", stream, 0x4C)):
        raise CorruptFileError(
            "The file is damaged: its text cannot be located.", filename=compound.filename
        )
    parts: dict[str, str] = {}
    at = 0
    for part, count in zip(_PARTS, struct.unpack_from("<8I", stream, 0x4C), strict=True):
        found = _utf16(text, at, at + count)
        at += count
        if found.strip() and part != "macro":
            parts[part] = found
    return parts


def _utf16(text: str, start: int, end: int) -> str:
    """Return a range counted in UTF-16 units; the text still holds surrogates one by one."""
    return text[start:end].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def _piece_table(clx: bytes) -> bytes:
    """Return the PlcPcd structure, which stands behind any number of property lists."""
    at = 0
    while at + 5 <= len(clx):
        if clx[at] == 2:
            (size,) = struct.unpack_from("<I", clx, at + 1)
            return clx[at + 5 : at + 5 + size]
        if clx[at] != 1:
            break
        at += 3 + int.from_bytes(clx[at + 1 : at + 3], "little")
    return b""


def _pieces(stream: bytes, table: bytes) -> Iterator[str]:
    count = min(max(len(table) - 4, 0) // 12, PIECES_MAX)
    positions = struct.unpack_from(f"<{count + 1}I", table) if count else ()
    total = 0
    for index in range(count):
        length = positions[index + 1] - positions[index]
        total += max(length, 0)
        if length <= 0 or total > CHARACTERS_MAX:
            return
        (offset,) = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * index + 2)
        if offset & 0x40000000:
            start = (offset & 0x3FFFFFFF) // 2
            yield stream[start : start + length].decode("cp1252", "replace")
        else:
            raw = stream[offset : offset + 2 * length]
            yield "".join(map(chr, struct.unpack(f"<{len(raw) // 2}H", raw[: len(raw) // 2 * 2])))


def _old_text(stream: bytes) -> str:
    """Return the text of Word 6 and 95, one byte a character in the document's language."""
    (language,) = struct.unpack_from("<H", stream, 6)
    start, end = struct.unpack_from("<II", stream, 0x18)
    return stream[start:end].decode(_LANGUAGES.get(language, "cp1252"), "replace")
