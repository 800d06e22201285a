"""Back ends behind a network that fails: the fault layer of the simulation.

A call is sent by a simulated process and served outside of it, so that the death or pause of the
caller changes nothing about what was sent. It may fail before or after it was applied, be applied
long after its caller was told that it failed, or just be slow.
"""

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from agentscope.app.message_bus.base import MessageBus
from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.rag.blob_store.base import AsyncReadable, StreamingBlobStore
from agentscope.app.storage.base import StorageBase
from agentscope.errors import (
    AgentScopeError,
    BlobNotFoundError,
    BlobStoreError,
    BusError,
    StorageError,
)
from agentscope.testing.simulation import SimulationLoop

T = TypeVar("T")

LATE_SECONDS = 8.0  # below the simulated request timeout: later than that nothing is promised


@dataclass
class FaultRates:
    """Chances, per call, of what can go wrong; all zero: a network without faults."""

    before: float = 0.0
    after: float = 0.0
    late: float = 0.0
    slow: float = 0.0
    signal_lost: float = 0.0
    signal_twice: float = 0.0
    signal_cut: float = 0.0
    swallowed: float = 0.0  # a cancelled call ends as a lost connection instead


class Network:
    """Carries calls from simulated processes to servers that never die."""

    def __init__(self, loop: SimulationLoop, rates: FaultRates) -> None:
        self.loop = loop
        self.rates = rates
        self.closed = False
        self.calls = 0
        self._outside = loop.outside()

    async def call(
        self,
        operation: Callable[[], Awaitable[T]],
        error: type[AgentScopeError],
        *,
        seconds: float = 0.01,
    ) -> T:
        """Send one call and wait for its answer; each way takes `seconds` on average."""
        if self.closed:
            raise error("The simulation is over.")
        self.calls += 1
        answer: asyncio.Future[T] = self.loop.create_future()
        call = _Call(operation, error, answer, self.loop.rng.expovariate(1.0 / seconds))
        delay, rates = self.loop.rng.expovariate(1.0 / seconds), self.rates
        if rates.slow and self.loop.rng.random() < rates.slow:
            delay += self.loop.rng.uniform(0.0, LATE_SECONDS)
        # A timer of nobody's: the death or pause of the caller does not hold the request up.
        self.loop.call_later(delay, self._arrive, call, context=self._outside)
        try:
            return await answer
        except asyncio.CancelledError:
            if self.closed or self.loop.rng.random() >= rates.swallowed:
                raise
        raise error("The connection was lost.")  # as drivers do that mistake one for the other

    def _arrive(self, call: "_Call[Any]") -> None:
        """Decide the fate of a request that reaches the server."""
        fate, rates = self.loop.rng.random(), self.rates
        if fate < rates.before:
            call.fail(call.error("The request was not received."))
            return
        if fate < rates.before + rates.late:
            call.fail(call.error("The connection was lost."))
            delay = self.loop.rng.uniform(0.0, LATE_SECONDS)
            self.loop.call_later(delay, self._begin, call, context=self._outside)
            return
        call.answer_lost = fate < rates.before + rates.late + rates.after
        self._begin(call)

    def _begin(self, call: "_Call[Any]") -> None:
        self.loop.spawn(None, self._serve(call))

    async def _serve(self, call: "_Call[Any]") -> None:
        try:
            result = await call.operation()
        except Exception as exc:
            call.fail(exc)
            return
        if call.answer_lost:
            error = call.error("The answer was lost.")
            self.loop.call_later(call.way_back, call.fail, error, context=self._outside)
        else:
            self.loop.call_later(call.way_back, call.succeed, result, context=self._outside)


@dataclass(slots=True)
class _Call(Generic[T]):
    """One request under way; its answer may be known before it is served, or never."""

    operation: Callable[[], Awaitable[T]]
    error: type[AgentScopeError]
    answer: "asyncio.Future[T]"
    way_back: float
    answer_lost: bool = False

    def fail(self, error: Exception) -> None:
        """Let the caller see an error."""
        if not self.answer.done():
            self.answer.set_exception(error)
            self.answer.exception()  # nobody may be there to read it

    def succeed(self, result: T) -> None:
        """Let the caller have the answer."""
        if not self.answer.done():
            self.answer.set_result(result)


def behind(network: Network, inner: T, error: type[AgentScopeError], *, seconds: float = 0.01) -> T:
    """Return a client of `inner` whose calls go over the network.

    Streams (async generators) are read directly: they serve the audit only.
    """
    kind: Any = type(inner)
    members: dict[str, Any] = {"__aenter__": _entered, "__aexit__": _left, "aclose": _closed}
    for name in _calls(kind):
        members[name] = _remote(network, inner, name, error, seconds)
    client_type = type(f"Remote{kind.__name__}", (kind,), members)
    client: Any = object.__new__(client_type)
    client.__dict__.update(inner.__dict__)
    return cast("T", client)


@functools.cache
def _calls(kind: Any) -> tuple[str, ...]:
    """Return the names of the coroutine methods that a client sends over the network."""
    return tuple(
        name
        for name, member in inspect.getmembers(kind, inspect.iscoroutinefunction)
        if (not name.startswith("_") or name == "__call__") and name != "aclose"
    )


def _remote(
    network: Network, inner: Any, name: str, error: type[AgentScopeError], seconds: float
) -> Any:
    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        del self
        return await network.call(
            lambda: getattr(inner, name)(*args, **kwargs), error, seconds=seconds
        )

    return call


