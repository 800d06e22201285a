"""PowerPoint presentations (PPTX)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from agentscope.errors import CorruptFileError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.flow import (
    PictureBudget,
    TableFormat,
    check_table_format,
    plain_text,
    refuse_empty,
    table_text,
    text_section,
)
from agentscope.rag.parser.ooxml import Package, picture_bytes
from agentscope.rag.parser.slide import Piece, SlideReader
from agentscope.rag.parser.xmlguard import Element, descendants

_OOXML = "application/vnd.openxmlformats-officedocument.presentationml."
_MACRO = "application/vnd.ms-powerpoint."
_PICTURE_BYTES = 20 << 20
SLIDES_MAX = 20_000


class PPTParser(SyncParser):
    """Reads the slides of PPTX files: shapes in order, groups, tables, charts, notes, comments."""

    supported_media_types: ClassVar[list[str]] = [
        _OOXML + "presentation",
        _OOXML + "slideshow",
        _OOXML + "template",
        _MACRO + "presentation.macroenabled.12",
        _MACRO + "slideshow.macroenabled.12",
    ]
    required_modules = ("lxml", "olefile")

    def __init__(
        self,
        include_image: bool = True,
        separate_table: bool = False,
        table_format: str = "markdown",
        slide_prefix: str | None = "<slide index={index}>",
        slide_suffix: str | None = "</slide>",
    ) -> None:
        self.include_image = include_image
        self.separate_table = separate_table
        self.table_format: TableFormat = check_table_format(table_format)
        self.slide_prefix = slide_prefix
        self.slide_suffix = slide_suffix

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".potx", ".ppsm", ".ppsx", ".pptm", ".pptx"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        """Yield the sections of each slide, split at pictures; text of masters comes last, once.

        Prefix and suffix enclose the text of a slide; a slide without text gets neither.
        """
        del options
        report.coverage.unit = "slide"
        with Package(file, filename) as package:
            part = package.main_part("ppt/presentation.xml")
            pictures = PictureBudget(filename, report)
            reader = SlideReader(package)
            for index, slide in enumerate(_slide_parts(package, part), 1):
                if index > SLIDES_MAX:
                    report.warn(f"Only the first {SLIDES_MAX} slides were read.")
                    break
                pieces = list(reader.pieces(slide))
                found = any(piece.text or piece.rows for piece in pieces)
                report.coverage.total += 1
                report.coverage.with_text += found
                if not found and len(report.coverage.without_text) < 1_000:
                    report.coverage.without_text.append(index)
                yield from self._sections(pieces, index, filename, (package, pictures))
            master = "\n".join(reader.master_lines())
            if master:
                yield text_section(master, filename, {"part": "master"})
            refuse_empty(report, filename, damaged=bool(package.damaged))
            if package.damaged:
                report.warn("Parts of the file are damaged and were left out.")

    def _sections(
        self,
        pieces: list[Piece],
        index: int,
        source: str,
        media: tuple[Package, PictureBudget],
    ) -> Iterator[Section]:
        """Yield one slide: runs of text, cut where a picture or a separate table stands."""
        package, pictures = media
        metadata: dict[str, Any] = {"slide": index}
        sections: list[Section] = []
        run: list[str] = []

        def cut() -> None:
            if run:
                sections.append(text_section("\n\n".join(run), source, metadata))
                run.clear()

        for piece in pieces:
            if piece.picture:
                data = picture_bytes(package, piece.picture, _PICTURE_BYTES)
                picture = pictures.section(data, metadata) if self.include_image else None
                if picture is not None:
                    cut()
                    sections.append(picture)
                continue
            text = table_text(piece.rows, self.table_format) if piece.rows else piece.text
            text = plain_text(text).strip()
            if text and piece.rows and self.separate_table:
                cut()
                sections.append(text_section(text, source, {**metadata, "part": "table"}))
            elif text:
                run.append(text)
        cut()
        self._enclose(sections, index)
        yield from sections

    def _enclose(self, sections: list[Section], index: int) -> None:
        texts = [section.content for section in sections if section.content.type == "text"]
        if not texts:
            return
        if self.slide_prefix is not None:
            texts[0].text = f"{self.slide_prefix.format(index=index)}\n{texts[0].text}"
        if self.slide_suffix is not None:
            texts[-1].text = f"{texts[-1].text}\n{self.slide_suffix.format(index=index)}"


def _slide_parts(package: Package, part: str) -> list[str]:
    """Return the slides in show order; what no list names follows by number."""
    root: Element = package.side_xml(part)
    listed: list[str] = []
    for element in descendants(root, "sldId") if root is not None else ():
        for key, value in element.attrib.items():
            if key.endswith("}id"):
                listed.append(package.target(part, value))
    listed = [slide for slide in dict.fromkeys(listed) if slide and slide in package.zip]
    if listed:
        return listed
    found = package.related(part, "slide") or [
        name for name in package.zip.names if name.startswith("ppt/slides/slide")
    ]
    found = [slide for slide in found if slide in package.zip]
    if not found and root is None:
        raise CorruptFileError(
            "The file is damaged: no slide can be read.", filename=package.filename
        )
    return sorted(dict.fromkeys(found), key=lambda name: (len(name), name))
