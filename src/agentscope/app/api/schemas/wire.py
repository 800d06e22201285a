"""What several resources share."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints


class Problem(BaseModel):
    """One fault of a request that is not well-formed."""

    type: str
    loc: list[str | int]
    msg: str
    input: Any = None
    ctx: dict[str, Any] | None = None


class ErrorBody(BaseModel):
    """Any answer that is not a success; `code` is stable, `detail` is for people."""

    detail: str | list[Problem]
    code: str
    details: dict[str, Any] | None = Field(
        default=None, description="Of a quota: which one, its limit and what is used of it."
    )


class EmbeddingModelConfigBody(BaseModel):
    """Which model a knowledge base embeds with."""

    type: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    credential_id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    model: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    dimensions: int = Field(gt=0, le=16_384)
    parameters: dict[str, Any] = Field(default_factory=dict)


class ChunkerConfigBody(BaseModel):
    """Which chunker a knowledge base cuts with."""

    type: Annotated[str, StringConstraints(max_length=100)]
    parameters: dict[str, Any] = Field(default_factory=dict)


SearchModeName = Literal["vector", "keyword", "hybrid"]
StatusName = Literal["pending", "parsing", "chunking", "indexing", "ready", "error"]
