"""Blobs in an S3-compatible bucket, through obstore.

Credentials that are not given come from the standard AWS environment variables, a web identity
token or the instance metadata service. A write is one request or a multipart upload of 8 MiB
parts; it is aborted when the source fails. A process that dies in between leaves parts that no
listing shows: give the bucket a rule that aborts incomplete multipart uploads after a day.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, Self

from agentscope.app.rag.blob_store.base import READ_CHUNK_BYTES, AsyncReadable, StreamingBlobStore
from agentscope.app.rag.blob_store.keys import check_key, key_of
from agentscope.errors import BlobNotFoundError, BlobStoreError, InvalidInputError
from agentscope.optional import require

PART_BYTES = 8 * 1024 * 1024
PARTS_IN_FLIGHT = 2
DELETE_BATCH = 1000


class S3BlobStore(StreamingBlobStore):
    """One bucket; needs the extra `s3`."""

    def __init__(
        self,
        bucket: str,
        *,
        region_name: str | None = None,
        endpoint_url: str | None = None,
        aws_access_key_id: str | None = None,
        aws_secret_access_key: str | None = None,
        session_token: str | None = None,
        use_ssl: bool = True,
        config: dict[str, Any] | None = None,
    ) -> None:
        """`config` holds further obstore S3 settings, such as `virtual_hosted_style_request`."""
        self._obstore = require("obstore", package="obstore", extra="s3")
        stores = require("obstore.store", package="obstore", extra="s3")
        self._bucket = bucket
        self._prefix = f"s3://{bucket}/"
        if endpoint_url is not None and "://" not in endpoint_url:
            endpoint_url = f"{'https' if use_ssl else 'http'}://{endpoint_url}"
        settings = {
            "region": region_name,
            "endpoint": endpoint_url,
            "access_key_id": aws_access_key_id,
            "secret_access_key": aws_secret_access_key,
            "session_token": session_token,
            **(config or {}),
        }
        self._store = stores.S3Store(
            bucket,
            # Plain HTTP is only used where an endpoint says so (a server on the same machine).
            client_options={"allow_http": True, "timeout": "120s", "connect_timeout": "10s"},
            **{name: value for name, value in settings.items() if value is not None},
        )

    async def __aenter__(self) -> Self:
        return self

    def uri(self, key: str) -> str:
        return self._prefix + check_key(key)

    def _key(self, uri: str) -> str:
        return key_of(uri, self._prefix)

    async def write_stream(self, key: str, stream: BinaryIO) -> str:
        uri = self.uri(key)
        with _translated():
            await self._obstore.put_async(
                self._store, key, stream, chunk_size=PART_BYTES, max_concurrency=PARTS_IN_FLIGHT
            )
        return uri

    async def write(self, key: str, chunks: AsyncIterator[bytes]) -> str:
        uri = self.uri(key)
        source = _Source(chunks)
        try:
            with _translated():
                await self._obstore.put_async(
                    self._store,
                    key,
                    source.parts(),
                    chunk_size=PART_BYTES,
                    max_concurrency=PARTS_IN_FLIGHT,
                )
        except BlobStoreError:
            if source.error is not None:  # the upload broke, not the store
                raise source.error from None
            raise
        return uri

    def open(self, uri: str) -> AbstractAsyncContextManager[AsyncReadable]:
        return self._open(uri)

    @asynccontextmanager
    async def _open(self, uri: str) -> AsyncIterator[AsyncReadable]:
        with _translated():
            result = await self._obstore.get_async(self._store, self._key(uri))
        yield _Reader(result.stream(min_chunk_size=READ_CHUNK_BYTES))

    async def read_range(
        self, uri: str, start: int, end: int | None = None
    ) -> AsyncIterator[bytes]:
        options: dict[str, Any] = {}
        if end is not None:
            if end <= start:
                return
            options["range"] = (start, end)
        elif start:
            options["range"] = {"offset": start}
        with _translated():
            result = await self._obstore.get_async(self._store, self._key(uri), options=options)
            async for piece in result.stream(min_chunk_size=READ_CHUNK_BYTES):
                data = memoryview(bytes(piece))
                for at in range(0, len(data), READ_CHUNK_BYTES):
                    yield bytes(data[at : at + READ_CHUNK_BYTES])

    async def delete(self, uri: str) -> None:
        await self.delete_many([uri])

    async def delete_many(self, uris: Sequence[str]) -> None:
        keys = [self._key(uri) for uri in uris]
        for at in range(0, len(keys), DELETE_BATCH):
            with _translated(missing_is_fine=True):
                await self._obstore.delete_async(self._store, keys[at : at + DELETE_BATCH])

    async def exists(self, uri: str) -> bool:
        try:
            with _translated():
                await self._obstore.head_async(self._store, self._key(uri))
        except BlobNotFoundError:
            return False
        return True

    async def size(self, uri: str) -> int | None:
        with _translated():
            meta = await self._obstore.head_async(self._store, self._key(uri))
        return int(meta["size"])

    async def keys(self, prefix: str = "") -> AsyncIterator[tuple[str, float]]:
        # S3 prefixes of this library end at a path segment; the rest is compared here.
        folder = prefix.rpartition("/")[0]
        with _translated():
            async for batch in self._obstore.list(self._store, folder or None):
                now = datetime.now(UTC)
                for entry in batch:
                    if entry["path"].startswith(prefix):
                        age = (now - entry["last_modified"]).total_seconds()
                        yield self._prefix + entry["path"], age

    async def collect_partial(self, *, older_than_seconds: float) -> int:
        del older_than_seconds  # unfinished uploads are invisible; the bucket's rule removes them
        return 0

    async def presigned_url(self, uri: str, *, seconds: int) -> str:
        """Return a URL from which anyone may download the blob for `seconds`."""
        with _translated():
            url: str = await self._obstore.sign_async(
                self._store, "GET", self._key(uri), timedelta(seconds=seconds)
            )
        return url


class _Source:
    """Joins an upload into whole parts and remembers its own failure."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self.error: BaseException | None = None

    async def parts(self) -> AsyncIterator[bytes]:
        pending = bytearray()
        try:
            async for chunk in self._chunks:
                pending += chunk
                if len(pending) >= PART_BYTES:
                    yield bytes(pending)
                    pending.clear()
        except Exception as exc:
            self.error = exc
            raise
        if pending:
            yield bytes(pending)


class _Reader:
    """An open object."""

    def __init__(self, stream: AsyncIterator[Any]) -> None:
        self._stream = stream
        self._pending = bytearray()

    async def read(self, n: int = -1) -> bytes:
        with _translated():
            while n < 0 or len(self._pending) < n:
                piece = await anext(self._stream, None)
                if piece is None:
                    break
                self._pending += bytes(piece)
        size = len(self._pending) if n < 0 else n
        data = bytes(self._pending[:size])
        del self._pending[:size]
        return data


@contextmanager
def _translated(*, missing_is_fine: bool = False) -> Iterator[None]:
    """Turn what obstore raises into this product's errors; everything else passes."""
    try:
        yield
    except (BlobStoreError, BlobNotFoundError, InvalidInputError):
        raise
    except FileNotFoundError as exc:
        if not missing_is_fine:
            raise BlobNotFoundError from exc
    except Exception as exc:
        base = require("obstore.exceptions", package="obstore", extra="s3").BaseError
        if not isinstance(exc, (base, OSError, PermissionError)):
            raise
        raise BlobStoreError(context={"reason": str(exc)[:500]}) from exc
