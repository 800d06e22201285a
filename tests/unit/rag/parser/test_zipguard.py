"""Zip containers keep to their limits whatever their directory claims."""

import io
import struct
import zipfile
from pathlib import Path

import pytest

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseLimitError
from agentscope.rag.parser.xmlguard import parse_xml, stream_xml
from agentscope.rag.parser.zipguard import ZipContainer, ZipLimits
from agentscope.testing.office_files import zip_file

LAUGHS = (
    '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]><r>&c;</r>'
)


def test_entries_are_read_without_regard_to_case_and_slashes() -> None:
    """Some writers use backslashes or another case than the relationships do."""
    with ZipContainer(zip_file({"Word\\Document.xml": "x", "b": "y"})) as container:
        assert container.read("word/document.xml") == b"x"
        assert "B" in container
        assert "c" not in container


def test_bytes_and_path_give_the_same(tmp_path: Path) -> None:
    """The content decides, not where it comes from."""
    data = zip_file({"a": "text"})
    (tmp_path / "a.zip").write_bytes(data)
    with ZipContainer(data) as one, ZipContainer(tmp_path / "a.zip") as other:
        assert one.read("a") == other.read("a")


def test_a_bomb_is_stopped_by_its_ratio_before_its_size() -> None:
    """Four hundred stored kilobytes of zeros end after a few megabytes of output."""
    bomb = zip_file({"a": b"\0" * (64 << 20)})
    with ZipContainer(bomb) as container:
        size = 0
        with pytest.raises(ParseLimitError):
            for piece in container.iter_bytes("a"):
                size += len(piece)
        assert size < 16 << 20


def test_a_size_that_the_directory_understates_does_not_help_a_bomb() -> None:
    """The size is measured while inflating."""
    data = bytearray(zip_file({"a": b"ab" * (16 << 20)}))
    directory = data.rfind(b"PK\x01\x02")
    struct.pack_into("<I", data, directory + 24, 100)
    struct.pack_into("<I", data, 22, 100)
    with ZipContainer(bytes(data)) as container, pytest.raises((ParseLimitError, CorruptFileError)):
        container.read("a")


def test_total_single_and_entry_limits_hold() -> None:
    """Each limit stops on its own."""
    data = zip_file({str(number): b"x" * 1000 for number in range(20)})
    with ZipContainer(data, limits=ZipLimits(single_bytes=999)) as container:
        with pytest.raises(ParseLimitError):
            container.read("1")
        with pytest.raises(ParseLimitError):
            container.read("2", 10)
    with (
        ZipContainer(data, limits=ZipLimits(total_bytes=5_000)) as container,
        pytest.raises(ParseLimitError),
    ):
        container.measure()
    with pytest.raises(ParseLimitError):
        ZipContainer(data, limits=ZipLimits(entries=19))


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"no archive at all", zip_file({"a": "b"})[:-10]],
    ids=["empty", "magic only", "text", "cut off"],
)
def test_what_is_no_archive_is_damaged(data: bytes) -> None:
    """Empty, foreign and truncated content."""
    with pytest.raises(CorruptFileError):
        ZipContainer(data)


def test_a_damaged_entry_costs_only_itself() -> None:
    """The checksum does not fit; other entries still open."""
    data = bytearray(zip_file({"a": bytes(range(256)), "b": b"second"}))
    data[150] ^= 0xFF
    with ZipContainer(bytes(data)) as container:
        with pytest.raises(CorruptFileError):
            container.read("a")
        assert container.read("b") == b"second"


def test_an_encrypted_entry_says_so() -> None:
    """The flag in the directory is enough."""
    data = bytearray(zip_file({"a": b"text"}))
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    data[6] |= 1
    with ZipContainer(bytes(data)) as container, pytest.raises(EncryptedFileError):
        container.read("a")


def test_many_entries_are_refused_by_the_size_of_the_directory() -> None:
    """The directory is never read as a whole when it is absurdly long."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(500):
            archive.writestr(f"{number}", b"")
    with pytest.raises(ParseLimitError):
        ZipContainer(stream.getvalue(), limits=ZipLimits(directory_bytes=1_000))


@pytest.mark.parametrize(
    "data",
    [
        LAUGHS.encode(),
        b"\xef\xbb\xbf" + LAUGHS.encode(),
        LAUGHS.encode("utf-16"),
        b"<!-- " + b"x" * 200_000 + b" -->" + LAUGHS.encode(),
        b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><r>&x;</r>',
    ],
)
def test_entities_are_refused_wherever_they_hide(data: bytes) -> None:
    """Marks, other encodings and long comments before the declaration make no difference."""
    with pytest.raises(ParseLimitError):
        parse_xml(data)


def test_a_streamed_part_never_expands_entities() -> None:
    """The first piece is checked; later declarations stay unexpanded."""
    with pytest.raises(ParseLimitError):
        list(stream_xml([LAUGHS.encode()], frozenset({"r"})))


def test_deep_nesting_is_refused() -> None:
    """Both the tree and the streaming reader stop at the same depth."""
    deep = b"<a>" * 5_000 + b"</a>" * 5_000
    with pytest.raises(ParseLimitError):
        parse_xml(deep)
    with pytest.raises(ParseLimitError):
        list(stream_xml([deep], frozenset({"a"})))


def test_slightly_broken_xml_is_repaired() -> None:
    """Office programs open it, too."""
    root = parse_xml(b'<r><a x="1" x="2">kept</a><b y=3>also</b></r>')
    assert "kept" in "".join(root.itertext())
