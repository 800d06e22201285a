"""Settings of `RAGMiddleware`; their schema is shown as a form."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

MAX_TOP_K = 50
DEFAULT_HINT = (
    "These passages from the knowledge base may help with the next answer. "
    "Use what fits, name its source, and ignore the rest.\n\n{context}"
)
DEFAULT_RERANK_PROMPT = "{query}"


class Parameters(BaseModel):
    """How an agent gets at its knowledge bases."""

    model_config = ConfigDict(frozen=True)

    mode: Literal["static", "agentic"] = "agentic"
    top_k: int = Field(default=5, ge=1, le=MAX_TOP_K, title="Top K")
    score_threshold: float | None = None
    rerank_candidate_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] | None = None
    emit_hint_event: bool = Field(default=True, title="Show matched chunks in chat")
    persist_hint: bool = False
    hint_template: SkipJsonSchema[str] = DEFAULT_HINT
    rerank_prompt: SkipJsonSchema[str] = DEFAULT_RERANK_PROMPT

    @field_validator("hint_template")
    @classmethod
    def _one_context(cls, value: str) -> str:
        if value.count("{context}") != 1:
            raise ValueError("hint_template must hold {context} exactly once")
        return value

    @field_validator("rerank_prompt")
    @classmethod
    def _has_query(cls, value: str) -> str:
        if "{query}" not in value:
            raise ValueError("rerank_prompt must hold {query}")
        return value

    @model_validator(mode="after")
    def _enough_candidates(self) -> "Parameters":
        if self.rerank_candidate_k is not None and self.rerank_candidate_k < self.top_k:
            raise ValueError("rerank_candidate_k must not be less than top_k")
        return self

    @property
    def candidates(self) -> int:
        """How many hits are fetched for a reranker to choose from."""
        return self.rerank_candidate_k or min(MAX_TOP_K, 2 * self.top_k)


def parameters_schema() -> dict[str, Any]:
    """Return the flat JSON schema of the parameters that a user sets."""
    schema = Parameters.model_json_schema()
    schema.pop("description", None)
    return schema
