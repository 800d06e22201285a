"""The message bus on Redis 7 or Valkey: a bounded stream per queue, pub/sub for signals."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

from agentscope.app.message_bus.base import MAX_QUEUE_ENTRIES, MessageBus
from agentscope.app.message_bus.inbox import SignalInbox, decoded
from agentscope.app.redis_connection import RedisAddress, RedisConnection, Script
from agentscope.errors import BusError
from agentscope.optional import require
from agentscope.stopping import stopped

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool, Redis
    from redis.asyncio.client import PubSub

HEALTH_CHECK_SECONDS = 5.0

# Takes the oldest entries out of the stream. KEYS: stream. ARGV: count.
DRAIN = Script(
    """
local entries = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[1])
local answer = {}
for number, entry in ipairs(entries) do
  redis.call('XDEL', KEYS[1], entry[1])
  local payload = ''
  for field = 1, #entry[2], 2 do
    if entry[2][field] == 'payload' then payload = entry[2][field + 1] end
  end
  answer[number] = {entry[1], payload}
end
return answer
"""
)


class RedisMessageBus(MessageBus):
    """Queue and signals on one server; a restart of it needs no operator.

    A command whose answer was lost is sent again, so an entry may be pushed twice, which is
    harmless. Every subscription holds one connection of its own.
    """

    def __init__(  # noqa: PLR0913 - the documented signature
        self,
        host: str = "localhost",
        port: int = 6379,
        db: int = 0,
        password: str | None = None,
        connection_pool: "ConnectionPool | None" = None,
        *,
        url: str | None = None,
        client: "Redis | None" = None,
        max_connections: int = 32,
        max_queue_entries: int = MAX_QUEUE_ENTRIES,
    ) -> None:
        address = RedisAddress(
            host=host,
            port=port,
            db=db,
            password=password,
            url=url,
            max_connections=max_connections,
        )
        self._connection = RedisConnection(address, BusError, pool=connection_pool, client=client)
        self._exceptions = require("redis.exceptions", package="redis", extra="redis")
        self._max_queue_entries = max_queue_entries
        self._inboxes: set[SignalInbox] = set()

    @property
    def _client(self) -> "Redis | None":
        return self._connection.client

    @_client.setter
    def _client(self, client: "Redis | None") -> None:
        self._connection.client = client

    def get_client(self) -> "Redis":
        """Return the live client, made on first use."""
        return self._connection.get_client()

    async def aclose(self) -> None:
        for inbox in self._inboxes:
            inbox.end()
        await self._connection.aclose()

    async def queue_push(
        self, key: str, payload: Mapping[str, Any], *, ttl_secs: int | None = None
    ) -> str:
        text = json.dumps(payload)

        async def work(client: "Redis") -> Any:
            entry_id = await client.xadd(
                key, {"payload": text}, maxlen=self._max_queue_entries, approximate=True
            )
            if ttl_secs is not None:
                await client.expire(key, ttl_secs)
            return entry_id

        entry_id = await self._connection.call(work)
        return entry_id.decode() if isinstance(entry_id, bytes) else str(entry_id)

    async def queue_drain(self, key: str, max_count: int = 100) -> list[tuple[str, dict[str, Any]]]:
        if max_count < 1:
            return []
        entries = await self._connection.run(DRAIN, [key], [max_count])
        read = ((entry_id, decoded(payload, key)) for entry_id, payload in entries)
        return [(entry_id, payload) for entry_id, payload in read if payload is not None]

    async def queue_length(self, key: str) -> int:
        async def work(client: "Redis") -> int:
            return int(await client.xlen(key))

        return await self._connection.call(work)

    async def publish(self, key: str, payload: Mapping[str, Any]) -> None:
        text = json.dumps(payload)

        async def work(client: "Redis") -> None:
            await client.publish(key, text)

        await self._connection.call(work)

    async def subscribe(
        self, key: str, *, on_ready: Callable[[], None] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        inbox = SignalInbox()
        self._inboxes.add(inbox)
        reader = asyncio.create_task(self._read(key, inbox, on_ready))
        try:
            while (signal := await inbox.next()) is not None:
                yield signal
        finally:
            self._inboxes.discard(inbox)
            await stopped([reader])

    async def _read(
        self, key: str, inbox: SignalInbox, on_ready: Callable[[], None] | None
    ) -> None:
        """Fill the inbox until the connection is lost."""
        failures = self._exceptions
        try:
            pubsub = self.get_client().pubsub()
            try:
                await pubsub.subscribe(key)
                await self._listen(pubsub, key, inbox, on_ready)
            finally:
                with contextlib.suppress(failures.RedisError, OSError):
                    await pubsub.aclose()  # type: ignore[no-untyped-call]
        except (failures.RedisError, OSError) as exc:
            failure = self._connection.translated(exc)
            inbox.end(failure if isinstance(failure, BusError) else BusError())
        except BusError as exc:
            inbox.end(exc)

    async def _listen(
        self,
        pubsub: "PubSub",
        key: str,
        inbox: SignalInbox,
        on_ready: Callable[[], None] | None,
    ) -> None:
        subscribed, asked = False, False
        while True:
            message = await pubsub.get_message(timeout=HEALTH_CHECK_SECONDS)
            if message is None and asked:
                raise BusError("The message bus does not answer any more.")
            asked = message is None
            if message is None:
                await pubsub.ping()
            elif message["type"] == "subscribe":
                # The driver reconnects on its own; what was sent meanwhile is gone, so say so.
                if subscribed:
                    raise BusError("The connection to the message bus was lost for a moment.")
                subscribed = True
                if on_ready is not None:
                    on_ready()
            elif message["type"] == "message":
                inbox.offer(decoded(message["data"], key))

    async def ping(self) -> None:
        async def work(client: "Redis") -> None:
            await client.ping()

        await self._connection.call(work)
