"""Gemini: `models/{model}:batchEmbedContents` with one content per input."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from agentscope.credential.gemini import GeminiCredential
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.batching import RequestLimits
from agentscope.embedding.cache import EmbeddingCacheBase
from agentscope.embedding.cards import GEMINI_CARDS, find_card
from agentscope.embedding.media import inline_image
from agentscope.embedding.provider_client import ProviderClient, Transport
from agentscope.embedding.remote import (
    Answer,
    Item,
    RemoteEmbeddingModel,
    chosen_dimensions,
    plain_parameters,
)
from agentscope.errors import EmbeddingError

GEMINI_BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
TEXT_BATCH = 100
MULTIMODAL_BATCH = 20


class GeminiEmbeddingModel(RemoteEmbeddingModel):
    """Gemini embeddings; `gemini-embedding-2` takes images as well."""

    provider_name = "gemini"
    built_in_cards = GEMINI_CARDS

    def __init__(  # noqa: PLR0913, PLR0917 - the documented signature
        self,
        credential: GeminiCredential,
        model: str,
        dimensions: int | None = None,
        parameters: EmbeddingModelBase.Parameters | Mapping[str, Any] | None = None,
        embedding_cache: EmbeddingCacheBase | None = None,
        context_size: int | None = None,
        max_retries: int = 3,
        retry_delay: float = 1.0,
        batch_size: int | None = None,
        *,
        transport: Transport | None = None,
    ) -> None:
        transport = transport or Transport()
        extra = plain_parameters(parameters)
        name = model.removeprefix("models/")
        card = find_card(self.built_in_cards, name)
        self.credential = credential
        self.model = model
        self.parameters = parameters
        self.supports_multimodal = name.startswith("gemini-embedding-2")
        self.dimensions = chosen_dimensions(dimensions, extra, card.dimensions if card else None)
        self.context_size = context_size or (card.context_size if card else None) or 8192
        self.batch_size = batch_size or (
            MULTIMODAL_BATCH if self.supports_multimodal else TEXT_BATCH
        )
        self._extra = {key: value for key, value in extra.items() if key != "dimensions"}
        self._path = f"models/{quote(name, safe='')}"
        base = (transport.base_url or GEMINI_BASE_URL).strip().rstrip("/")
        self._url = f"{base}/{self._path}:batchEmbedContents"
        secret = credential.api_key.get_secret_value().strip()
        client = ProviderClient(
            provider=self.provider_name,
            headers={"x-goog-api-key": secret},
            secret=secret,
            transport=transport,
            tries=max_retries,
            retry_delay=retry_delay,
        )
        self._set_up(
            client,
            identity={
                "url": self._url,
                "credential": credential.id,
                "dimensions": self.dimensions,
                "parameters": self._extra,
            },
            limits=RequestLimits(self.batch_size, size_bytes=16 << 20),
            cache=embedding_cache,
        )

    async def _request(self, items: Sequence[Item], *, query: bool) -> Answer:
        requests = [
            {
                "model": self._path,
                "content": {"parts": [_part(item)]},
                "outputDimensionality": self.dimensions,
                **self._extra,
            }
            for item in items
        ]
        payload = await self._client.send("POST", self._url, {"requests": requests}, query=query)
        rows = payload.get("embeddings") if isinstance(payload, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise EmbeddingError(
                "The embedding provider's answer holds no vectors.",
                provider=self.provider_name,
                retryable=False,
            )
        return Answer([row.get("values") for row in rows])


def _part(item: Item) -> dict[str, Any]:
    if isinstance(item, str):
        return {"text": item}
    source = inline_image(item)
    return {"inline_data": {"mime_type": source.media_type, "data": source.data}}
