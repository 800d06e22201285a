"""Binds the storage suite to Redis."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from agentscope.app.storage.redis.store import RedisStorage
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.storage import StorageSuite, World
from agentscope.testing.storage_outage import StorageOutageSuite


@pytest.mark.server
class TestRedisStorage(StorageSuite):
    """A real server."""

    @asynccontextmanager
    async def open_world(self) -> AsyncIterator[World]:
        moved = timedelta()

        def advance(step: timedelta) -> None:
            nonlocal moved
            moved += step

        async with RedisStorage(
            url=servers.shared_redis().url, key_prefix=new_id(), shift=lambda: moved
        ) as storage:
            yield World(storage, advance)


@pytest.mark.server
class TestRedisStorageOutage(StorageOutageSuite):
    """A server that is killed."""

    @asynccontextmanager
    async def open_pair(self) -> AsyncIterator[tuple[World, servers.Server]]:
        with servers.redis() as server:
            async with RedisStorage(url=server.url) as storage:
                yield World(storage, lambda step: None), server
