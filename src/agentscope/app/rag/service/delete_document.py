"""Deleting a document: invisible at once, its run stopped, its traces purged in the background."""

from agentscope.app.rag.service.hints import hint_cancel
from agentscope.app.rag.service.names import is_id
from agentscope.app.rag.service.opening import open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.storage.verbs import tombstone
from agentscope.errors import DocumentNotFoundError


async def delete_document(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str, document_id: str
) -> None:
    """Delete the document; one that is not there, or deleted already, is no error.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it cannot be changed by this viewer.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id, edit=True)
    if not is_id(document_id):
        return
    documents, owner = service.storage.documents, opened.record.user_id
    if await documents.get(owner, opened.record.id, document_id) is None:
        return
    try:
        record = await tombstone(documents, document_id, policy=service.policy)
    except DocumentNotFoundError:
        return
    await hint_cancel(service.message_bus, record)
    service.wake_maintenance()
