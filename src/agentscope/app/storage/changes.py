"""What one change of records writes: the part of a transaction that is the same everywhere.

A back end loads records, asks this page what to write, and writes it in one step. Nothing here
does I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agentscope.app.records import (
    CLAIMABLE,
    VISIBLE,
    DocumentQuery,
    DocumentRecord,
    Event,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
    OnDuplicate,
    Policy,
    UploadResult,
)
from agentscope.app.storage import totals
from agentscope.app.storage.codec import folded, to_micros
from agentscope.app.transitions import deletion, upload
from agentscope.app.transitions.guards import check_move, check_stranded
from agentscope.errors import DuplicateDocumentError


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """One document before and after, with what follows from it; `new` is ready to be stored."""

    old: DocumentRecord | None
    new: DocumentRecord | None
    delta: totals.Delta
    event: Event | None  # its sequence is given by the back end

    @property
    def record(self) -> DocumentRecord:
        """The side that exists, the newer one first."""
        record = self.new or self.old
        assert record is not None, "a write has at least one side"
        return record

    @property
    def matters(self) -> bool:
        """Whether losing the write would lose more than work that is then done again.

        A claim, a renewal or a stage that is forgotten only means another run; its epoch comes
        from the time, so that the forgotten run stays behind it all the same.
        """
        if self.old is None or self.new is None:
            return True
        queued = waits_for_worker(self.old) and waits_for_worker(self.new)
        return not queued and self.old.status is not self.new.status


@dataclass(frozen=True, slots=True)
class KnowledgeBaseWrite:
    """One knowledge base before and after, with its event."""

    old: KnowledgeBaseRecord | None
    new: KnowledgeBaseRecord | None
    event: Event | None

    @property
    def record(self) -> KnowledgeBaseRecord:
        """The side that exists, the newer one first."""
        record = self.new or self.old
        assert record is not None, "a write has at least one side"
        return record

    @property
    def shown(self) -> int:
        """How many more knowledge bases the user sees: 1, 0 or -1."""
        return int(is_active(self.new)) - int(is_active(self.old))


def is_active(record: KnowledgeBaseRecord | None) -> bool:
    """Say whether users see the knowledge base."""
    return record is not None and record.status is KnowledgeBaseStatus.ACTIVE


def document_write(
    old: DocumentRecord | None, new: DocumentRecord | None, now: datetime
) -> DocumentWrite:
    """Check the move and return all it writes.

    Raises:
        ConflictError: the move is not legal.
    """
    if new is not None:
        if old is not None:
            check_move(old, new)
        check_stranded(new)
        new = replace(new, version=new.version + 1, updated_at=now)
    record = new or old
    assert record is not None, "a write has at least one side"
    kind = totals.document_event(old, new)
    event = None
    if kind is not None:
        event = Event(
            sequence=0,
            user_id=record.user_id,
            knowledge_base_id=record.knowledge_base_id,
            document_id=record.id,
            type=kind,
            at=now,
            data=totals.event_data(record),
        )
    return DocumentWrite(old, new, totals.delta(old, new), event)


def knowledge_base_write(
    old: KnowledgeBaseRecord | None, new: KnowledgeBaseRecord | None, now: datetime
) -> KnowledgeBaseWrite:
    """Return all that the change of a knowledge base writes."""
    if new is not None and old is not None:
        new = replace(new, version=new.version + 1, updated_at=now)
    record = new or old
    assert record is not None, "a write has at least one side"
    kind = totals.knowledge_base_event(old, new)
    event = None
    if kind is not None:
        event = Event(
            sequence=0,
            user_id=record.user_id,
            knowledge_base_id=record.id,
            document_id=None,
            type=kind,
            at=now,
            data={"name": record.name},
        )
    return KnowledgeBaseWrite(old, new, event)


def new_document(
    user_id: str,
    knowledge_base_id: str,
    fields: Mapping[str, Any],
    now: datetime,
    policy: Policy,
) -> DocumentRecord:
    """Return the record of an upload that begins."""
    return DocumentRecord(
        user_id=user_id,
        knowledge_base_id=knowledge_base_id,
        due_at=now + policy.timings.upload_ttl,
        created_at=now,
        updated_at=now,
        **fields,
    )


def new_knowledge_base(
    user_id: str, fields: Mapping[str, Any], now: datetime, policy: Policy
) -> KnowledgeBaseRecord:
    """Return the record of a knowledge base whose collection is about to be made."""
    return KnowledgeBaseRecord(
        user_id=user_id,
        due_at=now + policy.timings.upload_ttl,
        created_at=now,
        updated_at=now,
        **fields,
    )


@dataclass(frozen=True, slots=True)
class UploadPlan:
    """What accepting an upload writes and answers; `refused` is raised after the writes."""

    writes: tuple[tuple[DocumentRecord, DocumentRecord], ...]
    kept: DocumentRecord | None = None  # the twin that stands for the upload
    replaced: str | None = None  # id of the twin that goes
    refused: DuplicateDocumentError | None = None

    def result(self, stored: Mapping[str, DocumentRecord], document_id: str) -> UploadResult:
        """Return the answer, given what now stands.

        Raises:
            DuplicateDocumentError: the uploader wanted no duplicate and there is one.
        """
        if self.refused is not None:
            raise self.refused
        if self.kept is not None:
            return UploadResult(document=self.kept, stored=False)
        replaced = stored[self.replaced] if self.replaced is not None else None
        return UploadResult(document=stored[document_id], stored=True, replaced=replaced)


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadEnd:
    """What the uploader says at the end of an upload."""

    stored: Mapping[str, Any]
    on_duplicate: OnDuplicate
    policy: Policy

    def plan(
        self,
        old: DocumentRecord,
        knowledge_base: KnowledgeBaseRecord | None,
        twin: DocumentRecord | None,
        now: datetime,
    ) -> UploadPlan:
        """Decide what happens, given the oldest visible document with the same content.

        Raises:
            KnowledgeBaseNotFoundError, NotReadyError: too late.
        """
        keep = twin is not None and self.on_duplicate is OnDuplicate.KEEP
        new = upload.commit_upload(
            old,
            knowledge_base,
            now,
            stored=self.stored,
            duplicate_of=twin.id if twin is not None and keep else None,
        )
        if twin is None or keep:
            return UploadPlan(((old, new),))
        if self.on_duplicate is OnDuplicate.REPLACE:
            gone = deletion.tombstone(twin, knowledge_base, now, policy=self.policy)
            return UploadPlan(((old, new), (twin, gone)), replaced=twin.id)
        given_up = upload.abandon_upload(old, knowledge_base, now, policy=self.policy)
        refused = None
        if self.on_duplicate is OnDuplicate.REJECT:
            refused = DuplicateDocumentError(context={"document_id": twin.id})
        return UploadPlan(((old, given_up),), kept=twin, refused=refused)


def epoch_floor(now: datetime) -> int:
    """Return an epoch above all that were given out before, even if some were forgotten."""
    return to_micros(now) // 1000


def must_run_alone(record: DocumentRecord) -> bool:
    """Say whether the next run must have nothing beside it: an earlier one ended unreported."""
    return record.alone or record.lease_owner is not None


def is_visible(record: DocumentRecord) -> bool:
    """Say whether users see the document (in an active knowledge base)."""
    return record.status in VISIBLE


def waits_for_worker(record: DocumentRecord) -> bool:
    """Say whether a worker (else a sweeper) must look at the record when it is due."""
    return record.status in CLAIMABLE


def is_unfiltered(query: DocumentQuery) -> bool:
    """Say whether the query matches every visible document."""
    return query == DocumentQuery()


def matches(record: DocumentRecord, query: DocumentQuery) -> bool:
    """Say whether the query lists the document."""
    return (
        query.id in (None, record.id)
        and folded(query.filename_contains or "") in folded(record.filename)
        and (query.statuses is None or record.status in query.statuses)
        and query.content_type in (None, record.content_type)
    )
