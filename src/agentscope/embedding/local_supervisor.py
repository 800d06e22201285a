"""Runs the encoder's child processes: starts them late, feeds them fairly, replaces dead ones.

Work is cut into small units and a child holds one unit at a time, so a short query waits for at
most one unit of a long indexing call. Calls with many units offer two at a time, which
interleaves concurrent calls. Objects of this module belong to the event loop that first used them.
"""

import asyncio
import contextlib
import json
import logging
import os
import struct
import sys
from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentscope.errors import EmbeddingError, EmbeddingTimeoutError

logger = logging.getLogger(__name__)

_HEADER = struct.Struct(">I")
_WORKER = Path(__file__).with_name("local_worker.py")

UNIT_TEXTS = 16
UNIT_CHARACTERS = 2400
"""About 35 ms of one core, the longest a query waits; measured as fast as larger units."""
QUERY_TEXTS = 4
QUERY_CHARACTERS = 2000
MAX_CALLS = 1024
UNITS_OFFERED = 2
BACKLOG_FOR_ANOTHER = 4
"""Units waiting before a further child process is worth its start (1.5 s of CPU)."""
TRIES = 2


class EncoderDiedError(Exception):
    """The child process ended or stopped answering."""


@dataclass(slots=True)
class _Unit:
    texts: list[str]
    answer: "asyncio.Future[list[list[float]]]"
    tries: int = 0


@dataclass(frozen=True, slots=True)
class EncoderInfo:
    """What a child said about itself when it was ready."""

    version: str
    dimensions: int


