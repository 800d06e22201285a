"""What a subscriber has not read yet: bounded, the oldest falls out."""

import asyncio
import json
import logging
from collections import deque
from typing import Any

from agentscope.errors import BusError

MAX_UNREAD_SIGNALS = 1000

logger = logging.getLogger(__name__)


class SignalInbox:
    """Signals of one subscription, filled by its reader and emptied by the caller."""

    def __init__(self) -> None:
        self._signals: deque[dict[str, Any]] = deque(maxlen=MAX_UNREAD_SIGNALS)
        self._changed = asyncio.Event()
        self._failure: BusError | None = None
        self._ended = False

    def offer(self, signal: dict[str, Any] | None) -> None:
        """Add a signal; None (it could not be read) is left out."""
        if signal is not None:
            self._signals.append(signal)
            self._changed.set()

    def end(self, failure: BusError | None = None) -> None:
        """Say that nothing more comes, and why."""
        self._failure, self._ended = failure, True
        self._changed.set()

    async def next(self) -> dict[str, Any] | None:
        """Return the next signal; None: the bus was closed.

        Raises:
            BusError: the connection was lost; signals may have been missed.
        """
        while not self._signals:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._signals.popleft()


def decoded(text: str | bytes, key: str) -> dict[str, Any] | None:
    """Return the JSON object in `text`, or log and return None: it is dropped."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    logger.warning("bus_entry_dropped", extra={"key": key, "size": len(text)})
    return None
