"""A deterministic embedding model for tests, and the suite every embedding model must pass.

`FakeEmbeddingModel` hashes words (and single CJK characters) into a bag, so texts that share
words are near each other. It needs no process and no network, and it can be told to fail or hang.
"""

import asyncio
import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agentscope.embedding.base import (
    EmbeddingInput,
    EmbeddingModelBase,
    EmbeddingModelCard,
    EmbeddingResponse,
    EmbeddingUsage,
    ModelFingerprint,
)
from agentscope.errors import DimensionMismatchError, EmbeddingInputError
from agentscope.message.blocks import TextBlock

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


def hashed_vector(text: str, dimensions: int) -> list[float]:
    """Return the unit-length hashed bag of words of `text`; no words give the zero vector."""
    bag = [0.0] * dimensions
    for token in _TOKEN.findall(text.lower()):
        bag[zlib.crc32(token.encode()) % dimensions] += 1.0
    norm = math.sqrt(sum(value * value for value in bag))
    return [value / norm for value in bag] if norm else bag


@dataclass(slots=True)
class _Fault:
    error: BaseException | None  # None: the call hangs until `released` is set
    match: str
    remaining: int | None  # None: until the fault is cleared
    released: asyncio.Event = field(default_factory=asyncio.Event)


class FakeEmbeddingModel(EmbeddingModelBase):
    """Hashed bag of words; counts what it did and fails or hangs on request.

    `calls` holds the texts of every call, in call order, including calls that failed.
    `embedded` counts the texts for which a vector was returned.
    """

    supports_multimodal: ClassVar[bool] = False

    def __init__(
        self,
        dimensions: int = 64,
        *,
        model: str = "fake-embedding",
        batch_size: int = 64,
        version: str = "1",
        returned_dimensions: int | None = None,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self.context_size = 8192
        self.batch_size = batch_size
        self.version = version
        self.returned_dimensions = returned_dimensions or dimensions
        self.calls: list[list[str]] = []
        self.embedded = 0
        self.running = 0
        self.running_max = 0
        self.closed = False
        self.entered = asyncio.Event()
        self._faults: list[_Fault] = []

    def fail_with(
        self, error: BaseException, *, times: int | None = None, match: str = ""
    ) -> "FakeEmbeddingModel":
        """Raise `error` for the next `times` calls (None: until `heal`) with `match` in a text."""
        self._faults.append(_Fault(error, match, times))
        return self

    def hang(self, *, times: int | None = None, match: str = "") -> "FakeEmbeddingModel":
        """Let the next `times` calls wait until `heal` or cancellation; `entered` tells of one."""
        self._faults.append(_Fault(None, match, times))
        return self

    def heal(self) -> None:
        """Forget every fault; calls that hang go on and succeed."""
        faults, self._faults = self._faults, []
        for fault in faults:
            fault.released.set()

    def vector(self, text: str) -> list[float]:
        """Return the vector this model gives to `text`."""
        return hashed_vector(text, self.returned_dimensions)

    async def aclose(self) -> None:
        self.closed = True

    async def fingerprint(self) -> ModelFingerprint:
        sample = hashed_vector("The quick brown fox", self.dimensions)[:8]
        return ModelFingerprint(self.model, self.version, tuple(sample))

    async def __call__(self, inputs: Sequence[EmbeddingInput], **kwargs: Any) -> EmbeddingResponse:
        texts = [_text_of(item) for item in inputs]
        self.calls.append(texts)
        self.running += 1
        self.running_max = max(self.running_max, self.running)
        try:
            await asyncio.sleep(0)
            await self._meet_faults(texts)
            if self.returned_dimensions != self.dimensions and texts:
                raise DimensionMismatchError(
                    f"The embedding model returned vectors with {self.returned_dimensions} "
                    f"dimensions, but {self.dimensions} are expected."
                )
            vectors = [self.vector(text) for text in texts]
            self.embedded += len(vectors)
            tokens = sum(len(_TOKEN.findall(text)) for text in texts)
            return EmbeddingResponse(embeddings=vectors, usage=EmbeddingUsage(tokens=tokens))
        finally:
            self.running -= 1

    async def _meet_faults(self, texts: list[str]) -> None:
        for fault in list(self._faults):
            if fault.match and not any(fault.match in text for text in texts):
                continue
            if fault.remaining is not None:
                if fault.remaining <= 0:
                    continue
                fault.remaining -= 1
            if fault.error is not None:
                raise fault.error
            self.entered.set()
            await fault.released.wait()

    @classmethod
    def list_models(cls) -> list[EmbeddingModelCard]:
        return [EmbeddingModelCard(name="fake-embedding", label="Fake", dimensions=64)]


def _text_of(item: EmbeddingInput) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, TextBlock):
        return item.text
    raise EmbeddingInputError("This embedding model takes text only.")
