"""An upload: intent, bytes arriving, accepted or given up."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from agentscope.app.records import DocumentRecord, DocumentStatus, KnowledgeBaseRecord, Policy
from agentscope.app.transitions.guards import require_active
from agentscope.app.transitions.run import claim
from agentscope.errors import NotReadyError


def extend_upload(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    policy: Policy,
) -> DocumentRecord:
    """Keep an upload alive while bytes arrive."""
    require_active(knowledge_base)
    if document.status is not DocumentStatus.UPLOADING:
        raise NotReadyError("The upload took too long and was given up.")
    return replace(document, due_at=now + policy.timings.upload_ttl)


def reserve_upload(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    size: int,
    policy: Policy,
) -> DocumentRecord:
    """Set bytes aside for an upload that turns out to be larger, and keep it alive."""
    extended = extend_upload(document, knowledge_base, now, policy=policy)
    return replace(extended, size=max(size, document.size))


def commit_upload(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    stored: Mapping[str, Any],
    duplicate_of: str | None,
) -> DocumentRecord:
    """Accept the upload: its bytes are stored; `stored` holds size, sha, type and blob address."""
    require_active(knowledge_base)
    if document.status is not DocumentStatus.UPLOADING:
        raise NotReadyError("The upload took too long and was given up.")
    return replace(
        document,
        **stored,
        status=DocumentStatus.PENDING,
        due_at=now,
        duplicate_of=duplicate_of,
        progress_stage="waiting",
    )


def adopt_upload(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    stored: Mapping[str, Any],
    duplicate_of: str | None,
    owner: str,
    run_id: str,
    policy: Policy,
) -> DocumentRecord:
    """Accept an imported file and give its uploader the run that brings the chunks along.

    One step, so that no worker starts on it in between. If the importer dies, its lease ends and
    a worker indexes the original.
    """
    accepted = commit_upload(
        document, knowledge_base, now, stored=stored, duplicate_of=duplicate_of
    )
    return claim(
        accepted,
        knowledge_base,
        now,
        owner=owner,
        run_id=run_id,
        policy=policy,
        epoch_floor=int(now.timestamp() * 1000),
    )


def abandon_upload(
    document: DocumentRecord,
    knowledge_base: KnowledgeBaseRecord | None,
    now: datetime,
    *,
    policy: Policy,
) -> DocumentRecord:
    """Give up an upload; the uploader may be slow and still finish its blob, hence two passes."""
    del knowledge_base
    if document.status is DocumentStatus.DELETING:
        return document
    if document.status is not DocumentStatus.UPLOADING:
        raise NotReadyError
    return replace(
        document,
        status=DocumentStatus.DELETING,
        epoch=document.epoch + 1,
        due_at=now,
        purge_after=now + policy.timings.upload_ttl + policy.timings.grace,  # ◆ upload_tombstone
        deleted_at=now,
    )
