"""The sweeper: no leader, any number of replicas; each takes due records and does one pass.

It runs in every API process. Idle, it costs one indexed query and sleeps until the next record
is due.
"""

import asyncio
import logging
import random
from datetime import timedelta

from agentscope import observe
from agentscope.app.message_bus.base import MessageBus, MessageBusKeys
from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.app.rag.indexing.purge import Purger
from agentscope.app.rag.indexing.subscription import Backoff
from agentscope.app.records import DueTimes, MaintenanceClaim, Policy
from agentscope.app.storage.base import StorageBase
from agentscope.clock import Clock
from agentscope.errors import AgentScopeError

logger = logging.getLogger(__name__)

CLAIM_DOCUMENTS = 50
CLAIM_KNOWLEDGE_BASES = 5
PARALLEL_PASSES = 8
TIDY_INTERVAL_SECONDS = 3600.0
EVENTS_KEPT = timedelta(days=7)
PARTIAL_BLOB_AGE_SECONDS = 6 * 3600.0
SHORTEST_SLEEP_SECONDS = 0.2


class Sweeper:
    """Supervised loop; only cancellation ends it."""

    def __init__(
        self,
        *,
        storage: StorageBase,
        message_bus: MessageBus,
        blobs: StreamingBlobStore,
        purger: Purger,
        policy: Policy,
        clock: Clock,
        rng: random.Random | None = None,
    ) -> None:
        self._storage = storage
        self._bus = message_bus
        self._blobs = blobs
        self._purger = purger
        self._policy = policy
        self._clock = clock
        self._rng = rng or random.Random()  # noqa: S311  # jitter, no secret
        self._wake = asyncio.Event()
        self._tidy_at = 0.0
        self.up = False

    def wake(self) -> None:
        """Sweep now: something was deleted."""
        self._wake.set()

    async def run(self) -> None:
        """Sweep until cancelled."""
        backoff = Backoff(self._rng)
        while True:
            self._wake.clear()
            try:
                pause = await self.sweep()
                self.up = True
                observe.SWEEPS.labels("ok").inc()
                backoff.reset()
            except Exception as exc:
                self.up = False
                observe.SWEEPS.labels("failed").inc()
                code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                logger.warning("sweep_failed", extra={"error_code": code})
                await backoff.pause()
                continue
            await self._sleep(pause)

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def sweep(self) -> float:
        """Take due records through one pass each; return the seconds until the next look."""
        documents = await self._storage.documents.claim_maintenance(
            CLAIM_DOCUMENTS, policy=self._policy
        )
        knowledge_bases = await self._storage.knowledge_bases.claim_maintenance(
            CLAIM_KNOWLEDGE_BASES, policy=self._policy
        )
        await self._run_all([*documents, *knowledge_bases])
        await self._tidy()
        due = await self._storage.documents.due()
        if due.index is not None and due.index <= timedelta(0):
            await self._signal()
        return self._pause(due)

    async def _run_all(self, claims: list[MaintenanceClaim]) -> None:
        gate = asyncio.Semaphore(PARALLEL_PASSES)

        async def run(claim: MaintenanceClaim) -> None:
            async with gate:
                await self._purger.run(claim)

        async with asyncio.TaskGroup() as group:
            for claim in claims:
                group.create_task(run(claim))

    async def _signal(self) -> None:
        """Send one signal, however much work is due: it only says "look"."""
        try:
            await self._bus.publish(MessageBusKeys.index_tasks_signal(), {})
        except Exception as exc:
            code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
            logger.warning("bus_signal_not_sent", extra={"error_code": code})

    def _pause(self, due: DueTimes) -> float:
        interval = self._policy.timings.sweep_interval.total_seconds()
        interval *= self._rng.uniform(0.75, 1.25)
        waits = [wait.total_seconds() for wait in (due.index, due.maintenance) if wait is not None]
        if due.maintenance is not None and due.maintenance <= timedelta(0):
            return SHORTEST_SLEEP_SECONDS
        coming = [wait for wait in waits if wait > 0]  # work that is due was signalled above
        return max(SHORTEST_SLEEP_SECONDS, min([interval, *coming]))

    async def _tidy(self) -> None:
        """Once an hour: old events, and files that unfinished writes left."""
        now = self._clock.monotonic()
        if now < self._tidy_at:
            return
        self._tidy_at = now + TIDY_INTERVAL_SECONDS * self._rng.uniform(0.75, 1.25)
        await self._storage.events.trim(older_than=EVENTS_KEPT)
        await self._blobs.collect_partial(older_than_seconds=PARTIAL_BLOB_AGE_SECONDS)
