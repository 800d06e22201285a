"""The embedded vector store: a directory per collection, no server.

Open collections are kept up to a bound and closed least recently used first. Every call runs in a
small thread pool; within a collection one call reads and one writes at a time, each lane in the
order of arrival, so neither can starve the other.
"""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self, TypeVar

from agentscope.errors import (
    CollectionNotFoundError,
    DimensionMismatchError,
    InvalidInputError,
    VectorStoreError,
)
from agentscope.rag.document import Chunk, Point, StoredRun, StoreHit, Vector
from agentscope.rag.vector_store.documented import DocumentedCalls
from agentscope.rag.vector_store.embedded_build import build_in_child
from agentscope.rag.vector_store.embedded_collection import (
    INDEX_FROM_VALUES,
    OpenCollection,
)
from agentscope.rag.vector_store.embedded_files import (
    collection_names,
    directory_name,
    lock_directory,
    new_directory,
    publish_directory,
    remove_directory,
    sweep,
)
from agentscope.rag.vector_store.embedded_index import IndexBrokenError
from agentscope.rag.vector_store.embedded_rows import create_rows, translated
from agentscope.rag.vector_store.filter import Filter
from agentscope.rag.vector_store.points import batches, check_vector

MAX_DIMENSIONS = 20_000
INDEX_WEIGHT = 4
"""An open collection takes 5 file descriptors, one with an index about 20."""
PAGE = 500
FIRST = ("", "", -1)

T = TypeVar("T")

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Slot:
    """A collection that is or was open, with its two lanes."""

    collection: OpenCollection | None = None
    users: int = 0
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)


