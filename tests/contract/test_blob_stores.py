"""Binds the blob store suite to every implementation."""

import asyncio
import os
import tempfile
import urllib.request
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import pytest

from agentscope.app.rag.blob_store.azure import AzureBlobStore
from agentscope.app.rag.blob_store.base import AsyncReadable, BlobStoreBase, StreamingBlobStore
from agentscope.app.rag.blob_store.documented import as_streaming
from agentscope.app.rag.blob_store.google import GoogleBlobStore
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.blob_store.s3 import S3BlobStore
from agentscope.errors import BlobStoreError, InvalidInputError
from agentscope.testing import s3_servers
from agentscope.testing.blob_store import MEBIBYTE, BlobStoreSuite, collect, pieces
from agentscope.testing.s3_servers import bucket_at
from agentscope.testing.servers import free_port


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


class S3Suite(BlobStoreSuite):
    """A bucket on a server, whichever it is."""

    endpoint: ClassVar[str] = ""

    def store(self) -> AbstractAsyncContextManager[StreamingBlobStore]:
        return self._store()

    @asynccontextmanager
    async def _store(self) -> AsyncIterator[S3BlobStore]:
        async with bucket_at(self.endpoint) as store:
            await store.delete_many([uri async for uri, _ in store.keys()])
            yield store

    def unfinished(self) -> int:
        """Return how many multipart uploads are open on the server."""
        raise NotImplementedError

    async def test_an_upload_that_breaks_off_is_aborted(self) -> None:
        """No parts stay where no listing shows them: the source failed, or its client left."""
        begun = asyncio.Event()

        async def failing() -> AsyncIterator[bytes]:
            for _ in range(20):
                yield b"x" * MEBIBYTE
            raise ConnectionResetError("gone")

        async def stalling() -> AsyncIterator[bytes]:
            for _ in range(20):
                yield b"x" * MEBIBYTE
            begun.set()
            await asyncio.Event().wait()

        async with self._store() as store:
            with pytest.raises(ConnectionResetError):
                await store.write("kb/a/b/1", failing())
            writing = asyncio.create_task(store.write("kb/a/b/2", stalling()))
            await asyncio.wait_for(begun.wait(), 60)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
            assert [uri async for uri, _ in store.keys()] == []
        assert await asyncio.to_thread(self.unfinished) == 0

    async def test_a_missing_bucket_is_not_a_missing_blob(self) -> None:
        """Small and large uploads into it say what is wrong."""
        async with bucket_at(self.endpoint, bucket="no-such-bucket") as store:
            for size in (1, 20 * MEBIBYTE):
                with pytest.raises(BlobStoreError, match="bucket"):
                    await store.write("kb/a/b/1", pieces(b"x" * size, MEBIBYTE))

    async def test_a_presigned_address_serves_the_blob(self) -> None:
        """Anyone who holds it may download, without credentials."""
        async with self._store() as store:
            uri = await store.write("kb/a/signed/1", pieces(b"for you"))
            url = await store.presigned_url(uri, seconds=60)

            def fetch() -> Any:
                with urllib.request.urlopen(url, timeout=10) as answer:
                    return answer.read()

            assert await asyncio.to_thread(fetch) == b"for you"
            assert await collect(store.read_range(uri, 0)) == b"for you"


@pytest.fixture(scope="module")
def moto_endpoint() -> Iterator[str]:
    with s3_servers.moto() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def rclone_server() -> Iterator[tuple[str, Path]]:
    with s3_servers.rclone() as server:
        yield server


@pytest.mark.server
class TestS3BlobStoreOnMoto(S3Suite):
    """The emulator is right about semantics; it lets everybody in."""

    @pytest.fixture(autouse=True)
    def _server(self, moto_endpoint: str) -> None:
        type(self).endpoint = moto_endpoint

    def unfinished(self) -> int:
        with urllib.request.urlopen(f"{self.endpoint}/bucket?uploads", timeout=10) as answer:
            return int(answer.read().count(b"<UploadId>"))

    async def test_a_server_that_is_down_is_not_a_missing_blob(self) -> None:
        """Only "not there" means gone; everything else is the store's failure."""
        store = bucket_at(f"http://127.0.0.1:{free_port()}")
        with pytest.raises(BlobStoreError):
            await store.size(store.uri("kb/a/b/1"))
        assert not await bucket_at(self.endpoint).exists(store.uri("kb/a/b/1"))


@pytest.mark.server
class TestS3BlobStoreOnRclone(S3Suite):
    """This server checks every signature."""

    root: ClassVar[Path] = Path()

    @pytest.fixture(autouse=True)
    def _server(self, rclone_server: tuple[str, Path]) -> None:
        type(self).endpoint, type(self).root = rclone_server

    def unfinished(self) -> int:
        return sum(path.is_file() for path in self.root.rglob("*"))

    async def test_a_wrong_key_is_refused_and_said_to_be_wrong(self) -> None:
        """Small and large writes, reads and deletions."""
        async with self._store() as good, bucket_at(self.endpoint, secret="wrong") as bad:
            uri = await good.write("kb/a/b/1", pieces(b"mine"))
            calls: list[Coroutine[Any, Any, object]] = [
                bad.write("kb/a/b/2", pieces(b"x")),
                bad.write("kb/a/b/3", pieces(b"x" * 20 * MEBIBYTE, MEBIBYTE)),
                bad.exists(uri),
                bad.size(uri),
                bad.delete(uri),
                collect(bad.read_range(uri, 0)),
            ]
            for call in calls:
                with pytest.raises(BlobStoreError, match="credentials"):
                    await call
            assert await collect(good.read_range(uri, 0)) == b"mine"


async def test_google_and_azure_keep_the_contract_of_addresses() -> None:
    """Their servers are not here: keys, addresses and missing settings are checked only."""
    google = GoogleBlobStore("bucket", config={"skip_signature": True})
    azure = AzureBlobStore("container", account_name="a", account_key="a2V5")
    assert google.uri("kb/a/b/1") == "gs://bucket/kb/a/b/1"
    assert azure.uri("kb/a/b/1") == "az://container/kb/a/b/1"
    for store in (google, azure):
        async with store:
            for uri in ("s3://bucket/kb/a", "gs://other/kb/a", "az://container/../x"):
                with pytest.raises(InvalidInputError):
                    await store.exists(uri)
    assert "sig=" in await azure.presigned_url(azure.uri("kb/a/b/1"), seconds=60)


AZURITE_ACCOUNT = "devstoreaccount1"  # published with the emulator, like its key
AZURITE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


if "AZURITE_URL" in os.environ:

    @pytest.mark.server
    class TestAzureBlobStore(BlobStoreSuite):
        """A container of Azurite at `AZURITE_URL`, such as http://127.0.0.1:10000."""

        def store(self) -> AbstractAsyncContextManager[StreamingBlobStore]:
            return self._store()

        @asynccontextmanager
        async def _store(self) -> AsyncIterator[StreamingBlobStore]:
            async with AzureBlobStore(
                "container",
                account_name=AZURITE_ACCOUNT,
                account_key=AZURITE_KEY,
                endpoint_url=f"{os.environ['AZURITE_URL']}/{AZURITE_ACCOUNT}",
            ) as store:
                await store.delete_many([uri async for uri, _ in store.keys()])
                yield store
