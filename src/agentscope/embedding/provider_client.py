"""One HTTP client per model object: built at the first request, closed when nobody uses it.

Proxies and certificates from the environment are ignored and redirects are not followed, so a
request goes where the credential says or nowhere. A request has one total timeout; what may
pass soon is tried again in place, at most 3 times in all.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pydantic_core

from agentscope import observe, outgoing
from agentscope.clock import Clock, SystemClock
from agentscope.embedding.gate import CredentialGate
from agentscope.embedding.provider_errors import failure, is_error, retry_after
from agentscope.errors import (
    AgentScopeError,
    EmbeddingError,
    EmbeddingInputError,
    EmbeddingTimeoutError,
    PermissionDeniedError,
)
from agentscope.optional import require

if TYPE_CHECKING:
    import httpx

MAX_ANSWER_BYTES = 64 << 20
_RANDOM = secrets.SystemRandom()


@dataclass(frozen=True, slots=True)
class Transport:
    """How requests are sent; `allow_url` raises for addresses that policy forbids."""

    allow_url: Callable[[str], None] | None = None
    """Called in a thread before each request, so it may resolve names."""
    gate: CredentialGate | None = None
    base_url: str | None = None
    """Overrides the address of the credential."""
    request_timeout_seconds: float = 30.0
    connect_timeout_seconds: float = 10.0
    longest_wait_seconds: float = 5.0
    """Longer pauses than this are left to the caller, who gets `retry_after_seconds`."""
    clock: Clock = field(default_factory=SystemClock)


@dataclass(slots=True)
class _Session:
    client: "httpx.AsyncClient"
    loop: asyncio.AbstractEventLoop
    users: int = 0
    retired: bool = False


class ProviderClient:
    """Sends JSON to one provider and returns JSON, or one clear error.

    `aclose` releases the connections; requests in flight finish, and a later request opens new
    ones, so closing an object that somebody still holds is harmless.
    """

    def __init__(
        self,
        *,
        provider: str,
        headers: Mapping[str, str],
        secret: str,
        transport: Transport,
        tries: int = 3,
        retry_delay: float = 1.0,
    ) -> None:
        self.provider = provider
        self.transport = transport
        self.gate = transport.gate or CredentialGate()
        self._headers = {name: value.encode() for name, value in headers.items()}
        self._secret = secret
        self._tries = max(1, tries)
        self._retry_delay = retry_delay
        self._session: _Session | None = None
        self._opening = asyncio.Lock()

    async def send(
        self, method: str, url: str, body: Mapping[str, Any] | None = None, *, query: bool = False
    ) -> Any:
        """Return the parsed JSON of a successful answer.

        Raises:
            EmbeddingError: with the subclass and the waiting time that the failure asks for.
        """
        breaker = self.gate.breaker
        breaker.ensure_closed(self.provider)
        tried = 0
        while True:
            tried += 1
            try:
                async with self.gate.place(query=query):
                    answer = await self._once(method, url, body)
            except EmbeddingTimeoutError:
                breaker.record_failure()
                raise
            except EmbeddingError as exc:
                again = exc.retryable or "bad_answer" in exc.context
                pause = self._pause(tried, exc.retry_after_seconds)
                if again and tried < self._tries and pause <= self.transport.longest_wait_seconds:
                    await asyncio.sleep(pause)
                    continue
                if exc.retryable:
                    breaker.record_failure(exc.retry_after_seconds)
                raise
            breaker.record_success()
            return answer

    async def aclose(self) -> None:
        """Close the connections as soon as no request uses them."""
        session, self._session = self._session, None
        if session is not None:
            session.retired = True
            await _close_if_unused(session)

    def _pause(self, tried: int, asked: float | None) -> float:
        if asked is not None:
            return asked
        return self._retry_delay * 2.0 ** (tried - 1) * _RANDOM.uniform(0.5, 1.0)

    async def _once(self, method: str, url: str, body: Mapping[str, Any] | None) -> Any:
        await self._check_url(url)
        session = await self._open()
        session.users += 1
        try:
            async with asyncio.timeout(self.transport.request_timeout_seconds):
                status, headers, content = await self._exchange(session, method, url, body)
        except TimeoutError as exc:
            raise EmbeddingTimeoutError(
                "The embedding provider did not answer in time.", provider=self.provider
            ) from exc
        finally:
            session.users -= 1
            await _close_if_unused(session)
        return self._read(status, headers, content)

    async def _exchange(
        self, session: _Session, method: str, url: str, body: Mapping[str, Any] | None
    ) -> tuple[int, Mapping[str, str], bytes]:
        httpx = _httpx()
        content = pydantic_core.to_json(body) if body is not None else None
        try:
            async with AsyncExitStack() as stack:
                answer = await stack.enter_async_context(
                    session.client.stream(method, url, content=content)
                )
                parts = bytearray()
                async for part in answer.aiter_bytes():
                    parts += part
                    if len(parts) > MAX_ANSWER_BYTES:
                        raise self._bad_answer("The embedding provider's answer is too large.")
                observe.provider_answered(answer.status_code)
                return answer.status_code, answer.headers, bytes(parts)
        except PermissionDeniedError as exc:
            raise self._refused(exc) from exc
        except httpx.TimeoutException as exc:
            raise TimeoutError from exc
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError) as exc:
            raise EmbeddingError(
                "The address of the embedding provider is not valid.",
                provider=self.provider,
                retryable=False,
            ) from exc
        except httpx.HTTPError as exc:
            raise EmbeddingError(
                "The embedding provider cannot be reached.", provider=self.provider
            ) from exc

    def _read(self, status: int, headers: Mapping[str, str], content: bytes) -> Any:
        if 300 <= status < 400:
            raise EmbeddingError(
                f"The embedding provider answered with a redirect ({status}), which is not "
                "followed. Check the base URL.",
                provider=self.provider,
                retryable=False,
            )
        try:
            payload = pydantic_core.from_json(content)
        except ValueError as exc:
            if status < 300:
                raise self._bad_answer(
                    "The embedding provider did not answer with valid JSON."
                ) from exc
            payload = None
        if status >= 300 or is_error(payload):
            raise failure(
                status,
                payload,
                provider=self.provider,
                secret=self._secret,
                wait=retry_after(headers, self.transport.clock.now()),
            )
        return payload

    def _bad_answer(self, message: str) -> EmbeddingError:
        return EmbeddingError(
            message, provider=self.provider, retryable=False, context={"bad_answer": True}
        )

    async def _check_url(self, url: str) -> None:
        allow_url = self.transport.allow_url
        if allow_url is None:
            return
        try:
            await asyncio.to_thread(allow_url, url)
        except EmbeddingError:
            raise
        except AgentScopeError as exc:
            raise self._refused(exc) from exc

    def _refused(self, exc: AgentScopeError) -> EmbeddingError:
        return EmbeddingError(
            exc.message, provider=self.provider, retryable=False, context=exc.context
        )

    async def _open(self) -> _Session:
        loop = asyncio.get_running_loop()
        async with self._opening:
            if self._session is None or self._session.loop is not loop:
                # Loading certificates takes 30 ms or more: not on the event loop.
                context = await asyncio.to_thread(outgoing.ssl_context)
                library = _httpx()
                client = outgoing.client(
                    self.transport.allow_url,
                    context=context,
                    headers={"Content-Type": b"application/json", **self._headers},
                    timeout=library.Timeout(None, connect=self.transport.connect_timeout_seconds),
                )
                self._session = _Session(client, loop)
            return self._session


def refused(exc: EmbeddingInputError) -> str:
    """Return what the provider said when it refused an input, in lower case."""
    return f"{exc.context.get('provider_code', '')} {exc.context.get('detail', '')}".lower()


async def _close_if_unused(session: _Session) -> None:
    if session.retired and session.users == 0:
        await session.client.aclose()


def _httpx() -> Any:
    # A base dependency, but loading it costs 400 ms, which a process that embeds locally or not
    # at all should not pay.
    return require("httpx", package="httpx", extra="all")
