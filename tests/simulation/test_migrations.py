"""A model is changed while processes die, networks fail and documents come and go."""

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.simulation.migration_stories import LINES, begin, close_for_good, standing

from agentscope.app.rag.service.migration import cancel_migration
from agentscope.app.records import KnowledgeBaseRecord
from agentscope.errors import EmbeddingAuthError
from agentscope.rag.document import SearchMode
from agentscope.testing.driver import Driver, story
from agentscope.testing.plan import MIGRATING
from agentscope.testing.scenario import simulate
from agentscope.testing.world import USER, World

SEEDS = 32
BLOCKS = 4
STEPS_PER_BLOCK = 16


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Expected warnings help nobody."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_invariant_holds_while_models_change(block: int) -> None:
    """No document is lost, shown twice or shown in part, before, during and after each swap."""
    for seed in range(block, SEEDS, BLOCKS):
        outcome = simulate(20_000 + seed, replace(MIGRATING, suspends=seed % 3 == 0))
        if outcome.violation:
            trace = "\n".join(outcome.trace)
            pytest.fail(f"seed {20_000 + seed}: {outcome.violation}\n{trace}", pytrace=False)


def _killed_after(calls: int) -> bool:
    """Kill the worker after so many calls of a migration; say whether it came so far."""
    came = [False]

    async def tell(world: World) -> None:
        driver = Driver(world)
        first = world.start_worker()
        base = await driver.knowledge_base()
        names = [await driver.upload(base, f"{LINES}\nword{number}") for number in range(3)]
        for name in names:
            await driver.until_status(name, "ready")
        await begin(driver, base)
        start = world.network.calls

        def record() -> KnowledgeBaseRecord:
            return standing(world, base)

        def due() -> bool:
            return world.network.calls >= start + calls or record().generation == 2

        await driver.until(due)
        came[0] = record().generation == 1
        world.kill(first)
        added = await driver.upload(base, "alpha word3")
        world.start_worker()
        await driver.until(lambda: record().generation == 2)
        await driver.until_status(added, "ready")
        await world.check_always()
        for number, name in enumerate([*names, added]):
            handle = await driver.api.service.manager.get_knowledge(USER, base)
            where = {"document_id": name}
            hits = await driver.ask(
                lambda _, handle=handle, number=number, where=where: handle.search(  # type: ignore[misc]
                    f"word{number}", top_k=3, mode=SearchMode.VECTOR, metadata_filter=where
                )
            )
            assert hits
            assert hits[0].document_id == name
        await driver.rest()

    story(tell)
    return came[0]


@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_worker_may_die_at_any_step(block: int) -> None:
    """Whatever it had done, the next one brings the migration to its end, and nothing is left."""
    reached = 0
    for step in range(block, BLOCKS * STEPS_PER_BLOCK, BLOCKS):
        reached += _killed_after(step)
    assert reached > STEPS_PER_BLOCK / 4


def test_a_new_model_that_fails_harms_no_upload() -> None:
    """The document waits without losing attempts, and is there as soon as the model works."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        await close_for_good(world, base)
        second = world.others["second-embedding"]
        second.fail_with(EmbeddingAuthError())
        name = await driver.upload(base, "alpha")
        await driver.until(lambda: len(second.calls) >= 3)
        record = driver.record(name)
        assert record.status not in ("ready", "error")
        assert record.attempt <= 1
        second.heal()
        await driver.until_status(name, "ready")
        await driver.ask(lambda service: cancel_migration(service, USER, base))
        assert await driver.search(base, "alpha")
        await driver.rest()

    story(tell)


def test_a_migration_of_nothing_is_done_at_once() -> None:
    """An empty knowledge base, and one whose only document failed."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        empty, failed = await driver.knowledge_base(), await driver.knowledge_base()
        name = await driver.upload(failed, "CORRUPT")
        await driver.until(lambda: driver.status(name) in ("error", "ready"))
        for base in (empty, failed):
            await begin(driver, base)
            await driver.until(lambda base=base: standing(world, base).generation == 2)  # type: ignore[misc]
        later = await driver.upload(empty, "alpha")
        await driver.until_status(later, "ready")
        await driver.rest()

    story(tell)
