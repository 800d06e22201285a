"""Searching on the wire."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, PlainValidator, StringConstraints
from pydantic_core import PydanticKnownError

from agentscope.app.api.schemas.wire import SearchModeName
from agentscope.app.rag.service.search import MAX_QUERIES
from agentscope.rag.document import SearchHit

DocumentIdText = Annotated[str, StringConstraints(min_length=1, max_length=200)]


MAX_QUERY_CHARS = 20_000
QueryText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUERY_CHARS)]


def _queries(value: Any) -> str | list[str]:
    """Check one query or several; a union would report the faults of both shapes at once."""
    if not isinstance(value, list):
        return _query(value)
    if not 1 <= len(value) <= MAX_QUERIES:
        kind: Literal["too_long", "too_short"] = "too_long" if value else "too_short"
        bound = {"max_length": MAX_QUERIES} if value else {"min_length": 1}
        facts = {"field_type": "List", "actual_length": len(value), **bound}
        raise PydanticKnownError(kind, facts)
    return [_query(one) for one in value]


def _query(value: Any) -> str:
    if not isinstance(value, str):
        raise PydanticKnownError("string_type")
    if not value:
        raise PydanticKnownError("string_too_short", {"min_length": 1})
    if len(value) > MAX_QUERY_CHARS:
        raise PydanticKnownError("string_too_long", {"max_length": MAX_QUERY_CHARS})
    return value


Queries = Annotated[
    str | list[str],
    PlainValidator(
        _queries,
        json_schema_input_type=QueryText
        | Annotated[list[QueryText], Field(min_length=1, max_length=MAX_QUERIES)],
    ),
]


class SearchKnowledgeBaseRequest(BaseModel):
    """A question to a knowledge base; everything but `query` is optional.

    Several queries are one question in other words: a chunk keeps its best score. Without `rerank`
    the service's reranker, if it has one, puts the hits in order.
    """

    query: Queries
    top_k: int = Field(default=5, ge=1, le=50)
    mode: SearchModeName | None = None
    score_threshold: float | None = Field(default=None, allow_inf_nan=False)
    metadata_filter: dict[str, Any] | None = None
    document_ids: list[DocumentIdText] | None = Field(default=None, max_length=1_000)
    content_types: list[DocumentIdText] | None = Field(default=None, max_length=100)
    neighbours: int = Field(default=0, ge=0, le=5)
    rerank: bool | None = None


class SearchKnowledgeBasesRequest(SearchKnowledgeBaseRequest):
    """A question to several knowledge bases; their answers are fused by rank."""

    knowledge_base_ids: list[DocumentIdText] = Field(min_length=1, max_length=20)


class SearchKnowledgeBaseResponse(BaseModel):
    """Hits, best first; `total` counts those returned."""

    results: list[SearchHit]
    total: int
    took_ms: float
    mode: SearchModeName
    warnings: list[str] = Field(default_factory=list)


class SearchKnowledgeBasesResponse(BaseModel):
    """Hits, best first; `score` comes from ranks, or from the reranker where there is one."""

    results: list[SearchHit]
    total: int
    took_ms: float
    warnings: list[str] = Field(default_factory=list)
