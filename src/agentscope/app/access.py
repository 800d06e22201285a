"""Who may see and change what belongs to somebody else: the documented sharing policy.

A policy only names resources; the service then works in the owner's namespace, exactly as the
owner would. What a policy does not name is answered like something that does not exist.
"""

import abc
import enum
from collections.abc import Sequence
from dataclasses import dataclass

from agentscope.app.storage.base import StorageBase


class ResourceKind(enum.StrEnum):
    """What can be shared."""

    KNOWLEDGE_BASE = "knowledge_base"
    CREDENTIAL = "credential"


class ResourcePermission(enum.StrEnum):
    """How much a viewer may do with a shared resource."""

    READ = "read"  # list, search, browse, download
    EDIT = "edit"  # also upload, change and delete


@dataclass(frozen=True, slots=True)
class ResourceRef:
    """One resource of another user that a viewer may reach."""

    kind: ResourceKind
    owner_id: str
    resource_id: str
    permission: ResourcePermission = ResourcePermission.READ


class ResourceAccessPolicyBase(abc.ABC):
    """Decides which resources of other users a viewer may reach."""

    @abc.abstractmethod
    async def list_accessible(
        self, viewer_id: str, kind: ResourceKind, storage: StorageBase
    ) -> Sequence[ResourceRef]:
        """Return what is shared with the viewer; at most the first 1,000 are looked at."""

    async def can_edit(self, viewer_id: str, ref: ResourceRef, storage: StorageBase) -> bool:
        """Say whether the viewer may change the resource."""
        del viewer_id, storage
        return ref.permission is ResourcePermission.EDIT


class DenyAllResourceAccessPolicy(ResourceAccessPolicyBase):
    """Shares nothing: everybody sees their own things only."""

    async def list_accessible(
        self, viewer_id: str, kind: ResourceKind, storage: StorageBase
    ) -> Sequence[ResourceRef]:
        del viewer_id, kind, storage
        return ()


__all__ = [
    "DenyAllResourceAccessPolicy",
    "ResourceAccessPolicyBase",
    "ResourceKind",
    "ResourcePermission",
    "ResourceRef",
]
