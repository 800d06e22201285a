"""Documents in memory."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agentscope.app.records import (
    CLAIMABLE,
    PAUSED_KNOWLEDGE_BASE,
    PAUSED_USER,
    RUNNING,
    VISIBLE,
    Claim,
    ClaimBatch,
    ClaimRequest,
    DocumentQuery,
    DocumentRecord,
    DocumentStatus,
    DueTimes,
    KnowledgeBaseStatus,
    Limits,
    MaintenanceClaim,
    OnDuplicate,
    Page,
    Policy,
    UploadResult,
    Waiting,
)
from agentscope.app.storage import totals
from agentscope.app.storage.base import DocumentChange, DocumentStorage
from agentscope.app.storage.memory.state import State
from agentscope.app.transitions import deletion, run, upload
from agentscope.errors import (
    AlreadyExistsError,
    DocumentNotFoundError,
    DuplicateDocumentError,
    KnowledgeBaseNotFoundError,
)
from agentscope.identity import new_id

MAINTAINED = frozenset(DocumentStatus) - CLAIMABLE


class InMemoryDocuments(DocumentStorage):
    """Documents of one process."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def begin_upload(
        self, user_id: str, knowledge_base_id: str, fields: Mapping[str, Any], *, policy: Policy
    ) -> DocumentRecord:
        state, now = self._state, self._state.now()
        if state.active(user_id, knowledge_base_id) is None:
            raise KnowledgeBaseNotFoundError
        if fields["id"] in state.documents:
            raise AlreadyExistsError
        record = DocumentRecord(
            user_id=user_id,
            knowledge_base_id=knowledge_base_id,
            due_at=now + policy.timings.upload_ttl,
            created_at=now,
            updated_at=now,
            **fields,
        )
        growth = totals.growth([totals.delta(None, record)])
        state.check_room(user_id, policy.limits, growth)
        state.write(None, record)
        return state.documents[record.id]

    async def commit_upload(
        self,
        document_id: str,
        *,
        stored: Mapping[str, Any],
        on_duplicate: OnDuplicate,
        policy: Policy,
    ) -> UploadResult:
        state, now = self._state, self._state.now()
        old = self._existing(document_id)
        knowledge_base = state.knowledge_bases.get(old.knowledge_base_id)
        twin = self._twin(old, stored.get("content_sha256"))
        new = upload.commit_upload(
            old,
            knowledge_base,
            now,
            stored=stored,
            duplicate_of=twin.id if twin and on_duplicate is OnDuplicate.KEEP else None,
        )
        if twin is not None and on_duplicate in (OnDuplicate.SKIP, OnDuplicate.REJECT):
            state.write(old, upload.abandon_upload(old, knowledge_base, now, policy=policy))
            if on_duplicate is OnDuplicate.REJECT:
                raise DuplicateDocumentError(context={"document_id": twin.id})
            return UploadResult(document=twin, stored=False)
        replaced = None
        changes = [totals.delta(old, new)]
        if twin is not None and on_duplicate is OnDuplicate.REPLACE:
            gone = deletion.tombstone(twin, knowledge_base, now, policy=policy)
            changes.append(totals.delta(twin, gone))
        state.check_room(old.user_id, policy.limits, totals.growth(changes))
        state.write(old, new)
        if twin is not None and on_duplicate is OnDuplicate.REPLACE:
            state.write(twin, gone)
            replaced = state.documents[twin.id]
        return UploadResult(document=state.documents[document_id], stored=True, replaced=replaced)

    def _twin(self, record: DocumentRecord, sha: str | None) -> DocumentRecord | None:
        same = [
            other
            for other in self._state.documents.values()
            if sha is not None
            and other.content_sha256 == sha
            and other.knowledge_base_id == record.knowledge_base_id
            and other.id != record.id
            and other.status in VISIBLE
        ]
        return min(same, key=lambda other: (other.created_at, other.id), default=None)

    def _existing(self, document_id: str) -> DocumentRecord:
        record = self._state.documents.get(document_id)
        if record is None:
            raise DocumentNotFoundError
        return record

    async def apply(
        self, document_id: str, change: DocumentChange, *, limits: Limits | None = None
    ) -> DocumentRecord | None:
        state = self._state
        old = self._existing(document_id)
        new = change(old, state.knowledge_bases.get(old.knowledge_base_id), state.now())
        if new is old:
            return old
        if limits is not None:
            state.check_room(old.user_id, limits, totals.growth([totals.delta(old, new)]))
        state.write(old, new)
        return state.documents.get(document_id)

    async def get(
        self, user_id: str, knowledge_base_id: str, document_id: str
    ) -> DocumentRecord | None:
        found = await self.get_many(user_id, knowledge_base_id, [document_id])
        return found.get(document_id)

    async def get_many(
        self, user_id: str, knowledge_base_id: str, document_ids: Sequence[str]
    ) -> dict[str, DocumentRecord]:
        if self._state.active(user_id, knowledge_base_id) is None:
            return {}
        found = (self._state.documents.get(document_id) for document_id in document_ids)
        return {
            record.id: record
            for record in found
            if record is not None
            and record.knowledge_base_id == knowledge_base_id
            and record.status in VISIBLE
        }

    async def page(
        self, user_id: str, knowledge_base_id: str, query: DocumentQuery, page: Page
    ) -> tuple[list[DocumentRecord], int]:
        if self._state.active(user_id, knowledge_base_id) is None:
            return [], 0
        matching = [
            record
            for record in self._state.documents.values()
            if record.knowledge_base_id == knowledge_base_id
            and record.status in VISIBLE
            and _passes(record, query)
        ]
        key = {"name": "filename", "chunks": "chunk_count"}.get(page.order_by, page.order_by)
        matching.sort(
            key=lambda record: (_sort_value(getattr(record, key)), record.id),
            reverse=page.descending,
        )
        start = (page.number - 1) * page.size
        return matching[start : start + page.size], len(matching)

    async def claim_index(self, request: ClaimRequest) -> ClaimBatch:
        state, now = self._state, self._state.now()
        due = sorted(
            (record for record in state.documents.values() if self._claimable(record, request)),
            key=lambda record: (record.due_at, record.created_at, record.id),
        )
        claims: list[Claim] = []
        alone_waiting = False
        while due and len(claims) < request.limit:
            first = min(due, key=lambda record: self._turn(record.user_id))
            due.remove(first)
            if _must_run_alone(first) and not (request.idle and not claims):
                alone_waiting = True
                continue
            new = self._start(first, request, now)
            if new is None:
                continue
            claims.append(new)
            if new.document.alone:
                break
        return ClaimBatch(tuple(claims), alone_waiting)

    def _claimable(self, record: DocumentRecord, request: ClaimRequest) -> bool:
        knowledge_base = self._state.knowledge_bases.get(record.knowledge_base_id)
        return (
            record.status in CLAIMABLE
            and record.due_at is not None
            and record.due_at <= self._state.now()
            and knowledge_base is not None
            and knowledge_base.status is KnowledgeBaseStatus.ACTIVE
            and record.knowledge_base_id not in request.skip_knowledge_bases
            and f"{PAUSED_USER}{record.user_id}" not in self._state.registry
            and f"{PAUSED_KNOWLEDGE_BASE}{record.knowledge_base_id}" not in self._state.registry
            and (request.max_bytes is None or record.size <= request.max_bytes)
        )

    def _turn(self, user_id: str) -> tuple[int, int, str]:
        user = self._state.user(user_id)
        return user.running, user.last_served, user_id

    def _start(self, old: DocumentRecord, request: ClaimRequest, now: Any) -> Claim | None:
        state = self._state
        knowledge_base = state.knowledge_bases[old.knowledge_base_id]
        run_id = new_id()
        new = run.claim(
            old, knowledge_base, now, owner=request.owner, run_id=run_id, policy=request.policy
        )
        state.write(old, new)
        if new.status is not DocumentStatus.PARSING:
            return None
        state.turn += 1
        state.user(old.user_id).last_served = state.turn
        return Claim(
            document=state.documents[old.id],
            knowledge_base=knowledge_base,
            run_id=run_id,
            ttl=request.policy.timings.lease_ttl,
        )

    async def claim_maintenance(self, limit: int, *, policy: Policy) -> list[MaintenanceClaim]:
        state, now = self._state, self._state.now()
        due = sorted(
            (
                record
                for record in state.documents.values()
                if record.status in MAINTAINED
                and record.due_at is not None
                and record.due_at <= now
            ),
            key=lambda record: (record.due_at, record.id),
        )
        claims = []
        for old in due[:limit]:
            knowledge_base = state.knowledge_bases.get(old.knowledge_base_id)
            state.write(old, deletion.claim_maintenance(old, knowledge_base, now, policy=policy))
            claims.append(MaintenanceClaim(claimed_at=now, document=state.documents[old.id]))
        return claims

    async def of_knowledge_base(
        self, knowledge_base_id: str, *, after: str = "", limit: int = 500
    ) -> list[DocumentRecord]:
        records = sorted(
            (
                record
                for record in self._state.documents.values()
                if record.knowledge_base_id == knowledge_base_id and record.id > after
            ),
            key=lambda record: record.id,
        )
        return records[:limit]

    async def due(self) -> DueTimes:
        state, now = self._state, self._state.now()
        index = [
            record.due_at
            for record in state.documents.values()
            if record.status in CLAIMABLE and record.due_at is not None
        ]
        maintenance = [
            record.due_at
            for record in state.documents.values()
            if record.status not in CLAIMABLE and record.due_at is not None
        ]
        maintenance += [
            record.due_at for record in state.knowledge_bases.values() if record.due_at is not None
        ]
        return DueTimes(
            index=min(index) - now if index else None,
            maintenance=min(maintenance) - now if maintenance else None,
        )

    async def unfinished(self) -> int:
        return sum(1 for record in self._state.documents.values() if record.status in CLAIMABLE)

    async def waiting(self, limit: int) -> list[Waiting]:
        state, now = self._state, self._state.now()
        due: dict[str, list[datetime]] = {}
        for record in state.documents.values():
            if record.status in CLAIMABLE and record.due_at is not None:
                due.setdefault(record.user_id, []).append(record.due_at)
        found = [
            Waiting(user_id, len(times), state.user(user_id).running, min(times) - now)
            for user_id, times in due.items()
        ]
        return sorted(found, key=lambda one: (-one.documents, one.user_id))[:limit]

    async def failed(self, *, after: str = "", limit: int = 500) -> list[DocumentRecord]:
        records = sorted(
            (
                record
                for record in self._state.documents.values()
                if record.status is DocumentStatus.ERROR and record.id > after
            ),
            key=lambda record: record.id,
        )
        return records[:limit]

    async def expire_leases(self) -> int:
        held = [record for record in self._state.documents.values() if record.status in RUNNING]
        for record in held:
            knowledge_base = self._state.knowledge_bases.get(record.knowledge_base_id)
            new = run.expire_lease(record, knowledge_base, self._state.now())
            if new is not record:
                self._state.write(record, new)
        return len(held)


def _must_run_alone(record: DocumentRecord) -> bool:
    return record.alone or record.lease_owner is not None


def _passes(record: DocumentRecord, query: DocumentQuery) -> bool:
    needle = (query.filename_contains or "").casefold()
    return (
        (query.id is None or record.id == query.id)
        and needle in record.filename.casefold()
        and (query.statuses is None or record.status in query.statuses)
        and (query.content_type is None or record.content_type == query.content_type)
    )


def _sort_value(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value
