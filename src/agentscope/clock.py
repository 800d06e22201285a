"""The one way to ask for the time.

Everything that reads a clock takes a `Clock`, so that tests move time instead of sleeping.
Waiting is always `asyncio.sleep` or a timeout on the running loop: a test that wants virtual
time runs on a loop whose `time()` is virtual and uses `LoopClock`.
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """A source of wall-clock and monotonic time."""

    def now(self) -> datetime:
        """Return the current time, timezone-aware, in UTC."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary origin; never goes back."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class LoopClock:
    """Time as the running event loop tells it; `epoch` is the wall-clock time at loop time 0."""

    def __init__(self, epoch: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._epoch = epoch

    def now(self) -> datetime:
        return self._epoch + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()
