"""Renaming a knowledge base and changing how it is searched."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from agentscope.app.rag.service.details import KnowledgeBaseDetails, describe
from agentscope.app.rag.service.names import clean_name, clean_text
from agentscope.app.rag.service.opening import open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import KnowledgeBaseRecord
from agentscope.errors import ConflictError, KnowledgeBaseNotFoundError


@dataclass(frozen=True, slots=True)
class KnowledgeBaseChanges:
    """What to change; None leaves a field as it is.

    The two configurations cannot change: what is given of them must be what they are.
    """

    name: str | None = None
    description: str | None = None
    search_mode: str | None = None
    embedding_model_config: Mapping[str, Any] = field(default_factory=dict)
    chunker_config: Mapping[str, Any] = field(default_factory=dict)


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
        ConflictError: another embedding model or chunker.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id, edit=True)
    _check_pinned(opened.record, changes)
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
    return (await describe(service, [replace(opened, record=record)]))[0]


def _check_pinned(record: KnowledgeBaseRecord, changes: KnowledgeBaseChanges) -> None:
    """Refuse what would leave documents cut or embedded in two ways, instead of ignoring it."""
    chunker = record.chunker_config
    pinned = [
        (
            asdict(record.embedding_model_config),
            changes.embedding_model_config,
            "The embedding model of a knowledge base is changed by a migration.",
        ),
        (
            asdict(chunker) if chunker else {},
            changes.chunker_config,
            "The chunker of a knowledge base cannot be changed; create another knowledge base "
            "and upload the documents into it.",
        ),
    ]
    for kept, given, sentence in pinned:
        if any(kept.get(name) != value for name, value in given.items()):
            raise ConflictError(sentence)
