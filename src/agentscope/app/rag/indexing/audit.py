"""The audit: compares records, vectors, blobs and counters, and names what breaks an invariant.

It reads page by page, so its memory grows with the tenants only, and it runs beside live traffic:
what looks wrong is looked at again before it is reported. Work that is merely not finished yet
(uploads, runs, purges) is counted apart; it is no fault.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.app.rag.indexing.audit_records import RecordCheck
from agentscope.app.rag.indexing.audit_repair import Repair
from agentscope.app.rag.indexing.audit_report import AuditReport, Finding, Subject
from agentscope.app.rag.indexing.audit_usage import UsageTally, documents_of
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.records import (
    SETTLED,
    VISIBLE,
    DocumentRecord,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
)
from agentscope.app.storage.base import StorageBase
from agentscope.errors import CollectionNotFoundError, DocumentNotFoundError
from agentscope.rag.document import StoredRun

PAGE = 500
OLD_ENOUGH = timedelta(hours=24)
WAIT_SECONDS = 1.0


@dataclass(slots=True, kw_only=True)
class Auditor:
    """Audits one installation."""

    storage: StorageBase
    manager: KnowledgeBaseManagerBase
    blobs: StreamingBlobStore
    deep: bool = False
    """Also read every chunk of every active run."""
    known: set[str] = field(default_factory=set)
    """Collections that some knowledge base may use; filled by the records pass."""

    async def run(self, *, repair: bool = False, older_than: timedelta = OLD_ENOUGH) -> AuditReport:
        """Return what is wrong now; with `repair`, mend what is certain and old enough.

        Damaged or missing vectors are made again from the original files at once; things that
        belong to nothing are removed once they were seen `older_than` ago.
        """
        report = AuditReport()
        self.known = set()
        await self._records(report)
        await self._vectors(report)
        await self._blobs(report)
        if repair:
            await Repair(self.storage, self.manager, self.blobs, older_than).run(report)
        return report

    async def wait(self, *, timeout_seconds: float) -> AuditReport:
        """Audit again and again until nothing is unfinished or the time is over."""
        deadline = asyncio.get_running_loop().time() + timeout_seconds
        while True:
            report = await self.run()
            if not report.unfinished or asyncio.get_running_loop().time() >= deadline:
                return report
            await asyncio.sleep(WAIT_SECONDS)

    async def _records(self, report: AuditReport) -> None:
        usage = UsageTally(self.storage)
        check = RecordCheck(
            storage=self.storage,
            manager=self.manager,
            blobs=self.blobs,
            usage=usage,
            deep=self.deep,
        )
        async for knowledge_base in self._knowledge_bases():
            self.known.update(await self.manager.collections(knowledge_base))
            report.checked("knowledge_bases")
            usage.knowledge_base(knowledge_base)
            if knowledge_base.status is KnowledgeBaseStatus.ACTIVE:
                await check.knowledge_base(knowledge_base, report)
            else:
                report.pending(f"knowledge_base_{knowledge_base.status}")
                async for document in documents_of(self.storage, knowledge_base.id):
                    usage.document(document)
        await usage.compare(report)

    async def _knowledge_bases(self) -> AsyncIterator[KnowledgeBaseRecord]:
        after = ""
        while page := await self.storage.knowledge_bases.all(after=after, limit=PAGE):
            for record in page:
                yield record
            after = page[-1].id

    async def _vectors(self, report: AuditReport) -> None:
        for name in await self.manager.store.list_collections():
            if name in self.known:
                await self._collection(name, report)
            elif self.manager.owns_collection(name) and await self._unknown(name):
                subject = Subject("collection", name)
                message = "A collection belongs to no knowledge base."
                report.add(Finding("I10", subject, message, repairable=True))

    async def _unknown(self, name: str) -> bool:
        """Look again: the knowledge base may have been made since its page was read."""
        async for record in self._knowledge_bases():
            if name in await self.manager.collections(record):
                return False
        return name in await self.manager.store.list_collections()

    async def _collection(self, name: str, report: AuditReport) -> None:
        try:
            async for run in self.manager.store.stored_runs(name):
                report.checked("runs")
                await self._run(name, run, report)
        except CollectionNotFoundError:
            return  # dropped meanwhile

    async def _run(self, name: str, run: StoredRun, report: AuditReport) -> None:
        """◆ orphan: a run in the store is active, in flight, or still to be collected."""
        record = await current(self.storage, run.document_id)
        if record is not None and run.run_id == record.active_run_id:
            return
        if record is not None and not _collected(record):
            report.pending("vectors")
            return
        if await self.manager.store.count(name, run.document_id, run.run_id) == 0:
            return
        again = await current(self.storage, run.document_id)
        if again is not None and (again.active_run_id == run.run_id or not _collected(again)):
            return
        subject = Subject(
            "run", run.run_id, collection=name, document_id=run.document_id, epoch=run.epoch
        )
        what = "no document" if again is None else "a run that is not shown"
        message = f"{run.count} chunks in the vector store belong to {what}."
        report.add(Finding("I10", subject, message, repairable=True))

    async def _blobs(self, report: AuditReport) -> None:
        async for uri, age_seconds in self.blobs.keys("kb/"):
            parts = uri.split("/")
            if len(parts) < 4 or parts[-4] != "kb":
                continue
            report.checked("blobs")
            record = await current(self.storage, parts[-2])
            if record is None or (record.status in VISIBLE and record.blob_uri != uri):
                if not await self.blobs.exists(uri) or await self._stored_now(parts[-2], uri):
                    continue
                subject = Subject("blob", uri, age_seconds=age_seconds)
                message = "An original file belongs to no document."
                report.add(Finding("I11", subject, message, repairable=True))
            elif record.status not in VISIBLE:
                report.pending("blobs")

    async def _stored_now(self, document_id: str, uri: str) -> bool:
        record = await current(self.storage, document_id)
        return record is not None and (record.status not in VISIBLE or record.blob_uri == uri)


def _collected(record: DocumentRecord) -> bool:
    """Say whether no run and no collection of garbage is under way for the document."""
    return record.status in SETTLED and record.due_at is None


async def current(storage: StorageBase, document_id: str) -> DocumentRecord | None:
    """Return the document in whatever state it is, of any user; writes nothing."""
    try:
        return await storage.documents.apply(document_id, lambda record, _, __: record)
    except DocumentNotFoundError:
        return None
