"""Says on the bus that a user has new events; many in a moment become one signal."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agentscope.app.message_bus.base import MessageBus, MessageBusKeys
from agentscope.errors import AgentScopeError
from agentscope.stopping import stopped

logger = logging.getLogger(__name__)

MAX_WAITING = 10_000
SEND_SECONDS = 2.0
GATHER_SECONDS = 0.02


class Announcer:
    """Sends in the background; what cannot be sent is dropped, as listeners look by themselves."""

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus
        self._waiting: dict[str, None] = {}
        self._some = asyncio.Event()

    def note(self, user_id: str) -> None:
        """Announce soon that the user has new events."""
        if len(self._waiting) < MAX_WAITING:
            self._waiting[user_id] = None
        self._some.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._some.wait()
            await asyncio.sleep(GATHER_SECONDS)
            self._some.clear()
            waiting, self._waiting = list(self._waiting), {}
            try:
                for user_id in waiting:
                    async with asyncio.timeout(SEND_SECONDS):
                        await self._bus.publish(
                            MessageBusKeys.events_signal(), {"user_id": user_id}
                        )
            except Exception as exc:
                code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                logger.debug("event_signal_lost", extra={"error_code": code})


@asynccontextmanager
async def announcing(bus: MessageBus) -> AsyncIterator[Announcer]:
    """Give an announcer that sends while the context is open."""
    announcer = Announcer(bus)
    task = asyncio.create_task(announcer.run())
    try:
        yield announcer
    finally:
        await stopped([task])
