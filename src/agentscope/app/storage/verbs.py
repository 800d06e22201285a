"""The transitions of the protocol as calls: each runs one pure function atomically.

Callers (service, worker, sweeper) use these, never `apply` directly, so that the list of all
writes to a document is this page.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from agentscope.app.records import DocumentFailure, DocumentRecord, DocumentStatus, Policy
from agentscope.app.storage.base import DocumentStorage
from agentscope.app.transitions import deletion, run, upload
from agentscope.app.transitions.guards import Progress
from agentscope.errors import DocumentNotFoundError, LeaseLostError


async def extend_upload(documents: DocumentStorage, document_id: str, *, policy: Policy) -> None:
    """Keep the upload alive; raises `NotReadyError` or a not-found error when it was given up."""
    await documents.apply(document_id, partial(upload.extend_upload, policy=policy))


async def abandon_upload(documents: DocumentStorage, document_id: str, *, policy: Policy) -> None:
    """Give the upload up; nothing happens if it is gone already."""
    try:
        await documents.apply(document_id, partial(upload.abandon_upload, policy=policy))
    except DocumentNotFoundError:
        return


class RunWriter:
    """All that the holder of one run may write; every call raises `LeaseLostError` when it lost.

    A record that is gone means lost, too: a run never brings one back.
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
        self, chunk_count: int, *, warnings: tuple[str, ...], report: Mapping[str, Any]
    ) -> DocumentRecord:
        """Make this run the visible one."""
        return await self._apply(
            partial(
                run.publish,
                chunk_count=chunk_count,
                warnings=warnings,
                report=report,
                policy=self._policy,
            )
        )

    async def retry_later(
        self, delay: timedelta, failure: DocumentFailure, *, crash: bool = False
    ) -> DocumentRecord:
        """Hand back, to be tried again after `delay`."""
        return await self._apply(
            partial(run.retry_later, delay=delay, failure=failure, crash=crash)
        )

    async def release(self) -> DocumentRecord:
        """Hand back unharmed."""
        return await self._apply(run.release)

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
    record = await documents.apply(document_id, run.reindex)
    assert record is not None
    return record


async def tombstone(
    documents: DocumentStorage, document_id: str, *, policy: Policy
) -> DocumentRecord:
    """Make the document invisible for good."""
    record = await documents.apply(document_id, partial(deletion.tombstone, policy=policy))
    assert record is not None
    return record


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
