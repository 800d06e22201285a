"""What is special to PostgreSQL."""

import asyncio

import psycopg
import pytest

from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.errors import StorageError
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.storage_world import World

pytestmark = pytest.mark.server


def fresh_schema() -> str:
    """Return the address of a new schema on the shared server."""
    server, name = servers.shared_postgres(), f"s{new_id()}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server.url}?options=-csearch_path%3D{name}"


async def test_processes_that_start_at_once_migrate_once() -> None:
    """The schema is made by one of them, the others wait."""
    url = fresh_schema()
    storages = [PostgresStorage(url, connections=1) for _ in range(6)]
    await asyncio.gather(*(storage.__aenter__() for storage in storages))
    base = await World(storages[0], lambda step: None).knowledge_base()
    for storage in storages:
        assert await storage.knowledge_bases.get("u", base.id) == base
    await asyncio.gather(*(storage.aclose() for storage in storages))


async def test_the_database_itself_refuses_to_strand_a_document() -> None:
    """The constraint holds even against a fault of this program."""
    url = fresh_schema()
    async with PostgresStorage(url, connections=1) as storage:
        world = World(storage, lambda step: None)
        await world.upload(await world.knowledge_base())
        with (
            psycopg.connect(url, autocommit=True) as connection,
            pytest.raises(psycopg.errors.CheckViolation),
        ):
            connection.execute(b"UPDATE documents SET due_at = NULL")


async def test_a_terminated_session_is_replaced() -> None:
    """An administrator or a failover ends sessions; calls go on."""
    url = fresh_schema()
    async with PostgresStorage(url, connections=2) as storage:
        world = World(storage, lambda step: None)
        base = await world.knowledge_base()
        for _ in range(3):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(
                    b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    b"WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
                )
            await asyncio.gather(*(world.upload(base) for _ in range(5)))
        await world.check_totals()
        await world.check_events("u")


async def test_an_address_that_leads_nowhere_is_a_plain_error() -> None:
    """The message holds neither address nor password."""
    url = f"postgresql://me:hidden@127.0.0.1:{servers.free_port()}/none"
    with pytest.raises(StorageError) as caught:
        async with PostgresStorage(url):
            pass
    assert caught.value.retryable
    assert "hidden" not in caught.value.message
    assert "127.0.0.1" not in caught.value.message
