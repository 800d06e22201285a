"""A deterministic embedding model for tests, and the suite every embedding model must pass.

`FakeEmbeddingModel` hashes words (and single CJK characters) into a bag, so texts that share
words are near each other. It needs no process and no network, and it can be told to fail or hang.
"""

import abc
import asyncio
import math
import re
import zlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
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
from agentscope.errors import DimensionMismatchError, EmbeddingInputError
from agentscope.message.blocks import Base64Source, DataBlock, TextBlock

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

    supports_multimodal: bool = False

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
    def list_models(cls, custom_yaml_dir: str | Path | None = None) -> list[EmbeddingModelCard]:
        return [EmbeddingModelCard(name="fake-embedding", label="Fake", dimensions=64)]


def _text_of(item: EmbeddingInput) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, TextBlock):
        return item.text
    raise EmbeddingInputError("This embedding model takes text only.")


class EmbeddingModelSuite(abc.ABC):
    """What every text embedding model must do; a subclass says how to make one."""

    texts = (
        "The invoice is due at the end of the month.",
        "Koalas sleep in eucalyptus trees.",
        "知识库检索与混合重排序",
        "ナレッジベース検索",
        "emoji 👩‍👩‍👧 and ERR-0x19",
    )

    @abc.abstractmethod
    def make(self) -> AbstractAsyncContextManager[EmbeddingModelBase]:
        """Return a fresh model, closed on exit."""

    async def test_every_input_gets_one_vector_of_the_stated_length(self) -> None:
        """Five texts give five vectors of `dimensions` finite numbers."""
        async with self.make() as model:
            response = await model(list(self.texts))
            assert [len(vector) for vector in response.embeddings] == [model.dimensions] * 5
            assert all(math.isfinite(x) for vector in response.embeddings for x in vector)
            assert response.usage is not None

    async def test_no_inputs_give_no_vectors(self) -> None:
        """The empty call is answered without asking anybody."""
        async with self.make() as model:
            assert (await model([])).embeddings == []

    async def test_batching_is_invisible_and_order_is_kept(self) -> None:
        """A long call gives the vectors that single calls give, in input order."""
        async with self.make() as model:
            alone = [(await model([text])).embeddings[0] for text in self.texts]
            count = min(2 * model.batch_size + 3, 150)
            together = (await model([self.texts[i % 5] for i in range(count)])).embeddings
            assert len(together) == count
            for index, vector in enumerate(together):
                assert _cosine(vector, alone[index % 5]) > 0.9999
            assert _cosine(alone[0], alone[1]) < 0.999

    async def test_text_blocks_are_texts(self) -> None:
        """A text block gives the vector of its text."""
        async with self.make() as model:
            plain, block = (await model([self.texts[0], TextBlock(text=self.texts[0])])).embeddings
            assert _cosine(plain, block) > 0.9999

    async def test_concurrent_calls_do_not_mix(self) -> None:
        """Eight calls at once get their own vectors."""
        async with self.make() as model:
            alone = [(await model([text])).embeddings[0] for text in self.texts]
            answers = await asyncio.gather(
                *(model([self.texts[i % 5], self.texts[(i + 1) % 5]]) for i in range(8))
            )
            for index, answer in enumerate(answers):
                assert _cosine(answer.embeddings[0], alone[index % 5]) > 0.9999
                assert _cosine(answer.embeddings[1], alone[(index + 1) % 5]) > 0.9999

    async def test_odd_texts_are_embedded(self) -> None:
        """Blank, very long and badly encoded texts give finite vectors."""
        async with self.make() as model:
            odd = ["", "   ", "\0", "\ud800 lone surrogate", "word " * 20_000]
            response = await model(odd)
            assert [len(vector) for vector in response.embeddings] == [model.dimensions] * 5
            assert all(math.isfinite(x) for vector in response.embeddings for x in vector)

    async def test_a_text_model_refuses_an_image(self) -> None:
        """The refusal is final, so that nobody tries again."""
        image = DataBlock(source=Base64Source(data="AAAA", media_type="image/png"))
        async with self.make() as model:
            if model.supports_multimodal:
                return
            try:
                await model([image])
            except EmbeddingInputError as exc:
                assert not exc.retryable
            else:
                raise AssertionError("a text model took an image")

    async def test_a_cancelled_call_leaves_the_model_usable(self) -> None:
        """The next call after a cancellation succeeds."""
        async with self.make() as model:
            call = asyncio.create_task(model(list(self.texts) * 10))
            await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            assert len((await model([self.texts[0]])).embeddings) == 1

    async def test_the_fingerprint_is_stable(self) -> None:
        """Two objects of one configuration have one fingerprint."""
        async with self.make() as one, self.make() as two:
            assert await one.fingerprint() == await two.fingerprint()

    async def test_closing_twice_is_harmless(self) -> None:
        """A used model and an unused one can both be closed twice."""
        async with self.make() as model:
            await model.aclose()
            await model.aclose()
        async with self.make() as model:
            await model([self.texts[0]])
            await model.aclose()
            await model.aclose()


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(left, right, strict=True))
    norms = math.sqrt(sum(a * a for a in left)) * math.sqrt(sum(b * b for b in right))
    return product / norms if norms else 1.0
