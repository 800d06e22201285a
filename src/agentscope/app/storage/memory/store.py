"""The memory storage as a whole."""

from datetime import datetime

from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.memory.documents import InMemoryDocuments
from agentscope.app.storage.memory.knowledge_bases import InMemoryKnowledgeBases
from agentscope.app.storage.memory.ledger import (
    InMemoryCredentials,
    InMemoryEvents,
    InMemoryRegistry,
)
from agentscope.app.storage.memory.shares import InMemoryShares
from agentscope.app.storage.memory.state import State
from agentscope.clock import Clock, SystemClock


class InMemoryStorage(StorageBase):
    """Storage of one process, gone with it."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._state = State(clock or SystemClock())
        self.documents = InMemoryDocuments(self._state)
        self.knowledge_bases = InMemoryKnowledgeBases(self._state)
        self.credentials = InMemoryCredentials(self._state)
        self.shares = InMemoryShares(self._state)
        self.events = InMemoryEvents(self._state)
        self.registry = InMemoryRegistry(self._state)

    async def now(self) -> datetime:
        return self._state.now()
