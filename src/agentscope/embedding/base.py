"""The embedding model contract: texts (or images) in, vectors out, in the same order.

A model object is built once per credential and configuration and used for its whole life: it
owns its HTTP client or child process. It splits calls by the provider's limits, retries what can
succeed later, and never returns a vector of another length than `dimensions`.
"""

import abc
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from agentscope.identity import new_id, new_timestamp
from agentscope.message.blocks import DataBlock, TextBlock

EmbeddingInput = str | TextBlock | DataBlock


class EmbeddingUsage(BaseModel):
    """What one call cost; `time` is in seconds."""

    tokens: int = 0
    time: float = 0.0


class EmbeddingResponse(BaseModel):
    """One vector per input, in input order."""

    embeddings: list[list[float]]
    id: str = Field(default_factory=new_id)
    created_at: str = Field(default_factory=new_timestamp)
    type: Literal["embedding"] = "embedding"
    usage: EmbeddingUsage | None = None
    source: Literal["api", "cache"] = "api"


class EmbeddingModelCard(BaseModel):
    """What a user may choose; `supported_dimensions` None means that `dimensions` is fixed."""

    type: Literal["embedding_model"] = "embedding_model"
    name: str
    label: str
    status: Literal["active", "deprecated", "sunset"] = "active"
    input_types: list[str] = Field(default_factory=lambda: ["text/plain"])
    output_types: list[str] = Field(default_factory=lambda: ["application/x-embedding"])
    dimensions: int = Field(gt=0)
    supported_dimensions: list[int] | None = None
    context_size: int | None = None
    parameter_schema: dict[str, Any] = Field(
        default_factory=lambda: {"type": "object", "properties": {}, "required": []}
    )
    parameter_overrides: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelFingerprint:
    """Identity of the vectors a model makes: a changed fingerprint means other vectors."""

    model: str
    version: str = ""
    sample: tuple[float, ...] = field(default=())
    """First 8 values of the vector of a fixed test text; empty when the provider is remote."""


class EmbeddingModelBase(abc.ABC):
    """Turns inputs into vectors of `dimensions` floats."""

    class Parameters(BaseModel):
        """Model parameters; unknown keys are passed on."""

        model_config = ConfigDict(extra="allow")

    supports_multimodal: bool = False
    """Whether `DataBlock` inputs are embedded; a text-only model refuses them."""

    model: str
    dimensions: int
    context_size: int
    batch_size: int

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Release the client or child process; calling it twice is harmless."""
        return

    @abc.abstractmethod
    async def __call__(self, inputs: Sequence[EmbeddingInput], **kwargs: Any) -> EmbeddingResponse:
        """Return one vector per input, in input order; no inputs give no vectors.

        Inputs longer than the model's context are cut, never refused.

        Raises:
            EmbeddingTimeoutError: no answer within the request timeout; not retried here.
            EmbeddingAuthError: the credential was refused.
            EmbeddingInputError: the provider refuses this input for good.
            DimensionMismatchError: the provider returned vectors of another length.
            EmbeddingError: anything else, after 3 tries; `retryable` says whether later can help.
        """

    async def embed_queries(self, inputs: Sequence[EmbeddingInput]) -> EmbeddingResponse:
        """Return the vectors of search queries; recent ones may come from memory.

        Same order and errors as a call. Never use it for content that is being indexed.
        """
        return await self(inputs)

    async def fingerprint(self) -> ModelFingerprint:
        """Return the identity of this model's vectors."""
        return ModelFingerprint(model=self.model)

    @classmethod
    def list_models(cls, custom_yaml_dir: str | Path | None = None) -> list[EmbeddingModelCard]:
        """Return the cards of the models this class knows by name.

        `custom_yaml_dir` adds cards, one per `*.yaml` file; one with a known name replaces it.
        """
        return []
