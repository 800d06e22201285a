"""Maintenance passes over one record each: purge, cascade, garbage collection.

Every step is idempotent and driven by the record, which goes last: it is the only pointer to the
vectors and the blob. No pass needs the embedding model.
"""

import asyncio
import logging
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from agentscope import observe
from agentscope.app.generations import MigrationPhase
from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.records import (
    PAUSED_KNOWLEDGE_BASE,
    SETTLED,
    DocumentRecord,
    DocumentStatus,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
    MaintenanceClaim,
    Policy,
)
from agentscope.app.storage import migrations, verbs
from agentscope.app.storage.base import StorageBase
from agentscope.app.transitions import knowledge_base as moves
from agentscope.app.transitions.migration import looked_after
from agentscope.errors import (
    AgentScopeError,
    ConflictError,
    DocumentNotFoundError,
    KnowledgeBaseNotFoundError,
)

logger = logging.getLogger(__name__)

PAGE = 500
CASCADE_SECONDS = 30.0
PARALLEL_RECORDS = 8
FIRST_DELAY = timedelta(seconds=5)
LONGEST_DELAY = timedelta(minutes=15)


def blob_key(record: DocumentRecord) -> str:
    """Return the key under which the upload stores its bytes."""
    return f"kb/{record.knowledge_base_id}/{record.id}/{record.blob_version}"


def _measured(claim: MaintenanceClaim, outcome: str) -> None:
    kind = "document" if claim.knowledge_base is None else "knowledge_base"
    observe.PURGES.labels(kind, outcome).inc()


