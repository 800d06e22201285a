"""Blobs as files below one directory.

A write goes to a file among the unfinished ones, is flushed to disk and then renamed; so
a name that is there is whole, and what a dead process left is found without a look at any blob.
"""

import asyncio
import hashlib
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
PARTIAL = ".partial"  # no key starts with a dot
THREADS = 8
RENAME_ATTEMPTS = 10

Result = TypeVar("Result")


class LocalBlobStore(StreamingBlobStore):
    """Blobs on a local or shared file system; `root_dir` is created on enter."""

    def __init__(self, root_dir: str | Path) -> None:
        self._root = Path(root_dir)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="blob")

    async def __aenter__(self) -> Self:
        await self._run(lambda: (self._root / PARTIAL).mkdir(parents=True, exist_ok=True))
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
        partial = self._root / PARTIAL / f"{_unfinished(target)}{uuid.uuid4().hex}"
        file = await self._create(partial)
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

    async def _create(self, partial: Path) -> BinaryIO:
        creation: asyncio.Future[BinaryIO] = asyncio.ensure_future(
            self._run(lambda: partial.open("xb"))
        )
        try:
            return await asyncio.shield(creation)
        except asyncio.CancelledError:
            creation.add_done_callback(lambda done: self._discard_created(done, partial))
            raise

    def _discard_created(self, creation: asyncio.Future[BinaryIO], partial: Path) -> None:
        if not creation.cancelled() and creation.exception() is None:
            self._threads.submit(_discard, creation.result(), partial)

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
        await self.delete_many([uri])

    async def delete_many(self, uris: Sequence[str]) -> None:
        paths = [self._path(uri) for uri in uris]

        def remove() -> None:
            _drop_unfinished(paths, self._root)
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
                if key.startswith(prefix):
                    yield PREFIX + key, age

    async def collect_partial(self, *, older_than_seconds: float) -> int:
        def collect() -> int:
            old = [
                path
                for path, age in _take(_files_in(self._root / PARTIAL), None)
                if age > older_than_seconds
            ]
            for path in old:
                path.unlink(missing_ok=True)
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


def _finish(file: BinaryIO, last: bytes, partial: Path, target: Path) -> None:
    with file:
        file.write(last)
        file.flush()
        os.fsync(file.fileno())
    _rename(partial, target)
    directory = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _rename(partial: Path, target: Path) -> None:
    """Rename into a folder that a delete of its last blob may remove at any moment."""
    for attempt in itertools.count(1):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.replace(target)
        except (FileNotFoundError, FileExistsError):
            if attempt == RENAME_ATTEMPTS or not partial.exists():
                raise
        else:
            return


def _discard(file: BinaryIO, partial: Path) -> None:
    with suppress(OSError):
        file.close()
    with suppress(OSError):
        partial.unlink()


def _open_at(path: Path, start: int) -> BinaryIO:
    file = path.open("rb")
    file.seek(start)
    return file


def _unfinished(target: Path) -> str:
    """How the names of unfinished writes of one blob begin."""
    return hashlib.sha256(os.fsencode(target)).hexdigest()[:32] + "."


def _drop_unfinished(targets: Sequence[Path], root: Path) -> None:
    """Remove what dead writes of these blobs left.

    A write that is still going on fails: its name is no longer wanted.
    """
    starts = {_unfinished(target) for target in targets}
    for path in _files_in(root / PARTIAL):
        if path.name[:33] in starts:
            path.unlink(missing_ok=True)


def _remove(path: Path, root: Path) -> None:
    """Remove a blob and the folders that are empty then."""
    path.unlink(missing_ok=True)
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
    """Yield the blobs; folders that vanish meanwhile are passed over."""
    for directory, folders, names in os.walk(root):
        if PARTIAL in folders:
            folders.remove(PARTIAL)
        for name in names:
            yield Path(directory) / name


def _files_in(folder: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            yield Path(entry.path)


def _take(paths: Iterator[Path], count: int | None) -> list[tuple[Path, float]]:
    now = time.time()
    return [(path, now - _mtime(path)) for path in itertools.islice(paths, count)]
