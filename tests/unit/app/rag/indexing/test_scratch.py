"""Temporary files of workers, and what is left of dead ones."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from agentscope.app.rag.blob_store.base import AsyncReadable, StreamingBlobStore
from agentscope.app.rag.indexing.scratch import LOCK_NAME, PREFIX, Scratch, fetch
from agentscope.errors import TooLargeError
from agentscope.testing.faults import MemoryBlobStore


async def test_files_of_a_run_are_gone_after_it(tmp_path: Path) -> None:
    """Both the copy and the spool, and in the end the directory."""
    async with Scratch(tmp_path) as scratch:
        async with scratch.files() as (blob, spool):
            blob.write_text("a")
            spool.write_text("b")
        assert not blob.exists()
        assert not spool.exists()
        assert scratch.path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == []


async def test_only_directories_without_an_owner_are_removed(tmp_path: Path) -> None:
    """A live worker holds the lock on its own; anything else of that name is left alone."""
    dead = tmp_path / f"{PREFIX}1-dead"
    dead.mkdir()
    (dead / LOCK_NAME).touch()
    (dead / "old.blob").write_text("secret")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    async with Scratch(tmp_path) as first, Scratch(tmp_path) as second:
        assert not dead.exists()
        assert foreign.exists()
        assert first.path.exists()
        assert second.path.exists()


async def test_a_blob_larger_than_the_limit_is_not_copied_on(tmp_path: Path) -> None:
    """The copy stops at the piece that crosses it."""
    store = MemoryBlobStore(lambda: 0.0)
    uri = await store.put("k", b"x" * 100)
    target = tmp_path / "copy"
    assert await fetch(store, uri, target, max_bytes=100) == 100
    assert target.read_bytes() == b"x" * 100
    with pytest.raises(TooLargeError):
        await fetch(store, uri, target, max_bytes=99)


async def test_a_blob_is_copied_piece_by_piece(tmp_path: Path) -> None:
    """Never more than one piece is asked for."""
    asked: list[int] = []

    class Pieces:
        async def read(self, n: int = -1) -> bytes:
            asked.append(n)
            return b"abc" if len(asked) < 4 else b""

    class Store:
        def open(self, uri: str) -> AbstractAsyncContextManager[AsyncReadable]:
            return opened()

    @asynccontextmanager
    async def opened() -> AsyncIterator[AsyncReadable]:
        yield Pieces()

    store = cast("StreamingBlobStore", cast("Any", Store()))
    assert await fetch(store, "u", tmp_path / "copy", max_bytes=1000) == 9
    assert all(0 < size <= 1024 * 1024 for size in asked)
