"""One claimed document: run the pipeline under the lease and tell the storage how it ended.

Nothing here cleans up in a `finally`: a worker may die at any await, and whatever it left is
found through the record.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from agentscope import logs, observe, tracing
from agentscope.app.rag.indexing.breaker import Breaker
from agentscope.app.rag.indexing.lease import Lease
from agentscope.app.rag.indexing.pipeline import Attempt, Indexed, Pipeline
from agentscope.app.rag.indexing.retries import Action, describe, judge, waiting_time, waits
from agentscope.app.records import (
    PROVIDER_RESTS,
    Claim,
    DocumentRecord,
    KnowledgeBaseRecord,
    Policy,
)
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.verbs import RunWriter, retire_replaced
from agentscope.clock import Clock
from agentscope.errors import (
    AgentScopeError,
    EmbeddingError,
    EmbeddingPausedError,
    GenerationMissedError,
    KnowledgeBaseNotFoundError,
    LeaseLostError,
)
from agentscope.stopping import stopped

logger = logging.getLogger(__name__)

HAND_BACK_PAUSE_SECONDS = 1.0
CLEANUP_SECONDS = 5.0
RELEASE_SECONDS = 1.0
_OUTCOMES = {Action.FAIL: "failed", Action.RETRY: "retried", Action.CRASH: "crashed"}


PausedSeconds = Callable[[KnowledgeBaseRecord], float]
"""For how long the provider of a knowledge base must not be asked; 0: it may be."""


def not_paused(knowledge_base: KnowledgeBaseRecord) -> float:
    """Say that the provider may be asked."""
    del knowledge_base
    return 0.0


class IndexWorker:
    """Runs claimed documents; the consumer decides how many at once."""

    def __init__(
        self,
        *,
        storage: StorageBase,
        pipeline: Pipeline,
        policy: Policy,
        clock: Clock,
        rng: random.Random | None = None,
        on_ended: Callable[[str], None] = lambda user_id: None,
        paused_seconds: PausedSeconds = not_paused,
    ) -> None:
        self._storage = storage
        self._pipeline = pipeline
        self._policy = policy
        self._clock = clock
        self._rng = rng or random.Random()  # noqa: S311  # spreads retries, keeps no secret
        self._attempts: dict[str, Attempt] = {}
        self._stopping = asyncio.Event()
        self._on_ended = on_ended
        self._paused_seconds = paused_seconds
        self.breaker = Breaker(clock)

    def nudge(self, document_id: str) -> None:
        """Look now whether the document, if it runs here, is still wanted."""
        attempt = self._attempts.get(document_id)
        if attempt is not None:
            attempt.lease.nudge()

    def stop(self) -> None:
        """End every run now and hand its document back unharmed."""
        self._stopping.set()

    async def process(self, claim: Claim, sent_at: float) -> None:
        """Index one document; `sent_at` is the monotonic time before the claim was sent."""
        document = claim.document
        writer = RunWriter(self._storage.documents, document.id, claim.run_id, self._policy)
        lease = Lease(
            writer,
            clock=self._clock,
            timings=self._policy.timings,
            sent_at=sent_at,
            fields=log_fields(document),
        )
        fields = log_fields(document)
        names = {f"rag.{name}": value for name, value in fields.items() if value is not None}
        with (
            observe.RUNNING.track_inprogress(),
            logs.bound(**fields),
            tracing.continued(document.trace, "index", names, kind="CONSUMER") as span,
        ):
            attempt = Attempt(claim, lease)
            self._attempts[document.id] = attempt
            try:
                await self._run(attempt)
            finally:
                attempt.stage_ended()
                span.set({"rag.outcome": attempt.outcome})
                self._on_ended(document.user_id)
                if self._attempts.get(document.id) is attempt:
                    del self._attempts[document.id]

    async def _run(self, attempt: Attempt) -> None:
        logger.info("document_claimed", extra=log_fields(attempt.document))
        if (wait := self._paused_seconds(attempt.claim.knowledge_base)) > 0:
            await self._waits(attempt, EmbeddingPausedError(retry_after_seconds=wait))
            return
        work = asyncio.create_task(self._pipeline.index(attempt))
        keeper = asyncio.create_task(attempt.lease.keep())
        stop = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({work, keeper, stop}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await stopped((work, keeper, stop))
            await self._released(attempt)
            raise
        ended = work.done()
        await stopped((work, keeper, stop))
        if not ended and self._stopping.is_set() and not attempt.lease.lost:
            await self._released(attempt)
        elif not ended:
            await self._lost(attempt)
        else:
            await self._finish(attempt, work)

    async def _finish(self, attempt: Attempt, work: "asyncio.Task[Indexed]") -> None:
        error = work.exception()
        if error is None:
            await self._publish(attempt, work.result())
        elif isinstance(error, LeaseLostError):
            await self._lost(attempt)
        elif isinstance(error, KnowledgeBaseNotFoundError):
            await self._released(attempt)  # deleted meanwhile: the storage will say lost
        elif waits(error, attempt.claim.knowledge_base):
            await self._waits(attempt, error)
        else:
            await self._failed(attempt, error)

    async def _publish(self, attempt: Attempt, indexed: Indexed) -> None:
        """◆ publish: once it was sent, the run may be visible; so it is never removed here."""
        writer, lease = attempt.lease.writer, attempt.lease
        fields = log_fields(attempt.document)

        async def send() -> DocumentRecord:
            return await writer.publish(
                indexed.chunk_count,
                warnings=indexed.findings.warnings,
                report=indexed.findings.report,
                generations=indexed.generations,
            )

        if lease.lost or lease.left() <= 0:
            await self._lost(attempt)
            return
        attempt.stage = "publishing"
        try:
            published = await self._insist(lease, send)
        except GenerationMissedError as exc:
            await self._waits(attempt, exc)  # refused, so it is not visible
            return
        if published or await self._stands(attempt):
            self.breaker.succeeded(attempt.claim.knowledge_base)
            attempt.ended("ready")
            observe.DOCUMENT_CHUNKS.observe(indexed.chunk_count)
            logger.info("document_ready", extra={**fields, "chunk_count": indexed.chunk_count})
            await self._retire_replaced(attempt.document)
        else:
            attempt.ended("lost")
            logger.info("run_lost", extra={**fields, "stage": "publish"})

    async def _retire_replaced(self, document: DocumentRecord) -> None:
        """Let older versions go now; if that fails, the collection after this run does it."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(self._request_seconds):
                await retire_replaced(self._storage.documents, document, policy=self._policy)

    async def _stands(self, attempt: Attempt) -> bool:
        """Say whether the run is the visible one after all."""
        document = attempt.document
        with contextlib.suppress(Exception):
            async with asyncio.timeout(self._request_seconds):
                record = await self._storage.documents.get(
                    document.user_id, document.knowledge_base_id, document.id
                )
            return record is not None and record.active_run_id == attempt.claim.run_id
        return False

    async def _waits(self, attempt: Attempt, error: BaseException) -> None:
        """Hand back without counting the attempt: what it waits for is no fault of the document."""
        delay = waiting_time(error, self._rng)
        reason = describe(error, attempt.stage)
        fields = {**log_fields(attempt.document), "error_code": reason.code}
        attempt.ended("waiting", reason.code)
        logger.info("run_waits", extra={**fields, "delay_seconds": delay.total_seconds()})

        async def send() -> DocumentRecord:
            return await attempt.lease.writer.release(delay, reason)

        await self._insist(attempt.lease, send)
        await self._remove_own_run(attempt, self._request_seconds)
        if isinstance(error, EmbeddingPausedError):
            self.breaker.paused(attempt.claim.knowledge_base, delay.total_seconds())
            await self._tell_rest(attempt.claim.knowledge_base, reason.message, delay)

    async def _provider_failed(
        self, knowledge_base: KnowledgeBaseRecord, error: EmbeddingError
    ) -> None:
        """Leave a provider alone that fails again and again, or asked for time."""
        seconds = max(self.breaker.failed(knowledge_base), self._paused_seconds(knowledge_base))
        if seconds > 0:
            self.breaker.paused(knowledge_base, seconds)
            await self._tell_rest(knowledge_base, error.message, timedelta(seconds=seconds))

    async def _tell_rest(
        self, knowledge_base: KnowledgeBaseRecord, reason: str, rest: timedelta
    ) -> None:
        """Let users see why documents wait that no worker takes meanwhile."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(self._request_seconds):
                await self._storage.registry.put(
                    f"{PROVIDER_RESTS}{knowledge_base.id}",
                    {"reason": reason},
                    ttl=max(rest, timedelta(seconds=1)),
                )

    async def _failed(self, attempt: Attempt, error: BaseException) -> None:
        document, writer = attempt.document, attempt.lease.writer
        limits = self._policy.limits
        verdict = judge(error, document, stage=attempt.stage, limits=limits, rng=self._rng)
        if isinstance(error, EmbeddingError) and error.retryable:
            await self._provider_failed(attempt.claim.knowledge_base, error)
        self._log_failure(attempt, error, verdict.action)

        async def send() -> DocumentRecord:
            if verdict.action is Action.FAIL:
                return await writer.fail(
                    verdict.failure,
                    warnings=attempt.findings.warnings,
                    report=attempt.findings.report,
                )
            crash = verdict.action is Action.CRASH
            return await writer.retry_later(
                verdict.delay, verdict.failure, crash=crash, unforeseen=verdict.unforeseen
            )

        await self._insist(attempt.lease, send)
        await self._remove_own_run(attempt, self._request_seconds)

    def _log_failure(self, attempt: Attempt, error: BaseException, action: Action) -> None:
        known = isinstance(error, AgentScopeError)
        fields = {
            **log_fields(attempt.document),
            "stage": attempt.stage,
            "action": str(action),
            "error_code": error.code if isinstance(error, AgentScopeError) else "internal_error",
            "error": str(error),
        }
        attempt.ended(_OUTCOMES[action], fields["error_code"])
        logger.warning("run_failed", extra=fields, exc_info=None if known else error)

    async def _released(self, attempt: Attempt) -> None:
        """Hand back quickly: the process is about to end. If it fails, the lease runs out."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(RELEASE_SECONDS):
                await attempt.lease.writer.release()
        attempt.ended("released")
        logger.info("run_released", extra=log_fields(attempt.document))
        await self._remove_own_run(attempt, CLEANUP_SECONDS)

    async def _lost(self, attempt: Attempt) -> None:
        """◆ lost: the document belongs to somebody else now; nothing is written to its record."""
        attempt.ended("lost")
        logger.info("run_lost", extra={**log_fields(attempt.document), "stage": attempt.stage})
        await self._remove_own_run(attempt, self._request_seconds)

    async def _remove_own_run(self, attempt: Attempt, seconds: float) -> None:
        """◆ own_run: remove what only this run wrote; it was never sent to be published."""
        for handle in attempt.handles:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(seconds):
                    await self._pipeline.manager.store.delete_run(
                        handle.collection, attempt.document.id, attempt.claim.run_id
                    )

    async def _insist(self, lease: Lease, send: Callable[[], Awaitable[Any]]) -> bool:
        """Repeat a write until it is answered or the lease ends; False: lost or unknown."""
        while lease.left() > 0 and not lease.lost:
            try:
                async with asyncio.timeout(min(self._request_seconds, lease.left())):
                    await send()
                return True
            except LeaseLostError:
                return False
            except GenerationMissedError:
                raise
            except Exception as exc:
                code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                logger.warning("run_report_failed", extra={"error_code": code})
                await asyncio.sleep(HAND_BACK_PAUSE_SECONDS)
        return False

    @property
    def _request_seconds(self) -> float:
        return self._policy.timings.request_timeout.total_seconds()


def log_fields(document: DocumentRecord) -> dict[str, Any]:
    """Return what every log line of a run carries."""
    return {
        "knowledge_base_id": document.knowledge_base_id,
        "document_id": document.id,
        "attempt": document.attempt,
        "run_id": document.run_id,
    }
