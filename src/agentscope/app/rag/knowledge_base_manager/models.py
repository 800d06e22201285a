"""How a manager comes to an embedding model, and the guard against a model that changed."""

import math
import time
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

from agentscope import observe, tracing
from agentscope.app.records import EmbeddingModelConfig
from agentscope.embedding.base import (
    EmbeddingInput,
    EmbeddingModelBase,
    EmbeddingResponse,
    ModelFingerprint,
)
from agentscope.errors import AgentScopeError, ConfigurationError, EmbeddingModelChangedError

SAMPLE_TOLERANCE = 1e-3


class EmbeddingModels(Protocol):
    """Gives the shared model object of a configuration; it belongs to a pool, never close it."""

    async def __call__(self, user_id: str, config: EmbeddingModelConfig, /) -> EmbeddingModelBase:
        """Return the model.

        Raises:
            CredentialNotFoundError: the user has no such credential (any more).
            InvalidInputError: the provider has no such model or parameters.
        """


async def no_models(user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
    """Refuse: the manager was never bound to a source of models."""
    del user_id, config
    raise ConfigurationError("No embedding models are configured for this service.")


def fingerprint_fields(fingerprint: ModelFingerprint) -> dict[str, Any]:
    """Return the fingerprint as it is stored with a knowledge base."""
    return {
        "model": fingerprint.model,
        "version": fingerprint.version,
        "sample": list(fingerprint.sample),
    }


def same_vectors(stored: Mapping[str, Any], current: ModelFingerprint) -> bool:
    """Say whether `current` makes the vectors that `stored` made.

    The vector of the test text decides where both have one, because a new version of a package
    may carry the same model.
    """
    if not stored:
        return True
    if stored.get("model") != current.model:
        return False
    sample = [float(value) for value in stored.get("sample", ())]
    if sample and current.sample:
        return len(sample) == len(current.sample) and all(
            math.isclose(old, new, abs_tol=SAMPLE_TOLERANCE)
            for old, new in zip(sample, current.sample, strict=True)
        )
    return bool(stored.get("version", "") == current.version)


async def _measured(use: str, inputs: int, call: Awaitable[EmbeddingResponse]) -> EmbeddingResponse:
    """Await a call of a model; its time, size and outcome are counted."""
    started, outcome = time.perf_counter(), "cancelled"
    try:
        with tracing.span("embed", {"rag.use": use, "rag.inputs": inputs}, kind="CLIENT"):
            response = await call
        outcome = "ok"
    except AgentScopeError as exc:
        outcome = exc.code
        raise
    except Exception:
        outcome = "internal_error"
        raise
    finally:
        observe.EMBEDDINGS.labels(use, outcome).inc()
        observe.EMBEDDING_SECONDS.labels(use).observe(time.perf_counter() - started)
    observe.EMBEDDING_INPUTS.labels(use).inc(inputs)
    if response.usage is not None:
        observe.EMBEDDING_TOKENS.labels(use).inc(max(0, response.usage.tokens))
    return response


class PinnedModel(EmbeddingModelBase):
    """A model of the pool that refuses to work when its vectors are not those of the index.

    The check is made before the first use, not at construction: models load lazily.
    """

    def __init__(self, model: EmbeddingModelBase, stored: Mapping[str, Any]) -> None:
        self.inner = model
        self._stored = stored
        self._checked = False
        self.model = model.model
        self.dimensions = model.dimensions
        self.context_size = model.context_size
        self.batch_size = model.batch_size

    @property
    def supports_multimodal(self) -> bool:  # type: ignore[override]  # a class flag of the inner model
        """Whether the model takes images."""
        return self.inner.supports_multimodal

    async def fingerprint(self) -> ModelFingerprint:
        return await self.inner.fingerprint()

    async def check(self) -> None:
        """Raise `EmbeddingModelChangedError` if the model makes other vectors now."""
        if self._checked:
            return
        if not same_vectors(self._stored, await self.inner.fingerprint()):
            raise EmbeddingModelChangedError
        self._checked = True

    async def embed_queries(self, inputs: Sequence[EmbeddingInput]) -> EmbeddingResponse:
        await self.check()
        return await _measured("query", len(inputs), self.inner.embed_queries(inputs))

    async def __call__(self, inputs: Sequence[EmbeddingInput], **kwargs: Any) -> EmbeddingResponse:
        await self.check()
        return await _measured("index", len(inputs), self.inner(inputs, **kwargs))
