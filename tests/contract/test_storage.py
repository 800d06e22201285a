"""Binds the storage suite to the storages of one process."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.testing.storage import StorageSuite, World


class HandClock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        self._now += timedelta(microseconds=1)
        return self._now

    def monotonic(self) -> float:
        return self._now.timestamp()

    def advance(self, step: timedelta) -> None:
        """Move on."""
        self._now += step


class TestInMemoryStorage(StorageSuite):
    """The model."""

    @asynccontextmanager
    async def open_world(self) -> AsyncIterator[World]:
        clock = HandClock()
        async with InMemoryStorage(clock=clock) as storage:
            yield World(storage, clock.advance)


class TestSQLiteStorage(StorageSuite):
    """One file."""

    @asynccontextmanager
    async def open_world(self) -> AsyncIterator[World]:
        clock = HandClock()
        with tempfile.TemporaryDirectory() as folder:
            async with SQLiteStorage(Path(folder) / "data" / "rag.db", clock=clock) as storage:
                yield World(storage, clock.advance)
