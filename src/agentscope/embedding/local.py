"""The embedding model that needs no key and no network: it runs in a child process of its own."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentscope.embedding.base import (
    EmbeddingInput,
    EmbeddingModelBase,
    EmbeddingModelCard,
    EmbeddingResponse,
    EmbeddingUsage,
    ModelFingerprint,
)
from agentscope.embedding.inputs import response_of, texts_of
from agentscope.embedding.local_supervisor import EncoderSupervisor
from agentscope.embedding.query_cache import QueryCache
from agentscope.errors import ConfigurationError

LOCAL_MODEL_NAME = "universal-sentence-encoder-multilingual"
LOCAL_DIMENSIONS = 512
MAX_CHARACTERS = 16_000
"""Longer texts are cut: 100,000 characters would hold the encoder for 1.8 s."""
_SAMPLE_TEXT = "A knowledge base answers questions about documents."


MAX_PROCESSES = 4


class LocalEmbeddingModel(EmbeddingModelBase):
    """Multilingual sentence vectors computed on this machine.

    Nothing is loaded before the first call. All knowledge bases of a process should share one
    object: it owns the child processes (about 180 MB each). Texts over 4,000 characters give the
    mean of their windows; blank texts give the zero vector. Usage counts no tokens.
    `processes` None means one per core, four at most; a second one starts when work piles up.
    """

    def __init__(
        self,
        credential: object | None = None,
        model: str = LOCAL_MODEL_NAME,
        dimensions: int = LOCAL_DIMENSIONS,
        parameters: EmbeddingModelBase.Parameters | Mapping[str, Any] | None = None,
        *,
        processes: int | None = None,
        unit_timeout_seconds: float = 30.0,
    ) -> None:
        if model != LOCAL_MODEL_NAME:
            raise ConfigurationError(f"The local embedding model is named '{LOCAL_MODEL_NAME}'.")
        if dimensions != LOCAL_DIMENSIONS:
            raise ConfigurationError(
                f"The local embedding model has {LOCAL_DIMENSIONS} dimensions, not {dimensions}."
            )
        self.credential = credential
        self.model = model
        self.dimensions = dimensions
        self.parameters = parameters
        self.context_size = 4096
        self.batch_size = 64
        self._supervisor = EncoderSupervisor(
            processes=processes or min(MAX_PROCESSES, os.cpu_count() or 1),
            unit_timeout_seconds=unit_timeout_seconds,
        )
        self._queries = QueryCache()
        self._fingerprint: ModelFingerprint | None = None

    @property
    def process_ids(self) -> list[int]:
        """The child processes that are running now."""
        return self._supervisor.process_ids

    async def __call__(self, inputs: Sequence[EmbeddingInput], **kwargs: Any) -> EmbeddingResponse:
        started = time.monotonic()
        texts = [text[:MAX_CHARACTERS] for text in texts_of(inputs)]
        vectors = await self._supervisor.encode(texts) if texts else []
        usage = EmbeddingUsage(tokens=0, time=time.monotonic() - started)
        return response_of(vectors, usage)

    async def embed_queries(self, inputs: Sequence[EmbeddingInput]) -> EmbeddingResponse:
        return await self._queries.answer(inputs, self)

    async def fingerprint(self) -> ModelFingerprint:
        """Return the identity of the vectors; CPUs agree on the sample to about 5 digits."""
        if self._fingerprint is None:
            (vector,) = await self._supervisor.encode([_SAMPLE_TEXT])
            info = await self._supervisor.info()
            sample = tuple(round(value, 5) for value in vector[:8])
            self._fingerprint = ModelFingerprint(self.model, info.version, sample)
        return self._fingerprint

    async def aclose(self) -> None:
        await self._supervisor.aclose()

    @classmethod
    def list_models(cls, custom_yaml_dir: str | Path | None = None) -> list[EmbeddingModelCard]:
        """Return the one card there is; others could not be computed here."""
        return [
            EmbeddingModelCard(
                name=LOCAL_MODEL_NAME,
                label="Universal Sentence Encoder Multilingual (runs here)",
                dimensions=LOCAL_DIMENSIONS,
                context_size=4096,
            )
        ]
