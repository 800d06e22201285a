"""The pool of reading processes: one per slot, reused, killed and replaced, one warm spare.

Not a `ProcessPoolExecutor`: there one dead child breaks the pool for good, and a hung task cannot
be stopped. Here the death of a child is the failure of exactly one document.
"""

import asyncio
import contextlib
import json
import logging
import pickle
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import cloudpickle

from agentscope import observe
from agentscope.app.rag.indexing.parser_child import HEADER, describe, read_document
from agentscope.app.rag.indexing.reading import ReadJob, ReadOutcome, ReadProgress
from agentscope.app.records import DocumentStatus
from agentscope.errors import (
    AgentScopeError,
    CorruptFileError,
    EncryptedFileError,
    MissingDependencyError,
    NoTextError,
    ParseError,
    ParseLimitError,
    ParserCrashError,
    UnsupportedMediaTypeError,
)
from agentscope.rag.document import Coverage, ParseReport

logger = logging.getLogger(__name__)

MAX_DOCUMENTS_PER_CHILD = 100
MAX_IDLE_GROWTH_BYTES = 256 * 1024 * 1024
MEMORY_POLL_SECONDS = 0.1
START_SECONDS = 60.0
MAX_MESSAGE_BYTES = 8 * 1024 * 1024
PAGE_BYTES = 4096

_ERRORS: dict[str, type[ParseError]] = {
    kind.code: kind
    for kind in (
        ParseError,
        CorruptFileError,
        EncryptedFileError,
        NoTextError,
        ParseLimitError,
        ParserCrashError,
    )
}

OnProgress = Callable[[ReadProgress], None]


@dataclass(slots=True, eq=False)
class _Child:
    process: asyncio.subprocess.Process
    idle_bytes: int = 0
    documents: int = 0
    peak_bytes: int = 0
    over_memory: bool = False

    def resident(self) -> int:
        """Return the resident memory of the child in bytes; 0 when it is gone."""
        try:
            pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * PAGE_BYTES


@dataclass(slots=True)
class PoolState:
    """Figures for health and metrics."""

    slots: int
    busy: int = 0
    started: int = 0
    killed: int = 0


@dataclass(slots=True)
class _Hangers:
    tasks: set["asyncio.Task[Any]"] = field(default_factory=set)

    def spawn(self, work: Any) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task


class ParserPool:
    """Reads documents in child processes; at most `slots` at a time."""

    def __init__(self, slots: int = 4) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._idle: list[_Child] = []
        self._spare: asyncio.Task[_Child] | None = None
        self._background = _Hangers()
        self._closed = False
        self.state = PoolState(slots)

    async def __aenter__(self) -> Self:
        self._spare = self._background.spawn(self._start())
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closed = True
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.cancel()
            with contextlib.suppress(asyncio.CancelledError, ParserCrashError):
                self._idle.append(await spare)
        for child in self._idle:
            await self._end(child)
        self._idle.clear()
        if self._background.tasks:
            await asyncio.wait(self._background.tasks, timeout=5)

    async def read(self, job: ReadJob, *, on_progress: OnProgress) -> ReadOutcome:
        """Parse and chunk one file; see `DocumentReader.read`."""
        try:
            data = await asyncio.to_thread(_pickled, job)
        except Exception as exc:
            _note_unloadable(job, str(exc))
            return await _read_in_thread(job, on_progress)
        try:
            async with self._slots:
                self.state.busy += 1
                try:
                    with observe.READERS_BUSY.track_inprogress():
                        return await self._read(job, data, on_progress)
                finally:
                    self.state.busy -= 1
        except _UnloadableError as exc:
            _note_unloadable(job, str(exc))
            return await _read_in_thread(job, on_progress)

    async def _read(self, job: ReadJob, data: bytes, on_progress: OnProgress) -> ReadOutcome:
        child = await self._take()
        child.documents += 1
        reusable = False
        try:
            outcome = await self._run(child, job, data, on_progress)
            reusable = (
                child.documents < MAX_DOCUMENTS_PER_CHILD
                and child.resident() - child.idle_bytes < MAX_IDLE_GROWTH_BYTES
            )
            return outcome
        finally:
            if reusable and not self._closed:
                self._idle.append(child)
            else:
                # Killed at once; the wait for its end must survive the caller's cancellation.
                _kill(child)
                self._background.spawn(self._end(child))

    async def _take(self) -> _Child:
        while self._idle:
            child = self._idle.pop()
            if child.process.returncode is None:
                return child
        spare, self._spare = self._spare, None
        try:
            child = await (spare or self._start())
        finally:
            # One spare, however many slots came here at once: a second one would be forgotten.
            if not self._closed and self._spare is None:
                self._spare = self._background.spawn(self._start())
        return child

    async def _start(self) -> _Child:
        creating = asyncio.ensure_future(_spawned())
        try:
            process = await asyncio.shield(creating)
        except asyncio.CancelledError:
            # A process that is only half made when the pool closes would be left behind.
            half_made = _Child(await creating)
            _kill(half_made)
            self._background.spawn(self._end(half_made))
            raise
        child = _Child(process)
        try:
            async with asyncio.timeout(START_SECONDS):
                hello = await _receive(child)
        except BaseException:
            _kill(child)
            self._background.spawn(self._end(child))
            raise
        if hello is None:
            raise ParserCrashError("The process that reads files could not be started.")
        child.idle_bytes = child.resident()
        self.state.started += 1
        observe.READERS_STARTED.inc()
        return child

    async def _run(
        self, child: _Child, job: ReadJob, data: bytes, on_progress: OnProgress
    ) -> ReadOutcome:
        assert child.process.stdin is not None
        watcher = self._background.spawn(_watch_memory(child, job.limits.memory_bytes))
        try:
            async with asyncio.timeout(job.limits.wall_seconds):
                child.process.stdin.write(HEADER.pack(len(data)) + data)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    await child.process.stdin.drain()
                while (message := await _receive(child)) is not None:
                    if message["type"] == "progress":
                        on_progress(_progress(message))
                    elif message["type"] == "done":
                        return _outcome(message)
                    elif message["type"] == "unloadable":
                        raise _UnloadableError(message["reason"])
                    else:
                        raise _error(message, job)
        except TimeoutError as exc:
            raise ParseLimitError(
                "Reading the file took longer than allowed.", filename=job.filename
            ) from exc
        finally:
            watcher.cancel()
        raise await self._death(child, job)

    async def _death(self, child: _Child, job: ReadJob) -> ParseError:
        code = await child.process.wait()
        context = {"return_code": code, "peak_bytes": child.peak_bytes}
        if child.over_memory:
            message = "Reading the file needs more memory than allowed."
            return ParseLimitError(message, filename=job.filename, context=context)
        if code == -signal.SIGXCPU:
            message = "Reading the file took longer than allowed."
            return ParseLimitError(message, filename=job.filename, context=context)
        return ParserCrashError(filename=job.filename, context=context)

    async def _end(self, child: _Child) -> None:
        """Kill the child and let the loop see the end of its pipes, or they stay open with it."""
        _kill(child)
        if child.process.stdin is not None:
            child.process.stdin.close()
        if child.process.stdout is not None:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                while await child.process.stdout.read(MAX_MESSAGE_BYTES):
                    pass
        await child.process.wait()
        await asyncio.sleep(0)
        self.state.killed += 1
        observe.READERS_ENDED.inc()


