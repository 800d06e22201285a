"""The audit of quotas: what tenants are told they use, against what their records add up to."""

from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import astuple, dataclass, field

from agentscope.app.rag.indexing.audit_report import AuditReport, Finding, Subject
from agentscope.app.records import DocumentRecord, KnowledgeBaseRecord, KnowledgeBaseStatus, Usage
from agentscope.app.storage import totals
from agentscope.app.storage.base import StorageBase

PAGE = 500
RECOUNTS = 3


@dataclass(slots=True)
class UsageTally:
    """Adds up what tenants hold; it grows with the number of tenants only."""

    storage: StorageBase
    _held: defaultdict[str, Usage] = field(default_factory=lambda: defaultdict(Usage))

    def document(self, record: DocumentRecord) -> None:
        """Note a document in whatever state."""
        self._add(record.user_id, totals.growth([totals.delta(None, record)]))

    def knowledge_base(self, record: KnowledgeBaseRecord) -> None:
        """Note a knowledge base in whatever state."""
        counts = int(record.status is not KnowledgeBaseStatus.DELETING)
        self._add(record.user_id, Usage(knowledge_bases=counts))

    def _add(self, user_id: str, more: Usage) -> None:
        self._held[user_id] = _sum(self._held[user_id], more)

    async def compare(self, report: AuditReport) -> None:
        """Report tenants whose counters say something else."""
        for user_id, held in self._held.items():
            report.checked("users")
            if held != await self.storage.knowledge_bases.usage(user_id):
                await self._look_again(user_id, report)

    async def _look_again(self, user_id: str, report: AuditReport) -> None:
        """Count anew between two looks at the counters, which must not move meanwhile."""
        for _ in range(RECOUNTS):
            before = await self.storage.knowledge_bases.usage(user_id)
            seen = await self._recount(user_id)
            after = await self.storage.knowledge_bases.usage(user_id)
            if seen in (before, after):
                return
            if before != after:
                report.pending("usage")  # too busy to be judged
                return
        subject = Subject("user", user_id)
        report.add(Finding("counters", subject, "The usage does not match the documents."))

    async def _recount(self, user_id: str) -> Usage:
        own = UsageTally(self.storage)
        after = ""
        while page := await self.storage.knowledge_bases.all(after=after, limit=PAGE):
            for record in page:
                if record.user_id == user_id:
                    own.knowledge_base(record)
                    async for document in documents_of(self.storage, record.id):
                        own.document(document)
            after = page[-1].id
        return own._held[user_id]


async def documents_of(
    storage: StorageBase, knowledge_base_id: str
) -> AsyncIterator[DocumentRecord]:
    """Yield the documents of a knowledge base in whatever state."""
    after = ""
    while page := await storage.documents.of_knowledge_base(
        knowledge_base_id, after=after, limit=PAGE
    ):
        for document in page:
            yield document
        after = page[-1].id


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        *(first + second for first, second in zip(astuple(one), astuple(other), strict=True))
    )