class EncoderProcess:
    """One child process; `encode` takes one request at a time."""

    def __init__(self, process: asyncio.subprocess.Process, info: EncoderInfo) -> None:
        self._process = process
        self.info = info
        self.pid = process.pid

    @classmethod
    async def start(cls, timeout: float) -> "EncoderProcess":
        """Start a child and wait until its weights are loaded.

        Raises:
            EncoderDiedError: it ended or was not ready within `timeout` seconds.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                str(_WORKER),
                str(os.getpid()),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=1 << 20,
            )
        except OSError as exc:
            raise EncoderDiedError from exc
        try:
            async with asyncio.timeout(timeout):
                greeting = json.loads(await _read_frame(process))
        except (OSError, EOFError, TimeoutError, ValueError) as exc:
            await _end(process)
            raise EncoderDiedError from exc
        except BaseException:
            await _end(process)
            raise
        return cls(process, EncoderInfo(greeting["version"], greeting["dimensions"]))

    async def encode(self, texts: list[str], timeout: float) -> list[list[float]]:
        """Return one vector per text.

        Raises:
            EncoderDiedError: the child ended.
            TimeoutError: the child was silent for `timeout` seconds; it must be replaced.
            EmbeddingError: the child is well but refused these texts.
        """
        body = json.dumps(texts).encode()
        assert self._process.stdin is not None
        try:
            async with asyncio.timeout(timeout):
                self._process.stdin.write(_HEADER.pack(len(body)) + body)
                await self._process.stdin.drain()
                answer = await _read_frame(self._process)
        except TimeoutError:  # an OSError by inheritance
            raise
        except (OSError, EOFError) as exc:
            raise EncoderDiedError from exc
        if answer[:1] != b"\x00":
            detail = answer[1:].decode("utf-8", "replace")
            raise EmbeddingError(
                "The local embedding model could not embed this text.",
                retryable=False,
                provider="local",
                context={"detail": detail},
            )
        return _vectors(answer, len(texts), self.info.dimensions)

    async def stop(self) -> None:
        """End the child; harmless when it is dead already."""
        await _end(self._process)


async def _read_frame(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    (length,) = _HEADER.unpack(await process.stdout.readexactly(_HEADER.size))
    return await process.stdout.readexactly(length)


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    # The pipe transports are closed only through the streams; leaving them open would warn.
    if process.stdin is not None:
        process.stdin.close()
    await asyncio.shield(process.wait())


def _vectors(answer: bytes, count: int, dimensions: int) -> list[list[float]]:
    floats = array("f")
    floats.frombytes(answer[1:])
    if sys.byteorder == "big":
        floats.byteswap()
    assert len(floats) == count * dimensions
    values = floats.tolist()
    return [values[at : at + dimensions] for at in range(0, len(values), dimensions)]


def units_of(texts: Sequence[str]) -> list[list[str]]:
    """Cut `texts` into units of bounded work, in order."""
    units: list[list[str]] = []
    size = UNIT_CHARACTERS
    for text in texts:
        if not units or size + len(text) > UNIT_CHARACTERS or len(units[-1]) >= UNIT_TEXTS:
            units.append([])
            size = 0
        units[-1].append(text)
        size += len(text)
    return units


@dataclass(slots=True)
class _Lanes:
    queries: deque[_Unit] = field(default_factory=deque)
    bulk: deque[_Unit] = field(default_factory=deque)

    def pop(self) -> _Unit | None:
        for lane in (self.queries, self.bulk):
            while lane:
                unit = lane.popleft()
                if not unit.answer.done():
                    return unit
        return None

    def __len__(self) -> int:
        return len(self.queries) + len(self.bulk)


class EncoderSupervisor:
    """Shares up to `processes` encoder children among all callers of one event loop."""

    def __init__(
        self,
        *,
        processes: int = 1,
        start_timeout_seconds: float = 60.0,
        unit_timeout_seconds: float = 30.0,
        idle_seconds: float = 30.0,
    ) -> None:
        self._processes = max(1, processes)
        self._start_timeout = start_timeout_seconds
        self._unit_timeout = unit_timeout_seconds
        self._idle_seconds = idle_seconds
        self._lanes = _Lanes()
        self._calls = 0
        self._runners: set[asyncio.Task[None]] = set()
        self._children: set[EncoderProcess] = set()
        self._wake = asyncio.Event()
        self._idle = 0
        self._failures = 0
        self._info: EncoderInfo | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    @property
    def process_ids(self) -> list[int]:
        """The children that are running now."""
        return sorted(child.pid for child in self._children)

    async def info(self) -> EncoderInfo:
        """Return what the model says about itself, starting it if it never ran."""
        if self._info is None:
            await self.encode(["hello"])
        assert self._info is not None
        return self._info

    async def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text; a small call overtakes large ones.

        Raises:
            EmbeddingError: the model could not be started, died twice on a unit, or is busy.
            EmbeddingTimeoutError: a unit of work got no answer in time, twice.
        """
        if self._closed:
            raise _shut_down()
        if self._calls >= MAX_CALLS:
            raise EmbeddingError(
                "The local embedding model is busy.", retry_after_seconds=2.0, provider="local"
            )
        self._bind_loop()
        small = len(texts) <= QUERY_TEXTS and sum(map(len, texts)) <= QUERY_CHARACTERS
        lane = self._lanes.queries if small else self._lanes.bulk
        offered: deque[_Unit] = deque()
        vectors: list[list[float]] = []
        self._calls += 1
        try:
            for unit_texts in units_of(texts):
                if len(offered) >= UNITS_OFFERED:
                    vectors.extend(await offered.popleft().answer)
                offered.append(self._offer(lane, unit_texts))
            while offered:
                vectors.extend(await offered.popleft().answer)
        finally:
            self._calls -= 1
            for unit in offered:
                unit.answer.cancel()
        return vectors

    async def aclose(self) -> None:
        """End every child; calls in flight fail as retryable."""
        self._closed = True
        runners = list(self._runners)
        for runner in runners:
            runner.cancel()
        await asyncio.gather(*runners, return_exceptions=True)
        while (unit := self._lanes.pop()) is not None:
            unit.answer.set_exception(_shut_down())

    def _bind_loop(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        # Tasks, pipes and children of an earlier, finished loop went with it.
        self._loop = loop
        self._lanes = _Lanes()
        self._runners.clear()
        self._children.clear()
        self._wake = asyncio.Event()
        self._idle = 0

    def _offer(self, lane: deque[_Unit], texts: list[str]) -> _Unit:
        unit = _Unit(texts, asyncio.get_running_loop().create_future())
        lane.append(unit)
        self._wake.set()
        wanted = not self._runners or (
            self._idle == 0
            and len(self._runners) < self._processes
            and len(self._lanes) >= BACKLOG_FOR_ANOTHER
        )
        if wanted:
            runner = asyncio.create_task(self._run(), name="local-embedding")
            self._runners.add(runner)
            runner.add_done_callback(self._runners.discard)
        return unit

    async def _run(self) -> None:
        """Serve units with one child until it is idle and not the only one."""
        child: EncoderProcess | None = None
        try:
            while (unit := await self._next_unit()) is not None:
                child = await self._serve(unit, child)
        finally:
            await self._drop(child)

    async def _next_unit(self) -> _Unit | None:
        while (unit := self._lanes.pop()) is None:
            self._wake.clear()
            self._idle += 1
            try:
                async with asyncio.timeout(self._idle_seconds):
                    await self._wake.wait()
            except TimeoutError:
                if len(self._runners) > 1:
                    return None
            finally:
                self._idle -= 1
        return unit

    async def _serve(self, unit: _Unit, child: EncoderProcess | None) -> EncoderProcess | None:
        """Answer `unit`; return the child for the next one, None when it must be replaced."""
        error: EmbeddingError
        try:
            if child is None:
                child = await self._start()
            vectors = await child.encode(unit.texts, self._unit_timeout)
        except EncoderDiedError:
            error = EmbeddingError(
                "The local embedding model ended unexpectedly.",
                provider="local",
                retry_after_seconds=5.0,
            )
        except TimeoutError:
            error = EmbeddingTimeoutError(
                "The local embedding model did not answer in time.", provider="local"
            )
        except EmbeddingError as exc:
            _settle(unit, exc)
            return child
        except asyncio.CancelledError:
            _settle(unit, _shut_down())
            await self._drop(child)
            raise
        except Exception:  # a fault of ours must not leave the caller waiting for ever
            logger.exception("local_embedding_failed")
            error = EmbeddingError("The local embedding model failed.", provider="local")
        else:
            self._failures = 0
            if not unit.answer.done():
                unit.answer.set_result(vectors)
            return child
        await self._drop(child)
        await self._after_loss(unit, error)
        return None

    async def _after_loss(self, unit: _Unit, error: EmbeddingError) -> None:
        """Offer `unit` once more, to a new child, after a pause that grows with the losses."""
        unit.tries += 1
        logger.warning(
            "local_embedding_process_lost", extra={"tries": unit.tries, "code": error.code}
        )
        if unit.tries >= TRIES:
            _settle(unit, error)
        else:
            self._lanes.queries.appendleft(unit)
        self._failures += 1
        await asyncio.sleep(min(5.0, 0.05 * 2**self._failures))

    async def _start(self) -> EncoderProcess:
        child = await EncoderProcess.start(self._start_timeout)
        self._children.add(child)
        self._info = child.info
        logger.info("local_embedding_started", extra={"pid": child.pid})
        return child

    async def _drop(self, child: EncoderProcess | None) -> None:
        if child is not None and child in self._children:
            self._children.discard(child)
            await child.stop()


def _settle(unit: _Unit, error: EmbeddingError) -> None:
    if not unit.answer.done():
        unit.answer.set_exception(error)


def _shut_down() -> EmbeddingError:
    return EmbeddingError("The local embedding model is shut down.", provider="local")
