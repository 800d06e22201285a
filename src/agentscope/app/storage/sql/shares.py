"""Shares in SQL."""

from typing import Any

from agentscope.app.shares import ResourcePermission, ShareRecord
from agentscope.app.storage.base import ShareStorage
from agentscope.app.storage.changes import is_active
from agentscope.app.storage.codec import from_micros, to_micros
from agentscope.app.storage.sql.session import Database, Row, Session
from agentscope.app.storage.sql.transaction import Transaction
from agentscope.errors import KnowledgeBaseNotFoundError, QuotaExceededError

_COLUMNS = "knowledge_base_id, owner_id, viewer_id, permission, created_at, updated_at"


class SQLShares(ShareStorage):
    """Shares of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self,
        user_id: str,
        knowledge_base_id: str,
        viewer_id: str,
        permission: ResourcePermission,
        *,
        limit: int,
    ) -> ShareRecord:
        def work(session: Session) -> ShareRecord:
            # Exclusive: it cannot be deleted meanwhile, and two shares cannot both be the last.
            base = Transaction(session).knowledge_base(knowledge_base_id, exclusive=True)
            if base is None or base.user_id != user_id or not is_active(base):
                raise KnowledgeBaseNotFoundError
            session.durable = True
            names = {"knowledge_base_id": knowledge_base_id, "viewer_id": viewer_id}
            now = to_micros(session.now())
            if self._is_full(session, names, limit):
                raise QuotaExceededError("The knowledge base is shared with too many users.")
            row = session.row(
                "INSERT INTO shares (knowledge_base_id, owner_id, viewer_id, permission, "
                "created_at, updated_at) VALUES (:knowledge_base_id, :owner_id, :viewer_id, "
                ":permission, :now, :now) ON CONFLICT (knowledge_base_id, viewer_id) DO UPDATE "
                "SET permission = excluded.permission, updated_at = excluded.updated_at "
                f"RETURNING {_COLUMNS}",
                owner_id=user_id,
                permission=str(permission),
                now=now,
                **names,
            )
            assert row is not None, "an upsert returns its row"
            return _load(row)

        return await self._database.write(work)

    @staticmethod
    def _is_full(session: Session, names: dict[str, str], limit: int) -> bool:
        row = session.row(
            "SELECT count(*) FROM shares "
            "WHERE knowledge_base_id = :knowledge_base_id AND viewer_id <> :viewer_id",
            **names,
        )
        assert row is not None, "a count has a row"
        return int(row[0]) >= limit

    async def get(self, viewer_id: str, knowledge_base_id: str) -> ShareRecord | None:
        found = await self._read(
            "WHERE knowledge_base_id = :knowledge_base_id AND viewer_id = :viewer_id",
            knowledge_base_id=knowledge_base_id,
            viewer_id=viewer_id,
        )
        return found[0] if found else None

    async def of_knowledge_base(self, user_id: str, knowledge_base_id: str) -> list[ShareRecord]:
        return await self._read(
            "WHERE knowledge_base_id = :knowledge_base_id AND owner_id = :owner_id "
            "ORDER BY viewer_id",
            knowledge_base_id=knowledge_base_id,
            owner_id=user_id,
        )

    async def with_viewer(self, viewer_id: str, *, limit: int) -> list[ShareRecord]:
        return await self._read(
            "WHERE viewer_id = :viewer_id ORDER BY created_at, knowledge_base_id LIMIT :limit",
            viewer_id=viewer_id,
            limit=limit,
        )

    async def _read(self, where: str, **values: Any) -> list[ShareRecord]:
        rows = await self._database.read(
            lambda session: session.rows(f"SELECT {_COLUMNS} FROM shares {where}", **values)
        )
        return [_load(row) for row in rows]

    async def delete(self, user_id: str, knowledge_base_id: str, viewer_id: str) -> bool:
        def work(session: Session) -> bool:
            removed = session.rows(
                "DELETE FROM shares WHERE knowledge_base_id = :knowledge_base_id "
                "AND viewer_id = :viewer_id AND owner_id = :owner_id RETURNING viewer_id",
                knowledge_base_id=knowledge_base_id,
                viewer_id=viewer_id,
                owner_id=user_id,
            )
            return bool(removed)

        return await self._database.write(work)


def _load(row: Row) -> ShareRecord:
    knowledge_base_id, owner_id, viewer_id, permission, created_at, updated_at = row
    return ShareRecord(
        knowledge_base_id=knowledge_base_id,
        owner_id=owner_id,
        viewer_id=viewer_id,
        permission=ResourcePermission(permission),
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
    )
