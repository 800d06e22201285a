"""Rerankers behind HTTP: Text Embeddings Inference, Cohere, Jina and servers that speak alike."""

import asyncio
import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pydantic_core

from agentscope import outgoing
from agentscope.errors import AgentScopeError, PermissionDeniedError, RerankError
from agentscope.optional import require
from agentscope.rerank.base import RerankerBase

if TYPE_CHECKING:
    import httpx

MAX_TEXTS = 200
MAX_CHARACTERS = 8000
MAX_ANSWER_BYTES = 4 << 20
TRIES = 2


class RerankProtocol(StrEnum):
    """Which words the server understands."""

    TEI = "tei"  # {query, texts} -> [{index, score}]
    COHERE = "cohere"  # {model, query, documents, top_n} -> {results: [{index, relevance_score}]}
    JINA = "jina"  # as Cohere; also vLLM, Xinference, SiliconFlow and others


class HTTPReranker(RerankerBase):
    """Asks `POST {url}` once per 200 texts, and once more when a failure may pass at once.

    `url` is the full address of the rerank route. Proxies of the environment are ignored and
    redirects are not followed.
    """

    def __init__(
        self,
        url: str,
        *,
        protocol: RerankProtocol | str = RerankProtocol.JINA,
        model: str | None = None,
        api_key: str | None = None,
        batch_size: int = MAX_TEXTS,
        timeout_seconds: float = 15.0,
        allow_url: Callable[[str], None] | None = None,
    ) -> None:
        self._url = url.strip()
        self._protocol = RerankProtocol(protocol)
        self._model = model
        self._headers = {"Content-Type": b"application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key.strip()}".encode()
        self._batch_size = max(1, min(batch_size, MAX_TEXTS))
        self._timeout = timeout_seconds
        self._allow_url = allow_url
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(texts), self._batch_size):
            batch = [_sendable(text) for text in texts[start : start + self._batch_size]]
            scores.extend(await self._score(_sendable(query), batch))
        return scores

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _score(self, query: str, texts: list[str]) -> list[float]:
        body = self._body(query, texts)
        for tried in range(1, TRIES + 1):
            try:
                return _scores(await self._once(body), len(texts))
            except RerankError as exc:
                if not exc.retryable or tried == TRIES:
                    raise
        raise AssertionError("the last try returns or raises")

    def _body(self, query: str, texts: list[str]) -> dict[str, Any]:
        if self._protocol is RerankProtocol.TEI:
            return {"query": query, "texts": texts, "truncate": True, "raw_scores": False}
        body: dict[str, Any] = {"query": query, "documents": texts, "top_n": len(texts)}
        if self._protocol is RerankProtocol.JINA:
            body["return_documents"] = False
        if self._model is not None:
            body["model"] = self._model
        return body

    async def _once(self, body: dict[str, Any]) -> Any:
        if self._allow_url is not None:
            try:
                await asyncio.to_thread(self._allow_url, self._url)
            except AgentScopeError as exc:
                raise RerankError(exc.message, retryable=False) from exc
        client = await self._open()
        library = _httpx()
        try:
            async with asyncio.timeout(self._timeout):
                status, content = await self._exchange(client, pydantic_core.to_json(body))
        except PermissionDeniedError as exc:
            raise RerankError(exc.message, retryable=False) from exc
        except (TimeoutError, library.TimeoutException) as exc:
            # No second try: a search should not wait twice as long for a better order.
            raise RerankError("The reranker did not answer in time.", retryable=False) from exc
        except (library.UnsupportedProtocol, library.InvalidURL, library.LocalProtocolError) as exc:
            raise RerankError("The address of the reranker is not valid.", retryable=False) from exc
        except library.HTTPError as exc:
            raise RerankError("The reranker cannot be reached.") from exc
        if status in (401, 403):
            raise RerankError(f"The reranker refused the credential ({status}).", retryable=False)
        if status != 200:
            raise RerankError(
                f"The reranker answered with status {status}.",
                retryable=status == 429 or status >= 500,
            )
        try:
            return pydantic_core.from_json(content)
        except ValueError as exc:
            raise RerankError("The reranker did not answer with valid JSON.") from exc

    async def _exchange(self, client: "httpx.AsyncClient", content: bytes) -> tuple[int, bytes]:
        async with client.stream("POST", self._url, content=content) as answer:
            parts = bytearray()
            async for part in answer.aiter_bytes():
                parts += part
                if len(parts) > MAX_ANSWER_BYTES:
                    raise RerankError("The reranker's answer is too large.", retryable=False)
            return answer.status_code, bytes(parts)

    async def _open(self) -> "httpx.AsyncClient":
        loop = asyncio.get_running_loop()
        async with self._opening:
            if self._client is None or self._loop is not loop:
                # Loading certificates takes 30 ms or more: not on the event loop.
                context = await asyncio.to_thread(outgoing.ssl_context)
                library = _httpx()
                client = outgoing.client(
                    self._allow_url,
                    context=context,
                    headers=self._headers,
                    timeout=library.Timeout(None, connect=min(10.0, self._timeout)),
                )
                self._client, self._loop = client, loop
            return self._client


def _scores(payload: Any, count: int) -> list[float]:
    """Read the scores in input order, from a bare list or an object with `results` or `data`."""
    rows = payload
    if isinstance(payload, dict):
        rows = payload.get("results", payload.get("data"))
    scores: list[float | None] = [None] * count
    for row in rows if isinstance(rows, list) else []:
        index = row.get("index") if isinstance(row, dict) else None
        if not isinstance(index, int) or not 0 <= index < count:
            raise RerankError("The reranker numbered its results wrongly.", retryable=False)
        scores[index] = _score_of(row)
    found = [score for score in scores if score is not None]
    if len(found) != count:
        raise RerankError(f"The reranker scored {len(found)} of {count} texts.", retryable=False)
    return found


def _score_of(row: dict[str, Any]) -> float:
    score = row.get("relevance_score", row.get("score"))
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not math.isfinite(score):
        raise RerankError("The reranker returned something that is not a score.", retryable=False)
    return float(score)


def _sendable(text: str) -> str:
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _httpx() -> Any:
    # A base dependency that costs 400 ms to load: only those who rerank pay.
    return require("httpx", package="httpx", extra="all")
