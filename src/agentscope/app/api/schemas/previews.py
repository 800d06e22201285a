"""Previews of chunks on the wire."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from agentscope.app.api.schemas.wire import ChunkerConfigBody
from agentscope.rag.document import Chunk

Filename = Annotated[str, StringConstraints(min_length=1, max_length=255)]
MediaType = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class PreviewTextRequest(BaseModel):
    """A text, read as a file of that name and type would be; without a chunker by the default."""

    text: Annotated[str, StringConstraints(min_length=1)]
    filename: Filename = "text.txt"
    content_type: MediaType | None = None
    chunker_config: ChunkerConfigBody | None = None


class PreviewDocumentRequest(BaseModel):
    """Another chunker for a stored document; null: the one of its knowledge base."""

    chunker_config: ChunkerConfigBody | None = None


class PreviewResponse(BaseModel):
    """How it would be cut: the first 200 chunks, how many there are, what reading noticed."""

    chunks: list[Chunk]
    total: int
    media_type: str
    warnings: list[str] = Field(default_factory=list)
