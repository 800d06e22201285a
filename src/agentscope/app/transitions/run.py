"""A run of one document: claim, renew, publish, or hand back."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from agentscope.app.records import (
    RUNNING,
    SETTLED,
    DocumentFailure,
    DocumentRecord,
    DocumentStatus,
    KnowledgeBaseRecord,
    Policy,
)
from agentscope.app.transitions.guards import (
    Progress,
    latest,
    require_active,
    require_run,
    unleased,
    with_progress,
)
from agentscope.errors import ConflictError, DocumentNotFoundError


def claim(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    owner: str,
    run_id: str,
    policy: Policy,
    epoch_floor: int = 0,
) -> DocumentRecord:
    """Start a run, or end the document in `error` when it used up its chances.

    A lease that is still set belongs to a worker that died unreported. Its documents then run
    one at a time (`alone`), and only a death while alone counts as a crash: so a document that
    kills its worker is found, and its innocent neighbours are not blamed.
    """
    require_active(knowledge_base)
    crashes, alone = document.crashes, document.alone
    if document.lease_owner is not None:
        crashes, alone = (crashes + 1, True) if alone else (crashes, True)
    limits = policy.limits
    if crashes >= limits.max_crashes:  # ◆ crash_cap
        return _quarantine(document, now, policy, "worker_crash_loop", crashes)
    if document.attempt >= limits.max_attempts:
        return _quarantine(document, now, policy, "attempts_exhausted", crashes)
    deadline = now + policy.timings.lease_ttl
    return replace(
        document,
        status=DocumentStatus.PARSING,
        epoch=max(document.epoch + 1, epoch_floor),
        run_id=run_id,
        attempt=document.attempt + 1,
        crashes=crashes,
        alone=alone,
        failure=None,
        lease_owner=owner,
        lease_expires_at=deadline,
        max_lease_at=latest(document.max_lease_at, deadline),
        due_at=deadline,
        progress_stage="parsing",
        progress_done=0,
        progress_total=0,
        progress_unit="",
    )


def _quarantine(
    document: DocumentRecord, now: datetime, policy: Policy, code: str, crashes: int
) -> DocumentRecord:
    sentences = {
        "worker_crash_loop": "Reading this file stopped the worker several times, so it was set "
        "aside. Retry it after the cause is fixed.",
        "attempts_exhausted": "Indexing failed too often. Retry it when the cause is fixed.",
    }
    last = document.failure
    message = sentences[code]
    if last is not None and code == "attempts_exhausted":
        message = f"{message} The last failure was: {last.message}"[:1000]
    return replace(
        unleased(document),
        status=DocumentStatus.ERROR,
        epoch=document.epoch + 1,
        run_id=None,
        crashes=crashes,
        failure=DocumentFailure(code, message, stage=document.progress_stage, retryable=False),
        due_at=now + policy.timings.grace,
    )


def renew(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    run_id: str,
    progress: Progress | None,
    policy: Policy,
) -> DocumentRecord:
    """Extend the lease and show the progress."""
    require_run(document, knowledge_base, run_id)
    deadline = now + policy.timings.lease_ttl
    return replace(
        with_progress(document, progress),
        lease_expires_at=deadline,
        due_at=deadline,
        max_lease_at=latest(document.max_lease_at, deadline),
    )


def set_stage(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    run_id: str,
    status: DocumentStatus,
    progress: Progress | None,
) -> DocumentRecord:
    """Move a run to its next stage."""
    del now
    require_run(document, knowledge_base, run_id)
    if status not in RUNNING:
        raise ConflictError(f"{status} is not a stage of a run.")
    return replace(with_progress(document, progress), status=status)


def publish(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    run_id: str,
    chunk_count: int,
    warnings: tuple[str, ...],
    report: Mapping[str, Any],
    policy: Policy,
) -> DocumentRecord:
    """Make the run the visible one; from this instant a search shows it instead of the old one."""
    require_run(document, knowledge_base, run_id)
    return replace(
        unleased(document),
        status=DocumentStatus.READY,
        active_run_id=run_id,
        active_epoch=document.epoch,
        chunk_count=chunk_count,
        attempt=0,
        crashes=0,
        unforeseen=0,
        alone=False,
        failure=None,
        warnings=warnings,
        report=dict(report),
        due_at=now + policy.timings.grace,
        progress_stage="ready",
        progress_done=chunk_count,
        progress_total=chunk_count,
        progress_unit="chunk",
    )


def retry_later(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    run_id: str,
    delay: timedelta,
    failure: DocumentFailure,
    crash: bool = False,
    unforeseen: bool = False,
) -> DocumentRecord:
    """Hand the document back to be tried again after `delay`; count what has a limit of its own."""
    require_run(document, knowledge_base, run_id)
    return replace(
        unleased(document),
        status=DocumentStatus.PENDING,
        due_at=now + delay,
        failure=failure,
        crashes=document.crashes + crash,
        unforeseen=document.unforeseen + unforeseen,
        progress_stage="waiting",
    )


def release(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    run_id: str,
    delay: timedelta = timedelta(0),
    reason: DocumentFailure | None = None,
) -> DocumentRecord:
    """Hand the document back unharmed; the attempt is not counted.

    With a `delay` it waits for something else than a worker, and `reason` says for what.
    """
    require_run(document, knowledge_base, run_id)
    return replace(
        unleased(document),
        status=DocumentStatus.PENDING,
        due_at=now + delay,
        attempt=max(0, document.attempt - 1),
        failure=reason,
        progress_stage="waiting",
    )


def fail(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    run_id: str,
    failure: DocumentFailure,
    report: Mapping[str, Any],
    warnings: tuple[str, ...],
    policy: Policy,
) -> DocumentRecord:
    """End the run in `error`; content published earlier stays visible."""
    require_run(document, knowledge_base, run_id)
    return replace(
        unleased(document),
        status=DocumentStatus.ERROR,
        epoch=document.epoch + 1,
        run_id=None,
        failure=failure,
        report=dict(report),
        warnings=warnings,
        due_at=now + policy.timings.grace,
    )


def reindex(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    trace: str = "",
) -> DocumentRecord:
    """Queue a finished document again; one that is queued or running stays as it is."""
    require_active(knowledge_base)
    if document.status is DocumentStatus.DELETING or document.status is DocumentStatus.UPLOADING:
        raise DocumentNotFoundError
    if document.status not in SETTLED:
        return document
    return replace(
        document,
        status=DocumentStatus.PENDING,
        due_at=now,
        attempt=0,
        crashes=0,
        unforeseen=0,
        alone=False,
        failure=None,
        trace=trace,
        progress_stage="waiting",
        progress_done=0,
        progress_total=0,
        progress_unit="",
    )


def expire_lease(
    document: DocumentRecord, knowledge_base: KnowledgeBaseRecord | None, now: datetime
) -> DocumentRecord:
    """End a lease whose holder is known to be dead; the next claim sees an unreported death."""
    del knowledge_base
    if document.status not in RUNNING or document.lease_owner is None:
        return document
    return replace(document, lease_expires_at=now, due_at=now)
