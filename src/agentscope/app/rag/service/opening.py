"""From an id that a viewer named to the record behind it, or the same answer as for nothing."""

from dataclasses import dataclass

from agentscope.app.access import ResourceKind, ResourceRef
from agentscope.app.rag.service.names import is_id
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import DocumentRecord, KnowledgeBaseRecord
from agentscope.errors import (
    DocumentNotFoundError,
    KnowledgeBaseNotFoundError,
    PermissionDeniedError,
)


@dataclass(frozen=True, slots=True)
class OpenedKnowledgeBase:
    """A knowledge base and what the viewer may do with it; `record.user_id` is the owner."""

    record: KnowledgeBaseRecord
    editable: bool
    owned: bool = False


async def shared_with(service: KnowledgeBaseService, viewer_id: str) -> list[ResourceRef]:
    """Return the knowledge bases of others that the viewer may reach."""
    refs = await service.access.list_accessible(
        viewer_id, ResourceKind.KNOWLEDGE_BASE, service.storage
    )
    wanted = [
        ref for ref in refs if ref.kind is ResourceKind.KNOWLEDGE_BASE and ref.owner_id != viewer_id
    ]
    return wanted[: service.limits.shared_resources]


async def open_shared(
    service: KnowledgeBaseService, viewer_id: str, ref: ResourceRef
) -> OpenedKnowledgeBase | None:
    """Return a shared knowledge base, or None if it is gone."""
    record = await service.storage.knowledge_bases.get(ref.owner_id, ref.resource_id)
    if record is None:
        return None
    editable = await service.access.can_edit(viewer_id, ref, service.storage)
    return OpenedKnowledgeBase(record, editable)


async def open_knowledge_base(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str, *, edit: bool = False
) -> OpenedKnowledgeBase:
    """Return a knowledge base that the viewer may read, or change if `edit`.

    Raises:
        KnowledgeBaseNotFoundError: there is none that the viewer may see.
        PermissionDeniedError: it is shared for reading only.
    """
    opened = await _find(service, viewer_id, knowledge_base_id)
    if opened is None:
        raise KnowledgeBaseNotFoundError(f"Knowledge Base '{knowledge_base_id[:200]}' not found.")
    if edit and not opened.editable:
        raise PermissionDeniedError(
            f"Knowledge Base '{knowledge_base_id}' is read-only for this viewer."
        )
    return opened


async def _find(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str
) -> OpenedKnowledgeBase | None:
    if not is_id(knowledge_base_id):
        return None
    own = await service.storage.knowledge_bases.get(viewer_id, knowledge_base_id)
    if own is not None:
        return OpenedKnowledgeBase(own, editable=True, owned=True)
    kind = ResourceKind.KNOWLEDGE_BASE
    ref = await service.access.find(viewer_id, kind, knowledge_base_id, service.storage)
    return None if ref is None else await open_shared(service, viewer_id, ref)


async def open_owned(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str
) -> KnowledgeBaseRecord:
    """Return a knowledge base that belongs to the viewer.

    Raises:
        KnowledgeBaseNotFoundError: there is none that the viewer may see.
        PermissionDeniedError: it belongs to somebody else.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id)
    if not opened.owned:
        raise PermissionDeniedError("Only the owner decides who else may use a knowledge base.")
    return opened.record


async def open_document(
    service: KnowledgeBaseService, opened: OpenedKnowledgeBase, document_id: str
) -> DocumentRecord:
    """Return a visible document of the knowledge base.

    Raises:
        DocumentNotFoundError: there is none.
    """
    record = None
    if is_id(document_id):
        owner, knowledge_base_id = opened.record.user_id, opened.record.id
        record = await service.storage.documents.get(owner, knowledge_base_id, document_id)
    if record is None:
        raise DocumentNotFoundError(f"Document {document_id[:200]} not found.")
    return record
