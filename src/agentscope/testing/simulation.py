"""An event loop with virtual time and seeded order, on which whole processes can be simulated.

Time passes only when nothing is ready. Among what is ready, a seeded generator picks what runs
next. Every task belongs to the simulated process in whose context it was made; a process can be
frozen (nothing of it runs, its timers fire late) or killed (nothing of it ever runs again, no
`finally` either, as with a real kill). Threads are not used: work for an executor runs in line.
"""

import asyncio
import contextvars
import heapq
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

EPOCH_SECONDS = 1000.0
MAX_STEPS = 3_000_000

_process: "contextvars.ContextVar[Process | None]" = contextvars.ContextVar(
    "simulated_process", default=None
)


@dataclass(eq=False)
class Process:
    """A simulated operating system process."""

    name: str
    dead: bool = False
    frozen_until: float = 0.0
    lag: float = 0.0  # how far its own clock is behind: a suspended machine does not count time
    waiting: list[asyncio.Handle] = field(default_factory=list)
    main: "asyncio.Task[None] | None" = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)


def current_process() -> Process | None:
    """Return the simulated process that runs now; None: the world outside."""
    return _process.get()


class SimulationStuckError(AssertionError):
    """The simulation did not come to its end within its bounds."""


class SimulationLoop(asyncio.BaseEventLoop):
    """Runs everything in one thread, in an order that only the seed decides."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng = random.Random(seed)
        self.steps = 0
        self._virtual = EPOCH_SECONDS
        self._number = 0
        self._soon: list[asyncio.Handle] = []
        self._later: list[tuple[float, int, asyncio.TimerHandle]] = []
        self.failures: list[BaseException] = []
        self.set_exception_handler(self._on_error)

    def time(self) -> float:
        return self._virtual

    def _on_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Keep what nobody caught: a background task that broke is a fault of the product."""
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.failures.append(error)
        else:
            self.failures.append(RuntimeError(str(context.get("message"))))

    def call_soon(  # type: ignore[override]  # typeshed ties the arguments to the callback
        self, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._soon.append(handle)
        return handle

    def call_soon_threadsafe(  # type: ignore[override]  # as above
        self, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def call_later(  # type: ignore[override]  # as above
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]  # as above
        self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._number += 1
        heapq.heappush(self._later, (when, self._number, handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Nothing to count: cancelled timers are dropped when their time comes."""

    def run_in_executor(  # type: ignore[override]  # in line, hence a finished future
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        del executor
        future: asyncio.Future[Any] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as exc:
            future.set_exception(exc)
        return future

    def _process_events(self, event_list: Any) -> None:
        del event_list

    def _write_to_self(self) -> None:
        return

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        del timeout

    def _run_once(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise SimulationStuckError("The simulation took too many steps.")
        self._ring()
        if not self._soon:
            raise SimulationStuckError("Nothing will ever happen again.")
        handle = self._soon.pop()
        if self._soon:
            index = int(self.rng.random() * (len(self._soon) + 1))
            if index < len(self._soon):
                handle, self._soon[index] = self._soon[index], handle
        self._run(handle)

    def _ring(self) -> None:
        """Make due timers ready; if nothing else is ready, move the time to the next one."""
        later = self._later
        while later and (not self._soon or later[0][0] <= self._virtual):
            when, _, handle = heapq.heappop(later)
            if not handle.cancelled():
                self._virtual = max(self._virtual, when)
                self._soon.append(handle)

    def _run(self, handle: asyncio.Handle) -> None:
        if handle.cancelled():
            return
        context: contextvars.Context = handle._context  # type: ignore[attr-defined]  # not in typeshed
        owner = context.get(_process)
        if owner is not None:
            if owner.dead:
                owner.waiting.append(handle)  # kept: a collected task would run its `finally`
                return
            if owner.frozen_until > self._virtual:
                owner.waiting.append(handle)
                return
        handle._run()

    def spawn(self, process: Process | None, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Start `work` inside a process; None: in the world outside."""
        context = contextvars.copy_context()
        context.run(_process.set, process)
        return self.create_task(work, context=context)

    def outside(self) -> contextvars.Context:
        """Return a context in which callbacks belong to no process."""
        context = contextvars.copy_context()
        context.run(_process.set, None)
        return context

    def freeze(self, process: Process, seconds: float) -> None:
        """Stop a process for a while; the world goes on."""
        process.frozen_until = self._virtual + seconds
        self.call_at(process.frozen_until, self._thaw, process, context=self.outside())

    def _thaw(self, process: Process) -> None:
        if not process.dead and process.frozen_until <= self._virtual:
            self._soon.extend(process.waiting)
            process.waiting.clear()

    def kill(self, process: Process) -> None:
        """End a process at once, wherever it is."""
        process.dead = True

    def bury(self, process: Process) -> None:
        """Let a dead process unwind, after the simulation: no task may be left half-run."""
        process.dead = False
        process.frozen_until = 0.0
        self._soon.extend(process.waiting)
        process.waiting.clear()
