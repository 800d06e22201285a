"""Private temporary files of a worker: the copy of a blob and the spool of its chunks."""

import asyncio
import contextlib
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Self

try:
    import fcntl
except ImportError:  # Windows: directories of dead workers are left to the system's own cleaning
    fcntl = None  # type: ignore[assignment]

from agentscope.app.rag.blob_store.base import READ_CHUNK_BYTES, StreamingBlobStore
from agentscope.errors import TooLargeError
from agentscope.identity import new_id

logger = logging.getLogger(__name__)

PREFIX = "agentscope-rag-index-"
LOCK_NAME = "lock"


class Scratch:
    """A directory that belongs to one worker; those of dead workers are removed at start.

    A worker holds a lock on a file in its directory for as long as it lives, so a directory
    whose lock can be taken has no owner.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._parent = parent or Path(tempfile.gettempdir())
        self._lock: int | None = None
        self.path = self._parent / f"{PREFIX}{os.getpid()}-{new_id()[:12]}"

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._open)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self._close)

    def _open(self) -> None:
        self._parent.mkdir(parents=True, exist_ok=True)
        remove_stale(self._parent)
        self.path.mkdir(mode=0o700)
        # Locked before it gets the name by which others look: no moment without an owner.
        hidden = self.path / ".making"
        self._lock = os.open(hidden, os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is not None:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        hidden.rename(self.path / LOCK_NAME)

    def _close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextlib.asynccontextmanager
    async def files(self) -> AsyncIterator[tuple[Path, Path]]:
        """Give the paths of a blob copy and a spool; both are removed in the end."""
        name = new_id()
        paths = self.path / f"{name}.blob", self.path / f"{name}.spool"
        try:
            yield paths
        finally:
            await asyncio.to_thread(_remove, *paths)


def remove_stale(parent: Path) -> int:
    """Remove the directories of workers that are no more; return how many there were."""
    removed = 0
    if fcntl is None:
        return removed
    for directory in parent.glob(f"{PREFIX}*"):
        try:
            lock = os.open(directory / LOCK_NAME, os.O_RDWR)
        except OSError:
            continue  # just being made, or not ours
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
            removed += 1
        except OSError:
            continue
        finally:
            os.close(lock)
    if removed:
        logger.info("stale_temporary_files_removed", extra={"directories": removed})
    return removed


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


async def fetch(blobs: StreamingBlobStore, uri: str, target: Path, *, max_bytes: int) -> int:
    """Copy a blob to `target` and return its size.

    Raises:
        BlobNotFoundError: it is not there.
        TooLargeError: it is larger than `max_bytes`.
    """
    size = 0
    async with blobs.open(uri) as blob:
        file = await asyncio.to_thread(target.open, "wb")
        try:
            while piece := await blob.read(READ_CHUNK_BYTES):
                size += len(piece)
                if size > max_bytes:
                    raise TooLargeError("The file is larger than this service reads.")
                await asyncio.to_thread(file.write, piece)
        finally:
            await asyncio.to_thread(file.close)
    return size
