"""The seam of previews: cutting a source into chunks that nothing keeps."""

from dataclasses import dataclass
from typing import Protocol

from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.document import Chunk, ParseReport

PREVIEW_CHUNKS = 200


@dataclass(frozen=True, slots=True)
class PreviewSource:
    """What to cut: a text, or the blob at an address."""

    filename: str
    content_type: str | None
    text: str | None = None
    blob_uri: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """The first chunks, at most `PREVIEW_CHUNKS`, and how many there are in all."""

    chunks: list[Chunk]
    total: int
    report: ParseReport


class Previewer(Protocol):
    """Reads and cuts within seconds, or refuses."""

    async def preview(self, source: PreviewSource, chunker: ChunkerBase) -> Preview:
        """Return how `chunker` cuts the source.

        Raises:
            ParseError: it cannot be read, or not within the limits of a preview.
            UnsupportedMediaTypeError: no parser takes it.
            QuotaExceededError: too many previews wait; try again later.
        """
