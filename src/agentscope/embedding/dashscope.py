"""DashScope: text over its OpenAI-compatible address, text and images over its own protocol."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentscope.credential.dashscope import DashScopeCredential
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.batching import RequestLimits
from agentscope.embedding.cache import EmbeddingCacheBase
from agentscope.embedding.cards import DASHSCOPE_CARDS, find_card
from agentscope.embedding.media import inline_image
from agentscope.embedding.openai_compatible import openai_answer
from agentscope.embedding.provider_client import ProviderClient, Transport
from agentscope.embedding.remote import (
    Answer,
    Item,
    RemoteEmbeddingModel,
    chosen_dimensions,
    plain_parameters,
)
from agentscope.errors import EmbeddingError

_MULTIMODAL_PREFIXES = (
    "multimodal-embedding",
    "qwen3-vl-embedding",
    "qwen2.5-vl-embedding",
    "tongyi-embedding-vision",
)
_FIXED_DIMENSIONS = ("multimodal-embedding-v1",)
_COMPATIBLE = "/compatible-mode/v1"
_MULTIMODAL_PATH = "/api/v1/services/embeddings/multimodal-embedding/multimodal-embedding"

TEXT_BATCH = 10
MULTIMODAL_BATCH = 20


class DashScopeEmbeddingModel(RemoteEmbeddingModel):
    """Text models, and multimodal ones by the beginning of their name."""

    provider_name = "dashscope"
    built_in_cards = DASHSCOPE_CARDS

    def __init__(  # noqa: PLR0913, PLR0917 - the documented signature
        self,
        credential: DashScopeCredential,
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
        card = find_card(self.built_in_cards, model)
        self.credential = credential
        self.model = model
        self.parameters = parameters
        self.supports_multimodal = model.startswith(_MULTIMODAL_PREFIXES)
        self.dimensions = chosen_dimensions(dimensions, extra, card.dimensions if card else None)
        self.context_size = context_size or (card.context_size if card else None) or 8192
        self.batch_size = batch_size or (
            MULTIMODAL_BATCH if self.supports_multimodal else TEXT_BATCH
        )
        self._extra = {name: value for name, value in extra.items() if name != "dimensions"}
        base = (transport.base_url or credential.base_url).strip().rstrip("/")
        self._url = f"{base}/embeddings"
        if self.supports_multimodal:
            self._url = base.removesuffix(_COMPATIBLE).removesuffix("/api/v1") + _MULTIMODAL_PATH
        secret = credential.api_key.get_secret_value().strip()
        client = ProviderClient(
            provider=self.provider_name,
            headers={"Authorization": f"Bearer {secret}"},
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
                "model": model,
                "dimensions": self.dimensions,
                "parameters": self._extra,
            },
            limits=RequestLimits(self.batch_size, size_bytes=16 << 20),
            cache=embedding_cache,
        )

    async def _request(self, items: Sequence[Item], *, query: bool) -> Answer:
        if self.supports_multimodal:
            body = self._multimodal_body(items)
            return _multimodal_answer(await self._client.send("POST", self._url, body, query=query))
        body = {
            "input": list(items),
            "model": self.model,
            "encoding_format": "float",
            "dimensions": self.dimensions,
            **self._extra,
        }
        payload = await self._client.send("POST", self._url, body, query=query)
        return openai_answer(payload, self.provider_name)

    def _multimodal_body(self, items: Sequence[Item]) -> dict[str, Any]:
        contents: list[dict[str, str]] = []
        for item in items:
            if isinstance(item, str):
                contents.append({"text": item})
            else:
                source = inline_image(item)
                contents.append({"image": f"data:{source.media_type};base64,{source.data}"})
        parameters = dict(self._extra)
        if self.model not in _FIXED_DIMENSIONS:
            parameters["dimension"] = self.dimensions
        return {"model": self.model, "input": {"contents": contents}, "parameters": parameters}


def _multimodal_answer(payload: Any) -> Answer:
    output = payload.get("output") if isinstance(payload, dict) else None
    rows = output.get("embeddings") if isinstance(output, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise EmbeddingError(
            "The embedding provider's answer holds no vectors.",
            provider=DashScopeEmbeddingModel.provider_name,
            retryable=False,
        )
    if all(isinstance(row.get("index"), int) for row in rows):
        rows = sorted(rows, key=lambda row: int(row["index"]))
    usage = payload.get("usage")
    counted = usage if isinstance(usage, dict) else {}
    tokens = sum(
        value
        for name in ("input_tokens", "image_tokens")
        if isinstance(value := counted.get(name), int)
    )
    return Answer([row.get("embedding") for row in rows], tokens)
