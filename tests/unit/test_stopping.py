"""Tasks are stopped until they have ended."""

import asyncio

from agentscope.stopping import stopped


async def test_a_task_that_swallows_a_cancellation_is_cancelled_again() -> None:
    """As a driver does that mistakes it for a lost connection."""
    begun, swallowed = asyncio.Event(), asyncio.Event()

    async def stubborn() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            swallowed.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(stubborn())
    await begun.wait()
    await stopped([task], again=0.01)
    assert swallowed.is_set()
    assert task.cancelled()


async def test_how_a_task_ended_is_taken_note_of() -> None:
    """Failures of what is being stopped do not come up later."""

    async def failing() -> None:
        raise ValueError

    ended, running = asyncio.create_task(failing()), asyncio.create_task(asyncio.sleep(3600))
    await asyncio.wait({ended})
    await stopped([ended, running])
    assert running.cancelled()


async def test_nothing_to_stop_is_no_wait() -> None:
    """An empty list ends at once."""
    await stopped([])
