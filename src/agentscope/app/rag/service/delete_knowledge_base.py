"""Deleting a knowledge base: invisible at once, purged in the background."""

from agentscope.app.rag.service.opening import open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService


async def delete_knowledge_base(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str
) -> None:
    """Delete the knowledge base with all it holds.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it cannot be deleted by this viewer.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id, edit=True)
    await service.manager.delete_knowledge_base(opened.record.user_id, opened.record.id)
    service.wake_maintenance()
