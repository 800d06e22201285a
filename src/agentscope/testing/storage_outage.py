"""What every storage over a server must do when that server goes away and comes back."""

import abc
import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from agentscope.errors import StorageError
from agentscope.testing.servers import Server
from agentscope.testing.storage_world import World

DEADLINE_SECONDS = 30.0


class StorageOutageSuite(abc.ABC):
    """Outages of the server."""

    @abc.abstractmethod
    def open_pair(self) -> AbstractAsyncContextManager[tuple[World, Server]]:
        """Return a storage and its server; nobody else uses that server meanwhile."""

    async def test_a_restart_of_the_server_needs_no_operator(self) -> None:
        """What was acknowledged is there and the same storage goes on working."""
        async with self.open_pair() as (world, server):
            base = await world.knowledge_base()
            document = await world.ready(base)
            held = await world.running(base)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            assert await world.storage.documents.get("u", base.id, document.id) == document
            assert (await world.writer(held).publish(2, warnings=(), report={})).searchable
            await world.check_totals()
            await world.check_events("u")

    async def test_calls_wait_for_a_short_outage(self) -> None:
        """Those under way when the server dies end as one or the other, never by half."""
        async with self.open_pair() as (world, server):
            base = await world.knowledge_base()
            await world.upload(base)
            tasks = [asyncio.create_task(world.upload(base)) for _ in range(20)]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.to_thread(server.kill)
            waiting = asyncio.create_task(world.storage.now())
            await asyncio.to_thread(server.start)
            async with asyncio.timeout(DEADLINE_SECONDS):
                results = await asyncio.gather(*tasks, return_exceptions=True)
                await waiting
            for one in results:
                if isinstance(one, BaseException):
                    assert isinstance(one, StorageError)
                else:
                    assert await world.raw(one) is not None
            await world.check_totals()
            await world.check_events("u")

    async def test_a_long_outage_is_a_plain_error(self) -> None:
        """In bounded time, worth another try, and nothing of the driver shows."""
        async with self.open_pair() as (world, server):
            base = await world.knowledge_base()
            await asyncio.to_thread(server.kill)
            async with asyncio.timeout(DEADLINE_SECONDS):
                answers = await asyncio.gather(
                    world.storage.now(),
                    world.upload(base),
                    world.claim(),
                    world.storage.events.last("u"),
                    return_exceptions=True,
                )
            for answer in answers:
                assert isinstance(answer, StorageError)
                assert answer.retryable
                assert "Error" not in answer.message
            with pytest.raises(StorageError):
                await world.storage.registry.get("x")
