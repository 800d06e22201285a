"""Routes of documents: lists, states, deletion, indexing again, chunks."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from agentscope.app.api.deps import CallerDep, ServiceDep, WriterDep
from agentscope.app.api.paging import DocumentsAsked, PageAsked, page_of, storable
from agentscope.app.api.responses import json_response, no_content
from agentscope.app.api.schemas import documents as shapes
from agentscope.app.api.views import document_info, document_view
from agentscope.app.rag.service.chunks import list_chunks
from agentscope.app.rag.service.delete_document import delete_document
from agentscope.app.rag.service.download import make_download_token
from agentscope.app.rag.service.list_documents import (
    document_states,
    get_document,
    list_documents,
)
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.rag.service.pauses import paused_reason
from agentscope.app.rag.service.reindex import reindex_document, reindex_failed
from agentscope.app.records import DocumentQuery, DocumentRecord, DocumentStatus

router = APIRouter(prefix="/knowledge_bases/{knowledge_base_id}/documents", tags=["documents"])


async def _views(
    service: KnowledgeBaseService, records: Sequence[DocumentRecord]
) -> list[dict[str, Any]]:
    reason = await _paused_reason(service, records)
    return [document_view(record, paused_reason=reason) for record in records]


async def _paused_reason(
    service: KnowledgeBaseService, records: Sequence[DocumentRecord]
) -> str | None:
    """Return why documents of one knowledge base wait, if any of them does."""
    waits = next((one for one in records if one.status is DocumentStatus.PENDING), None)
    if waits is None:
        return None
    return await paused_reason(service.storage, waits.user_id, waits.knowledge_base_id)


@router.get("", response_model=shapes.ListKnowledgeDocumentsResponse)
async def get_documents(
    caller: CallerDep,
    service: ServiceDep,
    knowledge_base_id: str,
    asked: Annotated[DocumentsAsked, Query()],
) -> Response:
    """List the documents of a knowledge base."""
    query = DocumentQuery(
        id=asked.id,
        filename_contains=storable(asked.keywords),
        statuses=frozenset({DocumentStatus(asked.status)}) if asked.status else None,
        content_type=storable(asked.content_type),
    )
    records, total = await list_documents(
        service, caller.user_id, knowledge_base_id, query, page_of(asked)
    )
    return json_response(
        {
            "documents": await _views(service, records),
            "total": total,
            "page": asked.page,
            "page_size": asked.page_size,
        }
    )


@router.get("/status", response_model=shapes.ListKnowledgeDocumentStatusResponse)
async def get_status(
    caller: CallerDep,
    service: ServiceDep,
    knowledge_base_id: str,
    ids: Annotated[str, Query(description="At most 10,000 document ids, separated by commas.")],
) -> Response:
    """Return the state of many documents at once."""
    wanted = [part.strip() for part in ids.split(",") if part.strip()]
    records = await document_states(service, caller.user_id, knowledge_base_id, wanted)
    return json_response({"items": await _views(service, records)})


@router.post("/reindex", status_code=202, response_model=shapes.ReindexFailedResponse)
async def post_reindex_failed(
    caller: WriterDep, service: ServiceDep, knowledge_base_id: str
) -> Response:
    """Index every failed document of the knowledge base again."""
    queued = await reindex_failed(service, caller.user_id, knowledge_base_id)
    return json_response({"queued": queued}, 202)


@router.delete("/{document_id}", status_code=204, response_class=Response)
async def remove_document(
    caller: WriterDep, service: ServiceDep, knowledge_base_id: str, document_id: str
) -> Response:
    """Delete a document; it is invisible from this moment."""
    await delete_document(service, caller.user_id, knowledge_base_id, document_id)
    return no_content()


@router.get("/{document_id}/info", response_model=shapes.KnowledgeDocumentInfo)
async def get_info(
    caller: CallerDep, service: ServiceDep, knowledge_base_id: str, document_id: str
) -> Response:
    """Read one document's data, with what its last run found out."""
    record = await get_document(service, caller.user_id, knowledge_base_id, document_id)
    reason = await _paused_reason(service, [record])
    return json_response(document_info(record, paused_reason=reason))


@router.post("/{document_id}/reindex", status_code=202, response_model=shapes.KnowledgeDocumentView)
async def post_reindex(
    caller: WriterDep, service: ServiceDep, knowledge_base_id: str, document_id: str
) -> Response:
    """Index a document again; what is searchable stays so meanwhile."""
    record = await reindex_document(service, caller.user_id, knowledge_base_id, document_id)
    return json_response((await _views(service, [record]))[0], 202)


@router.get("/{document_id}/chunks", response_model=shapes.ListDocumentChunksResponse)
async def get_chunks(
    caller: CallerDep,
    service: ServiceDep,
    knowledge_base_id: str,
    document_id: str,
    asked: Annotated[PageAsked, Query()],
) -> Response:
    """List the chunks of a document in their order."""
    chunks, total = await list_chunks(
        service,
        caller.user_id,
        knowledge_base_id,
        document_id,
        page=asked.page,
        page_size=asked.page_size,
    )
    return json_response(
        {"chunks": chunks, "total": total, "page": asked.page, "page_size": asked.page_size}
    )


@router.post("/{document_id}/download_token", response_model=shapes.DocumentDownloadTokenResponse)
async def post_download_token(
    caller: CallerDep, service: ServiceDep, knowledge_base_id: str, document_id: str
) -> Response:
    """Make a token that opens the original of this document for ten minutes."""
    token, expires_at = await make_download_token(
        service, caller.user_id, knowledge_base_id, document_id
    )
    return json_response({"token": token, "expires_at": expires_at})