async def _entered(self: Any) -> Any:
    return self


async def _left(self: Any, *error: Any) -> None:
    del self, error


async def _closed(self: Any) -> None:
    del self


class RemoteStorage(StorageBase):
    """A client of a storage."""

    def __init__(self, network: Network, inner: StorageBase) -> None:
        self._network = network
        self._inner = inner
        self.documents = behind(network, inner.documents, StorageError)
        self.knowledge_bases = behind(network, inner.knowledge_bases, StorageError)
        self.credentials = behind(network, inner.credentials, StorageError)
        self.shares = behind(network, inner.shares, StorageError)
        self.events = behind(network, inner.events, StorageError)
        self.registry = behind(network, inner.registry, StorageError)

    async def now(self) -> datetime:
        return await self._network.call(self._inner.now, StorageError)


class RemoteBus(MessageBus):
    """A client of a message bus that loses, repeats and cuts off signals."""

    def __init__(self, network: Network, inner: InMemoryMessageBus) -> None:
        self._network = network
        self._inner = inner

    async def queue_push(
        self, key: str, payload: Mapping[str, Any], *, ttl_secs: int | None = None
    ) -> str:
        return await self._network.call(
            lambda: self._inner.queue_push(key, payload, ttl_secs=ttl_secs), BusError
        )

    async def queue_drain(self, key: str, max_count: int = 100) -> list[tuple[str, dict[str, Any]]]:
        return await self._network.call(lambda: self._inner.queue_drain(key, max_count), BusError)

    async def queue_length(self, key: str) -> int:
        return await self._network.call(lambda: self._inner.queue_length(key), BusError)

    async def publish(self, key: str, payload: Mapping[str, Any]) -> None:
        rng, rates = self._network.loop.rng, self._network.rates
        if rng.random() < rates.signal_lost:
            return
        times = 2 if rng.random() < rates.signal_twice else 1
        for _ in range(times):
            await self._network.call(lambda: self._inner.publish(key, payload), BusError)

    async def subscribe(
        self, key: str, *, on_ready: Callable[[], None] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        await self._network.call(self._inner.ping, BusError)
        async for signal in self._inner.subscribe(key, on_ready=on_ready):
            if self._network.loop.rng.random() < self._network.rates.signal_cut:
                raise BusError("The subscription was cut off.")
            yield signal

    async def ping(self) -> None:
        await self._network.call(self._inner.ping, BusError)


class MemoryBlobStore(StreamingBlobStore):
    """Blobs in a dictionary; a write is visible as a whole or not at all."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.blobs: dict[str, tuple[bytes, float]] = {}

    def uri(self, key: str) -> str:
        return f"memory://{key}"

    async def put(self, key: str, data: bytes) -> str:
        """Store the whole blob."""
        self.blobs[self.uri(key)] = (data, self._now())
        return self.uri(key)

    async def fetch(self, uri: str) -> bytes:
        """Return the whole blob."""
        try:
            return self.blobs[uri][0]
        except KeyError:
            raise BlobNotFoundError from None

    async def write(self, key: str, chunks: AsyncIterator[bytes]) -> str:
        return await self.put(key, b"".join([chunk async for chunk in chunks]))

    async def write_stream(self, key: str, stream: Any) -> str:
        return await self.put(key, stream.read())

    def open(self, uri: str) -> AbstractAsyncContextManager[AsyncReadable]:
        return self._open(uri)

    @asynccontextmanager
    async def _open(self, uri: str) -> AsyncIterator[AsyncReadable]:
        yield _Bytes(await self.fetch(uri))

    async def read_range(
        self, uri: str, start: int, end: int | None = None
    ) -> AsyncIterator[bytes]:
        data = await self.fetch(uri)
        yield data[start:end]

    async def delete(self, uri: str) -> None:
        await self.delete_many([uri])

    async def delete_many(self, uris: Any) -> None:
        for uri in uris:
            self.blobs.pop(uri, None)

    async def exists(self, uri: str) -> bool:
        return uri in self.blobs

    async def size(self, uri: str) -> int | None:
        return len(await self.fetch(uri))

    async def keys(self, prefix: str = "") -> AsyncIterator[tuple[str, float]]:
        for uri, (_, stored_at) in sorted(self.blobs.items()):
            if uri.startswith(self.uri(prefix)):
                yield uri, self._now() - stored_at

    async def collect_partial(self, *, older_than_seconds: float) -> int:
        del older_than_seconds
        return 0


class RemoteBlobStore(MemoryBlobStore):
    """A client of a blob store."""

    def __init__(self, network: Network, inner: MemoryBlobStore) -> None:
        super().__init__(network.loop.time)
        self.blobs = inner.blobs
        self._network = network
        self._inner = inner

    async def put(self, key: str, data: bytes) -> str:
        return await self._network.call(lambda: self._inner.put(key, data), BlobStoreError)

    async def fetch(self, uri: str) -> bytes:
        return await self._network.call(lambda: self._inner.fetch(uri), BlobStoreError)

    async def delete_many(self, uris: Any) -> None:
        await self._network.call(lambda: self._inner.delete_many(list(uris)), BlobStoreError)

    async def exists(self, uri: str) -> bool:
        return await self._network.call(lambda: self._inner.exists(uri), BlobStoreError)


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    async def read(self, n: int = -1) -> bytes:
        end = len(self._data) if n < 0 else self._at + n
        piece = self._data[self._at : end]
        self._at += len(piece)
        return piece
