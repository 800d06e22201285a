"""Binary Word and PowerPoint files, built record by record."""

import struct

import pytest

from agentscope.errors import CorruptFileError, EncryptedFileError
from agentscope.rag.parser.ppt97 import LegacyPPTParser
from agentscope.rag.parser.word97 import LegacyWordParser
from agentscope.testing.office_files import compound_file, parsed, word_file


def word97(pieces: list[str], *, flags: int = 0, counts: tuple[int, ...] = ()) -> bytes:
    """Return a DOC file; ASCII pieces are stored narrow and all others wide."""
    text = bytearray()
    positions, places = [0], []
    for piece in pieces:
        start = 0x200 + len(text)
        if piece.isascii():
            places.append(0x40000000 | start * 2)
            text += piece.encode("cp1252")
        else:
            places.append(start)
            text += piece.encode("utf-16-le")
        positions.append(positions[-1] + len(piece.encode("utf-16-le")) // 2)
    table = struct.pack(f"<{len(positions)}I", *positions)
    table += b"".join(struct.pack("<HIH", 0, place, 0) for place in places)
    clx = b"\x01\x02\x00ab" + b"\x02" + struct.pack("<I", len(table)) + table
    head = bytearray(0x200)
    struct.pack_into("<HH", head, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", head, 0x0A, 0x0200 | flags)
    parts = counts or (positions[-1],)
    struct.pack_into(f"<{len(parts)}I", head, 0x4C, *parts)
    struct.pack_into("<II", head, 0x1A2, 0, len(clx))
    return compound_file({"WordDocument": bytes(head + text), "1Table": clx})


def record(kind: int, content: bytes, *, instance: int = 0, container: bool = False) -> bytes:
    return (
        struct.pack("<HHI", instance << 4 | (0xF if container else 0), kind, len(content)) + content
    )


def chars(text: str) -> bytes:
    return record(4000, text.encode("utf-16-le"))


def ppt97(slides: list[bytes], listed: bytes, *, token: int = 0xE391C05F) -> bytes:
    """Return a PPT file whose only edit names the document and the slides."""
    document = record(1000, record(4080, listed, container=True), container=True)
    stream = bytearray()
    places = []
    for item in [document, *slides]:
        places.append(len(stream))
        stream += item
    directory = len(stream)
    stream += record(6002, struct.pack(f"<{1 + len(places)}I", 1 | len(places) << 20, *places))
    edit = len(stream)
    stream += record(4085, struct.pack("<IIIIII", 0, 0, 0, directory, 1, 0) + bytes(4))
    user = bytes(8) + struct.pack("<III", 20, token, edit)
    return compound_file({"PowerPoint Document": bytes(stream), "Current User": user})


def test_word_pieces_of_both_widths_are_joined() -> None:
    """Fields show their result, cells make a table, surrogate pairs survive."""
    data = word97(
        [
            "Intro\r",
            "检索 😀\r",
            "\x13 HYPERLINK x \x14link\x15 end\r",
            "a\x07b\x07\x07c\x07d\x07\x07",
        ]
    )
    assert parsed(LegacyWordParser(), data).text.splitlines() == [
        "Intro", "", "检索 😀", "", "link end", "", "| a | b |", "| --- | --- |", "| c | d |",
    ]  # fmt: skip


def test_word_notes_and_headers_are_parts_of_their_own() -> None:
    """The counts in the header say where each part ends."""
    data = word97(["body\rnote\rhead\r"], counts=(5, 5, 5))
    found = parsed(LegacyWordParser(), data)
    assert [
        (s.metadata.get("part"), s.content.text) for s in found.sections if s.content.type == "text"
    ] == [
        (None, "body"),
        ("footnote", "note"),
        ("header", "head"),
    ]


def test_word_files_that_are_encrypted_damaged_or_misnamed() -> None:
    """RTF and DOCX content under the old name is read."""
    with pytest.raises(EncryptedFileError):
        parsed(LegacyWordParser(), word97(["x"], flags=0x0100))
    for data in (
        b"",
        b"text",
        compound_file({"Other": b"x"}),
        compound_file({"WordDocument": bytes(600)}),
    ):
        with pytest.raises(CorruptFileError):
            parsed(LegacyWordParser(), data)
    assert parsed(LegacyWordParser(), b"{\\rtf1 rich}").text == "rich"
    new = word_file("<w:p><w:r><w:t>new</w:t></w:r></w:p>")
    assert parsed(LegacyWordParser(), new).text == "new"


def test_slides_follow_the_list_and_take_their_outline_text() -> None:
    """Placeholders refer to the list; other shapes hold their text themselves."""
    listed = (
        record(1011, struct.pack("<IIiII", 3, 0, 1, 257, 0))
        + chars("Listed first")
        + record(1011, struct.pack("<IIiII", 2, 0, 0, 256, 0))
    )
    one = record(1006, record(4008, "caf\xe9".encode("latin-1")), container=True)
    inner = record(3998, struct.pack("<I", 0)) + chars("shape 文字\rnext")
    two = record(1006, record(1036, inner, container=True), container=True)
    found = parsed(LegacyPPTParser(), ppt97([one, two], listed))
    assert found.text == "Listed first\n\nshape 文字\nnext\ncafé"
    assert [section.metadata for section in found.sections] == [{"slide": 1}, {"slide": 2}]


def test_presentations_that_are_encrypted_or_damaged() -> None:
    """Without a directory all texts are one slide."""
    with pytest.raises(EncryptedFileError):
        parsed(LegacyPPTParser(), ppt97([], b"", token=0xF3D1C4DF))
    lost = compound_file({"PowerPoint Document": record(1006, chars("found"), container=True)})
    assert parsed(LegacyPPTParser(), lost).text == "found"
    for data in (b"", b"text", compound_file({"Other": b"x"})):
        with pytest.raises(CorruptFileError):
            parsed(LegacyPPTParser(), data)
