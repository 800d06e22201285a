"""Binds the message bus suite to every bus."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from types import ModuleType
from typing import Any

import psycopg
import pytest

from agentscope.app.message_bus import postgres, redis
from agentscope.app.message_bus.base import MAX_QUEUE_ENTRIES, MessageBus
from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.message_bus.postgres import PostgresMessageBus
from agentscope.app.message_bus.redis import RedisMessageBus
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.message_bus import BusOutageSuite, MessageBusSuite


class TestInMemoryMessageBus(MessageBusSuite):
    """One process."""

    def open_bus(
        self, *, max_queue_entries: int = MAX_QUEUE_ENTRIES
    ) -> AbstractAsyncContextManager[MessageBus]:
        return InMemoryMessageBus(max_queue_entries=max_queue_entries)


class PrefixedRedisBus(RedisMessageBus):
    """A bus whose keys start with a word of its own, so that tests can share a server."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.word = new_id()

    async def queue_push(self, key: str, *args: Any, **more: Any) -> str:
        return await super().queue_push(self.word + key, *args, **more)

    async def queue_drain(self, key: str, max_count: int = 100) -> list[tuple[str, dict[str, Any]]]:
        return await super().queue_drain(self.word + key, max_count)

    async def queue_length(self, key: str) -> int:
        return await super().queue_length(self.word + key)


@pytest.mark.server
class TestRedisMessageBus(MessageBusSuite):
    """A real Valkey."""

    def open_bus(
        self, *, max_queue_entries: int = MAX_QUEUE_ENTRIES
    ) -> AbstractAsyncContextManager[MessageBus]:
        return PrefixedRedisBus(url=servers.shared_redis().url, max_queue_entries=max_queue_entries)

    async def break_entry(self, bus: MessageBus, key: str) -> bool:
        assert isinstance(bus, PrefixedRedisBus)
        client = bus.get_client()
        for name, value in (("payload", "not json"), ("payload", "[1]"), ("other", "{}")):
            await client.xadd(bus.word + key, {name: value})
        return True


@pytest.mark.server
class TestPostgresMessageBus(MessageBusSuite):
    """A real PostgreSQL."""

    @asynccontextmanager
    async def open_bus(
        self, *, max_queue_entries: int = MAX_QUEUE_ENTRIES
    ) -> AsyncIterator[MessageBus]:
        server, name = servers.shared_postgres(), f"b{new_id()}"
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        self.url = f"{server.url}?options=-csearch_path%3D{name}"
        async with PostgresMessageBus(self.url, max_queue_entries=max_queue_entries) as bus:
            yield bus

    async def break_entry(self, bus: MessageBus, key: str) -> bool:
        with psycopg.connect(self.url, autocommit=True) as connection:
            for payload in ("not json", "[1]"):
                connection.execute(
                    b"INSERT INTO bus_entries (queue, payload) VALUES (%s, %s)", (key, payload)
                )
        return True


@contextmanager
def impatient(module: ModuleType) -> Iterator[None]:
    """Let subscriptions ask twice as often whether the server is still there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HEALTH_CHECK_SECONDS", module.HEALTH_CHECK_SECONDS / 2)
        yield


@pytest.mark.server
class TestRedisMessageBusOutage(BusOutageSuite):
    """A Valkey that is killed."""

    @asynccontextmanager
    async def open_pair(self) -> AsyncIterator[tuple[MessageBus, servers.Server]]:
        with servers.redis() as server, impatient(redis):
            async with RedisMessageBus(url=server.url) as bus:
                yield bus, server


@pytest.mark.server
class TestPostgresMessageBusOutage(BusOutageSuite):
    """A PostgreSQL that is killed."""

    @asynccontextmanager
    async def open_pair(self) -> AsyncIterator[tuple[MessageBus, servers.Server]]:
        server = servers.shared_postgres()
        with impatient(postgres):
            async with PostgresMessageBus(server.url) as bus:
                try:
                    yield bus, server
                finally:
                    server.kill()
                    server.start()
