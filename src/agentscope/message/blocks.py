"""Text and data blocks, as they stand on the wire."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from agentscope.identity import new_id, new_timestamp


class TextBlock(BaseModel):
    """A piece of text."""

    type: Literal["text"] = "text"
    text: str
    id: str = Field(default_factory=new_id)
    created_at: str = Field(default_factory=new_timestamp)
    finished_at: str | None = None


class Base64Source(BaseModel):
    """Data given inline, base64 encoded."""

    type: Literal["base64"] = "base64"
    data: str
    media_type: str


class URLSource(BaseModel):
    """Data given by reference; this product never fetches it by itself."""

    type: Literal["url"] = "url"
    url: str
    media_type: str


class DataBlock(BaseModel):
    """An image or other binary content."""

    type: Literal["data"] = "data"
    id: str = Field(default_factory=new_id)
    source: Annotated[Base64Source | URLSource, Field(discriminator="type")]
    name: str | None = None
    created_at: str = Field(default_factory=new_timestamp)
    finished_at: str | None = None


ContentBlock = Annotated[TextBlock | DataBlock, Field(discriminator="type")]
