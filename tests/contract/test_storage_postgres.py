"""Binds the storage suite to PostgreSQL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import psycopg
import pytest

from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.storage import StorageSuite, World
from agentscope.testing.storage_outage import StorageOutageSuite


def fresh_schema() -> str:
    """Return the address of a new schema on the shared server."""
    server, name = servers.shared_postgres(), f"s{new_id()}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server.url}?options=-csearch_path%3D{name}"


@pytest.mark.server
class TestPostgresStorage(StorageSuite):
    """A real server."""

    @asynccontextmanager
    async def open_world(self) -> AsyncIterator[World]:
        moved = timedelta()

        def advance(step: timedelta) -> None:
            nonlocal moved
            moved += step

        async with PostgresStorage(fresh_schema(), shift=lambda: moved) as storage:
            yield World(storage, advance)


@pytest.mark.server
class TestPostgresStorageOutage(StorageOutageSuite):
    """A server that is killed."""

    @asynccontextmanager
    async def open_pair(self) -> AsyncIterator[tuple[World, servers.Server]]:
        address, server = fresh_schema(), servers.shared_postgres()
        async with PostgresStorage(address) as storage:
            try:
                yield World(storage, lambda step: None), server
            finally:
                server.kill()
                server.start()
