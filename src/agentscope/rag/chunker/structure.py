"""A chunker that follows the structure of the text: headings, paragraphs, tables, code."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from agentscope.message.blocks import TextBlock
from agentscope.rag.chunker.approx_token import (
    BYTES_PER_TOKEN,
    WindowParameters,
    data_chunk,
    parameters_from,
    text_chunk,
    windows,
)
from agentscope.rag.chunker.base import SyncChunker
from agentscope.rag.chunker.boundaries import byte_count
from agentscope.rag.chunker.outline import Block, BlockKind, blocks_of
from agentscope.rag.document import Chunk, Section

# What the longest character needs; with less room for a row nothing would fit.
_CHARACTER_BYTES = 4
_SEPARATOR_CHARS = frozenset("|:-+= \t")


class StructureChunker(SyncChunker):
    """Cuts before headings and between blocks; a block is cut only if it is too long.

    A chunk never goes on under another heading. The rows of a long table are repeated with
    their header row, which `prefix_chars` counts: the text after it is the range of the section.
    `overlap` applies inside a paragraph that is too long for one chunk.
    """

    chunker_type: ClassVar[str] = "structure"

    class Parameters(WindowParameters):
        """Settings of the structure chunker."""

    def __init__(
        self,
        parameters: Parameters | int | None = None,
        overlap: int | None = None,
        *,
        chunk_size: int | None = None,
    ) -> None:
        self.parameters = parameters_from(self.Parameters, parameters, overlap, chunk_size)

    @property
    def chunk_size(self) -> int:
        """Tokens in the longest chunk."""
        return self.parameters.chunk_size

    @property
    def overlap(self) -> int:
        """Tokens that two pieces of one long paragraph share at most."""
        return self.parameters.overlap

    def iter_chunks(self, sections: Iterable[Section]) -> Iterator[Chunk]:
        number = 0
        for section_index, section in enumerate(sections):
            if not isinstance(section.content, TextBlock):
                pieces: Iterable[Chunk] = [data_chunk(section, section_index)]
            else:
                pieces = _Cutting(section, section_index, self.parameters).chunks()
            for chunk in pieces:
                chunk.chunk_index = number
                number += 1
                yield chunk


class _Cutting:
    """One section on its way into chunks."""

    def __init__(self, section: Section, section_index: int, parameters: WindowParameters) -> None:
        assert isinstance(section.content, TextBlock)
        self._section, self._index = section, section_index
        self._text = section.content.text
        self._size = parameters.chunk_size * BYTES_PER_TOKEN
        self._overlap = parameters.overlap * BYTES_PER_TOKEN
        outer = section.metadata.get("heading_path")
        self._outer = list(outer) if isinstance(outer, list) else []
        self._trail: list[tuple[int, str]] = []
        self._start = self._end = self._bytes = 0
        self._only_headings = True

    def chunks(self) -> Iterator[Chunk]:
        for block in blocks_of(self._text):
            if block.kind is BlockKind.HEADING and not self._only_headings:
                yield from self._flush()
            if block.kind is BlockKind.HEADING:
                self._enter(block)
            size = byte_count(self._text[block.start : block.end])
            if self._bytes + size > self._size and not self._fits_after_headings(size):
                yield from self._flush()
            if self._bytes + size > self._size:
                yield from self._cut(block)
                continue
            self._end, self._bytes = block.end, self._bytes + size
            self._only_headings = self._only_headings and block.kind is BlockKind.HEADING
        yield from self._flush()

    def _fits_after_headings(self, size: int) -> bool:
        """A block that must be cut anyway may begin right under its heading."""
        return self._only_headings and size > self._size and self._bytes * 2 < self._size

    def _enter(self, block: Block) -> None:
        while self._trail and self._trail[-1][0] >= block.level:
            self._trail.pop()
        if block.title:
            self._trail.append((block.level, block.title))

    def _flush(self) -> Iterator[Chunk]:
        if self._end > self._start:
            yield from self._chunk(self._start, self._end)
        self._restart(self._end)

    def _restart(self, at: int) -> None:
        self._start = self._end = at
        self._bytes, self._only_headings = 0, True

    def _cut(self, block: Block) -> Iterator[Chunk]:
        """Write a block that is too long, together with the headings that wait before it."""
        if block.kind is BlockKind.TABLE:
            yield from self._flush()
            yield from self._rows(block)
        else:
            overlap = self._overlap if block.kind is BlockKind.PARAGRAPH else 0
            for start, end in windows(self._text, self._start, block.end, self._size, overlap):
                yield from self._chunk(start, end)
        self._restart(block.end)

    def _rows(self, block: Block) -> Iterator[Chunk]:
        header_end = self._header_end(block)
        header = self._text[block.start : header_end]
        header_bytes = byte_count(header)
        if header_bytes * 2 > self._size or self._size - header_bytes < _CHARACTER_BYTES:
            header, header_bytes = "", 0
        start = end = block.start
        used = 0
        while end < block.end:
            next_end = self._text.find("\n", end, block.end) + 1 or block.end
            size = byte_count(self._text[end:next_end])
            limit = self._size - (header_bytes if start > block.start else 0)
            if used and used + size > limit:
                yield from self._chunk(start, end, header if start > block.start else "")
                start, used = end, 0
            elif size > limit:
                for one, other in windows(self._text, start, next_end, limit, 0):
                    yield from self._chunk(one, other, header if one > block.start else "")
                start = end = next_end
            else:
                end, used = next_end, used + size
        if end > start:
            yield from self._chunk(start, end, header if start > block.start else "")

    def _header_end(self, block: Block) -> int:
        """Return where the header row ends, with the line of dashes under it."""
        first = self._text.find("\n", block.start, block.end) + 1
        if not first:
            return block.start
        second = self._text.find("\n", first, block.end) + 1 or block.end
        under = self._text[first:second].strip()
        return second if under and set(under) <= _SEPARATOR_CHARS else first

    def _chunk(self, start: int, end: int, prefix: str = "") -> Iterator[Chunk]:
        piece = self._text[start:end]
        if not piece or piece.isspace():
            return
        chunk = text_chunk(self._section, self._index, prefix + piece, (start, end))
        path = [*self._outer, *(title for _, title in self._trail)]
        if path:
            chunk.metadata["heading_path"] = path
        if prefix:
            chunk.metadata["prefix_chars"] = len(prefix)
        yield chunk
