"""The change of an embedding model on the wire."""

from typing import Literal

from pydantic import BaseModel, Field

from agentscope.app.api.schemas.wire import EmbeddingModelConfigBody


class BeginMigrationRequest(BaseModel):
    """The model to change to; null embeds again with the present one after it changed."""

    embedding_model_config: EmbeddingModelConfigBody | None = None


class MigrationProgress(BaseModel):
    """How far it is: documents are copied in the first stage and all counted in the second."""

    stage: Literal["copying", "closing", "stopped"]
    done: int
    total: int
    unit: Literal["document"]


class MigrationProblem(BaseModel):
    """Why the last try did not go on."""

    code: str
    message: str
    retryable: bool


class MigrationView(BaseModel):
    """A change under way, or one that stopped and waits for the user."""

    generation: int
    embedding_model_config: EmbeddingModelConfigBody
    progress: MigrationProgress
    error: MigrationProblem | None
    started_at: str
    next_attempt_at: str | None = Field(description="After an error that may pass.")


class MigrationStateView(BaseModel):
    """The model of a knowledge base, and the change of it if there is one."""

    knowledge_base_id: str
    generation: int
    embedding_model_config: EmbeddingModelConfigBody
    model_changed: bool | None = Field(
        description="Whether the model makes other vectors than those stored; null if unknown."
    )
    migration: MigrationView | None
