"""The contract suite of `MessageBus`: what every bus must do, the same way.

Bind it to a bus in a test module:

    class TestMyBus(MessageBusSuite):
        def open_bus(self, *, max_queue_entries):
            return MyBus(...)         # an async context manager

A bus over a server also binds `BusOutageSuite`. The suite needs a runner for `async def` tests.
"""

import abc
import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from agentscope.app.message_bus.base import MAX_QUEUE_ENTRIES, MessageBus
from agentscope.errors import BusError
from agentscope.testing.servers import Server

DEADLINE_SECONDS = 20.0
BOUND_SLACK = 250  # a bus may trim its queue now and then instead of at every push
HOSTILE_KEYS = ("a:b:c", "a", "a:b", "it's", 'say "x"', "汉字", "{tag}", "x" * 300, "back\\slash")


class Listener:
    """Collects the signals of one subscription."""

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self.signals: list[dict[str, Any]] = []
        self.failure: Exception | None = None
        self.ended = asyncio.Event()
        self._arrived = asyncio.Event()

    async def follow(self, signals: AsyncIterator[dict[str, Any]]) -> None:
        """Collect until the subscription ends."""
        try:
            async for signal in signals:
                self.signals.append(signal)
                self._arrived.set()
        except Exception as exc:
            self.failure = exc
        finally:
            self.ended.set()
            self._arrived.set()

    async def until(self, count: int) -> None:
        """Wait until so many signals are here."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            while len(self.signals) < count:
                self._arrived.clear()
                await self._arrived.wait()


@contextlib.asynccontextmanager
async def listening(bus: MessageBus, key: str) -> AsyncIterator[Listener]:
    """Yield a listener whose subscription stands."""
    listener = Listener()
    task = asyncio.create_task(listener.follow(bus.subscribe(key, on_ready=listener.ready.set)))
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            await listener.ready.wait()
        yield listener
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _until(
    signals: AsyncIterator[dict[str, Any]], last: dict[str, Any]
) -> AsyncIterator[dict[str, Any]]:
    async for signal in signals:
        yield signal
        if signal == last:
            return


class MessageBusSuite(abc.ABC):
    """What holds for every bus."""

    @abc.abstractmethod
    def open_bus(
        self, *, max_queue_entries: int = MAX_QUEUE_ENTRIES
    ) -> AbstractAsyncContextManager[MessageBus]:
        """Return a bus with empty queues."""

    async def break_entry(self, bus: MessageBus, key: str) -> bool:
        """Put something into the queue that is no JSON object; False: this bus cannot hold it."""
        del bus, key
        return False

    async def test_entries_come_out_in_order_and_once(self) -> None:
        """Pulling is the acknowledgement."""
        async with self.open_bus() as bus:
            ids = [await bus.queue_push("q", {"n": number, "键": "值"}) for number in range(5)]
            assert await bus.queue_length("q") == 5
            first = await bus.queue_drain("q", 2)
            assert first == [(ids[0], {"n": 0, "键": "值"}), (ids[1], {"n": 1, "键": "值"})]
            rest = await bus.queue_drain("q")
            assert [payload["n"] for _, payload in rest] == [2, 3, 4]
            assert len(set(ids)) == 5
            assert await bus.queue_drain("q") == []
            assert await bus.queue_drain("q", 0) == []
            assert await bus.queue_length("q") == 0

    async def test_parallel_pullers_share_the_entries(self) -> None:
        """An entry goes to one of them only."""
        async with self.open_bus() as bus:
            for number in range(60):
                await bus.queue_push("q", {"n": number})
            parts = await asyncio.gather(*(bus.queue_drain("q", 4) for _ in range(25)))
            found = [payload["n"] for part in parts for _, payload in part]
            while part := await bus.queue_drain("q", 4):
                found += [payload["n"] for _, payload in part]
            assert sorted(found) == list(range(60))

    async def test_five_hundred_pushes_at_once_all_arrive(self) -> None:
        """The number of connections is bounded, not the number of callers."""
        async with self.open_bus() as bus:
            await asyncio.gather(*(bus.queue_push("q", {"n": number}) for number in range(500)))
            assert await bus.queue_length("q") == 500
            found = await bus.queue_drain("q", 1000)
            assert sorted(payload["n"] for _, payload in found) == list(range(500))

    async def test_a_full_queue_drops_the_oldest(self) -> None:
        """The queue is bounded; the newest entries are kept."""
        async with self.open_bus(max_queue_entries=300) as bus:
            for start in range(0, 1000, 50):
                await asyncio.gather(
                    *(bus.queue_push("q", {"n": number}) for number in range(start, start + 50))
                )
            length = await bus.queue_length("q")
            assert 300 <= length <= 300 + BOUND_SLACK
            found = await bus.queue_drain("q", 1000)
            assert {payload["n"] for _, payload in found} >= set(range(950, 1000))
            assert all(payload["n"] >= 1000 - length - 50 for _, payload in found)

    async def test_queues_and_channels_do_not_mix(self) -> None:
        """Keys are any text."""
        async with self.open_bus() as bus, contextlib.AsyncExitStack() as stack:
            listeners = {
                key: await stack.enter_async_context(listening(bus, key)) for key in HOSTILE_KEYS
            }
            for key in HOSTILE_KEYS:
                await bus.queue_push(f"queue {key}", {"key": key})
                await bus.publish(key, {"key": key})
            for key in HOSTILE_KEYS:
                found = await bus.queue_drain(f"queue {key}")
                assert [payload for _, payload in found] == [{"key": key}]
                await listeners[key].until(1)
                assert listeners[key].signals == [{"key": key}]

    async def test_an_entry_that_cannot_be_read_is_dropped(self) -> None:
        """The good ones beside it arrive."""
        async with self.open_bus() as bus:
            await bus.queue_push("q", {"n": 1})
            await self.break_entry(bus, "q")
            await bus.queue_push("q", {"n": 2})
            found = await bus.queue_drain("q")
            assert [payload for _, payload in found] == [{"n": 1}, {"n": 2}]
            assert await bus.queue_length("q") == 0

    async def test_an_entry_may_have_a_time_to_live(self) -> None:
        """A generous one changes nothing."""
        async with self.open_bus() as bus:
            await bus.queue_push("q", {"n": 1}, ttl_secs=600)
            assert [payload for _, payload in await bus.queue_drain("q")] == [{"n": 1}]

    async def test_every_subscriber_gets_every_signal(self) -> None:
        """In order, also large ones and odd characters."""
        async with (
            self.open_bus() as bus,
            listening(bus, "s") as first,
            listening(bus, "s") as second,
        ):
            sent = [{"n": number, "text": "汉" * number} for number in range(20)]
            sent.append({"text": "x" * 30_000, "quote": "'\"\\"})
            for signal in sent:
                await bus.publish("s", signal)
            for listener in (first, second):
                await listener.until(len(sent))
                assert listener.signals == sent

    async def test_a_signal_without_a_listener_is_lost_quietly(self) -> None:
        """Nobody gets it later."""
        async with self.open_bus() as bus:
            await bus.publish("s", {"n": 1})
            async with listening(bus, "s") as listener:
                await bus.publish("s", {"n": 2})
                await listener.until(1)
                assert listener.signals == [{"n": 2}]

    async def test_a_slow_reader_keeps_the_newest_signals(self) -> None:
        """At most a thousand wait; publishing never blocks on a reader."""
        async with self.open_bus() as bus:
            ready = asyncio.Event()
            signals = bus.subscribe("s", on_ready=ready.set)
            first = asyncio.ensure_future(anext(signals))
            async with asyncio.timeout(DEADLINE_SECONDS):
                await ready.wait()
                await bus.publish("s", {"n": -1})
                assert await first == {"n": -1}
                async with listening(bus, "s") as other:
                    for number in range(1300):
                        await bus.publish("s", {"n": number})
                        if number % 100 == 99:
                            await other.until(number + 1)
                found = [signal["n"] async for signal in _until(signals, {"n": 1299})]
            assert found == sorted(found)
            await signals.aclose()  # type: ignore[attr-defined]

    async def test_closing_the_bus_ends_its_subscriptions(self) -> None:
        """In order, without an error; closing twice is harmless."""
        async with self.open_bus() as bus, listening(bus, "s") as listener:
            await bus.ping()
            await bus.aclose()
            await bus.aclose()
            async with asyncio.timeout(DEADLINE_SECONDS):
                await listener.ended.wait()
            assert listener.failure is None


class BusOutageSuite(abc.ABC):
    """What holds for a bus over a server that goes away and comes back."""

    @abc.abstractmethod
    def open_pair(self) -> AbstractAsyncContextManager[tuple[MessageBus, Server]]:
        """Return a bus and the server it talks to; nobody else uses that server."""

    async def test_a_restart_of_the_server_needs_no_operator(self) -> None:
        """Subscribers hear of it and subscribe again; the same bus goes on working."""
        async with self.open_pair() as (bus, server):
            async with listening(bus, "s") as listener:
                await bus.publish("s", {"n": 1})
                await listener.until(1)
                await asyncio.to_thread(server.kill)
                async with asyncio.timeout(DEADLINE_SECONDS):
                    await listener.ended.wait()
                assert isinstance(listener.failure, BusError)
            await asyncio.to_thread(server.start)
            await bus.queue_push("q", {"n": 2})
            found = await bus.queue_drain("q")
            assert [payload for _, payload in found] == [{"n": 2}]
            async with listening(bus, "s") as listener:
                await bus.publish("s", {"n": 3})
                await listener.until(1)

    async def test_a_server_that_falls_silent_is_noticed(self) -> None:
        """It holds the connection and says nothing: subscribers are told, and can come back."""
        async with self.open_pair() as (bus, server):
            async with listening(bus, "s") as listener:
                await asyncio.to_thread(server.freeze)
                try:
                    async with asyncio.timeout(2 * DEADLINE_SECONDS):
                        await listener.ended.wait()
                finally:
                    await asyncio.to_thread(server.thaw)
                assert isinstance(listener.failure, BusError)
            async with listening(bus, "s") as listener:
                await bus.publish("s", {"n": 1})
                await listener.until(1)

    async def test_a_short_outage_is_waited_for(self) -> None:
        """A call that meets a restarting server answers when it is back."""
        async with self.open_pair() as (bus, server):
            await bus.queue_push("q", {"n": 1})
            await asyncio.to_thread(server.kill)
            pushed = asyncio.create_task(bus.queue_push("q", {"n": 2}))
            await asyncio.to_thread(server.start)
            await pushed
            found = await bus.queue_drain("q")
            assert {"n": 2} in [payload for _, payload in found]

    async def test_a_long_outage_is_a_plain_error(self) -> None:
        """Every call says so in bounded time; nothing of the driver shows."""
        async with self.open_pair() as (bus, server):
            await bus.ping()
            await asyncio.to_thread(server.kill)
            calls = (
                bus.ping(),
                bus.queue_push("q", {}),
                bus.queue_drain("q"),
                bus.publish("s", {}),
            )
            async with asyncio.timeout(DEADLINE_SECONDS):
                answers = await asyncio.gather(*calls, return_exceptions=True)
            for answer in answers:
                assert isinstance(answer, BusError)
                assert answer.retryable
                assert "Error" not in answer.message
            with pytest.raises(BusError):
                await anext(bus.subscribe("s"))
