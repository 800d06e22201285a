"""Knowledge bases in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentscope.app.records import (
    Counts,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
    MaintenanceClaim,
    Page,
    Policy,
    Usage,
)
from agentscope.app.storage import totals
from agentscope.app.storage.base import KnowledgeBaseChange, KnowledgeBaseStorage
from agentscope.app.storage.memory.state import State
from agentscope.app.transitions import knowledge_base as moves
from agentscope.errors import AlreadyExistsError, KnowledgeBaseNotFoundError


class InMemoryKnowledgeBases(KnowledgeBaseStorage):
    """Knowledge bases of one process."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def create(
        self, user_id: str, fields: Mapping[str, Any], *, policy: Policy
    ) -> KnowledgeBaseRecord:
        state, now = self._state, self._state.now()
        if fields["id"] in state.knowledge_bases:
            raise AlreadyExistsError
        state.check_room(user_id, policy.limits, Usage(knowledge_bases=1))
        record = KnowledgeBaseRecord(
            user_id=user_id,
            due_at=now + policy.timings.upload_ttl,
            created_at=now,
            updated_at=now,
            **fields,
        )
        state.knowledge_bases[record.id] = record
        return record

    async def apply(
        self, knowledge_base_id: str, change: KnowledgeBaseChange
    ) -> KnowledgeBaseRecord | None:
        state = self._state
        old = state.knowledge_bases.get(knowledge_base_id)
        if old is None:
            raise KnowledgeBaseNotFoundError
        new = change(old, state.now())
        if new is old:
            return old
        self._write(old, new)
        return state.knowledge_bases.get(knowledge_base_id)

    def _write(self, old: KnowledgeBaseRecord, new: KnowledgeBaseRecord | None) -> None:
        state = self._state
        if new is None or new.status is not KnowledgeBaseStatus.ACTIVE:
            state.forget_shares(old.id)
        if new is None:
            del state.knowledge_bases[old.id]
            state.counts.pop(old.id, None)
        else:
            state.knowledge_bases[old.id] = replace(
                new, version=new.version + 1, updated_at=state.now()
            )
        kind = totals.knowledge_base_event(old, new)
        if kind is not None:
            state.event(old.user_id, old.id, None, kind, {"name": (new or old).name})

    async def get(self, user_id: str, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        return self._state.active(user_id, knowledge_base_id)

    async def find(self, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        return self._state.knowledge_bases.get(knowledge_base_id)

    async def page(
        self, user_id: str, page: Page, *, id: str | None = None, name_contains: str | None = None
    ) -> tuple[list[KnowledgeBaseRecord], int]:
        needle = (name_contains or "").casefold()
        matching = [
            record
            for record in self._state.knowledge_bases.values()
            if record.user_id == user_id
            and record.status is KnowledgeBaseStatus.ACTIVE
            and (id is None or record.id == id)
            and needle in record.name.casefold()
        ]
        matching.sort(
            key=lambda record: (getattr(record, page.order_by), record.id),
            reverse=page.descending,
        )
        start = (page.number - 1) * page.size
        return matching[start : start + page.size], len(matching)

    async def counts(self, knowledge_base_ids: Sequence[str]) -> dict[str, Counts]:
        return {
            name: self._state.counts.get(name, totals.empty_counts()) for name in knowledge_base_ids
        }

    async def user_counts(self, user_id: str) -> Counts:
        return self._state.user(user_id).counts

    async def usage(self, user_id: str) -> Usage:
        return self._state.usage(user_id)

    async def claim_maintenance(self, limit: int, *, policy: Policy) -> list[MaintenanceClaim]:
        state, now = self._state, self._state.now()
        due = sorted(
            (
                record
                for record in state.knowledge_bases.values()
                if record.due_at is not None and record.due_at <= now
            ),
            key=lambda record: (record.due_at, record.id),
        )
        claims = []
        for old in due[:limit]:
            self._write(old, moves.claim_knowledge_base_maintenance(old, now, policy=policy))
            claims.append(
                MaintenanceClaim(claimed_at=now, knowledge_base=state.knowledge_bases[old.id])
            )
        return claims

    async def all(self, *, after: str = "", limit: int = 500) -> list[KnowledgeBaseRecord]:
        records = sorted(
            (record for record in self._state.knowledge_bases.values() if record.id > after),
            key=lambda record: record.id,
        )
        return records[:limit]
