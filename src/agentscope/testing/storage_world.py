"""A storage under test with short ways to bring records into the states that tests need."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any

from agentscope.app.records import (
    VISIBLE,
    Claim,
    ClaimBatch,
    ClaimRequest,
    Counts,
    DocumentFailure,
    DocumentRecord,
    EmbeddingModelConfig,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
    MaintenanceClaim,
    OnDuplicate,
    Policy,
    Usage,
)
from agentscope.app.storage import totals
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.verbs import RunWriter
from agentscope.app.transitions import knowledge_base as moves
from agentscope.identity import new_id

POLICY = Policy()
TTL = POLICY.timings.lease_ttl
GRACE = POLICY.timings.grace
FAILURE = DocumentFailure("provider_down", "The provider does not answer.", "indexing", True)
MODEL = EmbeddingModelConfig("test", "c", "m", 8)
HOSTILE_IDS = (
    "oidc:alice:1",
    "a/b//c",
    "it's",
    'say "x"',
    "汉字",
    "%_*?[a]",
    "{tag}",
    "back\\slash",
    "new\nline",
    "🦜",
    " ",
)


@dataclass
class World:
    """One storage; `advance` moves its clock."""

    storage: StorageBase
    advance: Callable[[timedelta], None]
    policy: Policy = field(default_factory=Policy)

    async def warm(self) -> None:
        """Open the connections that a race needs, so that the racers really start together."""
        for _ in range(3):
            await asyncio.gather(*(self.storage.now() for _ in range(24)))

    async def knowledge_base(
        self, user_id: str = "u", *, name: str = "notes", id: str | None = None
    ) -> KnowledgeBaseRecord:
        """Return a new active knowledge base."""
        bases = self.storage.knowledge_bases
        made = await bases.create(
            user_id,
            {
                "id": id or new_id(),
                "name": name,
                "embedding_model_config": MODEL,
                "collection_name": "kb_x",
            },
            policy=self.policy,
        )
        record = await bases.apply(made.id, moves.activate)
        assert record is not None
        return record

    async def delete_base(self, knowledge_base_id: str) -> None:
        """Make the knowledge base a tombstone."""
        await self.storage.knowledge_bases.apply(
            knowledge_base_id, partial(moves.tombstone_knowledge_base, policy=self.policy)
        )

    async def begin(self, base: KnowledgeBaseRecord, **fields: Any) -> DocumentRecord:
        """Return a new document in `uploading`."""
        given = {"id": new_id(), "filename": "a.txt", **fields}
        return await self.storage.documents.begin_upload(
            base.user_id, base.id, given, policy=self.policy
        )

    async def upload(
        self,
        base: KnowledgeBaseRecord,
        *,
        sha: str | None = None,
        size: int = 10,
        on_duplicate: OnDuplicate = OnDuplicate.KEEP,
        **fields: Any,
    ) -> DocumentRecord:
        """Return a new document in `pending` (or its twin)."""
        begun = await self.begin(base, **fields)
        result = await self.storage.documents.commit_upload(
            begun.id,
            stored={"size": size, "content_sha256": sha, "content_type": "text/plain"},
            on_duplicate=on_duplicate,
            policy=self.policy,
        )
        return result.document

    async def batch(
        self, limit: int = 1, *, owner: str = "w", idle: bool = True, **more: Any
    ) -> ClaimBatch:
        """Claim index work."""
        request = ClaimRequest(owner=owner, limit=limit, idle=idle, **more)
        return await self.storage.documents.claim_index(request)

    async def claim(self, limit: int = 1, **more: Any) -> list[Claim]:
        """Claim index work and return the claims."""
        return list((await self.batch(limit, **more)).claims)

    async def running(self, base: KnowledgeBaseRecord, **fields: Any) -> Claim:
        """Return the claim of a new document."""
        document = await self.upload(base, **fields)
        (claim,) = await self.claim()
        assert claim.document.id == document.id
        return claim

    async def ready(
        self, base: KnowledgeBaseRecord, *, chunks: int = 3, **fields: Any
    ) -> DocumentRecord:
        """Return a new document in `ready`."""
        claim = await self.running(base, **fields)
        return await self.writer(claim).publish(chunks, warnings=(), report={})

    def writer(self, claim: Claim) -> RunWriter:
        """Return what the holder of the claim writes with."""
        return RunWriter(self.storage.documents, claim.document.id, claim.run_id, self.policy)

    async def sweep(self, limit: int = 50) -> list[MaintenanceClaim]:
        """Claim maintenance of documents."""
        return await self.storage.documents.claim_maintenance(limit, policy=self.policy)

    async def raw(self, record: DocumentRecord) -> DocumentRecord | None:
        """Return the document in whatever state, or None if it is gone."""
        found = await self.storage.documents.of_knowledge_base(
            record.knowledge_base_id, limit=100_000
        )
        return next((other for other in found if other.id == record.id), None)

    async def standing(self, record: DocumentRecord) -> DocumentRecord:
        """Return the document in whatever state; it must be there."""
        found = await self.raw(record)
        assert found is not None
        return found

    async def everything(self) -> list[DocumentRecord]:
        """Return all documents in any state."""
        found: list[DocumentRecord] = []
        for base in await self.storage.knowledge_bases.all(limit=100_000):
            found += await self.storage.documents.of_knowledge_base(base.id, limit=100_000)
        return found

    async def check_totals(self) -> None:
        """Assert that counters and totals are what the records add up to."""
        bases = await self.storage.knowledge_bases.all(limit=100_000)
        expected = {base.id: totals.empty_counts() for base in bases}
        users: dict[str, Counts] = {base.user_id: totals.empty_counts() for base in bases}
        for record in await self.everything():
            change = totals.delta(None, record)
            expected[record.knowledge_base_id] = totals.add(
                expected[record.knowledge_base_id], change
            )
            users[record.user_id] = totals.add(users[record.user_id], change)
        assert await self.storage.knowledge_bases.counts(list(expected)) == expected
        for user_id, counts in users.items():
            assert await self.storage.knowledge_bases.user_counts(user_id) == counts
            assert await self.storage.knowledge_bases.usage(user_id) == await self._held(user_id)

    async def _held(self, user_id: str) -> Usage:
        """Return what the records of a user add up to."""
        bases = await self.storage.knowledge_bases.all(limit=100_000)
        own = [base for base in bases if base.user_id == user_id]
        changes = [
            totals.delta(None, record)
            for record in await self.everything()
            if record.user_id == user_id
        ]
        held = sum(1 for base in own if base.status is not KnowledgeBaseStatus.DELETING)
        return replace(totals.growth(changes), knowledge_bases=held)

    async def check_events(self, user_id: str) -> None:
        """Assert that the outbox has no gaps and ends in what stands now."""
        events = await self.storage.events.after(user_id, 0, limit=100_000)
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        last = {event.document_id: event.type for event in events if event.document_id}
        shown = {
            record.id: f"document.{record.status}"
            for record in await self.everything()
            if record.user_id == user_id and record.status in VISIBLE
        }
        gone = {name for name, kind in last.items() if kind == "document.deleted"}
        assert {name: kind for name, kind in last.items() if name not in gone} == shown
