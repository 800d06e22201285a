"""Which knowledge bases an owner shows to whom; kept in storage, one record per pair."""

import enum
from dataclasses import dataclass
from datetime import datetime


class ResourcePermission(enum.StrEnum):
    """How much a viewer may do with a shared resource."""

    READ = "read"  # list, search, browse, download
    EDIT = "edit"  # also upload, change and delete


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRecord:
    """One knowledge base that its owner shares with one other user."""

    knowledge_base_id: str
    owner_id: str
    viewer_id: str
    permission: ResourcePermission
    created_at: datetime
    updated_at: datetime


__all__ = ["ResourcePermission", "ShareRecord"]
