"""What every model behind HTTP does alike: cut, batch, ask, check, and keep what was paid for.

A subclass builds the request of one batch and reads its answer. Nothing is embedded twice within
a call: a refused batch is cut and only its parts are asked again.
"""

import abc
import asyncio
import base64
import binascii
import math
import time
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from agentscope.embedding.base import (
    EmbeddingInput,
    EmbeddingModelBase,
    EmbeddingModelCard,
    EmbeddingResponse,
    EmbeddingUsage,
)
from agentscope.embedding.batching import (
    MAX_FLOATS,
    RequestLimits,
    cut_to_tokens,
    slices,
    stated_limit,
    token_estimate,
)
from agentscope.embedding.cache import EmbeddingCacheBase, cache_key
from agentscope.embedding.cards import cards_with_custom
from agentscope.embedding.inputs import response_of, texts_of
from agentscope.embedding.provider_client import ProviderClient, refused
from agentscope.embedding.query_cache import QueryCache
from agentscope.errors import (
    ConfigurationError,
    DimensionMismatchError,
    EmbeddingError,
    EmbeddingInputError,
)
from agentscope.message.blocks import DataBlock

Vector: TypeAlias = list[float]
Item: TypeAlias = str | DataBlock
"""What is embedded: text, or an image for models that take images."""

QUERY_INPUTS = 4
SHRINKS = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """Vectors in the order of the batch, as the provider wrote them, and the tokens it counted."""

    vectors: Sequence[Any]
    tokens: int = 0


@dataclass(slots=True)
class _Call:
    """What one call has so far."""

    items: list[Item]
    query: bool
    vectors: list[Vector | None]
    keys: list[str]  # of the inputs as given; empty without a cache
    tokens: int = 0
    shrunk: int = 0


