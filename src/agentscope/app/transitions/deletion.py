"""Tombstones, purge passes and the collection of what dead runs left."""

from dataclasses import replace
from datetime import datetime, timedelta

from agentscope.app.records import (
    SETTLED,
    DocumentRecord,
    DocumentStatus,
    KnowledgeBaseRecord,
    Policy,
)
from agentscope.app.transitions.guards import latest, unleased
from agentscope.app.transitions.upload import abandon_upload
from agentscope.errors import ConflictError


def tombstone(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    policy: Policy,
) -> DocumentRecord:
    """Make the document invisible for good; repeating it changes nothing."""
    del knowledge_base
    if document.status is DocumentStatus.DELETING:
        return document
    if document.status is DocumentStatus.UPLOADING:
        return abandon_upload(document, None, now, policy=policy)
    return replace(
        unleased(document),
        status=DocumentStatus.DELETING,
        epoch=document.epoch + 1,
        run_id=None,
        active_run_id=None,
        due_at=now,
        purge_after=latest(document.max_lease_at, now) + policy.timings.grace,
        deleted_at=now,
    )


def claim_maintenance(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    policy: Policy,
) -> DocumentRecord:
    """Take a due record for one maintenance pass; an expired upload becomes a tombstone."""
    if document.status is DocumentStatus.UPLOADING:
        document = abandon_upload(document, knowledge_base, now, policy=policy)
    return replace(document, due_at=now + policy.timings.lease_ttl)


def purge_passed(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    claimed_at: datetime,
) -> DocumentRecord | None:
    """Record a purge pass: None (remove the record) after the final one, else the second is due.

    Whether the pass was final is decided from the time before it began ◆ final: a worker whose
    lease ended in between may have written after the vectors were removed.
    """
    del knowledge_base, now
    if document.status is not DocumentStatus.DELETING:
        raise ConflictError
    assert document.purge_after is not None, "a tombstone has a purge time"
    if claimed_at >= document.purge_after:
        return None
    return replace(document, due_at=document.purge_after)  # ◆ second_pass


def collected(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    epoch: int,
    policy: Policy,
) -> DocumentRecord:
    """Record a garbage collection of a finished document; it ends when no late writer is left."""
    del knowledge_base
    if document.status not in SETTLED or document.epoch != epoch:
        return document
    # Not `updated_at`: the claim of this very pass moved it, and the end would never come.
    quiet = latest(document.max_lease_at, document.created_at) + policy.timings.request_timeout
    return replace(document, due_at=None if now >= quiet else quiet)


def postpone(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    epoch: int,
    delay: timedelta,
) -> DocumentRecord:
    """Try the maintenance of a record again after `delay`, unless it moved on meanwhile."""
    del knowledge_base
    if document.epoch != epoch or document.status not in SETTLED | {DocumentStatus.DELETING}:
        return document
    return replace(document, due_at=now + delay)
