"""Listing the documents of a knowledge base, their states, and one of them."""

from collections.abc import Sequence

from agentscope.app.rag.service.names import is_id
from agentscope.app.rag.service.opening import open_document, open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import DocumentQuery, DocumentRecord, Page
from agentscope.errors import InvalidInputError


async def list_documents(
    service: KnowledgeBaseService,
    viewer_id: str,
    knowledge_base_id: str,
    query: DocumentQuery,
    page: Page,
) -> tuple[list[DocumentRecord], int]:
    """Return one page of documents and the total that the query matches.

    Raises:
        KnowledgeBaseNotFoundError: there is none that the viewer may see.
    """
    record = (await open_knowledge_base(service, viewer_id, knowledge_base_id)).record
    if query.id is not None and not is_id(query.id):
        return [], 0
    return await service.storage.documents.page(record.user_id, record.id, query, page)


async def document_states(
    service: KnowledgeBaseService,
    viewer_id: str,
    knowledge_base_id: str,
    document_ids: Sequence[str],
) -> list[DocumentRecord]:
    """Return the visible ones of the documents, each once, in the order asked for.

    Raises:
        KnowledgeBaseNotFoundError: there is none that the viewer may see.
        InvalidInputError: more ids than `limits.status_ids`.
    """
    wanted = list(dict.fromkeys(document_ids))
    if len(wanted) > service.limits.status_ids:
        raise InvalidInputError(
            f"At most {service.limits.status_ids} ids may be asked for at once."
        )
    record = (await open_knowledge_base(service, viewer_id, knowledge_base_id)).record
    known = [document_id for document_id in wanted if is_id(document_id)]
    if not known:
        return []
    found = await service.storage.documents.get_many(record.user_id, record.id, known)
    return [found[document_id] for document_id in known if document_id in found]


async def get_document(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str, document_id: str
) -> DocumentRecord:
    """Return one document.

    Raises:
        KnowledgeBaseNotFoundError, DocumentNotFoundError: not visible to the viewer.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id)
    return await open_document(service, opened, document_id)
