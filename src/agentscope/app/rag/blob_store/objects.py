"""Blobs as objects of a bucket, through obstore: what S3, Google and Azure have in common.

A small upload is one request, a larger one a multipart upload of 8 MiB parts. When the source
fails or the write is cancelled, the multipart upload is aborted. A process that dies in between
leaves parts that no listing shows: give the bucket a rule that removes them after a day.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, ClassVar, Literal

from agentscope.app.rag.blob_store.base import READ_CHUNK_BYTES, AsyncReadable, StreamingBlobStore
from agentscope.app.rag.blob_store.handover import Handover
from agentscope.app.rag.blob_store.keys import check_key, key_of
from agentscope.errors import BlobNotFoundError, BlobStoreError, InvalidInputError
from agentscope.optional import require

PART_BYTES = 8 * 1024 * 1024
PARTS_IN_FLIGHT = 2
DELETE_BATCH = 1000
ABORT_SECONDS = 10
Missing = Literal["blob", "bucket", "ignored"]
CLIENT_OPTIONS: Mapping[str, Any] = {
    # Plain HTTP is only used where an endpoint says so (a server on the same machine).
    "allow_http": True,
    "timeout": "120s",
    "connect_timeout": "10s",
}


class ObjectBlobStore(StreamingBlobStore):
    """One bucket of an object store that obstore knows."""

    store_class: ClassVar[str]
    scheme: ClassVar[str]

    def __init__(self, bucket: str, settings: Mapping[str, Any]) -> None:
        """`settings` are keyword arguments of the obstore class; None stands for its default."""
        self._obstore = require("obstore", package="obstore", extra="s3")
        stores = require("obstore.store", package="obstore", extra="s3")
        self._prefix = f"{self.scheme}://{bucket}/"
        given = {name: value for name, value in settings.items() if value is not None}
        self._store = getattr(stores, self.store_class)(
            bucket, **{"client_options": dict(CLIENT_OPTIONS), **given}
        )
        self._aborting: set[asyncio.Future[Any]] = set()

    async def aclose(self) -> None:
        if self._aborting:
            await asyncio.wait(self._aborting, timeout=ABORT_SECONDS)

    def uri(self, key: str) -> str:
        return self._prefix + check_key(key)

    def _key(self, uri: str) -> str:
        return key_of(uri, self._prefix)

    async def write_stream(self, key: str, stream: BinaryIO) -> str:
        async def pieces() -> AsyncIterator[bytes]:
            while piece := await asyncio.to_thread(stream.read, READ_CHUNK_BYTES):
                yield piece

        return await self.write(key, pieces())

    async def write(self, key: str, chunks: AsyncIterator[bytes]) -> str:
        uri = self.uri(key)
        whole = _joined(chunks)
        first, size = [], 0
        async for piece in whole:
            first.append(piece)
            size += len(piece)
            if size >= PART_BYTES:
                break
        if size < PART_BYTES:
            with _translated(missing="bucket"):
                await self._obstore.put_async(
                    self._store, key, b"".join(first), use_multipart=False
                )
            return uri
        handover = Handover()
        sending = asyncio.ensure_future(self._send(key, handover.pieces()))
        try:
            while first:
                await handover.give(first.pop(0), to=sending)
            async for piece in whole:
                await handover.give(piece, to=sending)
            await handover.end(to=sending)
        except BaseException:
            await self._abort(handover, sending)
            raise
        return uri

    async def _send(self, key: str, pieces: AsyncIterator[bytes]) -> None:
        with _translated(missing="bucket"):
            await self._obstore.put_async(
                self._store, key, pieces, chunk_size=PART_BYTES, max_concurrency=PARTS_IN_FLIGHT
            )

    async def _abort(self, handover: Handover, sending: asyncio.Future[None]) -> None:
        """Let the client abort the upload: cancelling its call would leave the parts behind."""
        handover.break_off()
        self._aborting.add(sending)
        sending.add_done_callback(self._aborted)
        await asyncio.wait({sending}, timeout=ABORT_SECONDS)

    def _aborted(self, sending: asyncio.Future[None]) -> None:
        self._aborting.discard(sending)
        if not sending.cancelled():
            sending.exception()  # the caller has the reason; this one is only that it broke off

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
        if end is not None and end <= start:
            return
        key = self._key(uri)
        with _translated():
            try:
                result = await self._get(key, {"offset": start} if end is None else (start, end))
                cut: tuple[int, int | None] = (0, None)
            except _errors().GenericError as exc:
                if "non-partial" not in str(exc):
                    raise
                # A server may ignore the range, or obey it with the wrong status.
                result, cut = await self._get(key, None), (start, end)
            async for piece in _between(result.stream(min_chunk_size=READ_CHUNK_BYTES), *cut):
                yield piece

    async def _get(self, key: str, asked: Any) -> Any:
        options = {} if asked in (None, {"offset": 0}) else {"range": asked}
        return await self._obstore.get_async(self._store, key, options=options)

    async def delete(self, uri: str) -> None:
        await self.delete_many([uri])

    async def delete_many(self, uris: Sequence[str]) -> None:
        keys = [self._key(uri) for uri in uris]
        for at in range(0, len(keys), DELETE_BATCH):
            with _translated(missing="ignored"):
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
        # Prefixes of this library end at a path segment; the rest is compared here.
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


async def _joined(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what arrives in pieces of about 1 MiB: the client makes parts of them itself."""
    pending = bytearray()
    async for chunk in chunks:
        pending += chunk
        if len(pending) >= READ_CHUNK_BYTES:
            yield bytes(pending)
            pending.clear()
    if pending:
        yield bytes(pending)


async def _between(pieces: AsyncIterator[Any], start: int, end: int | None) -> AsyncIterator[bytes]:
    """Yield bytes [start, end) of what comes, in pieces of at most 1 MiB."""
    position = 0
    async for piece in pieces:
        data = memoryview(bytes(piece))
        stop = len(data) if end is None else min(len(data), end - position)
        for at in range(max(0, start - position), stop, READ_CHUNK_BYTES):
            yield bytes(data[at : min(stop, at + READ_CHUNK_BYTES)])
        position += len(data)
        if end is not None and position >= end:
            return


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


def _errors() -> Any:
    return require("obstore.exceptions", package="obstore", extra="s3")


@contextmanager
def _translated(*, missing: Missing = "blob") -> Iterator[None]:
    """Turn what obstore raises into this product's errors; everything else passes.

    `missing` says what is not there if the store says so.
    """
    try:
        yield
    except (BlobStoreError, BlobNotFoundError, InvalidInputError):
        raise
    except FileNotFoundError as exc:
        if missing == "bucket":
            raise BlobStoreError(
                "The bucket of the blob store does not exist.", context={"reason": str(exc)[:500]}
            ) from exc
        if missing == "blob":
            raise BlobNotFoundError from exc
    except Exception as exc:
        errors = _errors()
        if not isinstance(exc, (errors.BaseError, OSError)):
            raise
        refused = isinstance(
            exc, (errors.PermissionDeniedError, errors.UnauthenticatedError, PermissionError)
        )
        raise BlobStoreError(
            "The blob store refused the credentials it was given." if refused else None,
            context={"reason": str(exc)[:500]},
        ) from exc
