"""Runs a bounded number of calls side by side and leaves none behind."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from agentscope.stopping import stopped

T = TypeVar("T")


async def together(calls: Sequence[Callable[[], Awaitable[T]]], *, limit: int = 8) -> list[T]:
    """Return the answers of `calls` in order, at most `limit` of them at a time.

    The first failure is raised as it is, after the other calls were cancelled and have ended.
    """
    gate = asyncio.Semaphore(limit)

    async def one(call: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await call()

    tasks = [asyncio.create_task(one(call)) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        await stopped(tasks)
        raise
