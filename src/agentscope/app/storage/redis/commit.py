"""Builds one atomic write: what must still stand, and the commands that follow."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentscope.app.records import (
    DocumentRecord,
    DocumentStatus,
    Event,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
)
from agentscope.app.storage.changes import (
    DocumentWrite,
    KnowledgeBaseWrite,
    is_active,
    is_visible,
    must_run_alone,
    waits_for_worker,
)
from agentscope.app.storage.codec import (
    dump_document,
    dump_event,
    dump_knowledge_base,
    folded,
    to_micros,
)
from agentscope.app.storage.redis.keys import Keys, timed
from agentscope.identity import new_id

Place = tuple[str, str, int]  # set, member, score


@dataclass(slots=True)
class Commit:
    """One write. Its token becomes the version of all records it writes.

    Sending it twice is harmless: the record at `main` then carries the token already.
    """

    keys: Keys
    main: str
    loaded_micros: int
    token: str = field(default_factory=new_id)
    _numbers: dict[str, int] = field(default_factory=dict)
    _checks: list[list[str]] = field(default_factory=list)
    _commands: list[list[str]] = field(default_factory=list)
    _users: dict[str, bool] = field(default_factory=dict)
    _events: list[Event] = field(default_factory=list)

    def check_version(self, key: str, version: str) -> None:
        """Write only if the record still has the version ('': does not exist)."""
        self._checks.append(["version", self._number(key), "", version])

    def check_first(self, key: str, member: str) -> None:
        """Write only if the set still starts with the member ('': is empty)."""
        self._checks.append(["first", self._number(key), "", member])

    def check_sum(self, key: str, names: Sequence[str], most: int) -> None:
        """Write only if the counters of a hash add up to no more than `most`."""
        self._checks.append(["sum", self._number(key), ",".join(names), str(most)])

    def check_sizes(self, key: str, other: str, most: int) -> None:
        """Write only if two sets together have no more than `most` members."""
        self._checks.append(["sizes", self._number(key), self._number(other), str(most)])

    def command(self, name: str, key: str, *words: str | int) -> None:
        """Run a command on one key."""
        texts = [str(word) for word in words]
        self._commands.append([str(len(texts)), name, self._number(key), *texts])

    def document(self, write: DocumentWrite, *, served: bool = False) -> None:
        """Write a document with its indexes, counters and event."""
        keys, old, new, record = self.keys, write.old, write.new, write.record
        name = keys.document(record.id)
        if new is None:
            self.command("DEL", name)
        else:
            self.command("HSET", name, "v", self.token, *_document_fields(new))
        before = _places(keys, old) if old is not None else set()
        after = _places(keys, new) if new is not None else set()
        self._move(before, after)
        delta = write.delta
        sums = {
            "documents": delta.documents,
            "chunks": delta.chunks,
            "size_bytes": delta.size_bytes,
            **dict(delta.by_status),
        }
        self._add(keys.counts(record.knowledge_base_id), sums)
        extra = {
            "unfinished": delta.unfinished,
            "running": delta.running,
            "arriving_bytes": delta.arriving_bytes,
        }
        self._add(keys.user(record.user_id), sums | extra)
        self._users[record.user_id] = self._users.get(record.user_id, False) or served
        if write.event is not None:
            self._events.append(write.event)

    def knowledge_base(self, write: KnowledgeBaseWrite) -> None:
        """Write a knowledge base with its indexes and event."""
        keys, new, record = self.keys, write.new, write.record
        name = keys.knowledge_base(record.id)
        if write.old is not None and not is_active(new):
            self.command("DEL", keys.shares(record.id))  # viewers' lists forget it when they look
        if new is None:
            self.command("DEL", name)
            self.command("DEL", keys.counts(record.id))
        else:
            self.command(
                *("HSET", name, "v", self.token, "b", dump_knowledge_base(new)),
                *("user", new.user_id, "status", str(new.status)),
            )
        self._move(
            _base_places(keys, write.old) if write.old is not None else set(),
            _base_places(keys, new) if new is not None else set(),
        )
        if write.event is not None:
            self._events.append(write.event)

    def _move(self, before: set[Place], after: set[Place]) -> None:
        stays = {(key, member) for key, member, _ in after}
        for key, member, _ in sorted(before - after):
            if (key, member) not in stays:
                self.command("ZREM", key, member)
        for key, member, score in sorted(after - before):
            self.command("ZADD", key, score, member)

    def _add(self, key: str, sums: dict[str, int]) -> None:
        for name, amount in sums.items():
            if amount:
                self.command("HINCRBY", key, name, amount)

    def _number(self, key: str) -> str:
        return str(self._numbers.setdefault(key, len(self._numbers) + 1))

    def encoded(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the keys and arguments of the script."""
        keys, number = self.keys, self._number
        words = [number(self.main), self.token, str(self.loaded_micros)]
        for group in (self._checks, self._commands):
            words.append(str(len(group)))
            for part in group:
                words += part
        words.append(str(len(self._users)))
        for user_id, served in self._users.items():
            words += [
                number(keys.user(user_id)),
                number(keys.user_due(user_id)),
                number(keys.turn),
                user_id,
                str(int(served)),
                number(keys.users_in_turn),
            ]
        words.append(str(len(self._events)))
        for event in self._events:
            words += [
                number(keys.user(event.user_id)),
                number(keys.events(event.user_id)),
                number(keys.users_with_events),
                event.user_id,
                str(to_micros(event.at)),
                dump_event(event),
            ]
        return list(self._numbers), words


def _document_fields(record: DocumentRecord) -> list[str]:
    """Return the record and, beside it, what claims, filters and orders read without parsing."""
    return [
        *("b", dump_document(record)),
        *("kb", record.knowledge_base_id),
        *("status", str(record.status)),
        *("alone", str(int(must_run_alone(record)))),
        *("size", str(record.size)),
        *("chunks", str(record.chunk_count)),
        *("name", folded(record.filename)),
        *("type", record.content_type or ""),
        *("created", str(to_micros(record.created_at))),
        *("updated", str(to_micros(record.updated_at))),
    ]


def _places(keys: Keys, record: DocumentRecord) -> set[Place]:
    """Return where the document stands in which sets."""
    base_id = record.knowledge_base_id
    found: set[Place] = {(keys.members(base_id), record.id, 0)}
    if is_visible(record):
        found.add((keys.visible(base_id), record.id, to_micros(record.created_at)))
        if record.content_sha256 is not None:
            content = keys.content(base_id, record.content_sha256)
            found.add((content, timed(record.created_at, record.id), 0))
    if record.status is DocumentStatus.ERROR:
        found.add((keys.failed, record.id, 0))
    if record.due_at is None:
        return found
    due = to_micros(record.due_at)
    if waits_for_worker(record):
        member = timed(record.created_at, record.id)
        found.add((keys.due_index, member, due))
        found.add((keys.user_due(record.user_id), member, due))
    else:
        found.add((keys.due_maintenance, record.id, due))
    return found


def _base_places(keys: Keys, record: KnowledgeBaseRecord) -> set[Place]:
    """Return where the knowledge base stands in which sets."""
    found: set[Place] = {(keys.knowledge_bases, record.id, 0)}
    if is_active(record):
        owned = keys.user_knowledge_bases(record.user_id)
        found.add((owned, record.id, to_micros(record.created_at)))
    if record.status is KnowledgeBaseStatus.CREATING:
        found.add((keys.user_creating(record.user_id), record.id, to_micros(record.created_at)))
    if record.due_at is not None:
        found.add((keys.due_knowledge_bases, record.id, to_micros(record.due_at)))
    return found
