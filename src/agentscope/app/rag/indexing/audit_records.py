"""The audit of records: each against itself, its vectors, its blob, and the counters."""

from collections import Counter
from dataclasses import dataclass

from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.app.rag.indexing.audit_report import AuditReport, Finding, Subject
from agentscope.app.rag.indexing.audit_usage import UsageTally
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.records import (
    CLAIMABLE,
    SETTLED,
    VISIBLE,
    Counts,
    DocumentRecord,
    KnowledgeBaseRecord,
)
from agentscope.app.storage.base import StorageBase
from agentscope.errors import CollectionNotFoundError, DocumentNotFoundError

PAGE = 500
CHUNK_PAGE = 500
RECOUNTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCheck:
    """Checks knowledge bases one by one."""

    storage: StorageBase
    manager: KnowledgeBaseManagerBase
    blobs: StreamingBlobStore
    usage: UsageTally
    deep: bool = False

    async def knowledge_base(self, record: KnowledgeBaseRecord, report: AuditReport) -> None:
        """Check an active knowledge base and all its documents."""
        if record.migration is not None:
            report.pending("migration")
        if record.retired:
            report.pending("retired_collection")
        if not await self.manager.store.has_collection(record.collection_name):
            if await self.storage.knowledge_bases.get(record.user_id, record.id) is None:
                return
            subject = Subject("knowledge_base", record.id, collection=record.collection_name)
            message = "The collection of the knowledge base is missing."
            report.add(Finding("I10", subject, message, repairable=True))
        seen = Counter[str]()
        after = ""
        while page := await self.storage.documents.of_knowledge_base(
            record.id, after=after, limit=PAGE
        ):
            for document in page:
                report.checked("documents")
                self.usage.document(document)
                _tally(seen, document)
                await self._document(record, document, report)
            after = page[-1].id
        await self._counters(record, seen, report)

    async def _document(
        self, owner: KnowledgeBaseRecord, record: DocumentRecord, report: AuditReport
    ) -> None:
        kind = _unfinished(record)
        if kind is not None:
            report.pending(kind)
        problem = self._own_state(owner, record) or await self._outside(owner, record)
        if problem is None:
            return
        again = await self._again(record.id)
        if again is None or again.version != record.version:
            return  # it moved on; the next audit sees what became of it
        invariant, message = problem
        subject = Subject("document", record.id, document_id=record.id)
        report.add(Finding(invariant, subject, message, repairable=invariant in ("I5", "I6")))

    def _own_state(
        self, owner: KnowledgeBaseRecord, record: DocumentRecord
    ) -> tuple[str, str] | None:
        """Return what is wrong with the record taken alone."""
        if record.status not in SETTLED and record.due_at is None:
            return "I2", "An unfinished document has no due time."
        if record.active_epoch > record.epoch:
            return "I7", "The shown run is newer than the document's epoch."
        if record.user_id != owner.user_id:
            return "I7", "The document and its knowledge base have different owners."
        return None

    async def _outside(
        self, owner: KnowledgeBaseRecord, record: DocumentRecord
    ) -> tuple[str, str] | None:
        """Return what vector store and blob store do not hold as the record says."""
        if record.status not in VISIBLE:
            return None
        if not await self.blobs.exists(record.blob_uri):
            return "I11", "The original file of the document is missing."
        if record.active_run_id is None:
            return None
        store = self.manager.store
        try:
            stored = await store.count(owner.collection_name, record.id, record.active_run_id)
        except CollectionNotFoundError:
            stored = 0
        if stored != record.chunk_count:
            return "I6", f"{record.chunk_count} chunks should be searchable, {stored} are."
        if self.deep and not await self._dense(owner, record):
            return "I5", "The chunks of the document are not numbered without gaps."
        return None

    async def _dense(self, owner: KnowledgeBaseRecord, record: DocumentRecord) -> bool:
        expected = 0
        assert record.active_run_id is not None
        while chunks := await self.manager.store.run_chunks(
            owner.collection_name,
            record.id,
            record.active_run_id,
            offset=expected,
            limit=CHUNK_PAGE,
        ):
            for chunk in chunks:
                if chunk.chunk_index != expected:
                    return False
                expected += 1
        return expected == record.chunk_count

    async def _again(self, document_id: str) -> DocumentRecord | None:
        try:
            return await self.storage.documents.apply(document_id, lambda record, _, __: record)
        except DocumentNotFoundError:
            return None

    async def _counters(
        self, record: KnowledgeBaseRecord, seen: Counter[str], report: AuditReport
    ) -> None:
        for _ in range(RECOUNTS):
            counts = (await self.storage.knowledge_bases.counts([record.id]))[record.id]
            if _agrees(counts, seen):
                return
            seen = await self._recount(record)
        subject = Subject("knowledge_base", record.id)
        report.add(Finding("counters", subject, "The counters do not match the documents."))

    async def _recount(self, record: KnowledgeBaseRecord) -> Counter[str]:
        seen = Counter[str]()
        after = ""
        while page := await self.storage.documents.of_knowledge_base(
            record.id, after=after, limit=PAGE
        ):
            for document in page:
                _tally(seen, document)
            after = page[-1].id
        return seen


def _tally(seen: Counter[str], record: DocumentRecord) -> None:
    if record.status not in VISIBLE:
        return
    seen["documents"] += 1
    seen["size_bytes"] += record.size
    seen["chunks"] += record.chunk_count if record.active_run_id else 0
    seen[f"status:{record.status}"] += 1


def _agrees(counts: Counts, seen: Counter[str]) -> bool:
    return (
        counts.documents == seen["documents"]
        and counts.size_bytes == seen["size_bytes"]
        and counts.chunks == seen["chunks"]
        and all(count == seen[f"status:{name}"] for name, count in counts.by_status.items())
    )


def _unfinished(record: DocumentRecord) -> str | None:
    """Return the kind of work that the document still waits for, or None."""
    if record.status in CLAIMABLE:
        return "indexing"
    if record.status in SETTLED:
        return "collection" if record.due_at is not None else None
    return str(record.status)