class RemoteEmbeddingModel(EmbeddingModelBase):
    """An embedding model of a provider; subclasses add the protocol."""

    provider_name = "provider"
    built_in_cards: Sequence[EmbeddingModelCard] = ()

    @classmethod
    def list_models(cls, custom_yaml_dir: str | Path | None = None) -> list[EmbeddingModelCard]:
        return cards_with_custom(cls.built_in_cards, custom_yaml_dir)

    def _set_up(
        self,
        client: ProviderClient,
        *,
        identity: Mapping[str, Any],
        limits: RequestLimits,
        cache: EmbeddingCacheBase | None,
    ) -> None:
        """Take the parts that all providers share; called once, by the constructor."""
        self._client = client
        self._identity = dict(identity)
        self._limits = limits
        self._limits.learn(max(1, MAX_FLOATS // self.dimensions))
        self._cache = cache
        self._queries = QueryCache()

    @abc.abstractmethod
    async def _request(self, items: Sequence[Item], *, query: bool) -> Answer:
        """Ask the provider for one batch."""

    def _accept(self, exc: EmbeddingInputError) -> bool:
        """Adapt to a refusal; True means that the same batch is worth one more try."""
        return False

    async def embed_queries(self, inputs: Sequence[EmbeddingInput]) -> EmbeddingResponse:
        return await self._queries.answer(inputs, self)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def __call__(self, inputs: Sequence[EmbeddingInput], **kwargs: Any) -> EmbeddingResponse:
        started = time.monotonic()
        items = self._items(inputs)
        keys = [self._key(item) for item in items] if self._cache is not None else []
        call = _Call(items, len(items) <= QUERY_INPUTS, [None] * len(items), keys)
        asked = await self._fill_known(call)
        if asked:
            await self._fill_asked(call, asked)
        vectors = [vector for vector in call.vectors if vector is not None]
        assert len(vectors) == len(items)
        usage = EmbeddingUsage(tokens=call.tokens, time=time.monotonic() - started)
        return response_of(vectors, usage, from_cache=bool(items) and not asked)

    def _items(self, inputs: Sequence[EmbeddingInput]) -> list[Item]:
        """Return the inputs cut to the context; images only where the model takes them."""
        items: list[Item] = []
        for item in inputs:
            if isinstance(item, DataBlock) and self.supports_multimodal:
                items.append(item)
            else:
                items.append(cut_to_tokens(texts_of([item])[0], self.context_size))
        return items

    async def _fill_known(self, call: _Call) -> list[int]:
        """Fill in blanks and cached vectors; return the positions that must be asked."""
        asked = []
        for position, item in enumerate(call.items):
            if isinstance(item, str) and not item.strip():
                # Providers refuse empty text; nothing is like nothing.
                call.vectors[position] = [0.0] * self.dimensions
            else:
                asked.append(position)
        if self._cache is None or not asked:
            return asked
        known = await self._cache.retrieve([call.keys[at] for at in asked])
        for position, vector in zip(asked, known, strict=True):
            if vector is not None and len(vector) == self.dimensions:
                call.vectors[position] = vector
        return [position for position in asked if call.vectors[position] is None]

    async def _fill_asked(self, call: _Call, asked: list[int]) -> None:
        sizes = [_size(item) for item in call.items]
        batches = self._limits.batches(sizes, asked)
        tasks = [asyncio.create_task(self._fill(call, batch)) for batch in batches]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _fill(self, call: _Call, batch: Sequence[int]) -> None:
        if len(batch) > self._limits.count:  # learned while this batch waited
            for part in slices(batch, self._limits.count):
                await self._fill(call, part)
            return
        try:
            await self._ask(call, batch)
        except EmbeddingInputError as exc:
            if self._accept(exc):
                await self._ask(call, batch)
            elif len(batch) > 1:
                await self._fill_parts(call, batch, exc)
            else:
                await self._fill_shrunk(call, batch[0], exc)

    async def _fill_parts(
        self, call: _Call, batch: Sequence[int], exc: EmbeddingInputError
    ) -> None:
        stated = stated_limit(refused(exc), len(batch))
        shrunk_before = call.shrunk
        size = stated or (len(batch) + 1) // 2
        for part in slices(batch, size):
            await self._fill(call, part)
        # All parts passed as they were, so it was the number of inputs that was refused. With a
        # text that had to be shortened it was that text, and the limit must not suffer for it.
        if call.shrunk == shrunk_before:
            self._limits.learn(size)

    async def _fill_shrunk(self, call: _Call, position: int, exc: EmbeddingInputError) -> None:
        """Embed the beginning of a text that is too long for the provider's own counting."""
        reason = refused(exc)
        too_long = any(word in reason for word in ("long", "length", "token", "context", "exceed"))
        item = call.items[position]
        if not (too_long and isinstance(item, str)):
            raise exc
        for shrink in range(1, SHRINKS + 1):
            call.items[position] = item[: max(1, len(item) >> shrink)]
            try:
                await self._ask(call, [position])
            except EmbeddingInputError:
                if shrink == SHRINKS:
                    raise
            else:
                call.shrunk += 1
                return

    async def _ask(self, call: _Call, batch: Sequence[int]) -> None:
        answer = await self._request([call.items[at] for at in batch], query=call.query)
        vectors = self._checked(answer.vectors, len(batch))
        for position, vector in zip(batch, vectors, strict=True):
            call.vectors[position] = vector
        call.tokens += answer.tokens
        if self._cache is not None:
            keys = [call.keys[at] for at in batch]
            await self._cache.store(dict(zip(keys, vectors, strict=True)))

    def _checked(self, rows: Sequence[Any], count: int) -> list[Vector]:
        """Return the vectors, or say what is wrong with them.

        Raises:
            DimensionMismatchError: they are not as long as the model's dimensions.
            EmbeddingError: not one per input, or not finite numbers; final.
        """
        if len(rows) != count:
            raise self._wrong(
                f"The embedding provider returned {len(rows)} vectors for {count} inputs."
            )
        vectors = [self._vector(row) for row in rows]
        for vector in vectors:
            if len(vector) != self.dimensions:
                raise DimensionMismatchError(
                    f"The embedding model returned vectors with {len(vector)} dimensions, "
                    f"but {self.dimensions} are configured.",
                    context={"model": self.model},
                )
        return vectors

    def _vector(self, row: Any) -> Vector:
        try:
            vector = _from_base64(row) if isinstance(row, str) else row
            # One sum tells of NaN, infinity and anything that is not a number, at C speed.
            if isinstance(vector, list) and math.isfinite(sum(vector)):
                return vector
        except (TypeError, ValueError, OverflowError, binascii.Error):
            pass
        raise self._wrong("The embedding provider returned something that is not a vector.")

    def _wrong(self, message: str) -> EmbeddingError:
        return EmbeddingError(
            message, provider=self.provider_name, retryable=False, context={"model": self.model}
        )

    def _key(self, item: Item) -> str:
        content = item if isinstance(item, str) else item.source.model_dump_json()
        return cache_key(self._identity, content)


def _size(item: Item) -> tuple[int, int]:
    if isinstance(item, str):
        return token_estimate(item), len(item) * (1 if item.isascii() else 3)
    return 1000, len(item.source.model_dump_json())


def _from_base64(text: str) -> Vector:
    values = array("f")
    values.frombytes(base64.b64decode(text, validate=True))
    return values.tolist()


def chosen_dimensions(
    dimensions: int | None, parameters: Mapping[str, Any], known: int | None
) -> int:
    """Return the dimensions to use: given, else from legacy parameters, else the model's own.

    Raises:
        ConfigurationError: nothing says how many.
    """
    chosen = dimensions or parameters.get("dimensions") or known
    if not isinstance(chosen, int) or isinstance(chosen, bool) or chosen <= 0:
        raise ConfigurationError("The dimensions of this embedding model must be given.")
    return chosen


def plain_parameters(
    parameters: EmbeddingModelBase.Parameters | Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return parameters as a mapping without unset values."""
    if parameters is None:
        return {}
    if isinstance(parameters, EmbeddingModelBase.Parameters):
        parameters = parameters.model_dump()
    return {name: value for name, value in parameters.items() if value is not None}
