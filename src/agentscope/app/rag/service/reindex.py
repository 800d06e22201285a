"""Indexing documents again: one, or all of a knowledge base that failed."""

from agentscope.app.rag.service.hints import hint_index
from agentscope.app.rag.service.opening import open_document, open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import (
    DocumentQuery,
    DocumentRecord,
    DocumentStatus,
    KnowledgeBaseRecord,
    Page,
)
from agentscope.app.storage.verbs import reindex
from agentscope.errors import ConflictError, DocumentNotFoundError

_BATCH = 500
MAX_AT_ONCE = 20_000


async def reindex_document(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str, document_id: str
) -> DocumentRecord:
    """Queue a finished document again; what is searchable stays so until the new run is ready.

    Raises:
        KnowledgeBaseNotFoundError, DocumentNotFoundError, PermissionDeniedError.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id, edit=True)
    document = await open_document(service, opened, document_id)
    try:
        record = await reindex(service.storage.documents, document.id)
    except DocumentNotFoundError as exc:
        raise DocumentNotFoundError(f"Document {document_id} not found.") from exc
    await hint_index(service.message_bus, record)
    return record


async def reindex_failed(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str
) -> int:
    """Queue every failed document again, at most `MAX_AT_ONCE`, and return how many.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it cannot be changed by this viewer.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id, edit=True)
    queued, seen = 0, 1
    while seen and queued < MAX_AT_ONCE:
        # The first page each time: what was queued is not in `error` any more.
        failed = await _failed(service, opened.record)
        seen = 0
        for document in failed:
            seen += await requeue(service, document)
        queued += seen
    return queued


async def _failed(
    service: KnowledgeBaseService, record: KnowledgeBaseRecord
) -> list[DocumentRecord]:
    query = DocumentQuery(statuses=frozenset({DocumentStatus.ERROR}))
    found, _ = await service.storage.documents.page(
        record.user_id, record.id, query, Page(size=_BATCH, descending=False)
    )
    return found


async def requeue(service: KnowledgeBaseService, document: DocumentRecord) -> int:
    """Queue the document again; return how many were queued, 1 or 0."""
    try:
        record = await reindex(service.storage.documents, document.id)
    except (DocumentNotFoundError, ConflictError):
        return 0  # deleted meanwhile
    if record.status is not DocumentStatus.PENDING:
        return 0
    await hint_index(service.message_bus, record)
    return 1
