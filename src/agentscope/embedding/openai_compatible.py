"""Any provider that speaks OpenAI's `POST /embeddings`, self-hosted servers included."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentscope.credential.openai import OpenAICredential
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.batching import RequestLimits
from agentscope.embedding.cache import EmbeddingCacheBase
from agentscope.embedding.cards import OPENAI_CARDS, find_card
from agentscope.embedding.provider_client import ProviderClient, Transport, refused
from agentscope.embedding.remote import (
    Answer,
    Item,
    RemoteEmbeddingModel,
    chosen_dimensions,
    plain_parameters,
)
from agentscope.errors import EmbeddingError, EmbeddingInputError

OPENAI_BASE_URL = "https://api.openai.com/v1"


class OpenAIEmbeddingModel(RemoteEmbeddingModel):
    """Text embeddings over the OpenAI protocol; the address comes from the credential."""

    provider_name = "openai"
    built_in_cards = OPENAI_CARDS

    def __init__(  # noqa: PLR0913, PLR0917 - the documented signature
        self,
        credential: OpenAICredential,
        model: str,
        dimensions: int | None = None,
        parameters: EmbeddingModelBase.Parameters | Mapping[str, Any] | None = None,
        pass_dimensions: bool = True,
        embedding_cache: EmbeddingCacheBase | None = None,
        context_size: int = 8191,
        max_retries: int = 3,
        retry_delay: float = 1.0,
        batch_size: int = 2048,
        *,
        transport: Transport | None = None,
    ) -> None:
        """Take the documented arguments; `max_retries` counts all tries of a request."""
        transport = transport or Transport()
        extra = plain_parameters(parameters)
        card = find_card(self.built_in_cards, model)
        self.credential = credential
        self.model = model
        self.parameters = parameters
        self.dimensions = chosen_dimensions(dimensions, extra, card.dimensions if card else None)
        self.context_size = context_size
        self.batch_size = batch_size
        self._extra = {name: value for name, value in extra.items() if name != "dimensions"}
        self._pass_dimensions = pass_dimensions
        self._url = openai_base_url(credential, transport) + "/embeddings"
        secret = credential.api_key.get_secret_value().strip()
        client = ProviderClient(
            provider=self.provider_name,
            headers=openai_headers(credential),
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
            limits=RequestLimits(batch_size),
            cache=embedding_cache,
        )

    async def _request(self, items: Sequence[Item], *, query: bool) -> Answer:
        body: dict[str, Any] = {
            "input": list(items),
            "model": self.model,
            "encoding_format": "float",
            **self._extra,
        }
        dimensions_sent = self._pass_dimensions
        if dimensions_sent:
            body["dimensions"] = self.dimensions
        try:
            payload = await self._client.send("POST", self._url, body, query=query)
        except EmbeddingInputError as exc:
            exc.context["dimensions_sent"] = dimensions_sent
            raise
        return openai_answer(payload, self.provider_name)

    def _accept(self, exc: EmbeddingInputError) -> bool:
        """Go on without `dimensions` when the server does not know it; lengths are checked."""
        reason = refused(exc)
        if exc.context.get("dimensions_sent") and ("dimension" in reason or "matryoshka" in reason):
            self._pass_dimensions = False
            return True
        return False


def openai_headers(credential: OpenAICredential) -> dict[str, str]:
    """Return the headers that identify the caller."""
    headers = {"Authorization": f"Bearer {credential.api_key.get_secret_value().strip()}"}
    if credential.organization:
        headers["OpenAI-Organization"] = credential.organization.strip()
    return headers


def openai_answer(payload: Any, provider: str) -> Answer:
    """Read vectors, in input order, and tokens from an answer in OpenAI's form.

    Raises:
        EmbeddingError: it has another form; final.
    """
    data = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise EmbeddingError(
            "The embedding provider's answer holds no vectors.", provider=provider, retryable=False
        )
    numbers = [row.get("index") for row in data]
    if all(isinstance(number, int) for number in numbers):
        if sorted(numbers) != list(range(len(data))):
            raise EmbeddingError(
                "The embedding provider numbered its vectors wrongly.",
                provider=provider,
                retryable=False,
            )
        data = sorted(data, key=lambda row: int(row["index"]))
    return Answer([row.get("embedding") for row in data], tokens_in(payload))


def tokens_in(payload: Mapping[str, Any]) -> int:
    """Return the tokens an answer in OpenAI's form says it counted."""
    usage = payload.get("usage")
    if not isinstance(usage, dict):
        return 0
    tokens = usage.get("total_tokens") or usage.get("prompt_tokens") or 0
    return tokens if isinstance(tokens, int) and tokens >= 0 else 0


def openai_base_url(credential: OpenAICredential, transport: Transport) -> str:
    """Return the address of the server, without a slash at the end."""
    return (transport.base_url or credential.base_url or OPENAI_BASE_URL).strip().rstrip("/")
