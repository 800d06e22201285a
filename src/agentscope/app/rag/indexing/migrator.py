"""Changes the embedding model of knowledge bases in the background, a turn at a time.

A worker takes a migration under a lease, as it takes a document, and goes on where the last one
stopped. It copies page by page, asks for every later run in both generations, looks through all
documents once more, and moves the knowledge base over. It may die at any await.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Sequence

from agentscope import observe
from agentscope.app.generations import MigrationFailure, MigrationPhase
from agentscope.app.rag.indexing.copying import Copier
from agentscope.app.rag.indexing.retries import (
    attempts_allowed,
    delay_of,
    describe,
    waiting_time,
)
from agentscope.app.rag.indexing.subscription import Backoff
from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.records import (
    PAUSED_KNOWLEDGE_BASE,
    PAUSED_USER,
    VISIBLE,
    DocumentRecord,
    DocumentStatus,
    KnowledgeBaseRecord,
    Policy,
)
from agentscope.app.storage import migrations, verbs
from agentscope.app.storage.migrations import MigrationWriter
from agentscope.app.transitions.migration import MigrationPlace
from agentscope.clock import Clock
from agentscope.errors import (
    AgentScopeError,
    DocumentNotFoundError,
    EmbeddingModelChangedError,
    EmbeddingPausedError,
    LeaseLostError,
)
from agentscope.identity import new_id
from agentscope.stopping import stopped

logger = logging.getLogger(__name__)

PAGE = 32
TURN_SECONDS = 60.0
RELEASE_SECONDS = 1.0
PROGRESS_SECONDS = 1.0
RETRY_SECONDS = 2.0


class Turn:
    """One lease of one migration: the place in it, and until when its holder may write."""

    def __init__(
        self, record: KnowledgeBaseRecord, writer: MigrationWriter, clock: Clock, sent_at: float
    ) -> None:
        assert record.migration is not None, "it was claimed"
        self.record = record
        self.migration = record.migration
        self.writer = writer
        self.phase = self.migration.phase
        self.after = self.migration.after
        self.done = self.migration.done
        self.total = self.migration.total
        self._clock = clock
        self.began = sent_at
        self.deadline = sent_at

    @property
    def place(self) -> MigrationPlace:
        """How far it is."""
        return MigrationPlace(self.phase, self.after, self.done, self.total)

    def granted(self, sent_at: float, policy: Policy) -> None:
        """Move the deadline: a request sent at `sent_at` granted a full lease."""
        usable = policy.timings.lease_ttl - policy.timings.margin
        self.deadline = sent_at + usable.total_seconds()

    def left(self) -> float:
        """Return the seconds in which a write may still start."""
        return self.deadline - self._clock.monotonic()

    def check(self) -> None:
        """Raise `LeaseLostError` if no write may start any more."""
        if self.left() <= 0:
            raise LeaseLostError

    @property
    def long(self) -> bool:
        """Whether it is time to let another migration have its turn."""
        return self._clock.monotonic() - self.began > TURN_SECONDS


class Migrator:
    """Supervised: no exception ends it, only cancellation; then it hands back what it holds."""

    def __init__(
        self,
        *,
        manager: RecordedManager,
        owner: str,
        policy: Policy,
        clock: Clock,
        rng: random.Random | None = None,
    ) -> None:
        self._manager = manager
        self._storage = manager.storage
        self._owner = owner
        self._policy = policy
        self._clock = clock
        self._rng = rng or random.Random()  # noqa: S311  # jitter, no secret

    async def run(self) -> None:
        """Look for migrations until cancelled."""
        backoff = Backoff(self._rng)
        interval = self._policy.timings.sweep_interval.total_seconds()
        while True:
            try:
                worked = await self.look()
                backoff.reset()
            except Exception as exc:
                code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                logger.warning("migrations_not_read", extra={"error_code": code})
                await backoff.pause()
                continue
            if not worked:
                await asyncio.sleep(interval * self._rng.uniform(0.75, 1.25))

    async def look(self) -> bool:
        """Give every migration that waits for a worker one turn; say whether there was any."""
        worked = False
        for knowledge_base_id in await migrations.announced(self._storage.registry):
            if await self._paused(knowledge_base_id):
                continue
            sent_at = self._clock.monotonic()
            record = await migrations.claim(
                self._storage.knowledge_bases,
                knowledge_base_id,
                owner=self._owner,
                run_id=new_id(),
                policy=self._policy,
            )
            if record is None:
                await self._forget_if_over(knowledge_base_id)
                continue
            worked = True
            await self._take(record, sent_at)
        return worked

    async def _paused(self, knowledge_base_id: str) -> bool:
        record = await self._storage.knowledge_bases.find(knowledge_base_id)
        names = [f"{PAUSED_KNOWLEDGE_BASE}{knowledge_base_id}"]
        if record is not None:
            names.append(f"{PAUSED_USER}{record.user_id}")
        return any([await self._storage.registry.get(name) is not None for name in names])

    async def _forget_if_over(self, knowledge_base_id: str) -> None:
        record = await self._storage.knowledge_bases.find(knowledge_base_id)
        migration = record.migration if record is not None else None
        if migration is None or migration.phase is MigrationPhase.STOPPED:
            await migrations.forget(self._storage.registry, knowledge_base_id)

    async def _take(self, record: KnowledgeBaseRecord, sent_at: float) -> None:
        writer = MigrationWriter(self._storage.knowledge_bases, record, self._policy)
        turn = Turn(record, writer, self._clock, sent_at)
        turn.granted(sent_at, self._policy)
        logger.info("migration_claimed", extra=_fields(turn))
        work = asyncio.create_task(self._work(turn))
        keeper = asyncio.create_task(self._keep(turn))
        try:
            await asyncio.wait({work, keeper}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await stopped((work, keeper))
            await self._released(turn)
            raise
        ended = work.done()
        await stopped((work, keeper))
        if not ended:
            logger.info("migration_lost", extra=_fields(turn))
            return
        error = work.exception()
        if error is None:
            return
        if isinstance(error, LeaseLostError):
            logger.info("migration_lost", extra=_fields(turn))
        else:
            await self._failed(turn, error)

    async def _keep(self, turn: Turn) -> None:
        """Renew until the lease is lost or past its deadline; returns only then."""
        beat = self._policy.timings.heartbeat.total_seconds()
        sent = turn.place
        renewed = turn.began
        while turn.left() > 0:
            await asyncio.sleep(min(PROGRESS_SECONDS, max(0.01, turn.left())))
            now = self._clock.monotonic()
            place = turn.place
            if place == sent and now - renewed < beat:
                continue
            try:
                async with asyncio.timeout(max(0.01, turn.left())):
                    await turn.writer.renew(place)
            except LeaseLostError:
                return
            except Exception as exc:
                code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                observe.RENEWALS_FAILED.inc()
                logger.warning("lease_renewal_failed", extra={**_fields(turn), "error_code": code})
                await asyncio.sleep(min(RETRY_SECONDS, max(0.0, turn.left())))
                continue
            turn.granted(now, self._policy)
            sent, renewed = place, now

    async def _work(self, turn: Turn) -> None:
        """Go on from the turn's place: copy, close, look again, swap; or end the turn."""
        record, store = turn.record, self._manager.store
        config = turn.migration.embedding_model_config
        target = await self._manager.next_knowledge(record)
        await store.create_collection(turn.migration.collection_name, config.dimensions)
        copier = Copier(
            documents=self._storage.documents,
            store=store,
            record=record,
            target=target,
            before_write=turn.check,
        )
        while True:
            counts = await self._storage.knowledge_bases.counts([record.id])
            turn.total = counts[record.id].documents
            page = await self._storage.documents.of_knowledge_base(
                record.id, after=turn.after, limit=PAGE
            )
            if page:
                await copier.copy(page)
                await self._queue_what_waited(page)
                turn.done += sum(1 for item in page if item.status in VISIBLE)
                turn.after = page[-1].id
            elif turn.phase is MigrationPhase.COPYING:
                turn.check()
                await turn.writer.close()
                turn.phase, turn.after, turn.done = MigrationPhase.CLOSING, "", 0
                logger.info("migration_closing", extra=_fields(turn))
            else:
                turn.check()
                await turn.writer.swap()
                logger.info("migration_done", extra=_fields(turn))
                return
            if turn.long and turn.phase is MigrationPhase.COPYING:
                await turn.writer.renew(turn.place)
                await turn.writer.release()
                return

    async def _queue_what_waited(self, page: Sequence[DocumentRecord]) -> None:
        """Queue again what failed only because the old model is gone; it waits for the new one."""
        for document in page:
            code = document.failure.code if document.failure else ""
            if document.status is DocumentStatus.ERROR and code == EmbeddingModelChangedError.code:
                with contextlib.suppress(DocumentNotFoundError):
                    await verbs.reindex(self._storage.documents, document.id)

    async def _failed(self, turn: Turn, error: BaseException) -> None:
        told = describe(error, "")
        waits = isinstance(error, EmbeddingPausedError)
        tries = turn.migration.attempt + 1
        allowed = attempts_allowed(error, self._policy.limits)
        final = not waits and tries >= allowed
        delay = waiting_time(error, self._rng) if waits else delay_of(error, tries, self._rng)
        failure = MigrationFailure(told.code, told.message, told.retryable)
        known = isinstance(error, AgentScopeError)
        fields = {**_fields(turn), "error_code": told.code, "final": final}
        logger.warning("migration_failed", extra=fields, exc_info=None if known else error)
        with contextlib.suppress(LeaseLostError):
            await self._in_time(
                turn.writer.failed(failure, delay=delay, final=final, counted=not waits)
            )

    async def _released(self, turn: Turn) -> None:
        """Hand back quickly: the process is about to end. If it fails, the lease runs out."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(RELEASE_SECONDS):
                await turn.writer.release()

    async def _in_time(self, call: Awaitable[None]) -> None:
        async with asyncio.timeout(self._policy.timings.request_timeout.total_seconds()):
            await call


def _fields(turn: Turn) -> dict[str, object]:
    return {
        "knowledge_base_id": turn.record.id,
        "generation": turn.migration.generation,
        "done": turn.done,
        "total": turn.total,
    }
