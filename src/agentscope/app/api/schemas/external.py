"""Requests and answers in the shapes that other products speak."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from agentscope.app.api.schemas.search import Queries, QueryText

Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Scalar = str | bool | int | float


class RetrievalSetting(BaseModel):
    """How many records, and how similar they must be."""

    top_k: int = Field(default=5, ge=1, le=50)
    score_threshold: float = Field(default=0.0, allow_inf_nan=False)


class MetadataCondition(BaseModel):
    """One comparison of a metadata field."""

    name: Name | Annotated[list[Name], Field(min_length=1, max_length=20)]
    comparison_operator: Annotated[str, StringConstraints(max_length=20)]
    value: Scalar | list[Scalar] | None = None


class MetadataConditions(BaseModel):
    """Comparisons, joined by one operator."""

    logical_operator: Literal["and", "or"] = "and"
    conditions: list[MetadataCondition] = Field(default_factory=list, max_length=50)


class RetrievalRequest(BaseModel):
    """What Dify asks an external knowledge service."""

    knowledge_id: Id
    query: QueryText
    retrieval_setting: RetrievalSetting = Field(default_factory=RetrievalSetting)
    metadata_condition: MetadataConditions | None = None


class RetrievalRecord(BaseModel):
    """One passage."""

    content: str
    score: float
    title: str
    metadata: dict[str, Any]


class RetrievalResponse(BaseModel):
    """Passages, best first."""

    records: list[RetrievalRecord]


class RankingOptions(BaseModel):
    """How similar results must be; any ranker is accepted, the knowledge base has its own."""

    ranker: Annotated[str, StringConstraints(max_length=100)] | None = None
    score_threshold: float | None = Field(default=None, allow_inf_nan=False)


class VectorStoreSearchRequest(BaseModel):
    """A search as OpenAI's clients send it; `rewrite_query` is accepted and does nothing."""

    query: Queries
    max_num_results: int = Field(default=10, ge=1, le=50)
    filters: dict[str, Any] | None = None
    ranking_options: RankingOptions | None = None
    rewrite_query: bool = False


class VectorStoreContent(BaseModel):
    """A passage of a file."""

    type: Literal["text"] = "text"
    text: str


class VectorStoreResult(BaseModel):
    """A passage with its file."""

    file_id: str
    filename: str
    score: float
    attributes: dict[str, Scalar]
    content: list[VectorStoreContent]


class VectorStoreSearchResponse(BaseModel):
    """All results on one page."""

    object: Literal["vector_store.search_results.page"]
    search_query: list[str]
    data: list[VectorStoreResult]
    has_more: bool
    next_page: str | None


class FileCounts(BaseModel):
    """Files by what has become of them."""

    in_progress: int
    completed: int
    failed: int
    cancelled: int
    total: int


class VectorStoreView(BaseModel):
    """A knowledge base as OpenAI's clients see it; times are Unix seconds."""

    id: str
    object: Literal["vector_store"]
    created_at: int
    name: str
    usage_bytes: int
    file_counts: FileCounts
    status: Literal["completed", "in_progress"]
    last_active_at: int | None
    metadata: dict[str, str]
