"""Documents in Redis."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentscope.app.records import (
    RUNNING,
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
from agentscope.app.storage import totals
from agentscope.app.storage.base import DocumentChange, DocumentStorage
from agentscope.app.storage.changes import (
    UploadEnd,
    document_write,
    is_active,
    is_unfiltered,
    is_visible,
    matches,
    new_document,
)
from agentscope.app.storage.codec import load_document
from agentscope.app.storage.redis import claims, lists, room, scripts
from agentscope.app.storage.redis.commit import Commit
from agentscope.app.storage.redis.keys import untimed
from agentscope.app.storage.redis.server import Loaded, RedisServer
from agentscope.app.transitions import run
from agentscope.errors import (
    AlreadyExistsError,
    DocumentNotFoundError,
    KnowledgeBaseNotFoundError,
)


class RedisDocuments(DocumentStorage):
    """Documents of one server."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    def _commit(self, document_id: str, loaded: Loaded) -> Commit:
        keys = self._server.keys
        commit = Commit(keys, keys.document(document_id), loaded.micros)
        commit.check_version(keys.document(document_id), loaded.version)
        if loaded.document is not None:
            base = keys.knowledge_base(loaded.document.knowledge_base_id)
            commit.check_version(base, loaded.base_version)
        return commit

    async def begin_upload(
        self, user_id: str, knowledge_base_id: str, fields: Mapping[str, Any], *, policy: Policy
    ) -> DocumentRecord:
        server, keys = self._server, self._server.keys
        name = keys.document(fields["id"])

        async def step(number: int) -> DocumentRecord:
            micros, now, version, base = await server.load_base(knowledge_base_id)
            if base is None or base.user_id != user_id or not is_active(base):
                raise KnowledgeBaseNotFoundError
            if number and (await server.load_one(name))[2]:
                raise AlreadyExistsError
            record = new_document(user_id, knowledge_base_id, fields, now, policy)
            write = document_write(None, record, now)
            commit = Commit(keys, name, micros)
            commit.check_version(name, "")
            commit.check_version(keys.knowledge_base(knowledge_base_id), version)
            commit.document(write)
            await room.write(server, commit, user_id, policy.limits, totals.growth([write.delta]))
            assert write.new is not None
            return write.new

        return await server.repeated(step)

    async def commit_upload(
        self,
        document_id: str,
        *,
        stored: Mapping[str, Any],
        on_duplicate: OnDuplicate,
        policy: Policy,
    ) -> UploadResult:
        server, sha = self._server, stored.get("content_sha256")
        end = UploadEnd(stored=stored, on_duplicate=on_duplicate, policy=policy)

        async def step(_: int) -> UploadResult:
            loaded = await server.load(document_id, sha)
            old, keys = loaded.document, server.keys
            if old is None:
                raise DocumentNotFoundError
            plan = end.plan(old, loaded.knowledge_base, loaded.twin, loaded.now)
            commit = self._commit(document_id, loaded)
            if sha is not None:
                content = keys.content(old.knowledge_base_id, sha)
                commit.check_first(content, loaded.twin_member)
            if loaded.twin is not None:
                twin = keys.document(untimed(loaded.twin_member))
                commit.check_version(twin, loaded.twin_version)
            written, changes = {}, []
            for before, after in plan.writes:
                write = document_write(before, after, loaded.now)
                commit.document(write)
                changes.append(write.delta)
                assert write.new is not None
                written[write.new.id] = write.new
            await room.write(server, commit, old.user_id, policy.limits, totals.growth(changes))
            return plan.result(written, document_id)

        return await server.repeated(step)

    async def apply(
        self, document_id: str, change: DocumentChange, *, limits: Limits | None = None
    ) -> DocumentRecord | None:
        removing = False

        async def step(_: int) -> DocumentRecord | None:
            nonlocal removing
            loaded = await self._server.load(document_id)
            old = loaded.document
            if old is None:
                if removing:
                    return None  # an earlier try did it, or another sweeper: it is gone
                raise DocumentNotFoundError
            new = change(old, loaded.knowledge_base, loaded.now)
            if new is old:
                return old
            removing = new is None
            write = document_write(old, new, loaded.now)
            commit = self._commit(document_id, loaded)
            commit.document(write)
            if limits is None:
                await self._server.commit(commit)
            else:
                growth = totals.growth([write.delta])
                await room.write(self._server, commit, old.user_id, limits, growth)
            return write.new

        return await self._server.repeated(step)

    async def get(
        self, user_id: str, knowledge_base_id: str, document_id: str
    ) -> DocumentRecord | None:
        found = await self.get_many(user_id, knowledge_base_id, [document_id])
        return found.get(document_id)

    async def get_many(
        self, user_id: str, knowledge_base_id: str, document_ids: Sequence[str]
    ) -> dict[str, DocumentRecord]:
        if not document_ids:
            return {}
        keys = self._server.keys
        bodies = await self._server.run(
            scripts.GET_MANY,
            [keys.knowledge_base(knowledge_base_id)],
            *(keys.root, user_id, *dict.fromkeys(document_ids)),
        )
        records = [load_document(body) for body in bodies]
        return {
            record.id: record
            for record in records
            if record.knowledge_base_id == knowledge_base_id and is_visible(record)
        }

    async def page(
        self, user_id: str, knowledge_base_id: str, query: DocumentQuery, page: Page
    ) -> tuple[list[DocumentRecord], int]:
        server, keys = self._server, self._server.keys
        if is_unfiltered(query) and page.order_by == "created_at":
            bodies, total = await lists.first_page(
                server,
                keys.visible(knowledge_base_id),
                page,
                records=f"{keys.root}doc:",
                owner=(keys.knowledge_base(knowledge_base_id), user_id),
            )
            return [load_document(body) for body in bodies], total
        if query.id is not None:
            one = await self.get(user_id, knowledge_base_id, query.id)
            rows = [one.id] if one is not None and matches(one, query) else []
        elif await lists.first_total(server, user_id, knowledge_base_id):
            rows = await lists.matching(server, knowledge_base_id, query, page)
        else:
            return [], 0
        start = (page.number - 1) * page.size
        found = await self.get_many(user_id, knowledge_base_id, rows[start : start + page.size])
        return list(found.values()), len(rows)

    async def claim_index(self, request: ClaimRequest) -> ClaimBatch:
        return await claims.claim_index(self._server, request)

    async def claim_maintenance(self, limit: int, *, policy: Policy) -> list[MaintenanceClaim]:
        return await claims.claim_documents(self._server, limit, policy=policy)

    async def of_knowledge_base(
        self, knowledge_base_id: str, *, after: str = "", limit: int = 500
    ) -> list[DocumentRecord]:
        keys = self._server.keys
        bodies = await self._server.run(
            scripts.AFTER,
            [keys.members(knowledge_base_id)],
            *(f"{keys.root}doc:", after, limit),
        )
        return [load_document(body) for body in bodies]

    async def due(self) -> DueTimes:
        return await claims.due_times(self._server)

    async def unfinished(self) -> int:
        return int(await self._server.run(scripts.SIZE, [self._server.keys.due_index]))

    async def waiting(self, limit: int) -> list[Waiting]:
        return await claims.waiting(self._server, limit)

    async def failed(self, *, after: str = "", limit: int = 500) -> list[DocumentRecord]:
        keys = self._server.keys
        bodies = await self._server.run(
            scripts.AFTER, [keys.failed], *(f"{keys.root}doc:", after, limit)
        )
        return [load_document(body) for body in bodies]

    async def expire_leases(self) -> int:
        ended = 0
        for member in await lists.all_ids(self._server, self._server.keys.due_index):
            try:
                record = await self.apply(untimed(member), run.expire_lease)
            except DocumentNotFoundError:
                continue
            ended += int(record is not None and record.status in RUNNING)
        return ended
