"""Renaming a knowledge base and changing how it is searched."""

from dataclasses import dataclass

from agentscope.app.rag.service.details import KnowledgeBaseDetails, describe
from agentscope.app.rag.service.names import clean_name, clean_text
from agentscope.app.rag.service.opening import OpenedKnowledgeBase, open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.errors import KnowledgeBaseNotFoundError


@dataclass(frozen=True, slots=True)
class KnowledgeBaseChanges:
    """What to change; None leaves a field as it is."""

    name: str | None = None
    description: str | None = None
    search_mode: str | None = None


async def change_knowledge_base(
    service: KnowledgeBaseService,
    viewer_id: str,
    knowledge_base_id: str,
    changes: KnowledgeBaseChanges,
) -> KnowledgeBaseDetails:
    """Apply the changes and return the knowledge base; no changes still renew `updated_at`.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it cannot be changed by this viewer.
        InvalidInputError: blank or oversized name or description.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id, edit=True)
    name, description = changes.name, changes.description
    if name is not None:
        name = clean_name(name, what="name", max_chars=service.limits.name_chars)
    if description is not None:
        description = clean_text(
            description, what="description", max_chars=service.limits.description_chars
        )
    manager, owner = service.manager, opened.record.user_id
    if changes.search_mode is None:
        record = await manager.update_knowledge_base(owner, opened.record.id, name, description)
    else:
        record = await manager.update_knowledge_base(
            owner, opened.record.id, name, description, search_mode=changes.search_mode
        )
    if record is None:
        raise KnowledgeBaseNotFoundError(f"Knowledge Base '{knowledge_base_id}' not found.")
    return (await describe(service, [OpenedKnowledgeBase(record, editable=True)]))[0]
