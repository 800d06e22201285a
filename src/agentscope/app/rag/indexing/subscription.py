"""A signal subscription that never ends on its own: it comes back after every failure."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Mapping
from typing import Any

from agentscope.app.message_bus.base import MessageBus
from agentscope.errors import AgentScopeError

logger = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 10.0


class Backoff:
    """Pauses that double from 0.1 s to 10 s, with jitter, until something works again."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._seconds = FIRST_PAUSE_SECONDS

    def reset(self) -> None:
        """Start over: it works."""
        self._seconds = FIRST_PAUSE_SECONDS

    async def pause(self) -> None:
        """Wait, and wait longer next time."""
        seconds = self._seconds * self._rng.uniform(0.75, 1.25)
        self._seconds = min(LONGEST_PAUSE_SECONDS, self._seconds * 2)
        await asyncio.sleep(seconds)


class Subscription:
    """Calls `on_signal` for every signal of one channel, and `on_up` whenever it stands again."""

    def __init__(
        self,
        bus: MessageBus,
        key: str,
        *,
        on_signal: Callable[[Mapping[str, Any]], None],
        on_up: Callable[[], None],
        rng: random.Random,
    ) -> None:
        self._bus = bus
        self._key = key
        self._on_signal = on_signal
        self._on_up = on_up
        self._backoff = Backoff(rng)
        self.up = False

    async def run(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                await self._listen()
                logger.warning("bus_subscription_ended", extra={"channel": self._key})
            except Exception as exc:
                code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                logger.warning(
                    "bus_subscription_lost", extra={"channel": self._key, "error_code": code}
                )
            finally:
                self.up = False
            await self._backoff.pause()

    async def _listen(self) -> None:
        signals = self._bus.subscribe(self._key, on_ready=self._ready)
        async with contextlib.AsyncExitStack() as stack:
            close = getattr(signals, "aclose", None)
            if close is not None:
                stack.push_async_callback(close)
            async for signal in signals:
                if isinstance(signal, Mapping):
                    self._on_signal(signal)
                else:
                    logger.warning("bus_signal_malformed", extra={"channel": self._key})

    def _ready(self) -> None:
        self.up = True
        self._backoff.reset()
        self._on_up()
