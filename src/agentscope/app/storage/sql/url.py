"""Storage by database address, under the documented name."""

from collections.abc import Mapping
from typing import Any

from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.errors import ConfigurationError


def AsyncSQLAlchemyStorage(  # noqa: N802 - the documented name reads like a class
    url: str,
    *,
    create_tables: bool = True,
    auto_migrate: bool = False,
    engine: None = None,
    engine_kwargs: Mapping[str, Any] | None = None,
) -> StorageBase:
    """Return the storage for an address as SQLAlchemy writes it.

    The schema is always brought up to date, so `create_tables` and `auto_migrate` change nothing;
    of `engine_kwargs` only `pool_size` is used.

    Raises:
        ConfigurationError: another database, or an engine was given.
    """
    del create_tables, auto_migrate
    if engine is not None:
        raise ConfigurationError("An existing engine cannot be used; give its address.")
    scheme, _, rest = url.partition("://")
    kind = scheme.partition("+")[0]
    if kind == "sqlite":
        path = rest.removeprefix("/").partition("?")[0]
        return SQLiteStorage(path) if path not in ("", ":memory:") else InMemoryStorage()
    if kind in ("postgresql", "postgres"):
        pool_size = (engine_kwargs or {}).get("pool_size", 8)
        return PostgresStorage(url, connections=pool_size)
    raise ConfigurationError("Only SQLite and PostgreSQL addresses are supported.")
