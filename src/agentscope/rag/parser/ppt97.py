"""Binary PowerPoint presentations (PPT), read after MS-PPT: the records of the newest edit."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from agentscope.errors import CorruptFileError, EncryptedFileError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.compound import COMPOUND_MAGIC, CompoundFile
from agentscope.rag.parser.decoding import head_of
from agentscope.rag.parser.flow import Flow
from agentscope.rag.parser.ppt import PPTParser

EDITS_MAX = 10_000
RECORDS_MAX = 2_000_000
DEPTH_MAX = 32
_DOCUMENT, _SLIDE, _NOTES = 1000, 1006, 1008
_SLIDE_LIST, _SLIDE_PERSIST, _NOTES_ATOM, _SLIDE_LIST_SLIDES, _SLIDE_LIST_NOTES = (
    4080, 1011, 1009, 0, 2,
)  # fmt: skip
_TEXT_CHARS, _TEXT_BYTES, _OUTLINE_REF = 4000, 4008, 3998
_USER_EDIT, _PERSIST_DIRECTORY, _CRYPT_SESSION = 4085, 6002, 12052
_ENCRYPTED_TOKEN = 0xF3D1C4DF


@dataclass(frozen=True, slots=True)
class _Record:
    """One record; `start` and `end` enclose its content."""

    kind: int
    instance: int
    is_container: bool
    start: int
    end: int


@dataclass(slots=True)
class _Listed:
    """An entry of a slide list: where the slide is and the text of its placeholders."""

    persist_id: int
    slide_id: int
    texts: list[str] = field(default_factory=list)


class LegacyPPTParser(SyncParser):
    """Reads PPT files, one section per slide with its notes; PPTX content is read, too."""

    supported_media_types: ClassVar[list[str]] = ["application/vnd.ms-powerpoint"]
    required_modules = ("olefile", "lxml")

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".pot", ".pps", ".ppt"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        head = head_of(file, 8)
        if head.startswith(b"PK"):
            yield from PPTParser().iter_sections(file, filename, options, report)
            return
        if head != COMPOUND_MAGIC:
            raise CorruptFileError("The file is not a presentation.", filename=filename)
        with CompoundFile(file, filename) as compound:
            presentation = _Presentation(compound)
        report.coverage.unit = "slide"
        for index, texts in enumerate(presentation.slides(), 1):
            flow = Flow(filename, {"slide": index})
            sections: list[Section] = []
            for text in texts:
                sections += flow.paragraph(text.replace("\r", "\n"))
            sections += flow.flush()
            report.coverage.total += 1
            report.coverage.with_text += bool(sections)
            if not sections and len(report.coverage.without_text) < 1_000:
                report.coverage.without_text.append(index)
            yield from sections


class _Presentation:
    """The document stream and where the newest version of each object starts."""

    def __init__(self, compound: CompoundFile) -> None:
        if compound.has("EncryptedPackage") or compound.has("EncryptedSummary"):
            raise EncryptedFileError(filename=compound.filename)
        self.data = compound.read("PowerPoint Document")
        user = compound.read("Current User")
        if not self.data:
            raise CorruptFileError("The file is not a presentation.", filename=compound.filename)
        token = int.from_bytes(user[12:16], "little")
        self.budget = RECORDS_MAX
        self.document_id = 0
        self.places: dict[int, int] = {}
        self._follow_edits(int.from_bytes(user[16:20], "little"))
        if token == _ENCRYPTED_TOKEN or self._has_session():
            raise EncryptedFileError(filename=compound.filename)

    def slides(self) -> Iterator[list[str]]:
        """Yield the texts of each slide; a damaged directory gives all texts as one slide."""
        document = self._object(self.document_id)
        if document is None or document.kind != _DOCUMENT:
            texts = [text for record in self._top() for text in self._texts(record, [])]
            if texts:
                yield texts
            return
        notes = self._notes(document)
        for listed in self._listed(document, _SLIDE_LIST_SLIDES):
            slide = self._object(listed.persist_id)
            texts = list(self._texts(slide, listed.texts)) if slide is not None else listed.texts
            yield [*texts, *(f"Notes: {text}" for text in notes.get(listed.slide_id, ()))]

    def _notes(self, document: _Record) -> dict[int, list[str]]:
        """Return the notes by the id of their slide."""
        found: dict[int, list[str]] = {}
        for listed in self._listed(document, _SLIDE_LIST_NOTES):
            notes = self._object(listed.persist_id)
            for atom in self._inside(notes) if notes is not None else ():
                if atom.kind == _NOTES_ATOM and notes is not None:
                    slide_id = int.from_bytes(self.data[atom.start : atom.start + 4], "little")
                    texts = [t for t in self._texts(notes, listed.texts) if t.strip(" *\r")]
                    found.setdefault(slide_id, []).extend(texts)
                    break
        return found

    def _listed(self, document: _Record, instance: int) -> Iterator[_Listed]:
        for record in self._inside(document):
            if record.kind != _SLIDE_LIST or record.instance != instance:
                continue
            current: _Listed | None = None
            for atom in self._inside(record):
                if atom.kind == _SLIDE_PERSIST and atom.end - atom.start >= 16:
                    if current is not None:
                        yield current
                    fields = struct.unpack_from("<IIiI", self.data, atom.start)
                    current = _Listed(fields[0], fields[3])
                elif current is not None and (text := self._text(atom)) is not None:
                    current.texts.append(text)
            if current is not None:
                yield current

    def _texts(self, record: _Record, outline: list[str]) -> Iterator[str]:
        """Yield the texts inside a record in order; references take theirs from `outline`."""
        used: set[int] = set()
        stack = [iter(self._inside(record))]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
            elif item.is_container:
                if len(stack) < DEPTH_MAX:
                    stack.append(iter(self._inside(item)))
            elif item.kind == _OUTLINE_REF:
                at = int.from_bytes(self.data[item.start : item.start + 4], "little")
                if at < len(outline) and at not in used:
                    used.add(at)
                    yield outline[at]
            elif (text := self._text(item)) is not None:
                yield text
        yield from (text for at, text in enumerate(outline) if at not in used)

    def _text(self, record: _Record) -> str | None:
        content = self.data[record.start : record.end]
        if record.kind == _TEXT_CHARS:
            return content.decode("utf-16-le", "ignore")
        return content.decode("latin-1") if record.kind == _TEXT_BYTES else None

    def _object(self, persist_id: int) -> _Record | None:
        place = self.places.get(persist_id)
        return self._record(place, len(self.data)) if place is not None else None

    def _follow_edits(self, place: int) -> None:
        """Read the directories from the newest edit back; the newest place of an id counts."""
        seen: set[int] = set()
        while place not in seen and len(seen) < EDITS_MAX:
            seen.add(place)
            edit = self._record(place, len(self.data))
            if edit is None or edit.kind != _USER_EDIT or edit.end - edit.start < 20:
                return
            _, _, previous, directory, document_id = struct.unpack_from(
                "<IIIII", self.data, edit.start
            )
            self.document_id = self.document_id or document_id
            self._read_directory(directory)
            if not previous:
                return
            place = previous

    def _read_directory(self, place: int) -> None:
        record = self._record(place, len(self.data))
        if record is None or record.kind != _PERSIST_DIRECTORY:
            return
        at = record.start
        while at + 4 <= record.end:
            head = int.from_bytes(self.data[at : at + 4], "little")
            first, count = head & 0xFFFFF, head >> 20
            at += 4
            for offset in range(min(count, (record.end - at) // 4)):
                value = int.from_bytes(self.data[at + 4 * offset : at + 4 * offset + 4], "little")
                self.places.setdefault(first + offset, value)
            at += 4 * count

    def _has_session(self) -> bool:
        records = (self._record(place, len(self.data)) for place in self.places.values())
        return any(record is not None and record.kind == _CRYPT_SESSION for record in records)

    def _top(self) -> Iterator[_Record]:
        return self._inside(_Record(0, 0, True, 0, len(self.data)))

    def _inside(self, record: _Record) -> Iterator[_Record]:
        at = record.start
        while at + 8 <= record.end and self.budget > 0:
            self.budget -= 1
            found = self._record(at, record.end)
            if found is None:
                return
            yield found
            at = found.end

    def _record(self, at: int, end: int) -> _Record | None:
        if at + 8 > end:
            return None
        head, kind, size = struct.unpack_from("<HHI", self.data, at)
        return _Record(kind, head >> 4, head & 0xF == 0xF, at + 8, min(at + 8 + size, end))
