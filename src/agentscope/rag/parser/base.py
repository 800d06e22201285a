"""The parser contract: a file in, sections in document order out.

`parse` is the documented call and the only abstract one, so that a parser written against the
public contract works. Parsers of this package implement `iter_sections`, which is synchronous,
lazy and reports what it noticed; `parse` then comes from `SyncParser`. The service always reads
files through `iter_sections`, in a child process with limits.

A parser is picklable, keeps no state between files, is deterministic (apart from block ids and
timestamps) and gives the same sections for bytes and for a path. It never fetches anything and
never reads another file. Text that leaves a parser holds no NUL and no lone surrogate.
"""

import abc
import asyncio
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from agentscope.rag.document import ParseReport, Section


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """What the uploader asked for; a parser ignores what does not concern it."""

    media_type: str = ""
    encoding: str | None = None
    """Overrides the detection for text formats; a Python codec name."""
    password: str | None = None


class ParserBase(abc.ABC):
    """Reads files of certain media types."""

    supported_media_types: ClassVar[list[str]] = []
    """IANA names, lower case, without parameters."""

    @classmethod
    def supported_extensions(cls) -> list[str]:
        """Return file extensions with their dot, lower case, sorted."""
        found = {
            extension
            for media_type in cls.supported_media_types
            for extension in mimetypes.guess_all_extensions(media_type)
        }
        return sorted(found)

    @abc.abstractmethod
    async def parse(self, file: bytes | str, filename: str) -> list[Section]:
        """Return the sections of `file`, in document order.

        `file` is the content, or the path of a file. `filename` is only used for messages and
        as the `source` of the sections.

        Raises:
            ParseError: damaged, encrypted, not of this type, or without text.
            FileNotFoundError: `file` is a path and nothing is there.
        """

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        """Yield the sections of `file` lazily and fill `report`.

        The default runs `parse`, for parsers written against the public contract.

        Raises:
            ParseError: as for `parse`; may come after some sections were yielded.
        """
        del options
        sections = asyncio.run(self.parse(str(file) if isinstance(file, Path) else file, filename))
        report.coverage.total = len(sections)
        yield from sections


class SyncParser(ParserBase):
    """Base of parsers that implement `iter_sections` and get `parse` from it."""

    async def parse(self, file: bytes | str, filename: str) -> list[Section]:
        source = Path(file) if isinstance(file, str) else file

        def read() -> list[Section]:
            report = ParseReport()
            return list(self.iter_sections(source, filename, ParseOptions(), report))

        return await asyncio.to_thread(read)

    @abc.abstractmethod
    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]: ...
