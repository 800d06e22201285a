"""Asks a self-hosted server which embedding models it has, so that users can pick one.

Only servers that a credential names are asked, with a short timeout; an answer, also a failed
one, is remembered for a while. Dimensions come from a table of well-known models or from one
embedded word.
"""

import asyncio
import dataclasses
import logging
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from agentscope.credential.base import CredentialBase
from agentscope.credential.ollama import OllamaCredential
from agentscope.credential.openai import OpenAICredential
from agentscope.embedding.base import EmbeddingModelCard
from agentscope.embedding.cards import known_dimensions, looks_like_embedding
from agentscope.embedding.ollama import ollama_base_url
from agentscope.embedding.openai_compatible import (
    openai_answer,
    openai_base_url,
    openai_headers,
)
from agentscope.embedding.provider_client import ProviderClient, Transport
from agentscope.embedding.remote import RemoteEmbeddingModel
from agentscope.errors import EmbeddingError, InvalidInputError

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS = 3.0
REMEMBERED_SECONDS = 300.0
MAX_REMEMBERED = 1024
MAX_CARDS = 50
MAX_PROBES = 8
_WORD = "word"


class ModelDiscovery:
    """Lists the embedding models of servers that credentials point to."""

    def __init__(self, transport: Transport | None = None) -> None:
        """`transport` brings the URL policy and the clock; its timeout is not used."""
        self._transport = transport or Transport()
        self._known: OrderedDict[tuple[str, str], tuple[float, list[EmbeddingModelCard]]] = (
            OrderedDict()
        )

    async def cards(self, credential: CredentialBase, version: object) -> list[EmbeddingModelCard]:
        """Return the cards of the server's embedding models; none if it cannot be asked.

        `version` changes with every edit of the credential. Never raises for a server's fault.
        """
        key = (credential.id, str(version))
        now = self._transport.clock.monotonic()
        known = self._known.get(key)
        if known is not None and now - known[0] < REMEMBERED_SECONDS:
            return known[1]
        server = _server_of(credential, self._transport)
        found = await self._ask(server) if server is not None else []
        self._known[key] = (now, found)
        self._known.move_to_end(key)
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return found

    async def check(self, credential: CredentialBase) -> None:
        """Try a credential: list a server's models, else embed one word with the first card.

        Raises:
            EmbeddingError: what is wrong, in words for the user; the class tells the kind.
            InvalidInputError: the provider has no embedding models to try it with.
        """
        server = _server_of(credential, self._transport, ask_provider=True)
        if server is not None:
            try:
                await server.names()
            finally:
                await server.aclose()
            return
        model_class: Any = credential.get_embedding_model_class()
        cards = model_class.list_models() if model_class is not None else []
        if not cards or not issubclass(model_class, RemoteEmbeddingModel):
            raise InvalidInputError("This provider has no embedding models to try.")
        options: dict[str, Any] = {"max_retries": 1, "transport": _quick(self._transport)}
        async with model_class(credential, cards[0].name, **options) as model:
            await model([_WORD])

    async def _ask(self, server: "_Server") -> list[EmbeddingModelCard]:
        try:
            names = await server.names()
            wanted = [name for name in names if looks_like_embedding(name)][:MAX_CARDS]
            unknown = [name for name in wanted if known_dimensions(name) is None][:MAX_PROBES]
            probed = dict(
                zip(unknown, await asyncio.gather(*map(server.probe, unknown)), strict=True)
            )
        except EmbeddingError as exc:
            logger.info("embedding_models_not_discovered", extra={"reason": exc.message})
            return []
        finally:
            await server.aclose()
        cards = []
        for name in wanted:
            dimensions = known_dimensions(name) or probed.get(name)
            if dimensions:
                cards.append(EmbeddingModelCard(name=name, label=name, dimensions=dimensions))
        return cards


class _Server:
    """The two questions, in the words of an OpenAI-compatible server."""

    models_path = "/models"
    embed_path = "/embeddings"

    def __init__(self, base_url: str, client: ProviderClient) -> None:
        self._base_url = base_url
        self._client = client

    async def names(self) -> list[str]:
        payload = await self._client.send("GET", self._base_url + self.models_path)
        return self._names_in(payload)

    async def probe(self, name: str) -> int | None:
        """Return the dimensions of one vector; None if the server makes none."""
        body = {"model": name, "input": [_WORD]}
        try:
            payload = await self._client.send("POST", self._base_url + self.embed_path, body)
            (vector,) = self._vectors_in(payload)
        except (EmbeddingError, ValueError):
            return None
        return len(vector) if isinstance(vector, list) and vector else None

    async def aclose(self) -> None:
        await self._client.aclose()

    def _names_in(self, payload: Any) -> list[str]:
        return _texts(payload, "data", "id")

    def _vectors_in(self, payload: Any) -> Sequence[Any]:
        return openai_answer(payload, "openai").vectors


class _OllamaServer(_Server):
    models_path = "/api/tags"
    embed_path = "/api/embed"

    def _names_in(self, payload: Any) -> list[str]:
        return _texts(payload, "models", "name")

    def _vectors_in(self, payload: Any) -> Sequence[Any]:
        vectors = payload.get("embeddings") if isinstance(payload, dict) else None
        return vectors if isinstance(vectors, list) else []


def _quick(transport: Transport) -> Transport:
    """Return `transport` with short timeouts and a gate of its own."""
    return dataclasses.replace(
        transport,
        gate=None,
        request_timeout_seconds=TIMEOUT_SECONDS,
        connect_timeout_seconds=TIMEOUT_SECONDS,
    )


def _server_of(
    credential: CredentialBase, transport: Transport, *, ask_provider: bool = False
) -> _Server | None:
    """Return the server to ask; OpenAI itself only when `ask_provider`, as its cards are known."""
    quick = _quick(transport)
    if isinstance(credential, OpenAICredential) and (credential.base_url or ask_provider):
        client = ProviderClient(
            provider="openai",
            headers=openai_headers(credential),
            secret=credential.api_key.get_secret_value(),
            transport=quick,
            tries=1,
        )
        return _Server(openai_base_url(credential, quick), client)
    if isinstance(credential, OllamaCredential):
        client = ProviderClient(provider="ollama", headers={}, secret="", transport=quick, tries=1)
        return _OllamaServer(ollama_base_url(credential, quick), client)
    return None


def _texts(payload: Any, rows_name: str, text_name: str) -> list[str]:
    rows = payload.get(rows_name) if isinstance(payload, dict) else None
    if not isinstance(rows, list):
        return []
    found = [row.get(text_name) for row in rows if isinstance(row, dict)]
    return sorted({text for text in found if isinstance(text, str) and 0 < len(text) <= 200})
