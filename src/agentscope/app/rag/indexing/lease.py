"""A run's lease as its holder sees it: when to stop writing, and the task that renews it."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from agentscope import observe
from agentscope.app.records import DocumentStatus, Timings
from agentscope.app.storage.verbs import RunWriter
from agentscope.app.transitions.guards import Progress
from agentscope.clock import Clock
from agentscope.errors import AgentScopeError, LeaseLostError

logger = logging.getLogger(__name__)

PROGRESS_SECONDS = 1.0
RENEW_RETRY_SECONDS = 3.0
LAST_RETRY_SECONDS = 0.5
GRAIN_SECONDS = 0.001
"""Waits shorter than this are over: the sum of clock readings is not exact, and would spin."""


class Lease:
    """◆ deadline: no write starts after it, whatever the storage would say.

    The deadline counts from the moment BEFORE the request that granted the lease was sent: the
    answer may have been under way for long. A renewal that failed proves nothing and is tried
    again; only the word "lost" or the deadline ends the run.
    """

    def __init__(
        self, writer: RunWriter, *, clock: Clock, timings: Timings, sent_at: float, fields: Any
    ) -> None:
        self.writer = writer
        self.lost = False
        self._clock = clock
        self._timings = timings
        self._log: Mapping[str, Any] = fields
        self._wake = asyncio.Event()
        self._status = DocumentStatus.PARSING
        self._sent_status = DocumentStatus.PARSING
        self._progress: Progress | None = None
        self._sent_progress: Progress | None = None
        self._nudged = False
        self.granted(sent_at)

    def granted(self, sent_at: float) -> None:
        """Move the deadline: a request sent at `sent_at` granted a full lease."""
        usable = self._timings.lease_ttl - self._timings.margin
        self.deadline = sent_at + usable.total_seconds()
        self._renewed_at = sent_at

    def left(self) -> float:
        """Return the seconds in which a write may still start."""
        return self.deadline - self._clock.monotonic()

    def check(self) -> None:
        """Raise `LeaseLostError` if no write may start any more."""
        if self.lost or self.left() <= 0:
            raise LeaseLostError

    def report(self, status: DocumentStatus, progress: Progress) -> None:
        """Show this stage and progress with one of the next renewals."""
        self._status, self._progress = status, progress
        self._wake.set()

    def nudge(self) -> None:
        """Ask the storage now whether the run is still wanted (a signal says it may not be)."""
        self._nudged = True
        self._wake.set()

    async def keep(self) -> None:
        """Renew until the run is lost or past its deadline; returns only then."""
        while self.left() > GRAIN_SECONDS:
            await self._pause()
            if self.left() <= GRAIN_SECONDS:
                break
            try:
                await self._renew()
            except LeaseLostError:
                self.lost = True
                return
            except Exception as exc:
                self._failed(exc)
                await asyncio.sleep(self._until_retry())

    def _until_retry(self) -> float:
        """Return a pause that shrinks towards the deadline: the last moments are worth most."""
        left = self.left()
        pause = max(LAST_RETRY_SECONDS, left / 3)
        return max(0.0, min(RENEW_RETRY_SECONDS, pause, left))

    def _failed(self, exc: Exception) -> None:
        code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
        observe.RENEWALS_FAILED.inc()
        logger.warning("lease_renewal_failed", extra={**self._log, "error_code": code})

    async def _pause(self) -> None:
        """Wait for the next heartbeat, or for progress worth showing."""
        beat = self._renewed_at + self._timings.heartbeat.total_seconds()
        soonest = self._renewed_at + PROGRESS_SECONDS
        while not self._nudged:
            now = self._clock.monotonic()
            wait = min(beat, self.deadline) - now
            if self._news():
                wait = min(wait, soonest - now)
            if wait <= GRAIN_SECONDS:
                return
            self._wake.clear()
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _news(self) -> bool:
        return self._status is not self._sent_status or self._progress != self._sent_progress

    async def _renew(self) -> None:
        self._nudged = False
        status, progress = self._status, self._progress
        timeout = min(self._timings.request_timeout.total_seconds(), self.left())
        async with asyncio.timeout(timeout):
            if status is not self._sent_status:
                await self.writer.set_stage(status, progress)
                self._sent_status = status
            sent_at = self._clock.monotonic()
            await self.writer.renew(progress)
        self._sent_progress = progress
        self.granted(sent_at)
