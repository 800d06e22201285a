"""Documents in SQL."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from agentscope.app.records import (
    ClaimBatch,
    ClaimRequest,
    DocumentQuery,
    DocumentRecord,
    DueTimes,
    Limits,
    MaintenanceClaim,
    OnDuplicate,
    Page,
    Policy,
    UploadResult,
    Waiting,
)
from agentscope.app.storage.base import DocumentChange, DocumentStorage
from agentscope.app.storage.changes import UploadEnd, UploadPlan, is_active, new_document
from agentscope.app.storage.codec import folded, load_document
from agentscope.app.storage.sql import claims
from agentscope.app.storage.sql.session import Database, Session
from agentscope.app.storage.sql.transaction import Transaction
from agentscope.errors import (
    AlreadyExistsError,
    DocumentNotFoundError,
    KnowledgeBaseNotFoundError,
)

Result = TypeVar("Result")

_ORDER = {
    "created_at": "created_at",
    "updated_at": "updated_at",
    "name": "name",
    "size": "size",
    "chunks": "chunk_count",
}


class SQLDocuments(DocumentStorage):
    """Documents of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _write(self, work: Callable[[Transaction], Result]) -> Result:
        def whole(session: Session) -> Result:
            transaction = Transaction(session)
            result = work(transaction)
            transaction.finish()
            return result

        return await self._database.write(whole)

    async def begin_upload(
        self, user_id: str, knowledge_base_id: str, fields: Mapping[str, Any], *, policy: Policy
    ) -> DocumentRecord:
        def work(transaction: Transaction) -> DocumentRecord:
            knowledge_base = transaction.knowledge_base(knowledge_base_id)
            if (
                knowledge_base is None
                or knowledge_base.user_id != user_id
                or not is_active(knowledge_base)
            ):
                raise KnowledgeBaseNotFoundError
            record = new_document(user_id, knowledge_base_id, fields, transaction.now, policy)
            write = transaction.write_document(None, record)
            if write is None or write.new is None:
                raise AlreadyExistsError
            transaction.check_documents(user_id, policy.limits)
            return write.new

        return await self._write(work)

    async def commit_upload(
        self,
        document_id: str,
        *,
        stored: Mapping[str, Any],
        on_duplicate: OnDuplicate,
        policy: Policy,
    ) -> UploadResult:
        end = UploadEnd(stored=stored, on_duplicate=on_duplicate, policy=policy)

        def work(transaction: Transaction) -> tuple[UploadPlan, dict[str, DocumentRecord]]:
            sha = stored.get("content_sha256")
            knowledge_base_id = _lock_content(transaction.session, document_id, sha)
            old = transaction.document(document_id)
            if old is None or knowledge_base_id is None:
                raise DocumentNotFoundError
            twin = _twin(transaction, old, sha)
            knowledge_base = transaction.knowledge_base(knowledge_base_id)
            plan = end.plan(old, knowledge_base, twin, transaction.now)
            written = {}
            for before, after in plan.writes:
                write = transaction.write_document(before, after)
                if write is not None and write.new is not None:
                    written[write.new.id] = write.new
            transaction.check_documents(old.user_id, policy.limits)
            return plan, written

        plan, written = await self._write(work)
        return plan.result(written, document_id)

    async def apply(
        self, document_id: str, change: DocumentChange, *, limits: Limits | None = None
    ) -> DocumentRecord | None:
        def work(transaction: Transaction) -> DocumentRecord | None:
            old = transaction.document(document_id)
            if old is None:
                raise DocumentNotFoundError
            knowledge_base = transaction.knowledge_base(old.knowledge_base_id)
            new = change(old, knowledge_base, transaction.now)
            if new is old:
                return old
            write = transaction.write_document(old, new)
            if limits is not None:
                transaction.check_documents(old.user_id, limits)
            return None if write is None else write.new

        return await self._write(work)

    async def get(
        self, user_id: str, knowledge_base_id: str, document_id: str
    ) -> DocumentRecord | None:
        found = await self.get_many(user_id, knowledge_base_id, [document_id])
        return found.get(document_id)

    async def get_many(
        self, user_id: str, knowledge_base_id: str, document_ids: Sequence[str]
    ) -> dict[str, DocumentRecord]:
        def work(session: Session) -> dict[str, DocumentRecord]:
            if not _is_active(session, user_id, knowledge_base_id):
                return {}
            found = {}
            for document_id in dict.fromkeys(document_ids):
                row = session.row(
                    "SELECT body FROM documents "
                    "WHERE id = :id AND knowledge_base_id = :knowledge_base_id AND visible = 1",
                    id=document_id,
                    knowledge_base_id=knowledge_base_id,
                )
                if row is not None:
                    found[document_id] = load_document(row[0])
            return found

        return await self._database.read(work)

    async def page(
        self, user_id: str, knowledge_base_id: str, query: DocumentQuery, page: Page
    ) -> tuple[list[DocumentRecord], int]:
        column = _ORDER[page.order_by]
        direction = "DESC" if page.descending else "ASC"

        def work(session: Session) -> tuple[list[DocumentRecord], int]:
            if not _is_active(session, user_id, knowledge_base_id):
                return [], 0
            where, values = _conditions(session, query)
            values["knowledge_base_id"] = knowledge_base_id
            total = _total(session, query, where, values)
            rows = session.rows(
                f"SELECT body FROM documents WHERE {where} "
                f"ORDER BY {column} {direction}, id {direction} LIMIT :size OFFSET :skip",
                size=page.size,
                skip=(page.number - 1) * page.size,
                **values,
            )
            return [load_document(body) for (body,) in rows], total

        return await self._database.read(work)

    async def claim_index(self, request: ClaimRequest) -> ClaimBatch:
        state = claims.ClaimRound(request)
        while not state.done:

            def work(
                transaction: Transaction, before: claims.ClaimRound = state
            ) -> claims.ClaimRound:
                # A copy, because the transaction may run more than once.
                after = claims.ClaimRound(request, list(before.claims), before.alone_waiting)
                claims.claim_some(transaction, after)
                return after

            state = await self._write(work)
        return ClaimBatch(tuple(state.claims), state.alone_waiting)

    async def claim_maintenance(self, limit: int, *, policy: Policy) -> list[MaintenanceClaim]:
        return await self._write(
            lambda transaction: claims.claim_documents(transaction, limit, policy=policy)
        )

    async def of_knowledge_base(
        self, knowledge_base_id: str, *, after: str = "", limit: int = 500
    ) -> list[DocumentRecord]:
        rows = await self._database.read(
            lambda session: session.rows(
                "SELECT body FROM documents WHERE knowledge_base_id = :knowledge_base_id "
                "AND id > :after ORDER BY id LIMIT :limit",
                knowledge_base_id=knowledge_base_id,
                after=after,
                limit=limit,
            )
        )
        return [load_document(body) for (body,) in rows]

    async def due(self) -> DueTimes:
        return await self._database.read(claims.due_times)

    async def unfinished(self) -> int:
        return await self._database.read(claims.unfinished)

    async def waiting(self, limit: int) -> list[Waiting]:
        return await self._database.read(lambda session: claims.waiting(session, limit))

    async def failed(self, *, after: str = "", limit: int = 500) -> list[DocumentRecord]:
        return await self._database.read(lambda session: claims.failed(session, after, limit))

    async def expire_leases(self) -> int:
        ended, after = 0, ""
        while True:

            def work(transaction: Transaction, start: str = after) -> tuple[int, str | None]:
                return claims.expire_some(transaction, start)

            count, last = await self._write(work)
            ended += count
            if last is None:
                return ended
            after = last


