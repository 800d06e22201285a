"""Trying failed documents of any tenant again, for the operator, one bounded batch per call."""

import logging
from dataclasses import dataclass

from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.rag.service.reindex import requeue
from agentscope.app.records import DocumentRecord

logger = logging.getLogger(__name__)

MAX_LOOKED_AT = 5000
_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryWanted:
    """Which failed documents to try again; None leaves a side open."""

    code: str | None = None
    user_id: str | None = None
    knowledge_base_id: str | None = None
    after: str = ""
    limit: int = 500

    def takes(self, record: DocumentRecord) -> bool:
        """Say whether the document is meant."""
        code = record.failure.code if record.failure else "unknown"
        return (
            self.code in (None, code)
            and self.user_id in (None, record.user_id)
            and self.knowledge_base_id in (None, record.knowledge_base_id)
        )


@dataclass(frozen=True, slots=True)
class RetryDone:
    """What one batch did; the next goes on from after `next`, None: nothing is left."""

    retried: int
    looked_at: int
    next: str | None


async def retry_failed(service: KnowledgeBaseService, wanted: RetryWanted) -> RetryDone:
    """Queue at most `limit` documents again, looking at no more than `MAX_LOOKED_AT`."""
    after, retried, looked_at = wanted.after, 0, 0
    more = True
    while more and looked_at < MAX_LOOKED_AT and retried < wanted.limit:
        page = await service.storage.documents.failed(after=after, limit=_PAGE)
        more = len(page) == _PAGE
        for number, record in enumerate(page, start=1):
            looked_at += 1
            after = record.id
            if wanted.takes(record):
                retried += await requeue(service, record)
            if retried >= wanted.limit:
                more = more or number < len(page)
                break
    logger.info("failed_documents_retried", extra={"retried": retried, "looked_at": looked_at})
    return RetryDone(retried, looked_at, after if more else None)
