"""What the audit finds and what it mends."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from agentscope.app.records import Counts
from agentscope.testing.driver import Driver, story
from agentscope.testing.world import World

LINES = "\n".join(f"alpha line{number}" for number in range(100))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Expected warnings help nobody."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


async def ready(world: World) -> tuple[Driver, str, str, str]:
    """Return a driver, and a knowledge base with one ready document in a collection."""
    driver = Driver(world)
    world.start_worker()
    base = await driver.knowledge_base()
    document = await driver.upload(base, LINES)
    await driver.until_status(document, "ready")
    await driver.rest()
    return driver, base, document, (await world.vectors.list_collections())[0]


async def found(world: World) -> list[str]:
    """Return the invariants that an audit names."""
    report = await world.auditor().run()
    assert report.total == len(report.findings)
    return [finding.invariant for finding in report.findings]


def test_lost_vectors_are_named_and_made_again() -> None:
    """A repair queues the document; after that nothing is found."""

    async def tell(world: World) -> None:
        driver, base, document, collection = await ready(world)
        entries = world.vectors._collections[collection].entries
        del entries[next(iter(entries))]
        assert await found(world) == ["I6"]
        report = await world.auditor().run(repair=True)
        assert len(report.repaired) == 1
        await driver.rest()
        assert len(await driver.search(base, "alpha")) == 100
        assert driver.vectors()[document] == 100

    story(tell)


def test_a_lost_collection_is_made_again_with_all_its_documents() -> None:
    """Vectors can always be made again from the original files."""

    async def tell(world: World) -> None:
        driver, base, _, collection = await ready(world)
        await world.vectors.delete_collection(collection)
        assert set(await found(world)) == {"I10", "I6"}
        await world.auditor().run(repair=True)
        await driver.rest()
        assert len(await driver.search(base, "alpha")) == 100

    story(tell)


def test_a_lost_file_is_named_and_nothing_can_mend_it() -> None:
    """The document stays searchable; the user is told by the operator."""

    async def tell(world: World) -> None:
        await ready(world)
        world.blobs.blobs.clear()
        assert await found(world) == ["I11"]
        report = await world.auditor().run(repair=True)
        assert not report.repaired

    story(tell)


def test_an_orphaned_file_is_removed_when_it_is_old() -> None:
    """A young one may belong to something that is just happening."""

    async def tell(world: World) -> None:
        await ready(world)
        await world.blobs.put("kb/none/none/1", b"x")
        report = await world.auditor().run(repair=True)
        assert (report.waiting, report.repaired) == (1, [])
        report = await world.auditor().run(repair=True, older_than=timedelta(0))
        assert len(report.repaired) == 1
        assert await found(world) == []

    story(tell)


def test_a_collection_of_no_knowledge_base_is_named() -> None:
    """Only names of the manager's own form are judged; others belong to other programs."""

    async def tell(world: World) -> None:
        await ready(world)
        await world.vectors.create_collection("kb_gone_1", 8)
        await world.vectors.create_collection("somebody_elses", 8)
        assert await found(world) == ["I10"]
        await world.auditor().run(repair=True, older_than=timedelta(0))
        assert await found(world) == []
        assert await world.vectors.has_collection("somebody_elses")

    story(tell)


def test_counters_that_drifted_are_named() -> None:
    """They are compared with the documents that are there."""

    async def tell(world: World) -> None:
        _, base, _, _ = await ready(world)
        world.storage._state.counts[base] = Counts(documents=7)
        assert await found(world) == ["counters"]

    story(tell)


def test_unfinished_work_is_counted_apart() -> None:
    """A purge that waits for its second pass is no fault."""

    async def tell(world: World) -> None:
        driver, _, document, _ = await ready(world)
        await driver.delete(document)
        report = await world.auditor().run()
        assert report.clean
        assert report.unfinished["deleting"] == 1
        waited = await world.auditor().wait(timeout_seconds=3600)
        assert not waited.unfinished

    story(tell)


def test_a_chunk_with_a_wrong_number_is_found_by_the_deep_audit() -> None:
    """The count alone would not see it."""

    async def tell(world: World) -> None:
        _, _, _, collection = await ready(world)
        entries = world.vectors._collections[collection].entries
        entry = entries[next(iter(entries))]
        chunk = entry.point.chunk.model_copy(update={"chunk_index": 500})
        entry.point = replace(entry.point, chunk=chunk)
        assert await found(world) == ["I5"]

    story(tell)


def test_a_usage_that_drifted_is_named() -> None:
    """What quotas are judged by is compared with the records, too; a clean one is not named."""

    async def tell(world: World) -> None:
        await ready(world)
        report = await world.auditor().run()
        assert (report.findings, report.counts["users"]) == ([], 1)
        users = world.storage._state.users
        user = users[next(iter(users))]
        user.arriving_bytes += 7
        assert await found(world) == ["counters"]

    story(tell)
