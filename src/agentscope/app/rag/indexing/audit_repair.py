"""Mending what an audit found: only what is certain, and orphans only when they are old."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.app.rag.indexing.audit_report import AuditReport, Finding
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.records import DocumentRecord
from agentscope.app.storage import verbs
from agentscope.app.storage.base import StorageBase
from agentscope.errors import DocumentNotFoundError, KnowledgeBaseNotFoundError

PAGE = 500
SEEN_KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Repair:
    """Mends findings one by one.

    Vector stores do not know how old a point is, so the first audit that sees an orphan notes the
    time. This also protects against a service started with the wrong storage: nothing is removed
    on the first look.
    """

    storage: StorageBase
    manager: KnowledgeBaseManagerBase
    blobs: StreamingBlobStore
    older_than: timedelta

    async def run(self, report: AuditReport) -> None:
        """Mend what the report lists."""
        for finding in report.findings:
            if not finding.repairable:
                continue
            if finding.subject.kind in ("document", "knowledge_base"):
                await self._index_again(finding, report)
            elif await self._old(finding):
                await self._remove(finding)
                report.mended(f"Removed {finding.subject.kind} {finding.subject.id}.")
            else:
                report.waiting += 1

    async def _index_again(self, finding: Finding, report: AuditReport) -> None:
        subject = finding.subject
        try:
            if subject.kind == "document":
                await verbs.reindex(self.storage.documents, subject.id)
                report.mended(f"Queued document {subject.id} again.")
            else:
                await self._rebuild(subject.id, report)
        except (DocumentNotFoundError, KnowledgeBaseNotFoundError):
            return  # deleted meanwhile

    async def _rebuild(self, knowledge_base_id: str, report: AuditReport) -> None:
        record = await self.storage.knowledge_bases.find(knowledge_base_id)
        if record is None:
            return
        dimensions = record.embedding_model_config.dimensions
        await self.manager.store.create_collection(record.collection_name, dimensions)
        after = ""
        while page := await self.storage.documents.of_knowledge_base(
            record.id, after=after, limit=PAGE
        ):
            for document in page:
                await self._queue(document)
            after = page[-1].id
        report.mended(f"Made the collection of knowledge base {record.id} again.")

    async def _queue(self, document: DocumentRecord) -> None:
        try:
            await verbs.reindex(self.storage.documents, document.id)
        except DocumentNotFoundError:
            return

    async def _old(self, finding: Finding) -> bool:
        subject = finding.subject
        if subject.age_seconds is not None:
            return subject.age_seconds >= self.older_than.total_seconds()
        name = f"{subject.kind}\0{subject.collection}\0{subject.document_id}\0{subject.id}"
        key = f"audit/seen/{hashlib.sha256(name.encode()).hexdigest()[:32]}"
        now = await self.storage.now()
        seen = await self.storage.registry.get(key)
        if seen is None:
            await self.storage.registry.put(key, {"at": now.isoformat()}, ttl=SEEN_KEPT)
            return self.older_than <= timedelta(0)
        return now - datetime.fromisoformat(str(seen["at"])) >= self.older_than

    async def _remove(self, finding: Finding) -> None:
        subject = finding.subject
        if subject.kind == "collection":
            await self.manager.store.delete_collection(subject.id)
        elif subject.kind == "blob":
            await self.blobs.delete(subject.id)
        else:
            await self.manager.store.delete_run(subject.collection, subject.document_id, subject.id)
