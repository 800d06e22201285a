"""Open Packaging: parts, relationships and content types of Word, PowerPoint and Excel files."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseError
from agentscope.rag.parser.compound import COMPOUND_MAGIC, CompoundFile
from agentscope.rag.parser.xmlguard import (
    Element,
    attribute,
    local_name,
    parse_xml,
    stream_xml,
)
from agentscope.rag.parser.zipguard import ZipContainer, ZipLimits

RELATIONSHIP_COUNT_MAX = 50_000
TREE_BYTES_MAX = 96 << 20
"""The largest part that is held in memory as a whole."""
_KINDS = {
    "word": "a Word document",
    "ppt": "a PowerPoint presentation",
    "xl": "an Excel workbook",
}
_KIND_OF_TYPE = (
    ("wordprocessingml", "word"),
    ("ms-word", "word"),
    ("presentationml", "ppt"),
    ("ms-powerpoint", "ppt"),
    ("spreadsheetml", "xl"),
    ("ms-excel", "xl"),
)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A typed arrow from one part to another; `kind` is the last word of its type."""

    kind: str
    target: str
    external: bool = False


class Package:
    """The parts of one OOXML file; a missing or damaged side part is reported, not raised."""

    def __init__(
        self, file: bytes | Path, filename: str = "", limits: ZipLimits | None = None
    ) -> None:
        refuse_encrypted(file, filename)
        self.filename = filename
        self.zip = ZipContainer(file, filename, limits)
        self.damaged: list[str] = []
        self._relationships: dict[str, dict[str, Relationship]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.zip.__exit__(kind, error, trace)

    def xml(self, part: str) -> Element:
        """Return the root of the part, or raise a `ParseError`; for parts that must be there."""
        if part not in self.zip:
            raise CorruptFileError(
                "The file is damaged: a part that it needs is missing.", filename=self.filename
            )
        return parse_xml(self.zip.read(part, TREE_BYTES_MAX), self.filename)

    def stream(
        self, part: str, tags: frozenset[str], damage: list[str] | None = None
    ) -> Iterator[Element]:
        """Yield elements of a part as they end, once it is known that the part is no bomb."""
        self.zip.measure(part)
        yield from stream_xml(self.zip.iter_bytes(part), tags, self.filename, damage)

    def side_xml(self, part: str) -> Element:
        """Return the root of the part, or None when it is missing or damaged.

        Raises:
            ParseLimitError: the part breaks a limit; a bomb anywhere stops the whole file.
        """
        if not part or part not in self.zip:
            return None
        try:
            return self.xml(part)
        except CorruptFileError:
            self.damaged.append(part)
            return None

    def relationships(self, part: str = "") -> dict[str, Relationship]:
        """Return the relationships of `part` ("" is the package) by their id."""
        if part not in self._relationships:
            folder, name = posixpath.split(part)
            root = self.side_xml(posixpath.join(folder, "_rels", name + ".rels"))
            self._relationships[part] = dict(self._read_relationships(root, folder))
        return self._relationships[part]

    def related(self, part: str, kind: str) -> list[str]:
        """Return the part names that `part` points to with relationships of `kind`."""
        return [
            relationship.target
            for relationship in self.relationships(part).values()
            if relationship.kind == kind and not relationship.external
        ]

    def target(self, part: str, relationship_id: str) -> str:
        """Return the part behind a relationship id of `part`, or ""."""
        found = self.relationships(part).get(relationship_id)
        return found.target if found and not found.external else ""

    def main_part(self, fallback: str) -> str:
        """Return the name of the main document part, `fallback` when nothing points to one.

        Raises:
            CorruptFileError: neither exists, or the file is of another kind than `fallback`.
        """
        for part in (*self.related("", "officeDocument"), fallback):
            if part in self.zip:
                self._refuse_other_kind(part, fallback.partition("/")[0])
                return part
        raise CorruptFileError(
            "The file is damaged or not of its type: it has no document part.",
            filename=self.filename,
        )

    def _refuse_other_kind(self, part: str, wanted: str) -> None:
        """Say what the file is when it goes by a name of another program."""
        root = self.side_xml("[Content_Types].xml")
        for element in root if root is not None else ():
            if attribute(element, "PartName").lstrip("/") != part:
                continue
            stated = attribute(element, "ContentType").lower()
            found = next((kind for word, kind in _KIND_OF_TYPE if word in stated), wanted)
            if found != wanted:
                raise CorruptFileError(
                    f"The file is {_KINDS[found]}, not {_KINDS[wanted]}.", filename=self.filename
                )

    def _read_relationships(self, root: Element, folder: str) -> Iterator[tuple[str, Relationship]]:
        if root is None:
            return
        for number, element in enumerate(root):
            if number >= RELATIONSHIP_COUNT_MAX:
                return
            if local_name(element) != "Relationship":
                continue
            target = attribute(element, "Target").replace("\\", "/")
            external = attribute(element, "TargetMode") == "External"
            if not external:
                target = posixpath.normpath(
                    posixpath.join("/" + folder, unquote(target).partition("#")[0])
                ).lstrip("/")
            kind = attribute(element, "Type").rpartition("/")[2]
            yield attribute(element, "Id"), Relationship(kind, target, external)


def refuse_encrypted(file: bytes | Path, filename: str = "") -> None:
    """Tell an encrypted or a renamed old office file from an archive.

    Raises:
        EncryptedFileError: an OLE container with an encrypted package.
        CorruptFileError: any other OLE container.
    """
    if isinstance(file, bytes):
        head = file[:8]
    else:
        with file.open("rb") as stream:
            head = stream.read(8)
    if head != COMPOUND_MAGIC:
        return
    with CompoundFile(file, filename) as compound:
        if compound.has("EncryptedPackage") or compound.has("EncryptionInfo"):
            raise EncryptedFileError(filename=filename)
    raise CorruptFileError(
        "The file is not of its type: it is in an older binary format.", filename=filename
    )


def picture_bytes(package: Package, part: str, limit_bytes: int) -> bytes | None:
    """Return the picture in `part`, or None when it is missing, damaged or too large."""
    if not part or part not in package.zip:
        return None
    try:
        return package.zip.read(part, limit_bytes)
    except ParseError:
        return None
