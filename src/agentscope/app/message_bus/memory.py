"""The message bus of one process."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from agentscope.app.message_bus.base import MAX_QUEUE_ENTRIES, MessageBus

MAX_UNREAD_SIGNALS = 1000


class InMemoryMessageBus(MessageBus):
    """Queue and signals of one event loop; gone with the process, which is harmless."""

    def __init__(self, *, max_queue_entries: int = MAX_QUEUE_ENTRIES) -> None:
        self._max_queue_entries = max_queue_entries
        self._queues: dict[str, deque[tuple[str, dict[str, Any]]]] = {}
        # A dict keeps the order of subscription, so that a seeded simulation repeats itself.
        self._listeners: dict[str, dict[asyncio.Queue[dict[str, Any] | None], None]] = {}
        self._next_id = 0

    async def aclose(self) -> None:
        for listeners in self._listeners.values():
            for listener in listeners:
                _offer(listener, None)

    async def queue_push(
        self, key: str, payload: Mapping[str, Any], *, ttl_secs: int | None = None
    ) -> str:
        del ttl_secs
        self._next_id += 1
        entry_id = str(self._next_id)
        queue = self._queues.setdefault(key, deque(maxlen=self._max_queue_entries))
        queue.append((entry_id, dict(payload)))
        return entry_id

    async def queue_drain(self, key: str, max_count: int = 100) -> list[tuple[str, dict[str, Any]]]:
        queue = self._queues.get(key, deque())
        return [queue.popleft() for _ in range(min(max_count, len(queue)))]

    async def queue_length(self, key: str) -> int:
        return len(self._queues.get(key, ()))

    async def publish(self, key: str, payload: Mapping[str, Any]) -> None:
        for listener in list(self._listeners.get(key, ())):
            _offer(listener, dict(payload))

    async def subscribe(
        self, key: str, *, on_ready: Callable[[], None] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        listener: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(MAX_UNREAD_SIGNALS)
        self._listeners.setdefault(key, {})[listener] = None
        try:
            if on_ready is not None:
                on_ready()
            while (signal := await listener.get()) is not None:
                yield signal
        finally:
            self._listeners[key].pop(listener, None)

    async def ping(self) -> None:
        return


def _offer(listener: "asyncio.Queue[dict[str, Any] | None]", signal: dict[str, Any] | None) -> None:
    if listener.full():
        listener.get_nowait()
    listener.put_nowait(signal)
