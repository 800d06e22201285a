"""The chunker contract: sections in, chunks of embeddable size out.

A chunker never merges sections, passes a data block through as one chunk, gives no chunk for
blank text, copies source and metadata, and numbers the chunks from 0 without gaps over the whole
document. Text chunks carry `section_index`, `char_start` and `char_end` in their metadata (code
points into the section's text), so that the section can be put together again from its chunks.
"""

import abc
import asyncio
from collections.abc import Iterable, Iterator
from typing import ClassVar

from pydantic import BaseModel

from agentscope.rag.document import Chunk, Section


class ChunkerBase(abc.ABC):
    """Cuts sections into chunks."""

    chunker_type: ClassVar[str] = ""
    """Stable name under which a knowledge base asks for this chunker; empty: not offered."""

    class Parameters(BaseModel):
        """Settings of the chunker; a flat JSON schema, shown as a form."""

    @abc.abstractmethod
    async def chunk(self, sections: list[Section]) -> list[Chunk]:
        """Return the chunks of a whole document, numbered, with equal `total_chunks`."""

    def iter_chunks(self, sections: Iterable[Section]) -> Iterator[Chunk]:
        """Yield chunks lazily; `total_chunks` is 0, because the total is not known yet.

        The default collects everything through `chunk`, for chunkers written against the public
        contract; those of this package read one section at a time.
        """
        yield from asyncio.run(self.chunk(list(sections)))


class SyncChunker(ChunkerBase):
    """Base of chunkers that implement `iter_chunks` and get `chunk` from it."""

    async def chunk(self, sections: list[Section]) -> list[Chunk]:
        chunks = list(self.iter_chunks(sections))
        return [chunk.model_copy(update={"total_chunks": len(chunks)}) for chunk in chunks]

    @abc.abstractmethod
    def iter_chunks(self, sections: Iterable[Section]) -> Iterator[Chunk]: ...