class _UnloadableError(Exception):
    """The child cannot load the parser or the chunker, though this process can."""


def _note_unloadable(job: ReadJob, reason: str) -> None:
    logger.warning(
        "parser_not_picklable",
        extra={"parser": type(job.parser).__name__, "reason": reason[:200]},
    )


async def _spawned() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "agentscope.app.rag.indexing.parser_child",
        *(path for path in sys.path if path),  # parsers may live beside the main script
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=MAX_MESSAGE_BYTES,
    )


def _pickled(job: ReadJob) -> bytes:
    data: bytes = cloudpickle.dumps(job)
    pickle.loads(data)  # noqa: S301 - our own bytes: what cannot be loaded must not reach the child
    return data


def _kill(child: _Child) -> None:
    if child.process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            child.process.kill()


async def _receive(child: _Child) -> dict[str, Any] | None:
    assert child.process.stdout is not None
    try:
        header = await child.process.stdout.readexactly(HEADER.size)
        size = HEADER.unpack(header)[0]
        if size > MAX_MESSAGE_BYTES:
            raise ParserCrashError(context={"message_bytes": size})
        message: dict[str, Any] = json.loads(await child.process.stdout.readexactly(size))
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None
    except ValueError as exc:
        raise ParserCrashError(context={"reason": "the answer was not JSON"}) from exc
    return message


async def _watch_memory(child: _Child, allowed: int) -> None:
    """Kill a child that grows too much; its own address-space limit comes first where it works."""
    while child.process.returncode is None:
        resident = child.resident()
        child.peak_bytes = max(child.peak_bytes, resident)
        if resident - child.idle_bytes > allowed:
            child.over_memory = True
            _kill(child)
            return
        await asyncio.sleep(MEMORY_POLL_SECONDS)


def _progress(message: dict[str, Any]) -> ReadProgress:
    return ReadProgress(
        stage=DocumentStatus(message["stage"]),
        done=int(message["done"]),
        total=int(message["total"]),
        unit=str(message["unit"])[:20],
    )


def _outcome(message: dict[str, Any]) -> ReadOutcome:
    report = dict(message["report"])
    report["coverage"] = Coverage(**report["coverage"])
    return ReadOutcome(
        chunk_count=int(message["chunk_count"]),
        text_chunks=int(message["text_chunks"]),
        report=ParseReport(**report),
        seconds=float(message["seconds"]),
    )


def _error(message: dict[str, Any], job: ReadJob) -> AgentScopeError:
    code, sentence = str(message["code"]), str(message["message"])[:1000]
    context = {"reason": str(message["reason"])}
    if code == MissingDependencyError.code:
        return UnsupportedMediaTypeError(sentence, context=context)
    if code == UnsupportedMediaTypeError.code:
        return UnsupportedMediaTypeError(sentence, context=context)
    kind = _ERRORS.get(code, ParseError)
    return kind(sentence, filename=job.filename, context=context)


async def _read_in_thread(job: ReadJob, on_progress: OnProgress) -> ReadOutcome:
    """Read in a thread: for parsers that no other process can load. Only the wait is bounded."""
    loop = asyncio.get_running_loop()

    def emit(progress: ReadProgress) -> None:
        loop.call_soon_threadsafe(on_progress, progress)

    try:
        async with asyncio.timeout(job.limits.wall_seconds):
            return await asyncio.to_thread(read_document, job, emit)
    except TimeoutError as exc:
        raise ParseLimitError("Reading the file took longer than allowed.") from exc
    except Exception as exc:
        raise _error(describe(exc, job), job) from exc
