"""Blobs as files below one directory.

A write goes to a hidden partial file beside its target, is flushed to disk and then renamed; so a
name that is there is whole. What a dead process left partial is found by its suffix.
"""

import asyncio
import itertools
import os
import time
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

from agentscope.app.rag.blob_store.base import READ_CHUNK_BYTES, AsyncReadable, StreamingBlobStore
from agentscope.app.rag.blob_store.keys import check_key, key_of
from agentscope.errors import BlobNotFoundError, BlobStoreError

PREFIX = "local://"
PARTIAL = ".partial"
THREADS = 8

Result = TypeVar("Result")


class LocalBlobStore(StreamingBlobStore):
    """Blobs on a local or shared file system; `root_dir` is created on enter."""

    def __init__(self, root_dir: str | Path) -> None:
        self._root = Path(root_dir)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="blob")

    async def __aenter__(self) -> Self:
        await self._run(lambda: self._root.mkdir(parents=True, exist_ok=True))
        return self

    async def aclose(self) -> None:
        self._threads.shutdown(wait=False)

    async def _run(self, call: Callable[[], Result]) -> Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except FileNotFoundError as exc:
            raise BlobNotFoundError from exc
        except OSError as exc:
            full = "The disk is full." if exc.errno == 28 else None  # ENOSPC
            raise BlobStoreError(full, context={"reason": str(exc)}) from exc

    def uri(self, key: str) -> str:
        return PREFIX + check_key(key)

    def _path(self, uri: str) -> Path:
        return self._root / key_of(uri, PREFIX)

    async def write_stream(self, key: str, stream: BinaryIO) -> str:
        async def pieces() -> AsyncIterator[bytes]:
            while piece := await self._run(lambda: stream.read(READ_CHUNK_BYTES)):
                yield piece

        return await self.write(key, pieces())

    async def write(self, key: str, chunks: AsyncIterator[bytes]) -> str:
        uri = self.uri(key)
        target = self._path(uri)
        partial = target.parent / f".{target.name}.{uuid.uuid4().hex}{PARTIAL}"
        file = await self._run(lambda: _create(partial))
        try:
            pending = bytearray()
            async for chunk in chunks:
                pending += chunk
                if len(pending) >= READ_CHUNK_BYTES:
                    data = bytes(pending)
                    pending.clear()
                    await self._run(lambda data=data: file.write(data))  # type: ignore[misc]
            await self._run(lambda: _finish(file, bytes(pending), partial, target))
        except BaseException:
            # A cancelled request must not leave a partial file: the removal is not awaited.
            self._threads.submit(_discard, file, partial)
            raise
        return uri

    def open(self, uri: str) -> AbstractAsyncContextManager[AsyncReadable]:
        return self._open(uri)

    @asynccontextmanager
    async def _open(self, uri: str) -> AsyncIterator[AsyncReadable]:
        path = self._path(uri)
        file = await self._run(lambda: path.open("rb"))
        try:
            yield _Reader(file, self._run)
        finally:
            file.close()

    async def read_range(
        self, uri: str, start: int, end: int | None = None
    ) -> AsyncIterator[bytes]:
        path = self._path(uri)
        file = await self._run(lambda: _open_at(path, start))
        try:
            left = None if end is None else max(0, end - start)
            while left is None or left > 0:
                size = READ_CHUNK_BYTES if left is None else min(left, READ_CHUNK_BYTES)
                piece = await self._run(lambda size=size: file.read(size))  # type: ignore[misc]
                if not piece:
                    return
                left = None if left is None else left - len(piece)
                yield piece
        finally:
            file.close()

    async def delete(self, uri: str) -> None:
        path = self._path(uri)
        await self._run(lambda: _remove(path, self._root))

    async def delete_many(self, uris: Sequence[str]) -> None:
        paths = [self._path(uri) for uri in uris]

        def remove() -> None:
            for path in paths:
                _remove(path, self._root)

        await self._run(remove)

    async def exists(self, uri: str) -> bool:
        path = self._path(uri)
        return await self._run(path.is_file)

    async def size(self, uri: str) -> int | None:
        path = self._path(uri)
        return await self._run(lambda: path.stat().st_size)

    async def ping(self) -> None:
        if not await self._run(self._root.is_dir):
            raise BlobStoreError("The directory of the original files is not there.")

    async def keys(self, prefix: str = "") -> AsyncIterator[tuple[str, float]]:
        walk = _walk(self._root)
        while batch := await self._run(lambda: _take(walk, 500)):
            for path, age in batch:
                key = path.relative_to(self._root).as_posix()
                if key.startswith(prefix) and not key.endswith(PARTIAL):
                    yield PREFIX + key, age

    async def collect_partial(self, *, older_than_seconds: float) -> int:
        def collect() -> int:
            before = time.time() - older_than_seconds
            old = [p for p in self._root.rglob(f".*{PARTIAL}") if _mtime(p) < before]
            for path in old:
                _remove(path, self._root)
            return len(old)

        return await self._run(collect)


class _Reader:
    """An open file, read off the event loop."""

    def __init__(
        self, file: BinaryIO, run: Callable[[Callable[[], bytes]], Coroutine[Any, Any, bytes]]
    ) -> None:
        self._file = file
        self._run = run

    async def read(self, n: int = -1) -> bytes:
        return await self._run(lambda: self._file.read(n))


def _create(partial: Path) -> BinaryIO:
    partial.parent.mkdir(parents=True, exist_ok=True)
    return partial.open("xb")


def _finish(file: BinaryIO, last: bytes, partial: Path, target: Path) -> None:
    with file:
        file.write(last)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(target)
    directory = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _discard(file: BinaryIO, partial: Path) -> None:
    with suppress(OSError):
        file.close()
    with suppress(OSError):
        partial.unlink()


def _open_at(path: Path, start: int) -> BinaryIO:
    file = path.open("rb")
    file.seek(start)
    return file


def _remove(path: Path, root: Path) -> None:
    """Remove a blob, what dead writes of it left, and the folders that are empty then.

    A write that is still going on fails: its name is no longer wanted.
    """
    path.unlink(missing_ok=True)
    with suppress(FileNotFoundError), os.scandir(path.parent) as siblings:
        for sibling in siblings:
            if sibling.name.startswith(f".{path.name}.") and sibling.name.endswith(PARTIAL):
                Path(sibling.path).unlink(missing_ok=True)
    for parent in path.parents:
        if parent == root or root not in parent.parents:
            return
        try:
            parent.rmdir()  # fails while a sibling is there
        except OSError:
            return


def _mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _walk(root: Path) -> Iterator[Path]:
    for directory, _, names in os.walk(root):
        for name in names:
            yield Path(directory) / name


def _take(paths: Iterator[Path], count: int) -> list[tuple[Path, float]]:
    now = time.time()
    return [(path, now - _mtime(path)) for path in itertools.islice(paths, count)]
