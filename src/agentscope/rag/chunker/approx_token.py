"""The default chunker: windows of about `chunk_size` tokens that overlap a little."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, Field, model_validator

from agentscope.message.blocks import TextBlock
from agentscope.rag.chunker.base import SyncChunker
from agentscope.rag.chunker.boundaries import best_end, byte_count, overlap_start, reach
from agentscope.rag.document import Chunk, Section

BYTES_PER_TOKEN = 4
P = TypeVar("P", bound="WindowParameters")


class WindowParameters(BaseModel):
    """Size and overlap of chunks, in tokens of four UTF-8 bytes."""

    model_config = {"extra": "forbid"}

    chunk_size: int = Field(default=512, ge=1, le=1_000_000)
    overlap: int = Field(default=50, ge=0)

    @model_validator(mode="after")
    def _check_overlap(self) -> Self:
        if self.overlap >= self.chunk_size:
            raise ValueError("overlap must be smaller than chunk_size")
        return self


def parameters_from(
    kind: type[P], parameters: P | int | None, overlap: int | None, chunk_size: int | None
) -> P:
    """Build `kind` from what a constructor was given: a Parameters object, integers or nothing.

    Raises:
        ValueError: a value is out of range, or the size was given twice.
    """
    if isinstance(parameters, BaseModel):
        if chunk_size is not None or overlap is not None:
            raise ValueError("give either a parameters object or single values")
        return kind.model_validate(parameters.model_dump())
    if parameters is not None and chunk_size is not None:
        raise ValueError("chunk_size was given twice")
    size = chunk_size if parameters is None else parameters
    given: dict[str, Any] = {"chunk_size": size, "overlap": overlap}
    return kind.model_validate({name: value for name, value in given.items() if value is not None})


def windows(
    text: str, start: int, stop: int, size_bytes: int, overlap_bytes: int
) -> Iterator[tuple[int, int]]:
    """Yield the ranges [start, end) that cover text[start:stop] without a gap, in order."""
    end = start
    while start < stop:
        limit = reach(text, start, stop, size_bytes)
        end = best_end(text, end, limit, stop)
        yield start, end
        if end >= stop:
            return
        start = overlap_start(text, start, end, overlap_bytes)


class ApproxTokenChunker(SyncChunker):
    """Cuts each section into windows of at most `chunk_size` tokens of four UTF-8 bytes.

    A section that fits stays whole. The next window repeats at most `overlap` tokens of the one
    before. Windows end at a paragraph, line, sentence or word where there is one.
    """

    chunker_type: ClassVar[str] = "approx_token"

    class Parameters(WindowParameters):
        """Settings of the default chunker."""

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
        """Tokens that two neighbouring chunks share at most."""
        return self.parameters.overlap

    def iter_chunks(self, sections: Iterable[Section]) -> Iterator[Chunk]:
        number = 0
        for section_index, section in enumerate(sections):
            for chunk in self._cut(section, section_index):
                chunk.chunk_index = number
                number += 1
                yield chunk

    def _cut(self, section: Section, section_index: int) -> Iterator[Chunk]:
        if not isinstance(section.content, TextBlock):
            yield data_chunk(section, section_index)
            return
        text = section.content.text
        size = self.chunk_size * BYTES_PER_TOKEN
        if byte_count(text) // BYTES_PER_TOKEN <= self.chunk_size:
            ranges: Iterable[tuple[int, int]] = [(0, len(text))]
        else:
            ranges = windows(text, 0, len(text), size, self.overlap * BYTES_PER_TOKEN)
        for start, end in ranges:
            piece = text[start:end]
            if not piece.isspace() and piece:
                yield text_chunk(section, section_index, piece, (start, end))


def data_chunk(section: Section, section_index: int) -> Chunk:
    """Return the one chunk of a section that is not text."""
    metadata = {**section.metadata, "section_index": section_index}
    return Chunk(
        content=section.content,
        source=section.source,
        chunk_index=0,
        total_chunks=0,
        metadata=metadata,
    )


def text_chunk(
    section: Section, section_index: int, text: str, char_range: tuple[int, int]
) -> Chunk:
    """Return a chunk of `section` that shows `text` and stands for `char_range` of it."""
    metadata = {
        **section.metadata,
        "section_index": section_index,
        "char_start": char_range[0],
        "char_end": char_range[1],
    }
    return Chunk(
        content=TextBlock(text=text),
        source=section.source,
        chunk_index=0,
        total_chunks=0,
        metadata=metadata,
    )
