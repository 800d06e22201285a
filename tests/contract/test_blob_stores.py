"""Binds the blob store suite to every implementation."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import pytest

from agentscope.app.rag.blob_store.base import AsyncReadable, BlobStoreBase, StreamingBlobStore
from agentscope.app.rag.blob_store.documented import as_streaming
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.blob_store.s3 import S3BlobStore
from agentscope.errors import BlobNotFoundError, BlobStoreError
from agentscope.testing.blob_store import BlobStoreSuite, collect, pieces


class TestLocalBlobStore(BlobStoreSuite):
    """Files below a directory."""

    def store(self) -> AbstractAsyncContextManager[StreamingBlobStore]:
        return self._store()

    @asynccontextmanager
    async def _store(self) -> AsyncIterator[StreamingBlobStore]:
        with tempfile.TemporaryDirectory() as root:
            async with LocalBlobStore(root_dir=Path(root) / "blobs") as store:
                yield store

    async def test_what_a_dead_process_left_partial_is_collected(self) -> None:
        """Only old partial files go, and they are never listed."""
        with tempfile.TemporaryDirectory() as root:
            async with LocalBlobStore(root) as store:
                uri = await store.write("kb/a/b/1", pieces(b"whole"))
                old, fresh = (Path(root) / ".partial" / name for name in ("dead", "live"))
                for path in (old, fresh):
                    path.write_bytes(b"half")
                os.utime(old, (0, 0))
                assert await store.collect_partial(older_than_seconds=3600) == 1
                assert [key async for key, _ in store.keys()] == [uri]
                assert fresh.exists()
                assert not old.exists()

    async def test_a_deleted_name_takes_its_unfinished_writes_along(self) -> None:
        """A crash in the middle of an upload leaves nothing once its record is purged."""
        with tempfile.TemporaryDirectory() as root:
            async with LocalBlobStore(root) as store:
                begun = [asyncio.Event(), asyncio.Event()]

                async def endless(mark: asyncio.Event) -> AsyncIterator[bytes]:
                    mark.set()
                    yield b"half"
                    await asyncio.Event().wait()

                writes = [
                    asyncio.create_task(store.write(key, endless(mark)))
                    for key, mark in zip(("kb/a/b/1", "kb/a/b/12"), begun, strict=True)
                ]
                for mark in begun:
                    await mark.wait()
                await store.delete_many([store.uri("kb/a/b/1"), store.uri("kb/a/c/1")])
                assert len(list((Path(root) / ".partial").iterdir())) == 1
                for write in writes:
                    write.cancel()
                await asyncio.gather(*writes, return_exceptions=True)

    async def test_a_write_given_up_at_any_moment_leaves_nothing(self) -> None:
        """Also when the file was just about to be made."""
        with tempfile.TemporaryDirectory() as root:
            async with LocalBlobStore(root) as store:

                async def endless() -> AsyncIterator[bytes]:
                    while True:
                        yield b"half"
                        await asyncio.sleep(0)

                for turns in range(20):
                    write = asyncio.create_task(store.write("kb/a/1", endless()))
                    for _ in range(turns):
                        await asyncio.sleep(0)
                    write.cancel()
                    await asyncio.gather(write, return_exceptions=True)
                async with asyncio.timeout(10):
                    while any((Path(root) / ".partial").iterdir()):  # noqa: ASYNC110
                        await asyncio.sleep(0.01)

    async def test_writes_pass_while_the_last_blob_of_their_folder_goes(self) -> None:
        """A folder is removed with its last blob, whoever is about to write into it."""
        with tempfile.TemporaryDirectory() as root:
            async with LocalBlobStore(root) as store:

                async def come_and_go(name: int) -> None:
                    for _ in range(100):
                        uri = await store.write(f"kb/a/{name}", pieces(b"here"))
                        await store.delete(uri)

                async with asyncio.TaskGroup() as tasks:
                    for name in range(6):
                        tasks.create_task(come_and_go(name))
                    for _ in range(50):
                        tasks.create_task(store.collect_partial(older_than_seconds=3600))
                        assert all([key async for key, _ in store.keys()])
                assert not [key async for key, _ in store.keys()]


class MinimalBlobStore(BlobStoreBase):
    """A user's store, written against the documented contract only."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    async def write_stream(self, key: str, stream: BinaryIO) -> str:
        self.blobs[f"mine://{key}"] = stream.read()
        return f"mine://{key}"

    def open(self, uri: str) -> AbstractAsyncContextManager[AsyncReadable]:
        return self._open(uri)

    @asynccontextmanager
    async def _open(self, uri: str) -> AsyncIterator[AsyncReadable]:
        if uri not in self.blobs:
            raise FileNotFoundError(uri)
        data = bytearray(self.blobs[uri])

        class Reader:
            async def read(self, n: int = -1) -> bytes:
                size = len(data) if n < 0 else n
                piece = bytes(data[:size])
                del data[:size]
                return piece

        yield Reader()

    async def delete(self, uri: str) -> None:
        self.blobs.pop(uri, None)

    async def exists(self, uri: str) -> bool:
        return uri in self.blobs


