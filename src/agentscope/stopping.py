"""How tasks are stopped: until they have ended, not until they were asked to."""

import asyncio
from collections.abc import Iterable
from typing import Any

AGAIN_SECONDS = 6.0
"""Longer than what a task may do while it is being stopped, such as handing its work back."""


async def stopped(tasks: "Iterable[asyncio.Task[Any]]", *, again: float = AGAIN_SECONDS) -> None:
    """Cancel tasks and return when all have ended; how they ended is taken note of.

    A driver may swallow a cancellation: mistake it for a lost connection, or answer all the same.
    Its task then goes on for ever, and so does who waits for it. So it is cancelled again.
    """
    known = list(tasks)
    left = {task for task in known if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=again)
    for task in known:
        if not task.cancelled():
            task.exception()
