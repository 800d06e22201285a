"""How often a tenant may ask, and how many of its searches run at once.

Both are counted in this process only: with several API processes behind a balancer a tenant may
do as much in each of them.
"""

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.rag.service.plans import TenantPlans
from agentscope.clock import Clock, SystemClock
from agentscope.errors import QuotaExceededError, RateLimitedError

MAX_CALLERS = 10_000
BURST_SECONDS = 15.0
WAIT_SECONDS = 30.0
REQUESTS = "requests_per_minute"
SEARCHES = "searches_per_minute"
AT_ONCE = "searches_at_once"


class TokenBuckets:
    """One bucket for each caller: it holds a quarter of a minute's worth and fills evenly.

    Beyond `max_callers` the bucket that was not used for longest is forgotten, and full again
    when its caller comes back.
    """

    def __init__(self, clock: Clock, *, max_callers: int = MAX_CALLERS) -> None:
        self._clock = clock
        self._max_callers = max_callers
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, caller: str, per_minute: int) -> float:
        """Take one token and return 0, or return in how many seconds there will be one."""
        now, rate = self._clock.monotonic(), per_minute / 60
        size = max(1.0, rate * BURST_SECONDS)
        tokens, filled_at = self._buckets.get(caller, (size, now))
        tokens = min(size, tokens + (now - filled_at) * rate)
        missing = max(0.0, 1.0 - tokens)
        self._buckets[caller] = (tokens if missing else tokens - 1.0, now)
        self._buckets.move_to_end(caller)
        while len(self._buckets) > self._max_callers:
            self._buckets.popitem(last=False)
        return missing / rate


class SearchSlots:
    """Lets so many searches of one tenant run, and so many more wait for them, in their order.

    Each tenant has places of its own, so that slow searches of one hold up nobody else's.
    """

    def __init__(self, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self._wait_seconds = wait_seconds
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, OrderedDict[int, asyncio.Future[None]]] = {}
        self._number = 0

    @asynccontextmanager
    async def of(self, user_id: str, *, at_once: int, waiting: int) -> AsyncIterator[None]:
        """Hold a place; 0: there is no limit.

        Raises:
            QuotaExceededError: too many wait already, or no place became free in time.
        """
        if at_once and self._running[user_id] >= at_once:
            await self._wait(user_id, at_once, waiting)
        else:
            self._running[user_id] += 1
        try:
            yield
        finally:
            self._leave(user_id)

    async def _wait(self, user_id: str, at_once: int, waiting: int) -> None:
        queue = self._waiting.setdefault(user_id, OrderedDict())
        if waiting and len(queue) >= waiting:
            raise _too_many(at_once)
        self._number += 1
        number, turn = self._number, asyncio.get_running_loop().create_future()
        queue[number] = turn
        try:
            async with asyncio.timeout(self._wait_seconds):
                await turn
        except BaseException as exc:
            if turn.done() and not turn.cancelled():
                self._leave(user_id)  # the place was handed over in the same moment
            self._forget(user_id, number)
            if isinstance(exc, TimeoutError):
                raise _too_many(at_once) from exc
            raise

    def _forget(self, user_id: str, number: int) -> None:
        queue = self._waiting.get(user_id, OrderedDict())
        queue.pop(number, None)
        if not queue:
            self._waiting.pop(user_id, None)

    def _leave(self, user_id: str) -> None:
        """Hand the place to whoever waits longest, or give it up."""
        for number, turn in list(self._waiting.get(user_id, {}).items()):
            self._forget(user_id, number)
            if not turn.done():
                turn.set_result(None)
                return
        self._running[user_id] -= 1
        if self._running[user_id] <= 0:
            del self._running[user_id]


def _too_many(limit: int) -> QuotaExceededError:
    return QuotaExceededError(
        f"Of your searches {limit} run at once and too many more wait.",
        retry_after_seconds=1,
        details={"quota": AT_ONCE, "limit": limit},
    )


class Rates:
    """What the routes ask before they work for a caller."""

    def __init__(
        self, limits: ServiceLimits, plans: TenantPlans, *, clock: Clock | None = None
    ) -> None:
        self._limits = limits
        self._plans = plans
        clock = clock or SystemClock()
        self._buckets = {name: TokenBuckets(clock) for name in (REQUESTS, SEARCHES)}
        self._slots = SearchSlots()

    async def of(self, user_id: str) -> ServiceLimits:
        """Return the limits of the tenant."""
        return await self._plans.service_limits(user_id, self._limits)

    async def request(self, user_id: str) -> None:
        """Count a request.

        Raises:
            RateLimitedError: there were too many.
        """
        self._take(REQUESTS, user_id, (await self.of(user_id)).requests_per_minute)

    @asynccontextmanager
    async def search(self, user_id: str) -> AsyncIterator[None]:
        """Count a search and hold a place for it.

        Raises:
            RateLimitedError: there were too many.
            QuotaExceededError: too many wait.
        """
        limits = await self.of(user_id)
        self._take(SEARCHES, user_id, limits.searches_per_minute)
        at_once, waiting = limits.searches_at_once, limits.searches_waiting
        async with self._slots.of(user_id, at_once=at_once, waiting=waiting):
            yield

    def _take(self, name: str, user_id: str, per_minute: int | None) -> None:
        if not per_minute:
            return
        seconds = self._buckets[name].take(user_id, per_minute)
        if seconds > 0:
            what = name.partition("_")[0]
            raise RateLimitedError(
                f"More than {per_minute} {what} in a minute; try again a little later.",
                retry_after_seconds=max(1, math.ceil(seconds)),
                details={"quota": name, "limit": per_minute},
            )
