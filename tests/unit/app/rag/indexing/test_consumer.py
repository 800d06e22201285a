"""How a worker fills its slots."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agentscope.app.records import Limits
from agentscope.testing.driver import Driver, story
from agentscope.testing.world import SIMULATED, World

FOUR_SLOTS = replace(SIMULATED, limits=Limits(slots=4, small_file_bytes=100))
LARGE = "GATE " + "x" * 200


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Expected warnings help nobody."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_one_slot_in_four_is_kept_for_small_files() -> None:
    """Large files take three slots; a small one starts at once although more of them wait."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        for number in range(6):
            await driver.upload(base, f"{LARGE}{number}")
        world.start_worker()
        await driver.until(lambda: len(world.reads) == 3)
        await asyncio.sleep(30)
        assert len(world.reads) == 3
        small = await driver.upload(base, "alpha")
        await driver.until_status(small, "ready", seconds=30)
        world.gate.set()
        await driver.indexed()

    story(tell, policy=FOUR_SLOTS)


def test_small_files_may_use_every_slot() -> None:
    """The reserve is no limit for them."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        for number in range(6):
            await driver.upload(base, f"GATE {number}")
        world.start_worker()
        await driver.until(lambda: len(world.reads) == 4)
        world.gate.set()
        await driver.indexed()

    story(tell, policy=FOUR_SLOTS)


def test_after_a_death_the_documents_of_the_dead_run_one_at_a_time() -> None:
    """Nothing runs beside a suspect; when they are through, work goes on side by side."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        worker = world.start_worker()
        suspects = [await driver.upload(base, f"GATE {number}") for number in range(2)]
        await driver.until(lambda: len(world.reads) == 2)
        world.kill(worker)
        others = [await driver.upload(base, f"alpha {number}") for number in range(4)]
        world.start_worker()
        await driver.until(lambda: len(world.reads) >= 3 and world.reads[-1] in suspects)
        held = [
            name for name in [*suspects, *others] if driver.record(name).lease_owner == "worker-2"
        ]
        assert len(held) == 1
        assert driver.record(held[0]).crashes == 0
        world.gate.set()
        await driver.indexed()
        assert {driver.status(name) for name in [*suspects, *others]} == {"ready"}
        assert not any(driver.record(name).alone for name in suspects)

    story(tell)


def test_a_stop_with_nothing_running_is_immediate() -> None:
    """An idle worker does not wait for its drain time."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        worker = world.start_worker()
        await driver.indexed()
        await asyncio.sleep(5)
        start = world.loop.time()
        await world.drain(worker)
        assert world.loop.time() - start < 1

    story(tell)


def test_running_documents_get_time_to_finish_at_a_stop() -> None:
    """What ends within the drain time is ready; no attempt is lost."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        worker = world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "GATE alpha")
        await world.at_gate.wait()
        drained = asyncio.create_task(world.drain(worker))
        await asyncio.sleep(1)
        late = await driver.upload(driver.record(document).knowledge_base_id, "beta")
        world.gate.set()
        await drained
        assert driver.status(document) == "ready"
        assert driver.status(late) == "pending"

    story(tell)
