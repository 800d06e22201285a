"""Who did what to which resource when: entries are added and read, never changed.

An entry stands in the log of whoever acted, and in that of the owner if that is somebody else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agentscope.app.storage.base import StorageBase
from agentscope.identity import new_id

KEPT = timedelta(days=365)
MAX_PAGE = 1000


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One call that changed something, or was refused the right to; `id`s order by time."""

    id: str
    at: str
    actor: str
    identified_by: str  # header, api_key, token, ...
    action: str  # method and route template
    status: int
    resources: Mapping[str, str]  # ids by name


def _prefix(user_id: str) -> str:
    # Hexadecimal, so that no user id can be the prefix of another's entries.
    return f"audit/{user_id.encode().hex()}/"


class AuditLog:
    """The entries in a storage."""

    def __init__(self, storage: StorageBase) -> None:
        self._storage = storage

    async def add(
        self, actor: str, identified_by: str, action: str, status: int, resources: Mapping[str, str]
    ) -> None:
        """Append an entry."""
        now = await self._storage.now()
        entry = {
            "at": now.isoformat(),
            "actor": actor,
            "identified_by": identified_by,
            "action": action,
            "status": status,
            "resources": dict(resources),
        }
        name = f"{_micros(now):017d}-{new_id()[:12]}"
        for user_id in {actor, await self._owner(actor, resources.get("knowledge_base_id"))}:
            await self._storage.registry.put(_prefix(user_id) + name, entry, ttl=KEPT)

    async def _owner(self, actor: str, knowledge_base_id: str | None) -> str:
        if knowledge_base_id is None:
            return actor
        record = await self._storage.knowledge_bases.find(knowledge_base_id)
        return actor if record is None else record.user_id

    async def after(
        self, user_id: str, entry_id: str = "", *, limit: int = MAX_PAGE
    ) -> Sequence[AuditEntry]:
        """Return entries with a greater id, oldest first."""
        prefix = _prefix(user_id)
        found = await self._storage.registry.list(prefix, after=prefix + entry_id, limit=limit)
        return [_load(name.removeprefix(prefix), value) for name, value in found.items()]


def _micros(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def _load(entry_id: str, value: Mapping[str, Any]) -> AuditEntry:
    return AuditEntry(id=entry_id, **value)
