"""Keeps vectors by what they were made from, so that a repeated attempt does not pay again."""

import abc
import asyncio
import functools
import hashlib
import json
import logging
import sqlite3
from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

logger = logging.getLogger(__name__)

_P = ParamSpec("_P")
_R = TypeVar("_R")


def cache_key(identity: Mapping[str, Any], content: str) -> str:
    """Return the key of `content` embedded by the model that `identity` describes."""
    head = json.dumps(identity, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(f"{head}\n{content}".encode("utf-8", "replace")).hexdigest()


class EmbeddingCacheBase(abc.ABC):
    """Maps content keys to vectors; it may forget anything at any time, and never raises."""

    @abc.abstractmethod
    async def retrieve(self, keys: Sequence[str]) -> list[list[float] | None]:
        """Return the vector of each key, None where there is none, in key order."""

    @abc.abstractmethod
    async def store(self, entries: Mapping[str, Sequence[float]]) -> None:
        """Keep vectors as 32-bit floats; a known key is overwritten."""

    @abc.abstractmethod
    async def remove(self, key: str) -> None:
        """Forget one vector; harmless when there is none."""

    @abc.abstractmethod
    async def clear(self) -> None:
        """Forget everything."""

    async def aclose(self) -> None:
        """Release files; calling it twice is harmless."""
        return


class FileEmbeddingCache(EmbeddingCacheBase):
    """One SQLite file in `cache_dir`, shared by any number of processes.

    Over the bounds the entries stored longest ago go first, a tenth at a time. The file is only
    a cache: when it is damaged it is made anew, and losing the last writes in a crash is fine.
    """

    def __init__(
        self,
        cache_dir: str | Path = "./.cache/embeddings",
        max_file_number: int | None = 200_000,
        max_cache_size: int | None = 1024,
    ) -> None:
        """Bound the cache to `max_file_number` vectors and `max_cache_size` MiB of vectors."""
        self._path = Path(cache_dir) / "embeddings.sqlite3"
        self._max_entries = max_file_number
        self._max_bytes = None if max_cache_size is None else max_cache_size << 20
        self._connection: sqlite3.Connection | None = None
        self._executor: ThreadPoolExecutor | None = None

    async def retrieve(self, keys: Sequence[str]) -> list[list[float] | None]:
        known = await self._run(self._retrieve, list(keys))
        return known if known is not None else [None] * len(keys)

    async def store(self, entries: Mapping[str, Sequence[float]]) -> None:
        await self._run(self._store, dict(entries))

    async def remove(self, key: str) -> None:
        await self._run(self._write, "DELETE FROM vectors WHERE key = ?", [(key,)])

    async def clear(self) -> None:
        await self._run(self._write, "DELETE FROM vectors", [()])

    async def aclose(self) -> None:
        executor, self._executor = self._executor, None
        if executor is not None:
            await asyncio.get_running_loop().run_in_executor(executor, self._close)
            executor.shutdown(wait=False)

    async def _run(
        self, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs
    ) -> _R | None:
        # One thread: SQLite would serialize anyway, and a connection stays in its thread.
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="embedding-cache")
        call = functools.partial(function, *args, **kwargs)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, call)
        except (sqlite3.Error, OSError) as exc:
            # A full disk or a damaged file costs a second payment, not the document.
            logger.warning("embedding_cache_failed", extra={"reason": str(exc)})
            return None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = self._connect()
            except sqlite3.DatabaseError:
                for suffix in ("", "-wal", "-shm"):
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
                self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=5.0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors "
                "(number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, vector BLOB NOT NULL)"
            )
            connection.execute("SELECT key, vector FROM vectors LIMIT 1").fetchall()
        except BaseException:
            connection.close()
            raise
        return connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _retrieve(self, keys: list[str]) -> list[list[float] | None]:
        found: dict[str, list[float]] = {}
        connection = self._open()
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - marks
            for key, blob in connection.execute(query, part):
                vector = array("f")
                vector.frombytes(blob)
                found[key] = vector.tolist()
        return [found.get(key) for key in keys]

    def _store(self, entries: dict[str, Sequence[float]]) -> None:
        rows = [(key, array("f", vector).tobytes()) for key, vector in entries.items()]
        self._write("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
        self._evict()

    def _write(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        connection = self._open()
        with closing(connection.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                cursor.executemany(statement, rows)
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")

    def _evict(self) -> None:
        # Numbers only grow, so the span is an upper bound of the count that costs no scan.
        low, high, size = (
            self._open()
            .execute(
                "SELECT MIN(number), MAX(number), "
                "(SELECT LENGTH(vector) FROM vectors ORDER BY number DESC LIMIT 1) FROM vectors"
            )
            .fetchone()
        )
        if high is None:
            return
        limits = [high] if self._max_entries is None else [self._max_entries]
        if self._max_bytes is not None:
            limits.append(self._max_bytes // max(1, size))
        limit = max(1, min(limits))
        if high - low + 1 > limit:
            keep_from = high - limit + 1 + limit // 10
            self._write("DELETE FROM vectors WHERE number < ?", [(keep_from,)])
