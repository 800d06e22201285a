"""Connections that live in threads: how blocking drivers stay off the event loop."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from agentscope.errors import StorageError

Connection = TypeVar("Connection")
Result = TypeVar("Result")
Job = tuple["Future[Any]", Callable[[Any], Any]]

CLOSED = "The storage is closed."


class ThreadConnections(Generic[Connection]):
    """A bounded set of threads, each with its own connection, made when first needed."""

    def __init__(
        self,
        size: int,
        connect: Callable[[], Connection],
        close: Callable[[Connection], None],
        name: str,
    ) -> None:
        self._connect, self._close = connect, close
        self._local = threading.local()
        self._open: set[Connection] = set()
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = ThreadPoolExecutor(size, name)

    async def run(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work` with the connection of a free thread."""
        if self._executor is None:
            raise StorageError(CLOSED, retryable=False)
        future = self._executor.submit(lambda: work(self._connection()))
        return await asyncio.wrap_future(future)

    def _connection(self) -> Connection:
        found: Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = self._connect()
            self._local.connection = found
            with self._lock:
                self._open.add(found)
        return found

    def discard(self, connection: Connection) -> None:
        """Forget a broken connection of this thread; the next call makes a new one."""
        self._local.connection = None
        with self._lock:
            self._open.discard(connection)
        with contextlib.suppress(Exception):
            self._close(connection)

    async def aclose(self) -> None:
        """Wait for running work and close all connections; calling it twice is harmless."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        await asyncio.to_thread(executor.shutdown, cancel_futures=True)
        for connection in self._open:
            with contextlib.suppress(Exception):
                self._close(connection)
        self._open.clear()


class WriterThread:
    """One thread that takes jobs in batches, so that many share one commit."""

    def __init__(self, run_batch: Callable[[list[Job]], None], batch: int, name: str) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._run_batch, self._batch = run_batch, batch
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[Any], Result]) -> Result:
        """Run `work` in a batch; its outcome is known once the batch is committed."""
        if self._closed:
            raise StorageError(CLOSED, retryable=False)
        future: Future[Result] = Future()
        self._jobs.put((future, work))
        return await asyncio.wrap_future(future)

    def _loop(self) -> None:
        while (first := self._jobs.get()) is not None:
            batch, ended = [first], False
            with contextlib.suppress(queue.Empty):
                while len(batch) < self._batch:
                    job = self._jobs.get_nowait()
                    if job is None:
                        ended = True
                        break
                    batch.append(job)
            wanted = [job for job in batch if job[0].set_running_or_notify_cancel()]
            if wanted:
                self._run_batch(wanted)
            if ended:
                return

    async def aclose(self) -> None:
        """Finish the jobs that were accepted, then end the thread."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)
