"""One way to talk to Redis for storage and bus: bounded connections, scripts, retries, errors.

Works with Redis 7 and Valkey. TLS by `rediss://` addresses; a client made elsewhere (Sentinel,
Cluster) can be handed in and is then not closed here.
"""

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from agentscope.errors import InvalidInputError, UpstreamError
from agentscope.optional import require

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool, Redis

Result = TypeVar("Result")

SOCKET_TIMEOUT_SECONDS = 10.0
CONNECT_TIMEOUT_SECONDS = 3.0
POOL_WAIT_SECONDS = 30.0
RETRY_DELAYS_SECONDS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 0.8)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    """Where the server is and how many connections this process may hold."""

    host: str = "localhost"
    port: int = 6379
    db: int = 0
    password: str | None = None
    url: str | None = None  # wins over host, port, db and password
    max_connections: int = 32


class RedisConnection:
    """A client that is made when first needed; every failure becomes one kind of error.

    A command that failed to connect is sent again for about two seconds, so what is sent must
    bear being applied twice.
    """

    def __init__(
        self,
        address: RedisAddress,
        error: type[UpstreamError],
        *,
        pool: "ConnectionPool | None" = None,
        client: "Redis | None" = None,
    ) -> None:
        self._redis = require("redis.asyncio", package="redis", extra="redis")
        self._exceptions = require("redis.exceptions", package="redis", extra="redis")
        self._address = address
        self._error = error
        self._pool = pool
        self.client: Redis | None = client
        self._owned = False
        self._closed = False

    def get_client(self) -> "Redis":
        """Return the client, made on first use."""
        if self._closed:
            raise self._error("The connection is closed.", retryable=False)
        if self.client is None:
            if self._pool is not None:
                self.client = self._redis.Redis(connection_pool=self._pool)
            else:
                self.client = self._redis.Redis(connection_pool=self._own_pool())
                self._owned = True
        return self.client

    def _own_pool(self) -> "ConnectionPool":
        retry = require("redis.asyncio.retry", package="redis", extra="redis")
        backoff = require("redis.backoff", package="redis", extra="redis")
        options: dict[str, Any] = {
            "max_connections": self._address.max_connections,
            "timeout": POOL_WAIT_SECONDS,
            "decode_responses": True,
            "socket_timeout": SOCKET_TIMEOUT_SECONDS,
            "socket_connect_timeout": CONNECT_TIMEOUT_SECONDS,
            # Retries are ours: the same for a client that was made elsewhere.
            "retry": retry.Retry(backoff.NoBackoff(), 0),
        }
        address = self._address
        kind: Any = self._redis.BlockingConnectionPool
        pool: ConnectionPool
        if address.url is not None:
            pool = kind.from_url(address.url, **options)
        else:
            pool = kind(
                host=address.host,
                port=address.port,
                db=address.db,
                password=address.password,
                **options,
            )
        return pool

    async def call(self, work: Callable[["Redis"], Awaitable[Result]]) -> Result:
        """Run `work` with the client; lost connections are tried again."""
        failures = self._exceptions
        for delay in (*RETRY_DELAYS_SECONDS, None):
            try:
                return await work(self.get_client())
            except (failures.AuthenticationError, failures.AuthorizationError) as exc:
                raise self.translated(exc) from exc
            except (failures.ConnectionError, failures.TimeoutError, OSError) as exc:
                if delay is None:
                    raise self.translated(exc) from exc
                await asyncio.sleep(delay * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            except (failures.RedisError, UnicodeEncodeError) as exc:
                raise self.translated(exc) from exc
        raise AssertionError("the last try returns or raises")

    async def run(self, script: "Script", keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Run a script; it is sent whole only if the server does not know it."""

        async def work(client: "Redis") -> Any:
            try:
                found = await client.evalsha(script.sha, len(keys), *keys, *arguments)
            except self._exceptions.NoScriptError:
                found = await client.eval(script.text, len(keys), *keys, *arguments)
            return texts(found)

        return await self.call(work)

    def translated(self, error: BaseException) -> Exception:
        """Return the error to raise for one of the driver's."""
        if isinstance(error, UnicodeEncodeError):
            return InvalidInputError("The text holds characters that cannot be stored.")
        failures = self._exceptions
        denied = isinstance(error, failures.AuthenticationError | failures.AuthorizationError)
        lost = isinstance(error, failures.ConnectionError | failures.TimeoutError | OSError)
        sentence = "The Redis server does not answer." if lost else None
        if denied:
            sentence = "The Redis server refused the password."
        elif isinstance(error, failures.OutOfMemoryError):
            sentence = "The Redis server is out of memory."
        return self._error(
            sentence,
            provider="redis",
            retryable=not denied and (lost or sentence is not None),
            context={"reason": str(error)},
        )

    async def aclose(self) -> None:
        """Close what was made here; calling it twice is harmless."""
        client, self._closed = self.client, True
        if client is not None and self._owned:
            self._owned = False
            await client.aclose(close_connection_pool=True)


class Script:
    """A Lua script and its name on the server."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def texts(value: Any) -> Any:
    """Return the reply with text instead of bytes, whatever the client was told to decode."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [texts(item) for item in value]
    return value
