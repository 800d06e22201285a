"""The life of a knowledge base: created, shown, and purged with all it holds."""

from dataclasses import replace
from datetime import datetime, timedelta

from agentscope.app.records import KnowledgeBaseRecord, KnowledgeBaseStatus, Policy
from agentscope.errors import ConflictError, KnowledgeBaseNotFoundError


def activate(knowledge_base: KnowledgeBaseRecord, now: datetime) -> KnowledgeBaseRecord:
    """Show the knowledge base: its collection exists."""
    del now
    if knowledge_base.status is KnowledgeBaseStatus.DELETING:
        raise KnowledgeBaseNotFoundError
    return replace(knowledge_base, status=KnowledgeBaseStatus.ACTIVE, due_at=None)


def tombstone_knowledge_base(
    knowledge_base: KnowledgeBaseRecord, now: datetime, *, policy: Policy
) -> KnowledgeBaseRecord:
    """Make the knowledge base invisible for good.

    No lease is renewed from now on, so the last one ends within one lease time.
    """
    if knowledge_base.status is KnowledgeBaseStatus.DELETING:
        return knowledge_base
    return replace(
        knowledge_base,
        status=KnowledgeBaseStatus.DELETING,
        due_at=now,
        purge_after=now + policy.timings.lease_ttl + policy.timings.grace,
        deleted_at=now,
    )


def claim_knowledge_base_maintenance(
    knowledge_base: KnowledgeBaseRecord, now: datetime, *, policy: Policy
) -> KnowledgeBaseRecord:
    """Take a due knowledge base for one pass; one that was never finished becomes a tombstone."""
    if knowledge_base.status is KnowledgeBaseStatus.CREATING:
        knowledge_base = tombstone_knowledge_base(knowledge_base, now, policy=policy)
    return replace(knowledge_base, due_at=now + policy.timings.lease_ttl)


def knowledge_base_passed(
    knowledge_base: KnowledgeBaseRecord,
    now: datetime,
    *,
    claimed_at: datetime,
    remaining: int,
    next_document_due: datetime | None,
) -> KnowledgeBaseRecord | None:
    """Record a cascade pass: None (remove the record) once it is empty and no writer is left."""
    if knowledge_base.status is not KnowledgeBaseStatus.DELETING:
        raise ConflictError
    assert knowledge_base.purge_after is not None, "a tombstone has a purge time"
    if remaining == 0 and claimed_at >= knowledge_base.purge_after:
        return None
    if remaining == 0:
        return replace(knowledge_base, due_at=knowledge_base.purge_after)
    return replace(knowledge_base, due_at=next_document_due or now)


def postpone_knowledge_base(
    knowledge_base: KnowledgeBaseRecord, now: datetime, *, delay: timedelta
) -> KnowledgeBaseRecord:
    """Try the cascade again after `delay`."""
    if knowledge_base.status is not KnowledgeBaseStatus.DELETING:
        return knowledge_base
    return replace(knowledge_base, due_at=now + delay)
