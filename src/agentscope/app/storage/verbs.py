"""The transitions of the protocol as calls: each runs one pure function atomically.

Callers (service, worker, sweeper) use these, never `apply` directly, so that the list of all
writes to a document is this page.
"""

import contextlib
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from agentscope import tracing
from agentscope.app.records import (
    DocumentFailure,
    DocumentRecord,
    DocumentStatus,
    KnowledgeBaseRecord,
    Policy,
)
from agentscope.app.storage.base import DocumentStorage
from agentscope.app.transitions import deletion, run, upload
from agentscope.app.transitions.guards import Progress
from agentscope.app.transitions.migration import require_generations
from agentscope.errors import DocumentNotFoundError, LeaseLostError

FIRST_GENERATION = frozenset({1})


async def extend_upload(documents: DocumentStorage, document_id: str, *, policy: Policy) -> None:
    """Keep the upload alive; raises `NotReadyError` or a not-found error when it was given up."""
    await documents.apply(document_id, partial(upload.extend_upload, policy=policy))


async def reserve_upload(
    documents: DocumentStorage, document_id: str, *, size: int, policy: Policy
) -> None:
    """Set that many bytes aside for the upload, and keep it alive like `extend_upload`.

    Raises:
        QuotaExceededError: they go beyond the quota of the user.
        NotReadyError, KnowledgeBaseNotFoundError, DocumentNotFoundError: it was given up.
    """
    change = partial(upload.reserve_upload, size=size, policy=policy)
    await documents.apply(document_id, change, limits=policy.limits)


async def adopt_upload(
    documents: DocumentStorage,
    document_id: str,
    *,
    stored: Mapping[str, Any],
    duplicate_of: str | None,
    owner: str,
    run_id: str,
    policy: Policy,
) -> DocumentRecord:
    """Accept an imported file; `owner` holds the run `run_id` from this moment on.

    Raises:
        QuotaExceededError: the bytes go beyond the quota of the user.
        NotReadyError, KnowledgeBaseNotFoundError, DocumentNotFoundError: it was given up.
    """
    change = partial(
        upload.adopt_upload,
        stored=stored,
        duplicate_of=duplicate_of,
        owner=owner,
        run_id=run_id,
        policy=policy,
    )
    record = await documents.apply(document_id, change, limits=policy.limits)
    assert record is not None, "accepting an upload never removes its record"
    return record


async def abandon_upload(documents: DocumentStorage, document_id: str, *, policy: Policy) -> None:
    """Give the upload up; nothing happens if it is gone already."""
    try:
        await documents.apply(document_id, partial(upload.abandon_upload, policy=policy))
    except DocumentNotFoundError:
        return


class RunWriter:
    """All that the holder of one run may write; every call raises `LeaseLostError` when it lost.

    ◆ no_upsert: a record that is gone means lost, too; a run never brings one back.
    """

    def __init__(
        self, documents: DocumentStorage, document_id: str, run_id: str, policy: Policy
    ) -> None:
        self._documents = documents
        self._document_id = document_id
        self._policy = policy
        self.run_id = run_id

    async def _apply(self, change: Any) -> DocumentRecord:
        try:
            record = await self._documents.apply(
                self._document_id, partial(change, run_id=self.run_id)
            )
        except DocumentNotFoundError as exc:
            raise LeaseLostError from exc
        assert record is not None, "a run never removes its record"
        return record

    async def renew(self, progress: Progress | None = None) -> DocumentRecord:
        """Extend the lease by the lease time and show the progress."""
        return await self._apply(partial(run.renew, progress=progress, policy=self._policy))

    async def set_stage(
        self, status: DocumentStatus, progress: Progress | None = None
    ) -> DocumentRecord:
        """Move to the next stage."""
        return await self._apply(partial(run.set_stage, status=status, progress=progress))

    async def publish(
        self,
        chunk_count: int,
        *,
        warnings: tuple[str, ...],
        report: Mapping[str, Any],
        generations: Collection[int] = FIRST_GENERATION,
    ) -> DocumentRecord:
        """Make this run the visible one; `generations` are those that hold it.

        Raises:
            GenerationMissedError: another generation has to hold it, too.
        """
        publish = partial(
            run.publish,
            chunk_count=chunk_count,
            warnings=warnings,
            report=report,
            policy=self._policy,
        )

        def change(
            document: DocumentRecord,
            knowledge_base: KnowledgeBaseRecord | None,
            now: datetime,
            *,
            run_id: str,
        ) -> DocumentRecord:
            published = publish(document, knowledge_base, now, run_id=run_id)
            require_generations(knowledge_base, generations)
            return published

        return await self._apply(change)

    async def retry_later(
        self,
        delay: timedelta,
        failure: DocumentFailure,
        *,
        crash: bool = False,
        unforeseen: bool = False,
    ) -> DocumentRecord:
        """Hand back, to be tried again after `delay`."""
        return await self._apply(
            partial(
                run.retry_later, delay=delay, failure=failure, crash=crash, unforeseen=unforeseen
            )
        )

    async def release(
        self, delay: timedelta = timedelta(0), reason: DocumentFailure | None = None
    ) -> DocumentRecord:
        """Hand back unharmed; with a `delay` it waits for what `reason` says."""
        return await self._apply(partial(run.release, delay=delay, reason=reason))

    async def fail(
        self,
        failure: DocumentFailure,
        *,
        warnings: tuple[str, ...] = (),
        report: Mapping[str, Any] | None = None,
    ) -> DocumentRecord:
        """End in `error`."""
        return await self._apply(
            partial(
                run.fail,
                failure=failure,
                warnings=warnings,
                report=report or {},
                policy=self._policy,
            )
        )


async def reindex(documents: DocumentStorage, document_id: str) -> DocumentRecord:
    """Queue a finished document again."""
    change = partial(run.reindex, trace=tracing.traceparent())
    record = await documents.apply(document_id, change)
    assert record is not None
    return record


async def tombstone(
    documents: DocumentStorage, document_id: str, *, policy: Policy
) -> DocumentRecord:
    """Make the document invisible for good."""
    record = await documents.apply(document_id, partial(deletion.tombstone, policy=policy))
    assert record is not None
    return record


async def retire_replaced(
    documents: DocumentStorage, record: DocumentRecord, *, policy: Policy
) -> None:
    """Make the older versions of a searchable document invisible for good; idempotent."""
    for document_id in record.replaces:
        with contextlib.suppress(DocumentNotFoundError):
            await tombstone(documents, document_id, policy=policy)


async def purge_passed(
    documents: DocumentStorage, document_id: str, *, claimed_at: datetime
) -> DocumentRecord | None:
    """Record a purge pass; None: it was the final one and the record is gone."""
    return await documents.apply(document_id, partial(deletion.purge_passed, claimed_at=claimed_at))


async def collected(
    documents: DocumentStorage, document_id: str, *, epoch: int, policy: Policy
) -> None:
    """Record a garbage collection."""
    await documents.apply(document_id, partial(deletion.collected, epoch=epoch, policy=policy))


async def postpone(
    documents: DocumentStorage, document_id: str, *, epoch: int, delay: timedelta
) -> None:
    """Try the maintenance again after `delay`."""
    await documents.apply(document_id, partial(deletion.postpone, epoch=epoch, delay=delay))
