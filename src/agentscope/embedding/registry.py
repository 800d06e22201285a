"""One shared model object per credential and configuration, for all knowledge bases of a process.

A model owns a client or a child process, so it is built once and used until it is evicted, its
credential changes or the pool closes. Closing a model that somebody still holds is harmless.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentscope.clock import Clock, SystemClock
from agentscope.credential.base import CredentialBase
from agentscope.credential.local import LOCAL_CREDENTIAL_ID
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.cache import EmbeddingCacheBase
from agentscope.embedding.gate import CredentialGate
from agentscope.embedding.provider_client import Transport
from agentscope.embedding.remote import RemoteEmbeddingModel
from agentscope.errors import InvalidInputError

CAPACITY = 128
MAX_GATES = 2048


@dataclass(frozen=True, slots=True)
class ModelKey:
    """What makes two configurations the same model object."""

    credential_id: str
    credential_version: str
    """Changes with every edit of the credential, e.g. its `updated_at`."""
    model: str
    dimensions: int
    parameters: str = "{}"

    @classmethod
    def of(
        cls,
        credential_id: str,
        credential_version: object,
        model: str,
        dimensions: int,
        parameters: Mapping[str, Any] | None = None,
    ) -> "ModelKey":
        """Return the key of a configuration as records hold it."""
        text = json.dumps(dict(parameters or {}), sort_keys=True, default=str)
        return cls(credential_id, str(credential_version), model, dimensions, text)


class EmbeddingModelPool:
    """Builds models on demand, keeps the 128 used last, and one gate per credential."""

    def __init__(
        self,
        *,
        local: EmbeddingModelBase | None = None,
        capacity: int = CAPACITY,
        cache: EmbeddingCacheBase | None = None,
        allow_url: Callable[[str], None] | None = None,
        request_timeout_seconds: float = 30.0,
        concurrency: int = 8,
        clock: Clock | None = None,
    ) -> None:
        """`local` is the model of the virtual credential; the pool closes it as its own."""
        self._local = local
        self._capacity = capacity
        self._cache = cache
        self._allow_url = allow_url
        self._timeout = request_timeout_seconds
        self._concurrency = concurrency
        self._clock = clock or SystemClock()
        self._models: OrderedDict[ModelKey, EmbeddingModelBase] = OrderedDict()
        self._gates: OrderedDict[str, CredentialGate] = OrderedDict()
        self._retired: list[EmbeddingModelBase] = []

    async def get(self, key: ModelKey, load: Callable[[], CredentialBase]) -> EmbeddingModelBase:
        """Return the model of `key`; `load` opens the credential only if it must be built.

        Raises:
            InvalidInputError: the credential has no embedding models, or not this one.
            ConfigurationError: the model cannot be built with these dimensions or parameters.
        """
        if key.credential_id == LOCAL_CREDENTIAL_ID:
            return self._local_model(key)
        model = self._models.get(key)
        if model is None:
            model = self._models[key] = self._build(key, load())
        self._models.move_to_end(key)
        while len(self._models) > self._capacity:
            self._retired.append(self._models.popitem(last=False)[1])
        await self._close_retired()
        return model

    def transport(self, credential_id: str) -> Transport:
        """Return how requests of a credential are sent: policy, timeout and its gate."""
        return Transport(
            allow_url=self._allow_url,
            gate=self.gate(credential_id),
            request_timeout_seconds=self._timeout,
            clock=self._clock,
        )

    def gate(self, credential_id: str) -> CredentialGate:
        """Return the gate that all models of a credential share."""
        gate = self._gates.get(credential_id)
        if gate is None:
            gate = CredentialGate(concurrency=self._concurrency, clock=self._clock)
            self._gates[credential_id] = gate
        self._gates.move_to_end(credential_id)
        while len(self._gates) > MAX_GATES:
            self._gates.popitem(last=False)
        return gate

    def open_seconds(self, credential_id: str) -> float:
        """Return for how long a provider that failed is left alone; 0 when it may be asked."""
        gate = self._gates.get(credential_id)
        return gate.breaker.open_seconds() if gate is not None else 0.0

    def forget(self, credential_id: str) -> None:
        """Drop every model of a credential that was changed or deleted, and its gate."""
        for key in [key for key in self._models if key.credential_id == credential_id]:
            self._retired.append(self._models.pop(key))
        self._gates.pop(credential_id, None)

    async def aclose(self) -> None:
        """Close every model, the local one and the cache."""
        self._retired.extend(self._models.values())
        self._models.clear()
        if self._local is not None:
            self._retired.append(self._local)
        await self._close_retired()
        if self._cache is not None:
            await self._cache.aclose()

    def _local_model(self, key: ModelKey) -> EmbeddingModelBase:
        local = self._local
        if local is None:
            raise InvalidInputError("The embedding model of this machine is switched off.")
        if (key.model, key.dimensions) != (local.model, local.dimensions):
            raise InvalidInputError(
                f"The embedding model of this machine is '{local.model}' "
                f"with {local.dimensions} dimensions."
            )
        return local

    def _build(self, key: ModelKey, credential: CredentialBase) -> EmbeddingModelBase:
        model_class: Any = credential.get_embedding_model_class()
        if model_class is None:
            raise InvalidInputError("This provider has no embedding models.")
        # Classes that embedders register take the documented arguments only.
        ours = issubclass(model_class, RemoteEmbeddingModel)
        options: dict[str, Any] = {}
        if ours:
            options["embedding_cache"] = self._cache
            options["transport"] = self.transport(key.credential_id)
        model = model_class(
            credential=credential,
            model=key.model,
            dimensions=key.dimensions,
            parameters=json.loads(key.parameters),
            **options,
        )
        assert isinstance(model, EmbeddingModelBase)
        return model

    async def _close_retired(self) -> None:
        retired, self._retired = self._retired, []
        await asyncio.gather(*(model.aclose() for model in retired))
