"""Builds the HNSW graph of a collection once it is large enough to be searched through one.

A graph from the first row on would cost each write several times what the row costs, in all the
collections that are small and scanned exactly. One process builds, beside reads and writes.
"""

import asyncio
import logging

from agentscope.errors import AgentScopeError
from agentscope.rag.vector_store.pgvector_pool import Connections
from agentscope.rag.vector_store.pgvector_sql import (
    GRAPH_LOCK,
    MAX_HALF_GRAPH_DIMENSIONS,
    graph_statement,
)
from agentscope.stopping import stopped

logger = logging.getLogger(__name__)

WRITES_BETWEEN_LOOKS = 1_000
BUILD_MEMORY = "256MB"


class Graphs:
    """Knows which tables have a graph, and builds those that should."""

    def __init__(self, connections: Connections, *, from_rows: int) -> None:
        self._connections = connections
        self._from_rows = from_rows
        self._written: dict[str, int] = {}
        self._built: set[str] = set()
        self._builds: dict[str, asyncio.Task[None]] = {}

    def written(self, table: str, dimensions: int, rows: int) -> None:
        """Take note of written rows; a build begins in the background when it is time."""
        if table in self._built or table in self._builds or dimensions > MAX_HALF_GRAPH_DIMENSIONS:
            return
        first = table not in self._written
        total = self._written.get(table, 0) + rows
        if first or total >= min(WRITES_BETWEEN_LOOKS, self._from_rows):
            total = 0
            task = asyncio.create_task(self._look(table, dimensions))
            self._builds[table] = task
            task.add_done_callback(lambda _: self._builds.pop(table, None))
        self._written[table] = total

    async def settle(self) -> None:
        """Wait for builds that are under way."""
        while self._builds:
            await asyncio.wait(list(self._builds.values()))

    async def close(self) -> None:
        """Stop; a build that is cut short is begun anew by the next look."""
        await stopped(list(self._builds.values()))

    async def _look(self, table: str, dimensions: int) -> None:
        try:
            if await self._has_enough_rows(table):
                await self._build(table, dimensions)
        except AgentScopeError as exc:
            # Searches stay right without the graph; the next writes look again.
            logger.warning("vector_graph_not_built", extra={"table": table, "error_code": exc.code})

    async def _has_enough_rows(self, table: str) -> bool:
        rows = await self._connections.fetch(
            f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT %s) AS few",  # noqa: S608 -- our own names
            [self._from_rows + 1],
        )
        return bool(rows[0][0] > self._from_rows)

    async def _build(self, table: str, dimensions: int) -> None:
        statement = graph_statement(table, dimensions)
        # Not of the pool: a build takes minutes, and its locks and settings end with it.
        async with self._connections.apart() as connection:
            cursor = await connection.execute(
                "SELECT pg_try_advisory_lock(%s, hashtext(%s))", [GRAPH_LOCK, table]
            )
            if not (await cursor.fetchone())[0]:
                return
            cursor = await connection.execute(
                "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)",
                [f"{table}_graph"],
            )
            found = await cursor.fetchone()
            if found is None or not found[0]:
                await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {table}_graph")
                await connection.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
                await connection.execute(statement)
                logger.info("vector_graph_built", extra={"table": table})
            self._built.add(table)
