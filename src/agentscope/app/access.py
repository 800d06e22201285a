"""Who may see and change what belongs to somebody else: the documented sharing policy.

A policy only names resources; the service then works in the owner's namespace, exactly as the
owner would. What a policy does not name is answered like something that does not exist.
"""

import abc
import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentscope.app.shares import ResourcePermission, ShareRecord
from agentscope.app.storage.base import StorageBase

LOOKED_AT = 1000


class ResourceKind(enum.StrEnum):
    """What can be shared."""

    KNOWLEDGE_BASE = "knowledge_base"
    CREDENTIAL = "credential"


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

    async def find(
        self, viewer_id: str, kind: ResourceKind, resource_id: str, storage: StorageBase
    ) -> ResourceRef | None:
        """Return one resource if it is shared with the viewer; looks through the whole list."""
        refs = await self.list_accessible(viewer_id, kind, storage)
        return next(
            (
                ref
                for ref in refs[:LOOKED_AT]
                if (ref.kind, ref.resource_id) == (kind, resource_id) and ref.owner_id != viewer_id
            ),
            None,
        )

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


class SharedByOwners(ResourceAccessPolicyBase):
    """Shows what owners shared by name; the default. Read from storage each time, never kept."""

    async def list_accessible(
        self, viewer_id: str, kind: ResourceKind, storage: StorageBase
    ) -> Sequence[ResourceRef]:
        if kind is not ResourceKind.KNOWLEDGE_BASE:
            return ()
        shares = await storage.shares.with_viewer(viewer_id, limit=LOOKED_AT)
        return [_ref(share) for share in shares]

    async def find(
        self, viewer_id: str, kind: ResourceKind, resource_id: str, storage: StorageBase
    ) -> ResourceRef | None:
        if kind is not ResourceKind.KNOWLEDGE_BASE:
            return None
        share = await storage.shares.get(viewer_id, resource_id)
        return None if share is None else _ref(share)


class CombinedAccessPolicy(ResourceAccessPolicyBase):
    """Allows what any of its policies allows; each judges for itself who may edit."""

    def __init__(self, *policies: ResourceAccessPolicyBase) -> None:
        self._policies = policies

    async def list_accessible(
        self, viewer_id: str, kind: ResourceKind, storage: StorageBase
    ) -> Sequence[ResourceRef]:
        found: list[ResourceRef] = []
        for policy in self._policies:
            for ref in (await policy.list_accessible(viewer_id, kind, storage))[:LOOKED_AT]:
                found.append(await _judged(policy, viewer_id, ref, storage))
        return found

    async def find(
        self, viewer_id: str, kind: ResourceKind, resource_id: str, storage: StorageBase
    ) -> ResourceRef | None:
        best: ResourceRef | None = None
        for policy in self._policies:
            ref = await policy.find(viewer_id, kind, resource_id, storage)
            if ref is None:
                continue
            ref = await _judged(policy, viewer_id, ref, storage)
            if ref.permission is ResourcePermission.EDIT:
                return ref
            best = best or ref
        return best


def _ref(share: ShareRecord) -> ResourceRef:
    return ResourceRef(
        ResourceKind.KNOWLEDGE_BASE, share.owner_id, share.knowledge_base_id, share.permission
    )


async def _judged(
    policy: ResourceAccessPolicyBase, viewer_id: str, ref: ResourceRef, storage: StorageBase
) -> ResourceRef:
    """Return the reference with the permission that its own policy stands for."""
    may_edit = await policy.can_edit(viewer_id, ref, storage)
    return replace(ref, permission=ResourcePermission.EDIT if may_edit else ResourcePermission.READ)


def access_policy(given: ResourceAccessPolicyBase | None) -> ResourceAccessPolicyBase:
    """Return what decides: the owners' own list, and beside it the policy of the embedder.

    `DenyAllResourceAccessPolicy` stands alone: it switches sharing off.
    """
    if given is None:
        return SharedByOwners()
    if isinstance(given, DenyAllResourceAccessPolicy):
        return given
    return CombinedAccessPolicy(given, SharedByOwners())


__all__ = [
    "CombinedAccessPolicy",
    "DenyAllResourceAccessPolicy",
    "ResourceAccessPolicyBase",
    "ResourceKind",
    "ResourcePermission",
    "ResourceRef",
    "SharedByOwners",
    "access_policy",
]
