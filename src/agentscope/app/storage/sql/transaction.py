"""Loads and writes of records in one transaction, with the counters and events they cause.

Locks are always taken in this order, so that no two transactions wait for each other: content
lock, documents, knowledge base, counters of knowledge bases, users.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from agentscope.app.records import DocumentRecord, Event, KnowledgeBaseRecord, Limits, Usage
from agentscope.app.storage import totals
from agentscope.app.storage.changes import (
    DocumentWrite,
    KnowledgeBaseWrite,
    document_write,
    is_active,
    is_visible,
    knowledge_base_write,
    must_run_alone,
    waits_for_worker,
)
from agentscope.app.storage.codec import (
    dump_document,
    dump_event,
    dump_knowledge_base,
    folded,
    load_document,
    load_knowledge_base,
    to_micros,
)
from agentscope.app.storage.sql.session import Session
from agentscope.app.transitions import quota

COUNTERS = ("documents", "chunks", "size_bytes", *totals.VISIBLE_STATUSES)
_USER_COUNTERS = (
    *COUNTERS,
    "unfinished",
    "running",
    "arriving_bytes",
    "sequence",
    "knowledge_bases",
)
_DOCUMENT_COLUMNS = (
    "id",
    "user_id",
    "knowledge_base_id",
    "status",
    "visible",
    "queue",
    "alone",
    "due_at",
    "created_at",
    "updated_at",
    "name",
    "size",
    "chunk_count",
    "content_type",
    "sha",
    "body",
)
_KNOWLEDGE_BASE_COLUMNS = (
    "id",
    "user_id",
    "status",
    "due_at",
    "created_at",
    "updated_at",
    "name",
    "body",
)


def _insert(table: str, columns: Iterable[str]) -> str:
    names = list(columns)
    marks = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"


def _update(table: str, columns: Iterable[str]) -> str:
    pairs = ", ".join(f"{name} = :{name}" for name in columns if name != "id")
    return f"UPDATE {table} SET {pairs} WHERE id = :id"


def _add(table: str, key: str, columns: Iterable[str]) -> str:
    names = list(columns)
    sums = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in names)
    return f"{_insert(table, [key, *names])} ON CONFLICT ({key}) DO UPDATE SET {sums}"


INSERT_DOCUMENT = _insert("documents", _DOCUMENT_COLUMNS) + " ON CONFLICT (id) DO NOTHING"
UPDATE_DOCUMENT = _update("documents", _DOCUMENT_COLUMNS)
INSERT_KNOWLEDGE_BASE = (
    _insert("knowledge_bases", _KNOWLEDGE_BASE_COLUMNS) + " ON CONFLICT (id) DO NOTHING"
)
UPDATE_KNOWLEDGE_BASE = _update("knowledge_bases", _KNOWLEDGE_BASE_COLUMNS)
ADD_COUNTS = _add("knowledge_base_counts", "id", COUNTERS)
ADD_USER = (
    _add("users", "user_id", _USER_COUNTERS) + f" RETURNING sequence, {', '.join(totals.HELD)}"
)


def document_columns(record: DocumentRecord) -> dict[str, Any]:
    """Return the row of a document."""
    return {
        "id": record.id,
        "user_id": record.user_id,
        "knowledge_base_id": record.knowledge_base_id,
        "status": str(record.status),
        "visible": int(is_visible(record)),
        "queue": int(waits_for_worker(record)),
        "alone": int(must_run_alone(record)),
        "due_at": None if record.due_at is None else to_micros(record.due_at),
        "created_at": to_micros(record.created_at),
        "updated_at": to_micros(record.updated_at),
        "name": folded(record.filename),
        "size": record.size,
        "chunk_count": record.chunk_count,
        "content_type": record.content_type,
        "sha": record.content_sha256,
        "body": dump_document(record),
    }


def knowledge_base_columns(record: KnowledgeBaseRecord) -> dict[str, Any]:
    """Return the row of a knowledge base."""
    return {
        "id": record.id,
        "user_id": record.user_id,
        "status": str(record.status),
        "due_at": None if record.due_at is None else to_micros(record.due_at),
        "created_at": to_micros(record.created_at),
        "updated_at": to_micros(record.updated_at),
        "name": folded(record.name),
        "body": dump_knowledge_base(record),
    }


class Transaction:
    """Collects what the writes of one transaction add up to; `finish` writes the sums."""

    def __init__(self, session: Session) -> None:
        self.session = session
        session.durable = False
        self._now: datetime | None = None
        self._counts: dict[str, dict[str, int]] = {}
        self._users: dict[str, dict[str, int]] = {}
        self._events: dict[str, list[Event]] = {}
        self._served: list[str] = []
        self._usage: dict[str, Usage] = {}  # per written user, known after `finish`
        self._growth: dict[str, list[totals.Delta]] = {}

    @property
    def now(self) -> datetime:
        """Store time; read when first asked for, so after the first lock was waited for."""
        if self._now is None:
            self._now = self.session.now()
        return self._now

    def document(self, document_id: str) -> DocumentRecord | None:
        """Return the document and keep others from changing it."""
        row = self.session.row(
            "SELECT body FROM documents WHERE id = :id" + self.session.dialect.for_update,
            id=document_id,
        )
        return None if row is None else load_document(row[0])

    def knowledge_base(
        self, knowledge_base_id: str, *, exclusive: bool = False
    ) -> KnowledgeBaseRecord | None:
        """Return the knowledge base and keep it as it is (`exclusive`: to change it)."""
        dialect = self.session.dialect
        lock = dialect.for_update if exclusive else dialect.for_share
        row = self.session.row(
            "SELECT body FROM knowledge_bases WHERE id = :id" + lock, id=knowledge_base_id
        )
        return None if row is None else load_knowledge_base(row[0])

    def write_document(
        self, old: DocumentRecord | None, new: DocumentRecord | None, *, served: bool = False
    ) -> DocumentWrite | None:
        """Write a document; None: it should be inserted and its id is taken."""
        write = document_write(old, new, self.now)
        self.session.durable |= write.matters
        if write.new is None:
            self.session.rows("DELETE FROM documents WHERE id = :id", id=write.record.id)
        elif old is None:
            columns = document_columns(write.new)
            if not self.session.rows(INSERT_DOCUMENT + " RETURNING id", **columns):
                return None
        else:
            self.session.rows(UPDATE_DOCUMENT, **document_columns(write.new))
        record, delta = write.record, write.delta
        if not delta.empty:
            sums = {
                "documents": delta.documents,
                "chunks": delta.chunks,
                "size_bytes": delta.size_bytes,
                **dict(delta.by_status),
            }
            if any(sums.values()):
                _collect(self._counts, record.knowledge_base_id, sums)
            extra = {
                "unfinished": delta.unfinished,
                "running": delta.running,
                "arriving_bytes": delta.arriving_bytes,
            }
            _collect(self._users, record.user_id, sums | extra)
            self._growth.setdefault(record.user_id, []).append(delta)
        self._note(write.event)
        if served:
            self._served.append(record.user_id)
        return write

    def write_knowledge_base(
        self, old: KnowledgeBaseRecord | None, new: KnowledgeBaseRecord | None
    ) -> KnowledgeBaseWrite | None:
        """Write a knowledge base; None: it should be inserted and its id is taken."""
        write = knowledge_base_write(old, new, self.now)
        self.session.durable = True
        record = write.record
        if old is not None and not is_active(write.new):
            self.session.rows("DELETE FROM shares WHERE knowledge_base_id = :id", id=record.id)
        if write.new is None:
            self.session.rows("DELETE FROM knowledge_bases WHERE id = :id", id=record.id)
            self.session.rows("DELETE FROM knowledge_base_counts WHERE id = :id", id=record.id)
        elif old is None:
            columns = knowledge_base_columns(write.new)
            if not self.session.rows(INSERT_KNOWLEDGE_BASE + " RETURNING id", **columns):
                return None
        else:
            self.session.rows(UPDATE_KNOWLEDGE_BASE, **knowledge_base_columns(write.new))
        if write.shown:
            _collect(self._users, record.user_id, {"knowledge_bases": write.shown})
        self._note(write.event)
        return write

    def _note(self, event: Event | None) -> None:
        if event is None:
            return
        self._events.setdefault(event.user_id, []).append(event)
        _collect(self._users, event.user_id, {"sequence": 1})

    def finish(self) -> None:
        """Write counters and events; the last step of the transaction."""
        zero = dict.fromkeys(_USER_COUNTERS, 0)
        for name in sorted(self._counts):
            sums = {key: self._counts[name].get(key, 0) for key in COUNTERS}
            self.session.rows(ADD_COUNTS, id=name, **sums)
        for user_id in sorted(self._users):
            row = self.session.row(ADD_USER, user_id=user_id, **(zero | self._users[user_id]))
            assert row is not None, "an upsert returns its row"
            counters = dict(zip(totals.HELD, row[1:], strict=True))
            self._usage[user_id] = totals.usage(counters)
            self._write_events(user_id, last=row[0])
        for user_id in self._served:
            self.session.rows(
                f"UPDATE users SET last_served = {self.session.dialect.next_turn} "
                "WHERE user_id = :user_id",
                user_id=user_id,
            )
        self._counts, self._users, self._events, self._served = {}, {}, {}, []

    def check_documents(self, user_id: str, limits: Limits) -> None:
        """Write what was collected, and raise if the user now holds more than allowed.

        Judged after the counters were raised, so that parallel writers cannot all pass.

        Raises:
            QuotaExceededError: a quota is used up; the transaction must be given up.
        """
        self.finish()
        added = totals.growth(self._growth.get(user_id, []))
        refused = quota.exceeded_by(self._usage.get(user_id, Usage()), limits, added=added)
        if refused is not None:
            raise refused

    def check_knowledge_bases(self, user_id: str, limits: Limits) -> None:
        """Raise if the user has more knowledge bases than allowed, the new one included.

        Raises:
            QuotaExceededError: a quota is used up; the transaction must be given up.
        """
        if not limits.knowledge_bases_per_user:
            return
        _collect(self._users, user_id, {})
        self.finish()  # locks the row of the user: whoever comes next counts what this one made
        held, one = held_knowledge_bases(self.session, user_id), Usage(knowledge_bases=1)
        refused = quota.exceeded_by(Usage(knowledge_bases=held), limits, added=one)
        if refused is not None:
            raise refused

    def _write_events(self, user_id: str, *, last: int) -> None:
        events = self._events.get(user_id, [])
        for sequence, event in enumerate(events, start=last - len(events) + 1):
            self.session.rows(
                "INSERT INTO events (user_id, sequence, at, knowledge_base_id, body) "
                "VALUES (:user_id, :sequence, :at, :knowledge_base_id, :body)",
                user_id=user_id,
                sequence=sequence,
                at=to_micros(event.at),
                knowledge_base_id=event.knowledge_base_id,
                body=dump_event(event),
            )


def held_knowledge_bases(session: Session, user_id: str) -> int:
    """Return how many knowledge bases count against the quota of the user."""
    row = session.row(
        "SELECT count(*) FROM knowledge_bases "
        "WHERE user_id = :user_id AND status IN ('active', 'creating')",
        user_id=user_id,
    )
    return 0 if row is None else int(row[0])


def _collect(sums: dict[str, dict[str, int]], key: str, change: dict[str, int]) -> None:
    standing = sums.setdefault(key, {})
    for name, amount in change.items():
        standing[name] = standing.get(name, 0) + amount
