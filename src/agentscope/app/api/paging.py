"""Query parameters of lists."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from agentscope.app.records import Page

_ORDER = {
    "create_time": "created_at",
    "update_time": "updated_at",
    "name": "name",
    "size": "size",
    "chunks": "chunks",
}
Needle = Annotated[str, StringConstraints(max_length=255)]


class PageAsked(BaseModel):
    """Which page of a list."""

    page: int = Field(default=1, ge=1, le=1_000_000_000)
    page_size: int = Field(default=30, ge=1, le=128)


class KnowledgeBasesAsked(PageAsked):
    """Which knowledge bases, and in which order."""

    id: Needle | None = None
    name: Needle | None = Field(default=None, description="Part of the name, in any case.")
    orderby: str = Field(default="create_time", pattern="^(create_time|update_time)$")
    desc: bool = True


class DocumentsAsked(PageAsked):
    """Which documents, and in which order."""

    id: Needle | None = None
    keywords: Needle | None = Field(default=None, description="Part of the file name, in any case.")
    status: str | None = Field(
        default=None, pattern="^(pending|parsing|chunking|indexing|ready|error)$"
    )
    content_type: Needle | None = None
    orderby: str = Field(
        default="create_time", pattern="^(create_time|update_time|name|size|chunks)$"
    )
    desc: bool = True


def page_of(asked: KnowledgeBasesAsked | DocumentsAsked) -> Page:
    """Return the slice that was asked for."""
    return Page(asked.page, asked.page_size, _ORDER[asked.orderby], asked.desc)


def storable(text: str | None) -> str | None:
    """Return a needle that every back end takes; NUL occurs in no stored name."""
    return None if text is None else text.replace("\x00", "\ufffd")
