"""Connections of the PostgreSQL vector store, and its errors."""

import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from agentscope.errors import CollectionNotFoundError, VectorStoreError
from agentscope.optional import require
from agentscope.rag.vector_store.pgvector_sql import CREATION_LOCK, REGISTRY

CONNECT_SECONDS = 30


class Connections:
    """A pool that opens on first use and prepares the database then."""

    def __init__(self, url: str, max_connections: int) -> None:
        scheme, separator, rest = url.partition("://")
        self._url = f"{scheme.partition('+')[0]}{separator}{rest}"
        self._max_connections = max_connections
        self._pool: Any = None

    async def close(self) -> None:
        """Close it; calling it twice is harmless."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def opened(self) -> Any:
        """Return the pool."""
        if self._pool is None:
            package: Any = require("psycopg_pool", package="psycopg", extra="postgres")
            pool = package.AsyncConnectionPool(
                self._url,
                min_size=1,
                max_size=self._max_connections,
                timeout=CONNECT_SECONDS,
                open=False,
                kwargs={"autocommit": True},
            )
            self._pool = pool
            try:
                with translated():
                    await pool.open(wait=True, timeout=CONNECT_SECONDS)
                    async with pool.connection() as connection, connection.transaction():
                        await connection.execute(
                            "SELECT pg_advisory_xact_lock(%s)", [CREATION_LOCK]
                        )
                        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                        await connection.execute(REGISTRY)
            except BaseException:
                self._pool = None
                await pool.close()
                raise
        return self._pool

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[Any]:
        """Lend a connection; what goes wrong inside the block is translated."""
        pool = await self.opened()
        with translated():
            async with pool.connection() as connection:
                yield connection

    @contextlib.asynccontextmanager
    async def apart(self) -> AsyncIterator[Any]:
        """Make a connection for long work, closed afterwards with all its locks."""
        psycopg: Any = require("psycopg", package="psycopg", extra="postgres")
        with translated():
            async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as own:
                yield own

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        """Lend a connection in a transaction."""
        async with self.one() as connection, connection.transaction():
            yield connection

    async def fetch(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a statement."""
        async with self.one() as connection:
            cursor = await connection.execute(statement, parameters)
            return list(await cursor.fetchall())


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into ours."""
    psycopg: Any = require("psycopg", package="psycopg", extra="postgres")
    pool: Any = require("psycopg_pool", package="psycopg", extra="postgres")
    try:
        yield
    except psycopg.errors.UndefinedTable as exc:
        raise CollectionNotFoundError from exc
    except (psycopg.errors.DataError, psycopg.errors.ProgrammingError) as exc:
        raise VectorStoreError(
            "The vector store refused the request.",
            retryable=False,
            context={"reason": str(exc)[:500]},
        ) from exc
    except (psycopg.Error, pool.PoolTimeout, pool.PoolClosed) as exc:
        raise VectorStoreError(context={"reason": str(exc)[:500]}) from exc
