"""Searching on the wire."""

from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from agentscope.app.api.schemas.wire import SearchModeName
from agentscope.rag.document import SearchHit

DocumentIdText = Annotated[str, StringConstraints(min_length=1, max_length=200)]


QueryText = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class SearchKnowledgeBaseRequest(BaseModel):
    """A question to a knowledge base; everything but `query` is optional.

    Several queries are one question in other words: a chunk keeps its best score. Without `rerank`
    the service's reranker, if it has one, puts the hits in order.
    """

    query: QueryText | Annotated[list[QueryText], Field(min_length=1, max_length=10)]
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
