"""Ollama: `POST /api/embed` of a server that needs no key."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentscope.credential.ollama import OllamaCredential
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.batching import RequestLimits
from agentscope.embedding.cache import EmbeddingCacheBase
from agentscope.embedding.cards import known_dimensions
from agentscope.embedding.provider_client import ProviderClient, Transport
from agentscope.embedding.remote import (
    Answer,
    Item,
    RemoteEmbeddingModel,
    chosen_dimensions,
    plain_parameters,
)
from agentscope.errors import EmbeddingError

OLLAMA_HOST = "http://localhost:11434"


class OllamaEmbeddingModel(RemoteEmbeddingModel):
    """Text embeddings of an Ollama server; it has no fixed cards, models are discovered."""

    provider_name = "ollama"

    def __init__(  # noqa: PLR0913, PLR0917 - the documented signature
        self,
        credential: OllamaCredential,
        model: str,
        dimensions: int | None = None,
        parameters: EmbeddingModelBase.Parameters | Mapping[str, Any] | None = None,
        embedding_cache: EmbeddingCacheBase | None = None,
        context_size: int = 8192,
        max_retries: int = 3,
        retry_delay: float = 1.0,
        batch_size: int = 512,
        *,
        transport: Transport | None = None,
    ) -> None:
        transport = transport or Transport()
        extra = plain_parameters(parameters)
        self.credential = credential
        self.model = model
        self.parameters = parameters
        self.dimensions = chosen_dimensions(dimensions, extra, known_dimensions(model))
        self.context_size = context_size
        self.batch_size = batch_size
        self._extra = {name: value for name, value in extra.items() if name != "dimensions"}
        self._url = f"{ollama_base_url(credential, transport)}/api/embed"
        client = ProviderClient(
            provider=self.provider_name,
            headers={},
            secret="",
            transport=transport,
            tries=max_retries,
            retry_delay=retry_delay,
        )
        self._set_up(
            client,
            identity={
                "url": self._url,
                "credential": credential.id,
                "model": model,
                "dimensions": self.dimensions,
                "parameters": self._extra,
            },
            limits=RequestLimits(batch_size),
            cache=embedding_cache,
        )

    async def _request(self, items: Sequence[Item], *, query: bool) -> Answer:
        body = {"truncate": True, **self._extra, "model": self.model, "input": list(items)}
        # A server too old for `dimensions` ignores it; the length of the answer is checked.
        body["dimensions"] = self.dimensions
        payload = await self._client.send("POST", self._url, body, query=query)
        rows = payload.get("embeddings") if isinstance(payload, dict) else None
        if not isinstance(rows, list):
            raise EmbeddingError(
                "The embedding provider's answer holds no vectors.",
                provider=self.provider_name,
                retryable=False,
            )
        tokens = payload.get("prompt_eval_count")
        return Answer(rows, tokens if isinstance(tokens, int) else 0)


def ollama_base_url(credential: OllamaCredential, transport: Transport) -> str:
    """Return the address of the server, without a slash at the end."""
    host = (transport.base_url or credential.host or OLLAMA_HOST).strip().rstrip("/")
    return host if "://" in host else f"http://{host}"