class EmbeddedVectorStore(DocumentedCalls):
    """Keeps collections under `path`, which one process may use at a time.

    The directory is locked on first use and released by `aclose`. At most `max_open` collections
    stay open, which bounds descriptors (about 5 each) and memory. From `index_from_values` vector
    values on a collection gets a nearest-neighbour index, built by a child process.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_open: int = 100,
        threads: int = 4,
        index_from_values: int = INDEX_FROM_VALUES,
    ) -> None:
        if max_open < 1 or threads < 1:
            raise InvalidInputError("max_open and threads must be at least 1.")
        self.path = Path(path)
        self._max_open = max_open
        self._threads = threads
        self._index_from_values = index_from_values
        self._pool: ThreadPoolExecutor | None = None
        self._lock: IO[bytes] | None = None
        self._is_closed = False
        self._starting = asyncio.Lock()
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._running: set[asyncio.Future[Any]] = set()
        self._builds: set[asyncio.Task[None]] = set()
        self._build_turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self._is_closed = False
        await self._start()
        return self

    async def aclose(self) -> None:
        self._is_closed = True
        for build in list(self._builds):
            build.cancel()
        await asyncio.gather(*self._builds, return_exceptions=True)
        if self._running:
            await asyncio.wait(set(self._running))
        pool, self._pool = self._pool, None
        if pool is None:
            return
        loop = asyncio.get_running_loop()
        slots, self._slots = self._slots, OrderedDict()
        for slot in slots.values():
            if slot.collection is not None:
                await loop.run_in_executor(pool, slot.collection.close)
                slot.collection = None
        pool.shutdown(wait=False)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def create_collection(self, name: str, dimensions: int) -> None:
        if not 1 <= dimensions <= MAX_DIMENSIONS:
            raise InvalidInputError(f"A collection has 1 to {MAX_DIMENSIONS} dimensions.")
        target = await self._directory(name)
        async with self._used(name) as slot, slot.writing:
            if await self._threaded(target.is_dir):
                known = (await self._opened(name, slot)).dimensions
                if known != dimensions:
                    raise DimensionMismatchError(
                        f"The collection has {known} dimensions, not {dimensions}."
                    )
                return

            def create() -> None:
                prepared = new_directory(self.path)
                create_rows(prepared, dimensions)
                publish_directory(prepared, target)

            await self._threaded(create)

    async def delete_collection(self, name: str) -> None:
        target = await self._directory(name)
        async with self._used(name) as slot, slot.writing, slot.reading, slot.opening:
            collection, slot.collection = slot.collection, None
            if collection is not None:
                await self._threaded(collection.close)
            await self._threaded(lambda: remove_directory(target))

    async def has_collection(self, name: str) -> bool:
        target = await self._directory(name)
        return await self._threaded(target.is_dir)

    async def list_collections(self) -> list[str]:
        await self._start()
        return await self._threaded(lambda: collection_names(self.path))

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        dimensions = await self._read(collection, lambda open_: open_.dimensions)
        for point in points:
            check_vector(point.vector, dimensions)
        for batch in batches(
            points, max_points=self.max_batch_points, max_bytes=self.max_batch_bytes
        ):

            def write(open_: OpenCollection, batch: Sequence[Point] = batch) -> bool:
                open_.upsert(batch)
                return open_.index.is_wanted

            if await self._write(collection, write):
                self._schedule_index(collection)

    async def search_vector(
        self, collection: str, vector: Vector, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        return await self._read(collection, lambda open_: open_.nearest(vector, top_k, where))

    async def search_keyword(
        self, collection: str, text: str, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        return await self._read(collection, lambda open_: open_.by_words(text, top_k, where))

    async def score_points(
        self, collection: str, vector: Vector, hits: Sequence[StoreHit]
    ) -> list[StoreHit]:
        return await self._read(collection, lambda open_: open_.similarities(vector, hits))

    async def count(self, collection: str, document_id: str, run_id: str) -> int:
        return await self._write(collection, lambda open_: open_.count(document_id, run_id))

    async def run_chunks(
        self, collection: str, document_id: str, run_id: str, *, offset: int = 0, limit: int = 30
    ) -> list[Chunk]:
        return await self._read(
            collection, lambda open_: open_.run_chunks(document_id, run_id, offset, limit)
        )

    async def _run_vectors(
        self, collection: str, document_id: str, run_id: str, offset: int, limit: int
    ) -> list[Vector]:
        return await self._read(
            collection, lambda open_: open_.run_vectors(document_id, run_id, offset, limit)
        )

    async def delete_where(self, collection: str, where: Filter) -> None:
        with contextlib.suppress(CollectionNotFoundError):
            await self._write(collection, lambda open_: open_.remove(where))

    async def stored_runs(self, collection: str) -> AsyncIterator[StoredRun]:
        after = FIRST
        while True:
            place = after
            page = await self._read(collection, lambda open_: open_.stored_runs(place, PAGE))  # noqa: B023 -- awaited at once
            for run in page:
                yield run
            if len(page) < PAGE:
                return
            after = (page[-1].document_id, page[-1].run_id, page[-1].epoch)

    async def scan(self, collection: str, where: Filter | None = None) -> AsyncIterator[StoreHit]:
        after = FIRST
        while True:
            place = after
            page = await self._read(collection, lambda open_: open_.page(where, place, PAGE))  # noqa: B023 -- awaited at once
            for hit in page:
                yield hit
            if len(page) < PAGE:
                return
            after = (page[-1].document_id, page[-1].run_id, page[-1].chunk.chunk_index)

    async def wait_for_indexes(self) -> None:
        """Wait until no index is being built; searches never need to."""
        while self._builds:
            await asyncio.wait(set(self._builds))

    async def _start(self) -> None:
        async with self._starting:
            if self._pool is not None:
                return
            if self._is_closed:
                raise VectorStoreError("The vector store is closed.")
            pool = ThreadPoolExecutor(self._threads, thread_name_prefix="vector-store")
            loop = asyncio.get_running_loop()
            try:
                self._lock = await loop.run_in_executor(pool, lock_directory, self.path)
                await loop.run_in_executor(pool, sweep, self.path)
            except BaseException:
                pool.shutdown(wait=False)
                raise
            self._pool = pool

    async def _directory(self, name: str) -> Path:
        await self._start()
        return self.path / directory_name(name)

    async def _threaded(self, call: Callable[[], T]) -> T:
        """Run `call` in a thread; a cancelled caller still waits until the thread is done.

        Only then may the lane be given to the next call.
        """

        def guarded() -> T:
            with translated():
                return call()

        assert self._pool is not None
        future = asyncio.get_running_loop().run_in_executor(self._pool, guarded)
        self._running.add(future)
        future.add_done_callback(self._finished)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait({future})
            raise

    def _finished(self, future: asyncio.Future[Any]) -> None:
        self._running.discard(future)
        if not future.cancelled():
            future.exception()  # looked at, also when the caller was cancelled

    async def _read(self, name: str, call: Callable[[OpenCollection], T]) -> T:
        await self._start()
        async with self._used(name) as slot, slot.reading:
            collection = await self._opened(name, slot)

            def read() -> T:
                with collection.rows.snapshot():
                    return call(collection)

            return await self._threaded(read)

    async def _write(self, name: str, call: Callable[[OpenCollection], T]) -> T:
        await self._start()
        async with self._used(name) as slot, slot.writing:
            collection = await self._opened(name, slot)
            return await self._threaded(lambda: call(collection))

    @contextlib.asynccontextmanager
    async def _used(self, name: str) -> AsyncIterator[_Slot]:
        slot = self._slots.setdefault(name, _Slot())
        self._slots.move_to_end(name)
        slot.users += 1
        try:
            yield slot
        finally:
            slot.users -= 1
            if slot.users == 0 and slot.collection is None and self._slots.get(name) is slot:
                del self._slots[name]
        await self._evict()

    async def _opened(self, name: str, slot: _Slot) -> OpenCollection:
        async with slot.opening:
            if slot.collection is None:
                directory = await self._directory(name)
                if not await self._threaded(directory.is_dir):
                    raise CollectionNotFoundError
                slot.collection = await self._threaded(
                    lambda: OpenCollection(directory, index_from_values=self._index_from_values)
                )
            return slot.collection

    async def _evict(self) -> None:
        """Close what nobody uses, oldest first, until the bound holds."""
        is_open = [slot for slot in self._slots.values() if slot.collection is not None]
        surplus = sum(map(_weight, is_open)) - self._max_open
        for slot in is_open:
            if surplus <= 0:
                return
            collection = slot.collection
            if slot.users or collection is None or slot.opening.locked():
                continue
            surplus -= _weight(slot)
            async with slot.opening:
                slot.collection = None
                await self._threaded(collection.close)

    def _schedule_index(self, name: str) -> None:
        build = asyncio.create_task(self._build_index(name), name=f"vector-index {name}")
        self._builds.add(build)
        build.add_done_callback(self._builds.discard)

    async def _build_index(self, name: str) -> None:
        """Build an index beside the collection and adopt it; reads and writes go on."""
        async with self._build_turn:
            try:
                async with self._used(name):
                    await self._build_and_adopt(name)
            except CollectionNotFoundError:
                return
            except Exception:
                logger.exception("vector_index_build_failed", extra={"collection": name})

    async def _build(self, database: Path, target: Path) -> bool:
        return await build_in_child(database, target)

    async def _build_and_adopt(self, name: str) -> None:
        begun = await self._write(
            name,
            lambda open_: (open_.database, open_.index.begin()) if open_.index.is_wanted else None,
        )
        if begun is None:
            return
        database, target = begun
        try:
            is_built = await self._build(database, target)
        except BaseException:
            await self._write(name, lambda open_: open_.index.give_up(target))
            raise
        if not is_built:
            logger.warning("vector_index_build_failed", extra={"collection": name})
            await self._write(name, lambda open_: open_.index.give_up(target))
            return
        try:
            await self._write(name, lambda open_: open_.index.adopt(target))
        except IndexBrokenError:
            await self._write(name, lambda open_: open_.index.give_up(target))
            raise
        logger.info("vector_index_built", extra={"collection": name})


def _weight(slot: _Slot) -> int:
    collection = slot.collection
    return INDEX_WEIGHT if collection is not None and collection.index.is_usable else 1
