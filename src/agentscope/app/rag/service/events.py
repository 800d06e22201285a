"""Listening to the outbox: one look per user and moment, however many listen.

A listener keeps nothing but its place. It reads the outbox itself, a page at a time, when the
feed says that the user has something newer, so a slow one costs no memory and misses nothing.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from agentscope import observe
from agentscope.app.message_bus.base import MessageBus, MessageBusKeys
from agentscope.app.rag.indexing.subscription import Subscription
from agentscope.app.records import Event
from agentscope.app.storage.base import StorageBase
from agentscope.errors import AgentScopeError, QuotaExceededError
from agentscope.stopping import stopped

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
PAGE = 100
PARALLEL_LOOKS = 8


@dataclass(frozen=True, slots=True)
class FeedLimits:
    """How many may listen."""

    per_user: int = 100
    total: int = 5000


@dataclass(eq=False, slots=True)
class _Audience:
    """The listeners of one user; `newest` is a sequence that was seen in the outbox."""

    newest: int = 0
    listeners: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose events, and of which knowledge bases; None: of all."""

    user_id: str
    knowledge_base_id: str | None = None
    reached: frozenset[str] | None = None

    def shows(self, event: Event) -> bool:
        """Say whether the event belongs to what the listener may see."""
        return self.reached is None or event.knowledge_base_id in self.reached


class EventFeed:
    """Knows who listens, and looks for them; woken by the bus, and by the clock without it."""

    def __init__(
        self,
        storage: StorageBase,
        bus: MessageBus,
        *,
        limits: FeedLimits | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.storage = storage
        self._limits = limits or FeedLimits()
        self._poll_seconds = poll_seconds
        self._audiences: dict[str, _Audience] = {}
        self._total = 0
        self._wake = asyncio.Event()
        self._rng = random.Random()  # noqa: S311  # jitter, no secret
        self._subscription = Subscription(
            bus,
            MessageBusKeys.events_signal(),
            on_signal=self._on_signal,
            on_up=self._wake.set,
            rng=self._rng,
        )
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._subscription.run()),
            asyncio.create_task(self._look_for_ever()),
        ]
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await stopped(self._tasks)

    def _on_signal(self, signal: Mapping[str, Any]) -> None:
        if signal.get("user_id") in self._audiences:
            self._wake.set()

    def listen(self, scope: Scope) -> "Listener":
        """Take a place; whoever takes it closes it.

        Raises:
            QuotaExceededError: too many listen already.
        """
        audience = self._audiences.get(scope.user_id) or _Audience()
        if audience.listeners >= self._limits.per_user or self._total >= self._limits.total:
            raise QuotaExceededError("Too many event streams are open.", retry_after_seconds=5)
        self._audiences[scope.user_id] = audience
        audience.listeners += 1
        self._total += 1
        observe.LISTENERS.inc()
        return Listener(self, scope, audience)

    def left(self, scope: Scope) -> None:
        """Give a place back."""
        audience = self._audiences[scope.user_id]
        audience.listeners -= 1
        self._total -= 1
        observe.LISTENERS.dec()
        if not audience.listeners:
            del self._audiences[scope.user_id]

    async def _look_for_ever(self) -> None:
        while True:
            self._wake.clear()
            try:
                await self._look()
            except Exception as exc:
                code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                logger.warning("events_not_read", extra={"error_code": code})
            try:
                async with asyncio.timeout(self._poll_seconds * self._rng.uniform(0.75, 1.25)):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _look(self) -> None:
        gate = asyncio.Semaphore(PARALLEL_LOOKS)

        async def look(user_id: str, audience: _Audience) -> None:
            async with gate:
                newest = await self.storage.events.last(user_id)
            if newest > audience.newest:
                async with audience.changed:
                    audience.newest = newest
                    audience.changed.notify_all()

        await asyncio.gather(*(look(*item) for item in list(self._audiences.items())))


class Listener:
    """One place in the feed."""

    def __init__(self, feed: EventFeed, scope: Scope, audience: _Audience) -> None:
        self._feed = feed
        self._scope = scope
        self._audience = audience
        self._open = True

    def close(self) -> None:
        """Leave; calling it twice is harmless."""
        if self._open:
            self._open = False
            self._feed.left(self._scope)

    async def missed(self, after: int) -> bool:
        """Say whether events after this sequence were removed because of their age."""
        oldest = await self._feed.storage.events.after(self._scope.user_id, 0, limit=1)
        if oldest:
            return oldest[0].sequence > after + 1
        return await self._feed.storage.events.last(self._scope.user_id) > after

    async def last(self) -> int:
        """Return the newest sequence of the user."""
        return await self._feed.storage.events.last(self._scope.user_id)

    async def pages(
        self, after: int, *, heartbeat: float, seconds: float
    ) -> AsyncIterator[tuple[int, list[Event]]]:
        """Yield (place, events) in order, without gap or repetition, for so many seconds.

        A page is empty when nothing came for `heartbeat` seconds; whoever comes back with its
        place misses nothing. With 0 seconds: what is there now.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while True:
            # Taken before reading: what is older than it and was not read is of no interest.
            seen = self._audience.newest
            events = await self._feed.storage.events.after(
                self._scope.user_id,
                after,
                knowledge_base_id=self._scope.knowledge_base_id,
                limit=PAGE,
            )
            if events:
                after = events[-1].sequence
                yield after, [event for event in events if self._scope.shows(event)]
            if len(events) == PAGE:
                continue
            after = max(after, seen)
            left = end - loop.time()
            if left <= 0:
                return
            if not await self._newer(after, min(heartbeat, left)):
                yield after, []

    async def _newer(self, after: int, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds), self._audience.changed:
                await self._audience.changed.wait_for(lambda: self._audience.newest > after)
        except TimeoutError:
            return False
        return True
