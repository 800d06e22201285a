"""What all models of one credential share: how many requests run, and when to stop asking.

A worker looks at `breaker.open_seconds()` before it claims documents of a credential, so that a
provider that is down costs no attempts.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agentscope.clock import Clock, SystemClock
from agentscope.errors import EmbeddingPausedError

FAILURES_TO_OPEN = 5
FIRST_COOL_DOWN_SECONDS = 5.0
LONGEST_COOL_DOWN_SECONDS = 20.0


class CircuitBreaker:
    """Opens after 5 failures in a row, or for as long as the provider says.

    After the cool-down every call is let through again; the first failure opens it for twice as
    long, the first success closes it.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._failures = 0
        self._cool_down = FIRST_COOL_DOWN_SECONDS
        self._open_until = 0.0

    def open_seconds(self) -> float:
        """Return for how long calls are refused; 0 when they may go."""
        return max(0.0, self._open_until - self._clock.monotonic())

    def ensure_closed(self, provider: str) -> None:
        """Refuse a call while open.

        Raises:
            EmbeddingPausedError: with the time to wait.
        """
        if (wait := self.open_seconds()) > 0:
            raise EmbeddingPausedError(provider=provider, retry_after_seconds=wait)

    def record_success(self) -> None:
        """Close: the provider works."""
        self._failures = 0
        self._cool_down = FIRST_COOL_DOWN_SECONDS
        self._open_until = 0.0

    def record_failure(self, retry_after_seconds: float | None = None) -> None:
        """Count a failure that later calls would meet too."""
        self._failures += 1
        wait = min(retry_after_seconds or 0.0, LONGEST_COOL_DOWN_SECONDS)
        if self._failures >= FAILURES_TO_OPEN:
            wait = max(wait, self._cool_down)
            self._cool_down = min(self._cool_down * 2, LONGEST_COOL_DOWN_SECONDS)
        if wait:
            self._open_until = max(self._open_until, self._clock.monotonic() + wait)


class CredentialGate:
    """Bounds the requests of one credential; a few places are kept for queries."""

    def __init__(
        self, *, concurrency: int = 8, query_concurrency: int = 4, clock: Clock | None = None
    ) -> None:
        self._bulk = asyncio.Semaphore(concurrency)
        self._queries = asyncio.Semaphore(query_concurrency)
        self.breaker = CircuitBreaker(clock)

    @asynccontextmanager
    async def place(self, *, query: bool) -> AsyncIterator[None]:
        """Hold one of the places while a request runs."""
        async with self._queries if query else self._bulk:
            yield
