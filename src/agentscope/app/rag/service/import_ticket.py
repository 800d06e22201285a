"""Which knowledge base an archive goes into: kept for a while, so that a second try goes on.

A ticket is a registry entry per user and archive. While an import runs it holds the ticket and
says so again and again; whoever finds a fresh holder is refused, so no document comes in twice.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from agentscope.app.storage.base import StorageBase
from agentscope.errors import ImportRunningError
from agentscope.identity import new_id

PREFIX = "imports/"
KEPT = timedelta(days=30)
HELD = timedelta(seconds=60)
SAY_AGAIN = timedelta(seconds=15)


@dataclass(slots=True)
class ImportTicket:
    """The right to bring one archive in, for one user."""

    storage: StorageBase
    key: str
    holder: str
    knowledge_base_id: str | None
    said_at: datetime

    @classmethod
    async def taken(cls, storage: StorageBase, user_id: str, archive_id: str) -> "ImportTicket":
        """Take the ticket; `knowledge_base_id` is where an earlier try went, if there was one.

        Raises:
            ImportRunningError: somebody is at it.
        """
        digest = hashlib.sha256(f"{user_id}\0{archive_id}".encode()).hexdigest()
        key, now = f"{PREFIX}{digest}", await storage.now()
        found = await storage.registry.get(key)
        if found is not None and _until(found) > now:
            raise ImportRunningError(
                "This archive is being imported at this moment. If that import was cut short, "
                "try again in a minute."
            )
        known = found.get("knowledge_base_id") if found else None
        ticket = cls(storage, key, new_id(), known, now)
        await ticket.hold()
        return ticket

    async def hold(self) -> None:
        """Say that the import goes on."""
        self.said_at = await self.storage.now()
        await self._put(self.said_at + HELD)

    async def hold_on(self) -> None:
        """Say that the import goes on, if it was not said lately."""
        if await self.storage.now() - self.said_at >= SAY_AGAIN:
            await self.hold()

    async def goes_into(self, knowledge_base_id: str) -> None:
        """Remember the knowledge base."""
        self.knowledge_base_id = knowledge_base_id
        await self.hold()

    async def let_go(self) -> None:
        """Keep the place for the next try, and let anybody take the ticket."""
        await self._put(None)

    async def tear_up(self) -> None:
        """Forget the archive: nothing of it is kept."""
        await self.storage.registry.delete(self.key)

    async def _put(self, until: datetime | None) -> None:
        value = {
            "knowledge_base_id": self.knowledge_base_id,
            "holder": self.holder,
            "until": until.isoformat() if until else None,
        }
        await self.storage.registry.put(self.key, value, ttl=KEPT)


def _until(found: Mapping[str, Any]) -> datetime:
    until = found.get("until")
    return datetime.fromisoformat(until) if until else datetime.min.replace(tzinfo=UTC)
