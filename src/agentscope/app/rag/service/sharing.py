"""Sharing a knowledge base with other users by name; effective and withdrawn with the answer."""

from agentscope.app.access import DenyAllResourceAccessPolicy
from agentscope.app.auth.header import check_user_id
from agentscope.app.rag.service.opening import open_owned
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.shares import ResourcePermission, ShareRecord
from agentscope.errors import (
    InvalidInputError,
    KnowledgeBaseNotFoundError,
    NotFoundError,
    PermissionDeniedError,
)


async def list_shares(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str
) -> list[ShareRecord]:
    """Return with whom the viewer's own knowledge base is shared, ordered by user.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it is not the viewer's.
    """
    record = await open_owned(service, viewer_id, knowledge_base_id)
    return await service.storage.shares.of_knowledge_base(record.user_id, record.id)


async def share(
    service: KnowledgeBaseService,
    viewer_id: str,
    knowledge_base_id: str,
    user_id: str,
    permission: ResourcePermission,
) -> ShareRecord:
    """Let a user read or edit the viewer's own knowledge base, or change which of the two.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it is not the viewer's, or this service
            shares nothing.
        InvalidInputError: the user id is no other user's.
        QuotaExceededError: it is shared with too many users.
    """
    record = await open_owned(service, viewer_id, knowledge_base_id)
    if isinstance(service.access, DenyAllResourceAccessPolicy):
        raise PermissionDeniedError("This service shares nothing between users.")
    if check_user_id(user_id) == record.user_id or not user_id.strip():
        raise InvalidInputError("A knowledge base is shared with another user, by name.")
    try:
        return await service.storage.shares.put(
            record.user_id,
            record.id,
            user_id,
            permission,
            limit=service.limits.shares_per_knowledge_base,
        )
    except KnowledgeBaseNotFoundError as exc:  # deleted meanwhile
        raise KnowledgeBaseNotFoundError(f"Knowledge Base '{record.id}' not found.") from exc


async def unshare(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str, user_id: str
) -> None:
    """Take a user's access to the viewer's own knowledge base.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it is not the viewer's.
        NotFoundError: it is not shared with that user; said, so that a misspelt name is noticed.
    """
    record = await open_owned(service, viewer_id, knowledge_base_id)
    if not await service.storage.shares.delete(record.user_id, record.id, user_id):
        raise NotFoundError("The knowledge base is not shared with this user.")
