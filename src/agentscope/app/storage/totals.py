"""Counters and events that follow from a change of a record.

Every back end writes these in the transaction of the change, so they never drift.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentscope.app.generations import MigrationPhase
from agentscope.app.records import (
    CLAIMABLE,
    RUNNING,
    VISIBLE,
    Counts,
    DocumentRecord,
    DocumentStatus,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
    Usage,
)

VISIBLE_STATUSES = ("pending", "parsing", "chunking", "indexing", "ready", "error")
HELD = ("unfinished", "ready", "error", "size_bytes", "arriving_bytes")
"""The counters of a user that usage is added up from."""


@dataclass(frozen=True, slots=True)
class Delta:
    """What a change adds to the counters of the knowledge base and of the user."""

    documents: int = 0
    chunks: int = 0
    size_bytes: int = 0
    unfinished: int = 0  # uploading or claimable; the pending cap is held against it
    running: int = 0  # leases held; fairness is by it
    arriving_bytes: int = 0  # set aside for uploads; of users only
    by_status: tuple[tuple[str, int], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing moves."""
        return self == Delta()


def _weight(record: DocumentRecord | None) -> Delta:
    if record is None:
        return Delta()
    visible = record.status in VISIBLE
    unfinished = record.status in CLAIMABLE or record.status is DocumentStatus.UPLOADING
    return Delta(
        documents=int(visible),
        chunks=record.chunk_count if visible and record.active_run_id else 0,
        size_bytes=record.size if visible else 0,
        unfinished=int(unfinished),
        running=int(record.status in RUNNING and record.lease_owner is not None),
        arriving_bytes=record.size if record.status is DocumentStatus.UPLOADING else 0,
        by_status=((str(record.status), 1),) if visible else (),
    )


def delta(old: DocumentRecord | None, new: DocumentRecord | None) -> Delta:
    """Return what replacing `old` by `new` adds; None stands for no record."""
    before, after = _weight(old), _weight(new)
    moved = {name: count for name, count in after.by_status}
    for name, count in before.by_status:
        moved[name] = moved.get(name, 0) - count
    return Delta(
        documents=after.documents - before.documents,
        chunks=after.chunks - before.chunks,
        size_bytes=after.size_bytes - before.size_bytes,
        unfinished=after.unfinished - before.unfinished,
        running=after.running - before.running,
        arriving_bytes=after.arriving_bytes - before.arriving_bytes,
        by_status=tuple((name, count) for name, count in sorted(moved.items()) if count),
    )


def growth(changes: Iterable[Delta]) -> Usage:
    """Return what the changes of one user add to the usage of that user."""
    sums = dict.fromkeys(HELD, 0)
    for change in changes:
        by_status = dict(change.by_status)
        for name in HELD:
            sums[name] += by_status.get(name, 0) or getattr(change, name, 0)
    return usage(sums)


def usage(counters: Mapping[str, int], *, knowledge_bases: int = 0) -> Usage:
    """Return the usage that the counters of a user amount to."""
    return Usage(
        knowledge_bases=knowledge_bases,
        # A document is unfinished, ready or failed; what is being uploaded is unfinished, too.
        documents=counters["unfinished"] + counters["ready"] + counters["error"],
        stored_bytes=counters["size_bytes"] + counters["arriving_bytes"],
        pending=counters["unfinished"],
    )


def document_event(old: DocumentRecord | None, new: DocumentRecord | None) -> str | None:
    """Return the type of the event that the change is, or None if no user can see it."""
    was = old is not None and old.status in VISIBLE
    if new is not None and new.status in VISIBLE:
        if old is not None and old.status is new.status:
            return None
        return f"document.{new.status}"
    return "document.deleted" if was else None


def knowledge_base_event(
    old: KnowledgeBaseRecord | None, new: KnowledgeBaseRecord | None
) -> str | None:
    """Return the type of the event that the change is, or None if no user can see it."""
    was = old is not None and old.status is KnowledgeBaseStatus.ACTIVE
    now = new is not None and new.status is KnowledgeBaseStatus.ACTIVE
    if now and not was:
        return "knowledge_base.created"
    if was and not now:
        return "knowledge_base.deleted"
    if was and now and old is not None and new is not None:
        shown = (old.name, old.description, old.search_mode)
        if shown != (new.name, new.description, new.search_mode):
            return "knowledge_base.updated"
        return _migration_event(old, new)
    return None


def _migration_event(old: KnowledgeBaseRecord, new: KnowledgeBaseRecord) -> str | None:
    if old.generation != new.generation:
        return "knowledge_base.migrated"
    stopped = MigrationPhase.STOPPED
    before, after = old.migration, new.migration
    if after is None:
        return None if before is None else "knowledge_base.migration_cancelled"
    if before is None or (before.phase is stopped and after.phase is not stopped):
        return "knowledge_base.migration_started"
    if after.phase is stopped and before.phase is not stopped:
        return "knowledge_base.migration_stopped"
    return None


def event_data(record: DocumentRecord) -> dict[str, object]:
    """Return what an event tells about its document."""
    return {
        "filename": record.filename,
        "status": str(record.status),
        "chunk_count": record.chunk_count,
        "error_code": record.failure.code if record.failure else None,
    }


def empty_counts() -> Counts:
    """Return zero totals with all visible states present."""
    return Counts(by_status=dict.fromkeys(VISIBLE_STATUSES, 0))


def add(counts: Counts, change: Delta) -> Counts:
    """Return `counts` with `change` applied."""
    by_status = dict(counts.by_status)
    for name, count in change.by_status:
        by_status[name] = by_status.get(name, 0) + count
    return Counts(
        documents=counts.documents + change.documents,
        chunks=counts.chunks + change.chunks,
        size_bytes=counts.size_bytes + change.size_bytes,
        by_status=by_status,
    )
