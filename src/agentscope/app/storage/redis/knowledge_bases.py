"""Knowledge bases in Redis."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentscope.app.records import (
    Counts,
    KnowledgeBaseRecord,
    MaintenanceClaim,
    Page,
    Policy,
    Usage,
)
from agentscope.app.storage import totals
from agentscope.app.storage.base import KnowledgeBaseChange, KnowledgeBaseStorage
from agentscope.app.storage.changes import is_active, knowledge_base_write, new_knowledge_base
from agentscope.app.storage.codec import folded, load_knowledge_base
from agentscope.app.storage.redis import claims, lists, room, scripts
from agentscope.app.storage.redis.commit import Commit
from agentscope.app.storage.redis.server import RedisServer
from agentscope.errors import AlreadyExistsError, KnowledgeBaseNotFoundError

COUNTERS = ("documents", "chunks", "size_bytes", *totals.VISIBLE_STATUSES)


class RedisKnowledgeBases(KnowledgeBaseStorage):
    """Knowledge bases of one server."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def create(
        self, user_id: str, fields: Mapping[str, Any], *, policy: Policy
    ) -> KnowledgeBaseRecord:
        server, keys = self._server, self._server.keys
        name = keys.knowledge_base(fields["id"])

        async def step(_: int) -> KnowledgeBaseRecord:
            micros, now, version, _body = await server.load_one(name)
            if version:
                raise AlreadyExistsError
            record = new_knowledge_base(user_id, fields, now, policy)
            commit = Commit(keys, name, micros)
            commit.check_version(name, "")
            commit.knowledge_base(knowledge_base_write(None, record, now))
            adds = Usage(knowledge_bases=1)
            await room.write(server, commit, user_id, policy.limits, adds)
            return record

        return await server.repeated(step)

    async def apply(
        self, knowledge_base_id: str, change: KnowledgeBaseChange
    ) -> KnowledgeBaseRecord | None:
        server, keys = self._server, self._server.keys
        name = keys.knowledge_base(knowledge_base_id)
        removing = False

        async def step(_: int) -> KnowledgeBaseRecord | None:
            nonlocal removing
            micros, now, version, old = await server.load_base(knowledge_base_id)
            if old is None:
                if removing:
                    return None  # an earlier try did it, or another sweeper: it is gone
                raise KnowledgeBaseNotFoundError
            new = change(old, now)
            if new is old:
                return old
            removing = new is None
            write = knowledge_base_write(old, new, now)
            commit = Commit(keys, name, micros)
            commit.check_version(name, version)
            commit.knowledge_base(write)
            await server.commit(commit)
            return write.new

        return await server.repeated(step)

    async def get(self, user_id: str, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        record = await self.find(knowledge_base_id)
        if record is None or record.user_id != user_id or not is_active(record):
            return None
        return record

    async def find(self, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        return (await self._server.load_base(knowledge_base_id))[3]

    async def page(
        self, user_id: str, page: Page, *, id: str | None = None, name_contains: str | None = None
    ) -> tuple[list[KnowledgeBaseRecord], int]:
        server, keys = self._server, self._server.keys
        owned, records = keys.user_knowledge_bases(user_id), f"{keys.root}kb:"
        if id is None and not name_contains and page.order_by == "created_at":
            bodies, total = await lists.first_page(server, owned, page, records=records)
            return [load_knowledge_base(body) for body in bodies], total
        if id is not None:
            one = await self.get(user_id, id)
            found = [] if one is None else [one]
        else:
            found = await self._owned(owned, records)
        needle = folded(name_contains or "")
        found = [record for record in found if needle in folded(record.name)]
        found.sort(
            key=lambda record: (_sort_value(record, page.order_by), record.id),
            reverse=page.descending,
        )
        start = (page.number - 1) * page.size
        return found[start : start + page.size], len(found)

    async def _owned(self, owned: str, records: str) -> list[KnowledgeBaseRecord]:
        found: list[KnowledgeBaseRecord] = []
        number = 1
        while True:
            bodies, _ = await lists.first_page(
                self._server, owned, Page(number, lists.SLICE), records=records
            )
            found += [load_knowledge_base(body) for body in bodies]
            if len(bodies) < lists.SLICE:
                return found
            number += 1

    async def counts(self, knowledge_base_ids: Sequence[str]) -> dict[str, Counts]:
        if not knowledge_base_ids:
            return {}
        names = [self._server.keys.counts(name) for name in knowledge_base_ids]
        rows = await self._server.run(scripts.COUNTERS, names, *COUNTERS)
        return {name: _counts(row) for name, row in zip(knowledge_base_ids, rows, strict=True)}

    async def user_counts(self, user_id: str) -> Counts:
        (row,) = await self._server.run(
            scripts.COUNTERS, [self._server.keys.user(user_id)], *COUNTERS
        )
        return _counts(row)

    async def usage(self, user_id: str) -> Usage:
        return await room.usage(self._server, user_id)

    async def claim_maintenance(self, limit: int, *, policy: Policy) -> list[MaintenanceClaim]:
        return await claims.claim_knowledge_bases(self._server, limit, policy=policy)

    async def all(self, *, after: str = "", limit: int = 500) -> list[KnowledgeBaseRecord]:
        keys = self._server.keys
        bodies = await self._server.run(
            scripts.AFTER, [keys.knowledge_bases], *(f"{keys.root}kb:", after, limit)
        )
        return [load_knowledge_base(body) for body in bodies]


def _sort_value(record: KnowledgeBaseRecord, order_by: str) -> Any:
    return folded(record.name) if order_by == "name" else getattr(record, order_by)


def _counts(row: Sequence[str]) -> Counts:
    found = dict(zip(COUNTERS, map(int, row), strict=True))
    return Counts(
        documents=found["documents"],
        chunks=found["chunks"],
        size_bytes=found["size_bytes"],
        by_status={name: found[name] for name in totals.VISIBLE_STATUSES},
    )
