"""Health."""

import asyncio

import pytest

from agentscope.app import health
from agentscope.app.health import Health


async def test_every_part_is_asked() -> None:
    """One that fails or hangs is not ready; one that is off is disabled."""

    async def fine() -> None:
        return

    async def broken() -> None:
        raise OSError("down")

    report = await Health("1", {"a": fine, "b": broken}, {"c": False, "d": True}).report()
    assert report.components == {"a": "ok", "b": "not_ready", "c": "disabled", "d": "ok"}
    assert not report.ready


async def test_a_part_that_hangs_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer does not wait for it."""
    monkeypatch.setattr(health, "PROBE_SECONDS", 0.01)

    async def hangs() -> None:
        await asyncio.Event().wait()

    assert not (await Health("1", {"a": hangs}, {}).report()).ready


async def test_parts_are_not_asked_more_than_once_a_second() -> None:
    """However often health is asked for."""
    asked = 0

    async def counted() -> None:
        nonlocal asked
        asked += 1

    probe = Health("1", {"a": counted}, {})
    await asyncio.gather(*(probe.report() for _ in range(50)))
    assert asked == 1
