"""Storage by address, under the documented name."""

from pathlib import Path

import pytest

from agentscope.app.storage import (
    AsyncSQLAlchemyStorage,
    InMemoryStorage,
    PostgresStorage,
    SQLiteStorage,
)
from agentscope.app.storage.sql.postgres import driver_url
from agentscope.errors import ConfigurationError


async def test_an_address_of_a_file_opens_it(tmp_path: Path) -> None:
    """Written as SQLAlchemy writes it, with any driver."""
    storage = AsyncSQLAlchemyStorage(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    assert isinstance(storage, SQLiteStorage)
    async with storage:
        await storage.now()
    assert (tmp_path / "a.db").exists()


def test_other_addresses_choose_the_back_end() -> None:
    """Memory, PostgreSQL, or a clear refusal."""
    assert isinstance(AsyncSQLAlchemyStorage("sqlite+aiosqlite:///:memory:"), InMemoryStorage)
    assert isinstance(AsyncSQLAlchemyStorage("postgresql+asyncpg://u@h/db"), PostgresStorage)
    assert driver_url("postgresql+asyncpg://u@h/db?x=1") == "postgresql://u@h/db?x=1"
    assert driver_url("host=h dbname=db") == "host=h dbname=db"
    with pytest.raises(ConfigurationError):
        AsyncSQLAlchemyStorage("mysql+aiomysql://u@h/db")