def _is_active(session: Session, user_id: str, knowledge_base_id: str) -> bool:
    row = session.row(
        "SELECT 1 FROM knowledge_bases WHERE id = :id AND user_id = :user_id AND status = 'active'",
        id=knowledge_base_id,
        user_id=user_id,
    )
    return row is not None


def _lock_content(session: Session, document_id: str, sha: str | None) -> str | None:
    """Make commits of equal content in one knowledge base wait for each other."""
    row = session.row("SELECT knowledge_base_id FROM documents WHERE id = :id", id=document_id)
    if row is None:
        return None
    if sha is not None and session.dialect.name == "postgres":
        session.rows(
            "SELECT pg_advisory_xact_lock(hashtextextended(:content, 0))",
            content=f"{len(row[0])}:{row[0]}{sha}",
        )
    return str(row[0])


def _twin(
    transaction: Transaction, record: DocumentRecord, sha: str | None
) -> DocumentRecord | None:
    """Return the oldest other visible document with the same content, locked."""
    if sha is None:
        return None
    row = transaction.session.row(
        "SELECT body FROM documents WHERE knowledge_base_id = :knowledge_base_id AND sha = :sha "
        "AND visible = 1 AND id <> :id ORDER BY created_at, id LIMIT 1"
        + transaction.session.dialect.for_update,
        knowledge_base_id=record.knowledge_base_id,
        sha=sha,
        id=record.id,
    )
    return None if row is None else load_document(row[0])


def _conditions(session: Session, query: DocumentQuery) -> tuple[str, dict[str, Any]]:
    parts = ["knowledge_base_id = :knowledge_base_id", "visible = 1"]
    values: dict[str, Any] = {}
    if query.id is not None:
        parts.append("id = :id")
        values["id"] = query.id
    if query.filename_contains:
        parts.append(f"{session.dialect.position}(name, :needle) > 0")
        values["needle"] = folded(query.filename_contains)
    if query.statuses is not None:
        names = sorted(str(status) for status in query.statuses)
        parts.append(f"status IN ({', '.join(repr(name) for name in names) or 'NULL'})")
    if query.content_type is not None:
        parts.append("content_type = :content_type")
        values["content_type"] = query.content_type
    return " AND ".join(parts), values


def _total(session: Session, query: DocumentQuery, where: str, values: Mapping[str, Any]) -> int:
    """Return how many documents match: from the counters if they know it."""
    if query == DocumentQuery():
        row = session.row(
            "SELECT documents FROM knowledge_base_counts WHERE id = :id",
            id=values["knowledge_base_id"],
        )
    else:
        row = session.row(
            f"SELECT count(*) FROM documents WHERE {where}",
            **values,
        )
    return 0 if row is None else int(row[0])
