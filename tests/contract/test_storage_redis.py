"""Binds the storage suite to Redis."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from agentscope.app.storage.redis.store import RedisStorage
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.storage import StorageSuite, World


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