class Purger:
    """Runs one pass for whoever claimed the record."""

    def __init__(
        self,
        *,
        storage: StorageBase,
        manager: KnowledgeBaseManagerBase,
        blobs: StreamingBlobStore,
        policy: Policy,
    ) -> None:
        self._storage = storage
        self._manager = manager
        self._blobs = blobs
        self._policy = policy

    async def run(self, claim: MaintenanceClaim) -> None:
        """Do what the claimed record needs; a failure postpones it, without end."""
        try:
            async with asyncio.timeout(self._policy.timings.lease_ttl.total_seconds()):
                await self._pass(claim)
            _measured(claim, "done")
        except (DocumentNotFoundError, KnowledgeBaseNotFoundError, ConflictError):
            _measured(claim, "overtaken")  # somebody else went on with it
        except Exception as exc:
            _measured(claim, "postponed")
            await self._postpone(claim, exc)

    async def _pass(self, claim: MaintenanceClaim) -> None:
        if claim.knowledge_base is not None:
            if claim.knowledge_base.status is KnowledgeBaseStatus.ACTIVE:
                await self._look_after(claim.knowledge_base, claim.claimed_at)
            else:
                await self._cascade(claim.knowledge_base, claim.claimed_at)
        elif claim.document is not None and claim.document.status is DocumentStatus.DELETING:
            await self._purge(claim.document, claim.claimed_at)
        elif claim.document is not None and claim.document.status in SETTLED:
            await self._collect(claim.document)

    async def _purge(self, record: DocumentRecord, claimed_at: datetime) -> None:
        knowledge_base = await self._storage.knowledge_bases.find(record.knowledge_base_id)
        if knowledge_base is not None:
            for collection in await self._manager.collections(knowledge_base):
                await self._manager.store.delete_document(collection, record.id)
        await self._blobs.delete_many(self._uris(record))
        gone = await verbs.purge_passed(self._storage.documents, record.id, claimed_at=claimed_at)
        if gone is None:
            logger.info("document_purged", extra=_fields(record))

    def _uris(self, record: DocumentRecord) -> list[str]:
        """Return where the blob is or may be: an upload that was cut short never said."""
        addresses = {record.blob_uri, self._blobs.uri(blob_key(record))}
        return sorted(address for address in addresses if address)

    async def _collect(self, record: DocumentRecord) -> None:
        """◆ collect: remove what dead runs left; bounds and kept run come from one record."""
        if record.active_run_id is not None:  # again: whoever published it may have died then
            await verbs.retire_replaced(self._storage.documents, record, policy=self._policy)
        knowledge_base = await self._storage.knowledge_bases.find(record.knowledge_base_id)
        if knowledge_base is not None:
            for collection in await self._manager.collections(knowledge_base):
                await self._manager.store.delete_stale(
                    collection,
                    record.id,
                    below_epoch=record.epoch,
                    keep_run_id=record.active_run_id,
                )
        await verbs.collected(
            self._storage.documents, record.id, epoch=record.epoch, policy=self._policy
        )

    async def _look_after(self, record: KnowledgeBaseRecord, claimed_at: datetime) -> None:
        """Remind workers of a migration, and remove collections that nobody reads any more."""
        migration = record.migration
        if migration is not None and migration.phase is not MigrationPhase.STOPPED:
            await migrations.announce(self._storage.registry, record.id)
        over = [item.name for item in record.retired if claimed_at >= item.drop_after]
        if isinstance(self._manager, RecordedManager):
            for name in over:
                await self._manager.drop_collection(record, name)
                logger.info("collection_retired", extra={**_fields(record), "collection": name})
        change = partial(looked_after, dropped=frozenset(over))
        await self._storage.knowledge_bases.apply(record.id, change)

    async def _cascade(self, record: KnowledgeBaseRecord, claimed_at: datetime) -> None:
        """Purge a knowledge base: points at once, then its documents page by page, itself last."""
        await self._manager.drop(record)
        deadline = asyncio.get_running_loop().time() + CASCADE_SECONDS
        after, remaining, next_due = "", 0, None
        complete = False
        while asyncio.get_running_loop().time() < deadline:
            page = await self._storage.documents.of_knowledge_base(
                record.id, after=after, limit=PAGE
            )
            if not page:
                complete = True
                break
            for left in await self._purge_page(page, claimed_at):
                remaining += 1
                next_due = left if next_due is None else min(next_due, left)
            after = page[-1].id
        if complete:
            await self._storage.registry.delete(f"{PAUSED_KNOWLEDGE_BASE}{record.id}")
        change = partial(
            moves.knowledge_base_passed,
            claimed_at=claimed_at,
            remaining=remaining if complete else max(1, remaining),
            next_document_due=next_due if complete else None,
        )
        if await self._storage.knowledge_bases.apply(record.id, change) is None:
            logger.info("knowledge_base_purged", extra={"knowledge_base_id": record.id})

    async def _purge_page(self, page: list[DocumentRecord], claimed_at: datetime) -> list[datetime]:
        """Take one page through a pass; return when each record that is left is due again."""
        first = [
            record
            for record in page
            if record.purge_after is None
            or record.due_at != record.purge_after  # not even the first pass is done
            or claimed_at >= record.purge_after
        ]
        waiting = {record.id for record in page} - {record.id for record in first}
        due = [
            record.purge_after
            for record in page
            if record.id in waiting and record.purge_after is not None
        ]
        gate = asyncio.Semaphore(PARALLEL_RECORDS)

        async def pass_one(record: DocumentRecord) -> DocumentRecord | None:
            async with gate:
                return await self._pass_in_cascade(record, claimed_at)

        uris = [uri for record in first for uri in self._uris(record)]
        dead = await asyncio.gather(*(self._tombstoned(gate, record) for record in first))
        if uris:
            await self._blobs.delete_many(uris)
        left = await asyncio.gather(*(pass_one(record) for record in dead if record is not None))
        due += [record.due_at for record in left if record is not None and record.due_at]
        return due

    async def _tombstoned(
        self, gate: asyncio.Semaphore, record: DocumentRecord
    ) -> DocumentRecord | None:
        async with gate:
            try:
                return await verbs.tombstone(
                    self._storage.documents, record.id, policy=self._policy
                )
            except DocumentNotFoundError:
                return None

    async def _pass_in_cascade(
        self, record: DocumentRecord, claimed_at: datetime
    ) -> DocumentRecord | None:
        try:
            return await verbs.purge_passed(
                self._storage.documents, record.id, claimed_at=claimed_at
            )
        except (DocumentNotFoundError, ConflictError):
            return None

    async def _postpone(self, claim: MaintenanceClaim, exc: Exception) -> None:
        record = claim.document or claim.knowledge_base
        assert record is not None, "a claim holds a record"
        started = record.deleted_at or record.updated_at
        delay = min(LONGEST_DELAY, max(FIRST_DELAY, (claim.claimed_at - started) / 2))
        code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
        logger.warning(
            "maintenance_failed",
            extra={**_fields(record), "error_code": code, "delay_seconds": delay.total_seconds()},
        )
        try:
            async with asyncio.timeout(self._policy.timings.request_timeout.total_seconds()):
                await self._write_delay(claim, delay)
        except Exception:
            logger.info("maintenance_not_postponed", extra=_fields(record))

    async def _write_delay(self, claim: MaintenanceClaim, delay: timedelta) -> None:
        if claim.document is not None:
            await verbs.postpone(
                self._storage.documents,
                claim.document.id,
                epoch=claim.document.epoch,
                delay=delay,
            )
        elif claim.knowledge_base is not None:
            change = partial(moves.postpone_knowledge_base, delay=delay)
            await self._storage.knowledge_bases.apply(claim.knowledge_base.id, change)


def _fields(record: DocumentRecord | KnowledgeBaseRecord) -> dict[str, Any]:
    if isinstance(record, KnowledgeBaseRecord):
        return {"knowledge_base_id": record.id}
    return {"knowledge_base_id": record.knowledge_base_id, "document_id": record.id}
