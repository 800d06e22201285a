"""Makes a store written against the documented contract take uploads as they arrive."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import BinaryIO, Self, cast

from agentscope.app.rag.blob_store.base import (
    READ_CHUNK_BYTES,
    AsyncReadable,
    BlobStoreBase,
    StreamingBlobStore,
)
from agentscope.app.rag.blob_store.keys import check_key
from agentscope.errors import BlobNotFoundError

SPOOL_BYTES = 4 * 1024 * 1024


def as_streaming(store: BlobStoreBase) -> StreamingBlobStore:
    """Return `store` itself if it streams, else a wrapper around it."""
    return store if isinstance(store, StreamingBlobStore) else DocumentedBlobStore(store)


class DocumentedBlobStore(StreamingBlobStore):
    """Spools an upload to a temporary file, because the documented `write_stream` pulls.

    The documented contract cannot list blobs, so an audit does not see orphans in such a store;
    its URIs are known only after a write, so `uri` guesses from what the store answered before.
    """

    def __init__(self, store: BlobStoreBase) -> None:
        self._store = store
        self._prefix: str | None = None

    async def __aenter__(self) -> Self:
        await self._store.__aenter__()
        return self

    async def aclose(self) -> None:
        await self._store.__aexit__(None, None, None)

    def uri(self, key: str) -> str:
        check_key(key)
        return "" if self._prefix is None else self._prefix + key

    async def write_stream(self, key: str, stream: BinaryIO) -> str:
        uri = await self._store.write_stream(check_key(key), stream)
        if uri.endswith(key):
            self._prefix = uri.removesuffix(key)
        return uri

    async def write(self, key: str, chunks: AsyncIterator[bytes]) -> str:
        with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
            async for chunk in chunks:
                await asyncio.to_thread(spool.write, chunk)
            spool.seek(0)
            return await self.write_stream(key, cast("BinaryIO", spool))

    def open(self, uri: str) -> AbstractAsyncContextManager[AsyncReadable]:
        return self._open(uri)

    @asynccontextmanager
    async def _open(self, uri: str) -> AsyncIterator[AsyncReadable]:
        try:
            async with self._store.open(uri) as blob:
                yield blob
        except BlobNotFoundError:
            raise
        except FileNotFoundError as exc:
            raise BlobNotFoundError from exc

    async def read_range(
        self, uri: str, start: int, end: int | None = None
    ) -> AsyncIterator[bytes]:
        async with self._open(uri) as blob:
            position = 0
            while end is None or position < end:
                piece = await blob.read(READ_CHUNK_BYTES)
                if not piece:
                    return
                part = piece[max(0, start - position) : None if end is None else end - position]
                position += len(piece)
                if part:
                    yield part

    async def delete(self, uri: str) -> None:
        await self._store.delete(uri)

    async def delete_many(self, uris: Sequence[str]) -> None:
        for uri in uris:
            await self._store.delete(uri)

    async def exists(self, uri: str) -> bool:
        return await self._store.exists(uri)

    async def size(self, uri: str) -> int | None:
        return await self._store.size(uri)

    async def keys(self, prefix: str = "") -> AsyncIterator[tuple[str, float]]:
        del prefix
        nothing: tuple[tuple[str, float], ...] = ()
        for entry in nothing:
            yield entry

    async def collect_partial(self, *, older_than_seconds: float) -> int:
        del older_than_seconds
        return 0

    async def ping(self) -> None:
        if self._prefix is not None:
            await self._store.exists(self.uri("ping"))
