"""Which knowledge base an archive goes into: kept for a while, so that a second try goes on.

A ticket is a registry entry per user and archive. While an import runs it holds the ticket and
says so again and again; whoever finds a fresh holder is refused, so no document comes in twice.
Places stand in entries of their own, each written once: a write that arrives late changes nothing.
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
RUNNING = (
    "This archive is being imported at this moment. If that import was cut short, try again in a "
    "minute."
)


@dataclass(slots=True)
class ImportTicket:
    """The right to bring one archive in, for one user."""

    storage: StorageBase
    key: str
    holder: str
    place: str | None
    """Id of the knowledge base that was made for the archive last."""
    number: int
    """Of the next place."""
    said_at: datetime

    @classmethod
    async def taken(cls, storage: StorageBase, user_id: str, archive_id: str) -> "ImportTicket":
        """Take the ticket.

        Raises:
            ImportRunningError: somebody is at it.
        """
        digest = hashlib.sha256(f"{user_id}\0{archive_id}".encode()).hexdigest()
        key, now = f"{PREFIX}{digest}", await storage.now()
        found = await storage.registry.get(key)
        if found is not None and _until(found) > now:
            raise ImportRunningError(RUNNING)
        known = await storage.registry.list(f"{key}/")
        last = max(known, default=f"{key}/")
        place = str(known[last]["knowledge_base_id"]) if known else None
        number = int(last.rpartition("/")[2] or 0) + 1
        ticket = cls(storage, key, new_id(), place, number, now)
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
        """Remember the knowledge base.

        Raises:
            ImportRunningError: somebody else remembered another at the same moment.
        """
        name = f"{self.key}/{self.number:06d}"
        place = {"knowledge_base_id": knowledge_base_id}
        if await self.storage.registry.put_if_absent(name, place) != place:
            raise ImportRunningError(RUNNING)
        await self.storage.registry.put(name, place, ttl=KEPT)
        self.place, self.number = knowledge_base_id, self.number + 1

    async def let_go(self) -> None:
        """Let anybody take the ticket; the places stay."""
        await self._put(None)

    async def _put(self, until: datetime | None) -> None:
        value = {"holder": self.holder, "until": until.isoformat() if until else None}
        await self.storage.registry.put(self.key, value, ttl=KEPT)


def _until(found: Mapping[str, Any]) -> datetime:
    until = found.get("until")
    return datetime.fromisoformat(until) if until else datetime.min.replace(tzinfo=UTC)
