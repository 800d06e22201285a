"""Small office files built part by part, for tests that need what no library would write."""

import io
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, ParserBase

_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a parser made of a file."""

    sections: list[Section]
    report: ParseReport

    @property
    def text(self) -> str:
        return "\n".join(
            section.content.text for section in self.sections if section.content.type == "text"
        )

    @property
    def kinds(self) -> list[str]:
        return [section.content.type for section in self.sections]


def parsed(parser: ParserBase, data: bytes, *, media_type: str = "") -> Parsed:
    """Read `data` to the end, as the service does."""
    report = ParseReport()
    options = ParseOptions(media_type=media_type)
    return Parsed(list(parser.iter_sections(data, "file", options, report)), report)


def zip_file(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive with these entries, in this order."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def replaced(package: bytes, parts: Mapping[str, str | bytes]) -> bytes:
    """Return the archive with some entries replaced or added."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    return zip_file({**kept, **parts})


def relationships(*rows: tuple[str, str, str]) -> str:
    """Return a relationships part of (id, last word of the type, target) rows."""
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
    items = "".join(
        f'<Relationship Id="{key}" Type="{kinds}{kind}" Target="{target}"/>'
        for key, kind, target in rows
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{items}</Relationships>'


def word_file(
    body: str, parts: Mapping[str, str | bytes] | None = None, *, rels: str = ""
) -> bytes:
    """Return a DOCX file with the given XML inside its body."""
    spaces = "".join(
        f' xmlns:{prefix}="urn:{prefix}"' for prefix in ("w", "r", "v", "wps", "mc", "m", "a")
    )
    document = f"<w:document{spaces}><w:body>{body}</w:body></w:document>"
    return zip_file(
        {
            "_rels/.rels": relationships(("r1", "officeDocument", "word/document.xml")),
            "word/document.xml": document,
            "word/_rels/document.xml.rels": rels or relationships(),
            **(parts or {}),
        }
    )


@dataclass(slots=True)
class _Entry:
    name: str
    kind: int  # 1 folder, 2 stream, 5 root
    data: bytes = b""
    children: list[int] = field(default_factory=list)
    start: int = _END


def compound_file(streams: Mapping[str, bytes]) -> bytes:
    """Return an OLE compound file; slashes in the names make folders."""
    entries = [_Entry("Root Entry", 5)]
    places: dict[tuple[str, ...], int] = {(): 0}
    for path, data in streams.items():
        names = tuple(path.split("/"))
        for depth in range(1, len(names) + 1):
            if names[:depth] not in places:
                places[names[:depth]] = len(entries)
                entries[places[names[: depth - 1]]].children.append(len(entries))
                is_stream = depth == len(names)
                entries.append(_Entry(names[depth - 1], 2 if is_stream else 1))
        entries[places[names]].data = data
    sectors: list[bytes] = []
    table: list[int] = []

    def store(data: bytes) -> int:
        if not data:
            return _END
        first = len(sectors)
        count = -(-len(data) // _SECTOR)
        sectors.extend(
            data[at * _SECTOR : (at + 1) * _SECTOR].ljust(_SECTOR, b"\0") for at in range(count)
        )
        table.extend([*range(first + 1, first + count), _END])
        return first

    mini_table = _store_streams(entries, store)
    mini_start = store(mini_table)
    directory_start = store(_directory(entries))
    fat_count = 1
    while (len(table) + fat_count) * 4 > fat_count * _SECTOR:
        fat_count += 1
    fat_start = len(sectors)
    table.extend([_FAT] * fat_count)
    fat = struct.pack(f"<{len(table)}I", *table).ljust(fat_count * _SECTOR, b"\xff")
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, fat_count,
        directory_start, 0, _CUTOFF, mini_start, -(-len(mini_table) // _SECTOR), _END, 0,
    )  # fmt: skip
    places_of_fat = [fat_start + at if at < fat_count else _FREE for at in range(109)]
    return header + struct.pack("<109I", *places_of_fat) + b"".join(sectors) + fat


def _store_streams(entries: list[_Entry], store: "object") -> bytes:
    """Store all streams, the small ones together in the root's; return the mini table."""
    assert callable(store)
    mini = bytearray()
    mini_table: list[int] = []
    for entry in entries[1:]:
        if entry.kind != 2 or not entry.data:
            continue
        if len(entry.data) >= _CUTOFF:
            entry.start = store(entry.data)
            continue
        entry.start = len(mini_table)
        count = -(-len(entry.data) // _MINI)
        mini += entry.data.ljust(count * _MINI, b"\0")
        mini_table += [*range(entry.start + 1, entry.start + count), _END]
    entries[0].data = bytes(mini)
    entries[0].start = store(entries[0].data)
    packed = struct.pack(f"<{len(mini_table)}I", *mini_table)
    return packed.ljust(-(-len(packed) // _SECTOR) * _SECTOR, b"\xff")


def _directory(entries: list[_Entry]) -> bytes:
    following = {
        child: entry.children[at + 1]
        for entry in entries
        for at, child in enumerate(entry.children[:-1])
    }
    packed = b""
    for number, entry in enumerate(entries):
        name = entry.name.encode("utf-16-le")
        packed += struct.pack(
            "<64sHBBIII16sIQQIQ",
            name, len(name) + 2, entry.kind, 1, _FREE, following.get(number, _FREE),
            entry.children[0] if entry.children else _FREE, b"", 0, 0, 0, entry.start,
            len(entry.data),
        )  # fmt: skip
    return packed
