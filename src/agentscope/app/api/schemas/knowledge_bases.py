"""Knowledge bases on the wire."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from agentscope.app.api.schemas.credentials import CredentialView
from agentscope.app.api.schemas.migrations import MigrationView
from agentscope.app.api.schemas.wire import (
    ChunkerConfigBody,
    EmbeddingModelConfigBody,
    SearchModeName,
)
from agentscope.app.rag.knowledge_base_manager.dimension_policy import DimensionPolicyKind
from agentscope.embedding.base import EmbeddingModelCard

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"\S")]
Description = Annotated[str, StringConstraints(max_length=10_000)]


class CreateKnowledgeBaseRequest(BaseModel):
    """A new knowledge base; the chunker is pinned for its life, the model until a migration."""

    name: Name
    description: Description = ""
    embedding_model_config: EmbeddingModelConfigBody
    chunker_config: ChunkerConfigBody | None = None
    search_mode: SearchModeName | None = None


class CreateKnowledgeBaseResponse(BaseModel):
    """The id of the new knowledge base."""

    knowledge_base_id: str


class UpdateKnowledgeBaseRequest(BaseModel):
    """What to change; null leaves a field as it is.

    Model and chunker are pinned: sending back what they are is fine, another value is a conflict.
    The model is changed by a migration.
    """

    name: Name | None = None
    description: Description | None = None
    search_mode: SearchModeName | None = None
    embedding_model_config: dict[str, Any] | None = None
    chunker_config: dict[str, Any] | None = None


class StatusCounts(BaseModel):
    """How many documents are in each state."""

    pending: int
    parsing: int
    chunking: int
    indexing: int
    ready: int
    error: int


class KnowledgeBaseView(BaseModel):
    """One knowledge base."""

    id: str
    name: str
    description: str
    embedding_model_config: EmbeddingModelConfigBody
    chunker_config: ChunkerConfigBody | None
    created_at: str
    updated_at: str
    editable: bool
    permission: Literal["owner", "edit", "read"]
    document_count: int
    chunk_count: int
    size_bytes: int
    credential_name: str | None
    status_counts: StatusCounts
    search_mode: SearchModeName
    generation: int
    migration: MigrationView | None
    paused_reason: str | None


class ListKnowledgeBasesResponse(BaseModel):
    """One page of knowledge bases."""

    knowledge_bases: list[KnowledgeBaseView]
    total: int
    page: int
    page_size: int


class KbEmbeddingProvider(BaseModel):
    """A credential and the models it opens."""

    credential: CredentialView
    models: list[EmbeddingModelCard]


class DimensionPolicyView(BaseModel):
    """Which dimensions a new knowledge base may have."""

    kind: DimensionPolicyKind
    dimension: int | None


class ListKbEmbeddingModelsResponse(BaseModel):
    """What a new knowledge base can embed with."""

    providers: list[KbEmbeddingProvider]
    policy: DimensionPolicyView


class ChunkerInfo(BaseModel):
    """One chunker and the form of its parameters."""

    type: str
    parameter_schema: dict[str, Any]


class ListChunkersResponse(BaseModel):
    """The chunkers a knowledge base can be created with; the first is the default."""

    chunkers: list[ChunkerInfo]


class ParametersSchemaResponse(BaseModel):
    """The form of the middleware's parameters."""

    parameter_schema: dict[str, Any]


class SupportedContentTypesResponse(BaseModel):
    """What can be uploaded."""

    media_types: list[str]
    extensions: list[str]
    limits: dict[str, int] = Field(default_factory=dict)