class TestDocumentedBlobStore(BlobStoreSuite):
    """A store of a user behind the adapter."""

    lists_keys = False

    def store(self) -> AbstractAsyncContextManager[StreamingBlobStore]:
        return as_streaming(MinimalBlobStore())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def moto_endpoint() -> Iterator[str]:
    """An S3 emulator from a package: right about conditions, ranges and multipart uploads."""
    port = _free_port()
    endpoint = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                request = urllib.request.Request(f"{endpoint}/bucket", method="PUT")
                urllib.request.urlopen(request, timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, "the emulator ended"
        yield endpoint
    finally:
        process.kill()
        process.wait()


def _s3(endpoint: str, bucket: str = "bucket") -> S3BlobStore:
    return S3BlobStore(
        bucket,
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        config={"virtual_hosted_style_request": False},
    )


@pytest.mark.server
class TestS3BlobStore(BlobStoreSuite):
    """A bucket on the emulator."""

    endpoint: ClassVar[str] = ""

    @pytest.fixture(autouse=True)
    def _server(self, moto_endpoint: str) -> None:
        type(self).endpoint = moto_endpoint

    def store(self) -> AbstractAsyncContextManager[StreamingBlobStore]:
        return self._store()

    @asynccontextmanager
    async def _store(self) -> AsyncIterator[StreamingBlobStore]:
        async with _s3(self.endpoint) as store:
            await store.delete_many([uri async for uri, _ in store.keys()])
            yield store

    async def test_a_broken_server_is_not_a_missing_blob(self) -> None:
        """Only "not there" means gone; everything else is the store's failure."""
        async with _s3(self.endpoint, bucket="no-such-bucket") as store:
            with pytest.raises((BlobStoreError, BlobNotFoundError)):
                await store.write("kb/a/b/1", pieces(b"x"))
        refused = f"http://127.0.0.1:{_free_port()}"
        store = S3BlobStore(
            "bucket",
            region_name="us-east-1",
            endpoint_url=refused,
            aws_access_key_id="key",
            aws_secret_access_key="secret",
            config={"retry_config": {"max_retries": 0}},
        )
        with pytest.raises(BlobStoreError):
            await store.size(store.uri("kb/a/b/1"))

    async def test_a_presigned_address_serves_the_blob(self) -> None:
        """Anyone who holds it may download, without credentials."""
        async with _s3(self.endpoint) as store:
            uri = await store.write("kb/a/signed/1", pieces(b"for you"))
            url = await store.presigned_url(uri, seconds=60)

            def fetch() -> Any:
                with urllib.request.urlopen(url, timeout=10) as answer:
                    return answer.read()

            assert await asyncio.to_thread(fetch) == b"for you"
            assert await collect(store.read_range(uri, 0)) == b"for you"
