"""Rates: buckets that fill evenly, and places for searches."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope.app.api.rates import BURST_SECONDS, Rates, SearchSlots, TokenBuckets
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.rag.service.plans import TenantLimits, TenantPlans
from agentscope.clock import SystemClock
from agentscope.errors import QuotaExceededError, RateLimitedError


class Stopped(SystemClock):
    """A clock that tests move."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds


def test_a_bucket_gives_its_burst_and_then_one_token_at_a_time() -> None:
    """Sixty a minute: fifteen at once, then one a second."""
    clock = Stopped()
    buckets = TokenBuckets(clock)
    taken = [buckets.take("a", 60) for _ in range(16)]
    assert taken[:15] == [0.0] * 15
    assert taken[15] == 1.0
    clock.seconds += 0.25
    assert buckets.take("a", 60) == 0.75
    clock.seconds += 0.75
    assert buckets.take("a", 60) == 0.0
    assert buckets.take("b", 60) == 0.0


def test_a_rate_below_the_burst_still_lets_one_pass() -> None:
    """One a minute is one a minute, not none."""
    clock = Stopped()
    buckets = TokenBuckets(clock)
    assert buckets.take("a", 1) == 0.0
    assert buckets.take("a", 1) == pytest.approx(60.0)
    clock.seconds += 60
    assert buckets.take("a", 1) == 0.0


@given(st.integers(1, 600), st.lists(st.floats(0, 5, allow_nan=False), min_size=1, max_size=200))
def test_no_one_gets_more_than_burst_and_rate(per_minute: int, pauses: list[float]) -> None:
    """However the requests are spread over time."""
    clock = Stopped()
    buckets = TokenBuckets(clock)
    passed = 0
    for pause in pauses:
        clock.seconds += pause
        passed += buckets.take("a", per_minute) == 0.0
    rate = per_minute / 60
    assert passed <= max(1.0, rate * BURST_SECONDS) + rate * sum(pauses) + 0.001


def test_only_so_many_buckets_are_kept() -> None:
    """The one that was not used for longest goes; memory is bounded whoever asks."""
    clock = Stopped()
    buckets = TokenBuckets(clock, max_callers=3)
    for name in ("a", "b", "c"):
        assert buckets.take(name, 1) == 0.0
    assert buckets.take("a", 1) > 0
    buckets.take("d", 1)
    assert len(buckets) == 3
    assert buckets.take("a", 1) > 0
    assert buckets.take("b", 1) == 0.0


async def test_requests_and_searches_are_counted_apart() -> None:
    """A tenant that asked too often may still search, and the other way round."""
    clock = Stopped()
    limits = ServiceLimits(requests_per_minute=4, searches_per_minute=4)
    rates = Rates(limits, TenantPlans(), clock=clock)
    await rates.request("a")
    with pytest.raises(RateLimitedError) as caught:
        await rates.request("a")
    assert caught.value.retry_after_seconds == 15
    assert caught.value.details == {"quota": "requests_per_minute", "limit": 4}
    async with rates.search("a"):
        pass
    with pytest.raises(RateLimitedError):
        async with rates.search("a"):
            pass
    await rates.request("b")


async def test_a_tenant_has_rates_of_its_own() -> None:
    """What the hook says wins; zero is no limit."""
    plans = TenantPlans(
        lambda user_id: TenantLimits(requests_per_minute=0) if user_id == "big" else None
    )
    rates = Rates(ServiceLimits(requests_per_minute=1), plans, clock=Stopped())
    for _ in range(50):
        await rates.request("big")
    await rates.request("small")
    with pytest.raises(RateLimitedError):
        await rates.request("small")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the slots have no event for it
            await asyncio.sleep(0)


async def hold(slots: SearchSlots, user: str, held: list[int], end: asyncio.Event) -> None:
    async with slots.of(user, at_once=2, waiting=2):
        held.append(1)
        await end.wait()


async def test_one_tenants_searches_take_only_its_own_places() -> None:
    """Two run, two wait in their order, the fifth is told to come again; others pass."""
    slots, end, held = SearchSlots(), asyncio.Event(), list[int]()
    tasks = [asyncio.create_task(hold(slots, "a", held, end)) for _ in range(4)]
    await until(lambda: len(slots._waiting.get("a", {})) == 2)
    assert len(held) == 2
    with pytest.raises(QuotaExceededError) as caught:
        async with slots.of("a", at_once=2, waiting=2):
            pass
    assert caught.value.details["quota"] == "searches_at_once"
    async with slots.of("b", at_once=2, waiting=2):
        pass
    end.set()
    await asyncio.gather(*tasks)
    assert len(held) == 4
    assert not slots._running
    assert not slots._waiting


async def test_who_gives_up_waiting_takes_no_place() -> None:
    """A client that went away while it waited, or in the moment its turn came."""
    slots, end, held = SearchSlots(), asyncio.Event(), list[int]()
    running = [asyncio.create_task(hold(slots, "a", held, end)) for _ in range(2)]
    await until(lambda: len(held) == 2)
    gone = asyncio.create_task(hold(slots, "a", held, end))
    late = asyncio.create_task(hold(slots, "a", held, end))
    await until(lambda: len(slots._waiting.get("a", {})) == 2)
    gone.cancel()
    await asyncio.wait({gone})
    slots._leave("a")  # hands over to the second, which is cancelled in the same step
    late.cancel()
    await asyncio.wait({late})
    slots._running["a"] += 1  # gives back what the line above took
    end.set()
    await asyncio.gather(*running)
    assert not slots._running
    assert not slots._waiting


async def test_nobody_waits_for_ever() -> None:
    """After a while the answer is to come again."""
    slots, end, held = SearchSlots(wait_seconds=0.01), asyncio.Event(), list[int]()
    running = [asyncio.create_task(hold(slots, "a", held, end)) for _ in range(2)]
    await until(lambda: len(held) == 2)
    with pytest.raises(QuotaExceededError):
        async with slots.of("a", at_once=2, waiting=2):
            pass
    end.set()
    await asyncio.gather(*running)
    assert not slots._running
    assert not slots._waiting
