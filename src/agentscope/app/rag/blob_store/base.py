"""The blob store contract: original files by key.

Keys are relative paths of plain segments (`kb/{kb}/{doc}/{version}`); anything else is refused
with `InvalidInputError` before the store is touched. A blob is visible as a whole or not at all:
a write that failed, was cancelled or whose process died leaves nothing readable. Reading and
writing never block the event loop and never hold a whole file in memory.

`BlobStoreBase` is the documented contract; a store written against it works through
`as_streaming`. Stores of this package offer `StreamingBlobStore`.
"""

import abc
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import BinaryIO, Protocol, Self

READ_CHUNK_BYTES = 1024 * 1024


class AsyncReadable(Protocol):
    """An open blob."""

    async def read(self, n: int = -1) -> bytes:
        """Return up to `n` bytes, all that is left for -1, empty at the end."""


class BlobStoreBase(abc.ABC):
    """Keeps original files."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Release what the store holds; calling it twice is harmless."""
        return

    @abc.abstractmethod
    async def write_stream(self, key: str, stream: BinaryIO) -> str:
        """Store all bytes of `stream` under `key`, replacing what is there; return its URI."""

    @abc.abstractmethod
    def open(self, uri: str) -> AbstractAsyncContextManager[AsyncReadable]:
        """Open the blob for reading from its start.

        Raises:
            BlobNotFoundError: there is no such blob.
        """

    @abc.abstractmethod
    async def delete(self, uri: str) -> None:
        """Remove the blob; nothing happens if it is not there."""

    @abc.abstractmethod
    async def exists(self, uri: str) -> bool:
        """Say whether the blob is there."""

    async def size(self, uri: str) -> int | None:
        """Return its length in bytes, or None where the store cannot tell."""
        del uri
        return None


class StreamingBlobStore(BlobStoreBase):
    """A blob store that takes an upload as it arrives.

    All methods raise `BlobStoreError` when the store fails, and `InvalidInputError` for a key or
    URI that is not its own.
    """

    @abc.abstractmethod
    async def write(self, key: str, chunks: AsyncIterator[bytes]) -> str:
        """Store the bytes of `chunks` and return the URI; durable when the call returns.

        If `chunks` raises or the call is cancelled, nothing is stored and the error passes.
        """

    @abc.abstractmethod
    def read_range(self, uri: str, start: int, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield bytes [start, end) in pieces of at most 1 MiB; None means to the end.

        Raises:
            BlobNotFoundError: at the first piece.
        """

    @abc.abstractmethod
    async def delete_many(self, uris: Sequence[str]) -> None:
        """Remove blobs; those that are not there are ignored."""

    @abc.abstractmethod
    def keys(self, prefix: str = "") -> AsyncIterator[tuple[str, float]]:
        """Yield (URI, age in seconds) of each finished blob under `prefix`, in any order."""

    @abc.abstractmethod
    async def collect_partial(self, *, older_than_seconds: float) -> int:
        """Remove what unfinished writes left and return how much; safe while others write."""

    async def ping(self) -> None:
        """Return if the store answers, else raise `BlobStoreError`."""
        await self.exists(self.uri("ping"))

    @abc.abstractmethod
    def uri(self, key: str) -> str:
        """Return the URI that `write` would return for `key`."""
