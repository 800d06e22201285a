"""The claim loop: takes as many documents as can start now, whenever there may be work.

Signals and queue entries only say "look"; which document runs is decided by the storage. Without
any bus the loop still finds everything by polling.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentscope import observe
from agentscope.app.message_bus.base import MessageBus, MessageBusKeys
from agentscope.app.rag.indexing.subscription import Backoff, Subscription
from agentscope.app.rag.indexing.worker import IndexWorker
from agentscope.app.records import Claim, ClaimRequest, DocumentRecord, Policy
from agentscope.app.storage.base import StorageBase
from agentscope.clock import Clock
from agentscope.errors import AgentScopeError
from agentscope.stopping import stopped

logger = logging.getLogger(__name__)

SLOTS_PER_RESERVED = 4
STOP_SECONDS = 8.0
DEFAULT_BATCH = 32


@dataclass(frozen=True, slots=True)
class ConsumerHealth:
    """State of the loop; `degraded` means that work goes on, but is found by polling only."""

    state: str  # starting | ok | degraded | draining | stopped
    slots: int
    running: int
    bus_up: bool
    storage_up: bool


class Consumer:
    """Supervised: no exception ends it, only `drain` or cancellation."""

    def __init__(
        self,
        *,
        storage: StorageBase,
        message_bus: MessageBus,
        worker: IndexWorker,
        owner: str,
        policy: Policy,
        clock: Clock,
        rng: random.Random | None = None,
        max_batch: int = DEFAULT_BATCH,
    ) -> None:
        self._storage = storage
        self._bus = message_bus
        self._worker = worker
        self._owner = owner
        self._policy = policy
        self._clock = clock
        self._rng = rng or random.Random()  # noqa: S311  # jitter, no secret
        self._max_batch = max_batch
        self._wake = asyncio.Event()
        self._queued = asyncio.Event()
        self._left = asyncio.Event()
        self._left.set()
        self._running: dict[asyncio.Task[None], DocumentRecord] = {}
        self._waiting_for_idle = False
        self._draining = False
        self._storage_up = False
        self._state = "starting"
        self._backoff = Backoff(self._rng)
        self._tasks = Subscription(
            message_bus,
            MessageBusKeys.index_tasks_signal(),
            on_signal=self._on_task,
            on_up=self._look,
            rng=self._rng,
        )
        self._cancels = Subscription(
            message_bus,
            MessageBusKeys.cancel_signal(),
            on_signal=self._on_cancel,
            on_up=lambda: None,
            rng=self._rng,
        )

    def wake(self) -> None:
        """Look for work now."""
        self._wake.set()

    def health(self) -> ConsumerHealth:
        """Return the state of the loop."""
        state = self._state
        if state == "ok" and not (self._tasks.up and self._storage_up):
            state = "degraded"
        return ConsumerHealth(
            state=state,
            slots=self._policy.limits.slots,
            running=len(self._running),
            bus_up=self._tasks.up,
            storage_up=self._storage_up,
        )

    def _look(self) -> None:
        self._queued.set()
        self._wake.set()

    def _on_task(self, signal: Mapping[str, Any]) -> None:
        del signal  # it only says that there is work
        self._look()

    def _on_cancel(self, signal: Mapping[str, Any]) -> None:
        document_id = signal.get("document_id")
        if isinstance(document_id, str):
            self._worker.nudge(document_id)
        else:
            logger.warning("bus_signal_malformed", extra={"channel": "cancel"})

    async def run(self) -> None:
        """Take work until cancelled or drained; every task it started ends with it."""
        self._left.clear()
        listeners = [
            asyncio.create_task(self._tasks.run()),
            asyncio.create_task(self._cancels.run()),
            asyncio.create_task(self._acknowledge()),
        ]
        try:
            while not self._draining:
                await self._round()
        finally:
            self._left.set()
            await stopped(listeners)
            if not self._draining:
                await stopped(list(self._running))
                self._state = "stopped"

    async def _round(self) -> None:
        """Claim once, then wait for the next reason to."""
        self._wake.clear()
        try:
            full = await self._claim()
            self._backoff.reset()
            self._storage_up = True
            if self._state == "starting":
                self._state = "ok"
                logger.info("index_worker_ready", extra={"node_id": self._owner})
        except Exception as exc:
            self._storage_up = False
            code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
            observe.CLAIMS_FAILED.inc()
            logger.warning("claim_failed", extra={"error_code": code})
            await self._backoff.pause()
            return
        if not full:
            await self._pause()

    async def _pause(self) -> None:
        seconds = self._policy.timings.poll_interval.total_seconds()
        try:
            async with asyncio.timeout(seconds * self._rng.uniform(0.75, 1.25)):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _claim(self) -> bool:
        """Start what can start now; True if more may be waiting for a slot that is free."""
        running = len(self._running)
        if self._waiting_for_idle and running:
            return False
        slots = self._policy.limits.slots
        free = slots - running
        alone = any(document.alone for document in self._running.values())
        if free <= 0 or alone:
            return False
        small = self._policy.limits.small_file_bytes
        large = sum(1 for document in self._running.values() if document.size > small)
        reserved = slots // SLOTS_PER_RESERVED
        general = min(free, slots - reserved - large)
        taken = await self._take(general, None) if general > 0 else 0
        if not self._may_go_on(taken):
            return False
        if free - taken > 0:
            taken += await self._take(free - taken, small)
        return taken > 0 and len(self._running) < slots and self._may_go_on(taken)

    def _may_go_on(self, taken: int) -> bool:
        if any(document.alone for document in self._running.values()):
            return False
        return not (self._waiting_for_idle and (taken or self._running))

    async def _take(self, limit: int, max_bytes: int | None) -> int:
        sent_at = self._clock.monotonic()
        request = ClaimRequest(
            owner=self._owner,
            limit=limit,
            idle=not self._running,
            max_bytes=max_bytes,
            skip_knowledge_bases=self._worker.breaker.skipped(),
            policy=self._policy,
        )
        async with asyncio.timeout(self._policy.timings.request_timeout.total_seconds()):
            batch = await self._storage.documents.claim_index(request)
        self._waiting_for_idle = batch.alone_waiting
        for claim in batch.claims:
            self._start(claim, sent_at)
        return len(batch.claims)

    def _start(self, claim: Claim, sent_at: float) -> None:
        task = asyncio.create_task(self._worker.process(claim, sent_at))
        self._running[task] = claim.document
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        document = self._running.pop(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error(
                "run_broke",
                extra={"document_id": document.id},
                exc_info=(type(error), error, error.__traceback__),
            )
        self._wake.set()

    async def _acknowledge(self) -> None:
        """Pull queue entries whenever a signal came; they say no more than the signal did."""
        queue = MessageBusKeys.index_tasks_queue()
        while True:
            await self._queued.wait()
            self._queued.clear()
            try:
                async with asyncio.timeout(self._policy.timings.request_timeout.total_seconds()):
                    while (
                        len(await self._bus.queue_drain(queue, self._max_batch)) >= self._max_batch
                    ):
                        self._wake.set()
            except Exception as exc:
                code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                logger.warning("bus_queue_unreadable", extra={"error_code": code})

    async def drain(self, timeout_seconds: float | None = None) -> None:
        """Stop claiming, let running documents finish for a while, then hand the rest back."""
        self._draining = True
        self._state = "draining"
        self._wake.set()
        if timeout_seconds is None:
            timeout_seconds = self._policy.timings.drain_timeout.total_seconds()
        with contextlib.suppress(TimeoutError):  # a claim under way may still bring documents
            async with asyncio.timeout(STOP_SECONDS):
                await self._left.wait()
        if self._running:
            await asyncio.wait(list(self._running), timeout=timeout_seconds)
        self._worker.stop()
        if self._running:
            await asyncio.wait(list(self._running), timeout=STOP_SECONDS)
        await stopped(list(self._running))
        self._state = "stopped"
