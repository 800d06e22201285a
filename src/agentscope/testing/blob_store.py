"""The suite every blob store passes. Subclass `BlobStoreSuite` and give it a store."""

import abc
import asyncio
import hashlib
import io
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import pytest

from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.errors import BlobNotFoundError, InvalidInputError

MEBIBYTE = 1024 * 1024


async def pieces(data: bytes, size: int = 64 * 1024) -> AsyncIterator[bytes]:
    """Yield `data` in pieces, as an upload arrives."""
    for at in range(0, len(data), size):
        yield data[at : at + size]


async def collect(stream: AsyncIterator[bytes]) -> bytes:
    """Return all of `stream`."""
    return b"".join([piece async for piece in stream])


class BlobStoreSuite(abc.ABC):
    """What a blob store must hold."""

    lists_keys = True
    """Whether `keys` shows what is stored (not so for an adapted documented store)."""

    @abc.abstractmethod
    def store(self) -> AbstractAsyncContextManager[StreamingBlobStore]:
        """Return an empty store to be entered."""

    @pytest.mark.parametrize("size", [0, 1, MEBIBYTE - 1, MEBIBYTE, 9 * MEBIBYTE + 17])
    async def test_bytes_come_back_as_they_were_written(self, size: int) -> None:
        """Any size, whatever the pieces."""
        data = (b"0123456789abcdef" * (size // 16 + 1))[:size]
        async with self.store() as store:
            uri = await store.write("kb/a/b/1", pieces(data, 70_001))
            assert await store.exists(uri)
            assert await collect(store.read_range(uri, 0)) == data
            async with store.open(uri) as blob:
                assert await blob.read(-1) == data
            assert await store.size(uri) in (size, None)

    async def test_a_documented_write_reads_a_binary_stream(self) -> None:
        """`write_stream` is the published call."""
        async with self.store() as store:
            uri = await store.write_stream("kb/a/c/1", io.BytesIO(b"hello"))
            async with store.open(uri) as blob:
                assert await blob.read(2) == b"he"
                assert await blob.read() == b"llo"
                assert await blob.read(5) == b""

    async def test_a_range_is_exact(self) -> None:
        """Half-open, open-ended and empty ranges."""
        data = bytes(range(256)) * 10
        async with self.store() as store:
            uri = await store.write("kb/a/d/1", pieces(data))
            assert await collect(store.read_range(uri, 5, 300)) == data[5:300]
            assert await collect(store.read_range(uri, 2550)) == data[2550:]
            assert await collect(store.read_range(uri, 7, 7)) == b""

    async def test_a_second_write_replaces_the_first(self) -> None:
        """The same key holds the newest content."""
        async with self.store() as store:
            await store.write("kb/a/e/1", pieces(b"old content"))
            uri = await store.write("kb/a/e/1", pieces(b"new"))
            assert await collect(store.read_range(uri, 0)) == b"new"

    async def test_a_failed_write_leaves_nothing(self) -> None:
        """The source's own error passes, and no blob is there."""

        async def broken() -> AsyncIterator[bytes]:
            yield b"x" * MEBIBYTE
            raise ConnectionResetError("gone")

        async with self.store() as store:
            with pytest.raises(ConnectionResetError):
                await store.write("kb/a/f/1", broken())
            if self.lists_keys:
                assert not await store.exists(store.uri("kb/a/f/1"))
                assert [key async for key in store.keys()] == []

    async def test_a_cancelled_write_leaves_nothing(self) -> None:
        """A client that went away is not stored."""
        started = asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield b"x" * 2 * MEBIBYTE
            started.set()
            await asyncio.Event().wait()

        async with self.store() as store:
            task = asyncio.create_task(store.write("kb/a/g/1", slow()))
            await asyncio.wait_for(started.wait(), 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            if self.lists_keys:
                assert not await store.exists(store.uri("kb/a/g/1"))

    async def test_a_missing_blob_is_said_to_be_missing(self) -> None:
        """Reading fails clearly, deleting is harmless, also twice."""
        async with self.store() as store:
            uri = await store.write("kb/a/h/1", pieces(b"here"))
            await store.delete(uri)
            await store.delete(uri)
            assert not await store.exists(uri)
            with pytest.raises(BlobNotFoundError):
                await collect(store.read_range(uri, 0))
            with pytest.raises(BlobNotFoundError):
                async with store.open(uri) as blob:
                    await blob.read()

    async def test_many_blobs_are_deleted_at_once(self) -> None:
        """Those that are not there are ignored."""
        async with self.store() as store:
            uris = [await store.write(f"kb/a/i{n}/1", pieces(b"x")) for n in range(5)]
            await store.delete(uris[0])
            await store.delete_many(uris)
            assert not any([await store.exists(uri) for uri in uris])
            await store.delete_many([])

    async def test_keys_are_listed_by_prefix(self) -> None:
        """An audit sees each blob once, with its age."""
        if not self.lists_keys:
            return
        async with self.store() as store:
            uris = {await store.write(f"kb/k{n}/doc/1", pieces(b"x")) for n in range(3)}
            found = [(uri, age) async for uri, age in store.keys("kb/")]
            assert {uri for uri, _ in found} == uris
            assert all(-5 < age < 120 for _, age in found)
            assert [uri async for uri, _ in store.keys("kb/k1/")] == [store.uri("kb/k1/doc/1")]

    @pytest.mark.parametrize(
        "key",
        ["", "/etc/passwd", "../up", "a/../b", "a//b", "a/./b", "a\\b", "a\x00b", "ü", "a" * 600],
    )
    async def test_a_hostile_key_is_refused(self, key: str) -> None:
        """Nothing outside the root is touched."""
        async with self.store() as store:
            with pytest.raises(InvalidInputError):
                await store.write(key, pieces(b"x"))

    async def test_an_address_of_another_store_is_refused(self) -> None:
        """A URI that was never ours is an error, not a miss."""
        if not self.lists_keys:
            return
        async with self.store() as store:
            for uri in ("ftp://x/y", "s3://another-bucket/kb/a", "local://../x"):
                with pytest.raises(InvalidInputError):
                    await store.exists(uri)

    async def test_memory_does_not_grow_with_the_blob(self) -> None:
        """64 MiB stream through unharmed, by digest."""
        block = hashlib.sha256(b"seed").digest() * (MEBIBYTE // 32)

        async def large() -> AsyncIterator[bytes]:
            for _ in range(64):
                yield block

        async with self.store() as store:
            uri = await store.write("kb/a/big/1", large())
            digest = hashlib.sha256()
            async for piece in store.read_range(uri, 0):
                assert len(piece) <= MEBIBYTE
                digest.update(piece)
            assert digest.digest() == hashlib.sha256(block * 64).digest()
