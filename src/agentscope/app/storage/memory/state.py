"""What the memory storage holds, and the one function that writes a document."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from agentscope.app.records import (
    Counts,
    CredentialRecord,
    DocumentRecord,
    Event,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
    Limits,
    Usage,
)
from agentscope.app.shares import ShareRecord
from agentscope.app.storage import totals
from agentscope.app.transitions import quota
from agentscope.app.transitions.guards import check_move, check_stranded
from agentscope.clock import Clock


@dataclass(slots=True)
class UserState:
    """Counters of one user, and what fairness needs to know."""

    counts: Counts = field(default_factory=totals.empty_counts)
    unfinished: int = 0
    running: int = 0
    arriving_bytes: int = 0
    last_served: int = 0
    events: list[Event] = field(default_factory=list)
    sequence: int = 0


@dataclass(slots=True)
class State:
    """All records of one storage."""

    clock: Clock
    documents: dict[str, DocumentRecord] = field(default_factory=dict)
    knowledge_bases: dict[str, KnowledgeBaseRecord] = field(default_factory=dict)
    credentials: dict[str, CredentialRecord] = field(default_factory=dict)
    shares: dict[str, dict[str, ShareRecord]] = field(default_factory=dict)  # by knowledge base
    shared_with: dict[str, dict[str, ShareRecord]] = field(default_factory=dict)  # by viewer
    registry: dict[str, tuple[Mapping[str, Any], datetime | None]] = field(default_factory=dict)
    counts: dict[str, Counts] = field(default_factory=dict)
    users: dict[str, UserState] = field(default_factory=dict)
    turn: int = 0

    def now(self) -> datetime:
        """Return store time."""
        return self.clock.now()

    def user(self, user_id: str) -> UserState:
        """Return the user's counters."""
        return self.users.setdefault(user_id, UserState())

    def active(self, user_id: str, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        """Return the knowledge base if it is active and belongs to the user."""
        record = self.knowledge_bases.get(knowledge_base_id)
        if record is None or record.user_id != user_id:
            return None
        return record if record.status is KnowledgeBaseStatus.ACTIVE else None

    def forget_shares(self, knowledge_base_id: str) -> None:
        """Take the knowledge base away from everybody it was shared with."""
        for viewer_id in self.shares.pop(knowledge_base_id, {}):
            self.shared_with[viewer_id].pop(knowledge_base_id)

    def write(self, old: DocumentRecord | None, new: DocumentRecord | None) -> DocumentRecord:
        """Replace a document, with counters and event; one of the two is a record."""
        now = self.now()
        if new is not None:
            if old is not None:
                check_move(old, new)
            check_stranded(new)
            new = replace(new, version=new.version + 1, updated_at=now)
            self.documents[new.id] = new
        elif old is not None:
            del self.documents[old.id]
        record = new or old
        assert record is not None
        change = totals.delta(old, new)
        user = self.user(record.user_id)
        user.counts = totals.add(user.counts, change)
        user.unfinished += change.unfinished
        user.running += change.running
        user.arriving_bytes += change.arriving_bytes
        before = self.counts.get(record.knowledge_base_id, totals.empty_counts())
        self.counts[record.knowledge_base_id] = totals.add(before, change)
        kind = totals.document_event(old, new)
        if kind is not None:
            self.event(
                record.user_id,
                record.knowledge_base_id,
                record.id,
                kind,
                totals.event_data(record),
            )
        return record

    def usage(self, user_id: str) -> Usage:
        """Return what the user holds."""
        user = self.user(user_id)
        counters = {
            "unfinished": user.unfinished,
            "ready": user.counts.by_status["ready"],
            "error": user.counts.by_status["error"],
            "size_bytes": user.counts.size_bytes,
            "arriving_bytes": user.arriving_bytes,
        }
        own = [record for record in self.knowledge_bases.values() if record.user_id == user_id]
        held = sum(1 for record in own if record.status is not KnowledgeBaseStatus.DELETING)
        return totals.usage(counters, knowledge_bases=held)

    def check_room(self, user_id: str, limits: Limits, adds: Usage) -> None:
        """Raise `QuotaExceededError` if the user has no room for that much more."""
        refused = quota.exceeded(self.usage(user_id), limits, adds=adds)
        if refused is not None:
            raise refused

    def event(
        self,
        user_id: str,
        knowledge_base_id: str,
        document_id: str | None,
        kind: str,
        data: Mapping[str, Any],
    ) -> None:
        """Append to the user's outbox."""
        user = self.user(user_id)
        user.sequence += 1
        user.events.append(
            Event(
                sequence=user.sequence,
                user_id=user_id,
                knowledge_base_id=knowledge_base_id,
                document_id=document_id,
                type=kind,
                at=self.now(),
                data=data,
            )
        )
