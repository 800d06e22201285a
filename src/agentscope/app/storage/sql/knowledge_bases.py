"""Knowledge bases in SQL."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

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
from agentscope.app.storage.changes import new_knowledge_base
from agentscope.app.storage.codec import folded, load_knowledge_base
from agentscope.app.storage.sql import claims
from agentscope.app.storage.sql.session import Database, Row, Session
from agentscope.app.storage.sql.transaction import (
    COUNTERS,
    Transaction,
    held_knowledge_bases,
)
from agentscope.errors import AlreadyExistsError, KnowledgeBaseNotFoundError

Result = TypeVar("Result")

_ORDER = {"created_at": "created_at", "updated_at": "updated_at", "name": "name"}
_COUNTS = ", ".join(COUNTERS)


class SQLKnowledgeBases(KnowledgeBaseStorage):
    """Knowledge bases of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _write(self, work: Callable[[Transaction], Result]) -> Result:
        def whole(session: Session) -> Result:
            transaction = Transaction(session)
            result = work(transaction)
            transaction.finish()
            return result

        return await self._database.write(whole)

    async def create(
        self, user_id: str, fields: Mapping[str, Any], *, policy: Policy
    ) -> KnowledgeBaseRecord:
        def work(transaction: Transaction) -> KnowledgeBaseRecord:
            record = new_knowledge_base(user_id, fields, transaction.now, policy)
            write = transaction.write_knowledge_base(None, record)
            if write is None or write.new is None:
                raise AlreadyExistsError
            transaction.check_knowledge_bases(user_id, policy.limits)
            return write.new

        return await self._write(work)

    async def apply(
        self, knowledge_base_id: str, change: KnowledgeBaseChange
    ) -> KnowledgeBaseRecord | None:
        def work(transaction: Transaction) -> KnowledgeBaseRecord | None:
            old = transaction.knowledge_base(knowledge_base_id, exclusive=True)
            if old is None:
                raise KnowledgeBaseNotFoundError
            new = change(old, transaction.now)
            if new is old:
                return old
            write = transaction.write_knowledge_base(old, new)
            return None if write is None else write.new

        return await self._write(work)

    async def get(self, user_id: str, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        row = await self._database.read(
            lambda session: session.row(
                "SELECT body FROM knowledge_bases "
                "WHERE id = :id AND user_id = :user_id AND status = 'active'",
                id=knowledge_base_id,
                user_id=user_id,
            )
        )
        return None if row is None else load_knowledge_base(row[0])

    async def find(self, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        row = await self._database.read(
            lambda session: session.row(
                "SELECT body FROM knowledge_bases WHERE id = :id", id=knowledge_base_id
            )
        )
        return None if row is None else load_knowledge_base(row[0])

    async def page(
        self, user_id: str, page: Page, *, id: str | None = None, name_contains: str | None = None
    ) -> tuple[list[KnowledgeBaseRecord], int]:
        column = _ORDER[page.order_by]
        direction = "DESC" if page.descending else "ASC"

        def work(session: Session) -> tuple[list[KnowledgeBaseRecord], int]:
            where = "user_id = :user_id AND status = 'active'"
            values: dict[str, Any] = {"user_id": user_id}
            if id is not None:
                where += " AND id = :id"
                values["id"] = id
            if name_contains:
                where += f" AND {session.dialect.position}(name, :needle) > 0"
                values["needle"] = folded(name_contains)
            unfiltered = id is None and not name_contains
            count = (
                "SELECT knowledge_bases FROM users WHERE user_id = :user_id"
                if unfiltered
                else f"SELECT count(*) FROM knowledge_bases WHERE {where}"
            )
            total = session.row(count, **values)
            rows = session.rows(
                f"SELECT body FROM knowledge_bases WHERE {where} "
                f"ORDER BY {column} {direction}, id {direction} LIMIT :size OFFSET :skip",
                size=page.size,
                skip=(page.number - 1) * page.size,
                **values,
            )
            return [load_knowledge_base(body) for (body,) in rows], total[0] if total else 0

        return await self._database.read(work)

    async def counts(self, knowledge_base_ids: Sequence[str]) -> dict[str, Counts]:
        def work(session: Session) -> dict[str, Counts]:
            return {
                name: _counts(
                    session.row(
                        f"SELECT {_COUNTS} FROM knowledge_base_counts WHERE id = :id",
                        id=name,
                    )
                )
                for name in knowledge_base_ids
            }

        return await self._database.read(work)

    async def user_counts(self, user_id: str) -> Counts:
        row = await self._database.read(
            lambda session: session.row(
                f"SELECT {_COUNTS} FROM users WHERE user_id = :user_id",
                user_id=user_id,
            )
        )
        return _counts(row)

    async def usage(self, user_id: str) -> Usage:
        def work(session: Session) -> Usage:
            row = session.row(
                f"SELECT {', '.join(totals.HELD)} FROM users WHERE user_id = :user_id",
                user_id=user_id,
            )
            counters = dict(zip(totals.HELD, row or [0] * len(totals.HELD), strict=True))
            held = held_knowledge_bases(session, user_id)
            return totals.usage(counters, knowledge_bases=held)

        return await self._database.read(work)

    async def claim_maintenance(self, limit: int, *, policy: Policy) -> list[MaintenanceClaim]:
        return await self._write(
            lambda transaction: claims.claim_knowledge_bases(transaction, limit, policy=policy)
        )

    async def all(self, *, after: str = "", limit: int = 500) -> list[KnowledgeBaseRecord]:
        rows = await self._database.read(
            lambda session: session.rows(
                "SELECT body FROM knowledge_bases WHERE id > :after ORDER BY id LIMIT :limit",
                after=after,
                limit=limit,
            )
        )
        return [load_knowledge_base(body) for (body,) in rows]


def _counts(row: Row | None) -> Counts:
    if row is None:
        return totals.empty_counts()
    found = dict(zip(COUNTERS, row, strict=True))
    return Counts(
        documents=found["documents"],
        chunks=found["chunks"],
        size_bytes=found["size_bytes"],
        by_status={name: found[name] for name in totals.VISIBLE_STATUSES},
    )
