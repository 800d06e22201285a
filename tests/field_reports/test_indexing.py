"""Field reports about retries, races, deletion, the bus and fairness; numbers are their rows."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from agentscope.app._bus_ops import enqueue_index_task
from agentscope.app.message_bus.base import MessageBusKeys
from agentscope.app.rag.indexing.consumer import Consumer
from agentscope.app.rag.service.upload import UploadFields
from agentscope.app.records import DocumentStatus, OnDuplicate
from agentscope.errors import (
    BusError,
    CorruptFileError,
    DimensionMismatchError,
    EmbeddingError,
    KnowledgeBaseNotFoundError,
    StorageError,
    VectorStoreError,
)
from agentscope.testing.driver import Driver, seconds, story
from agentscope.testing.world import SIMULATED, USER, World

TTL = seconds(SIMULATED.timings.lease_ttl)
LINES = "\n".join(f"alpha line{number}" for number in range(300))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Expected warnings help nobody."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_field_report_01_a_document_deleted_during_parsing_stays_away_after_a_restart() -> None:
    """No hit, no vector, no blob, no row, also when every process was started anew."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        document = await driver.upload(base, "GATE alpha")
        await world.at_gate.wait()
        await driver.delete(document)
        await driver.delete(document)
        world.gate.set()
        for process in [*world.workers, driver.api.process]:
            world.kill(process)
        world.restart_the_dead()
        driver.api = world.apis[0]
        await driver.rest()
        assert await driver.search(base, "alpha") == []
        assert driver.find(document) is None
        assert not driver.vectors()
        assert not world.blobs.blobs

    story(tell)


def test_field_report_02_one_connection_error_does_not_end_the_consumer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It says degraded meanwhile, comes back by itself, and drains the queue without a signal."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        consumers: list[Consumer] = []
        run = Consumer.run

        async def noted(self: Consumer) -> None:
            consumers.append(self)
            await run(self)

        monkeypatch.setattr(Consumer, "run", noted)
        ping = world.bus.ping

        async def refuse() -> None:
            raise BusError

        monkeypatch.setattr(world.bus, "ping", refuse)  # a subscription begins with one
        world.start_worker()
        base = await driver.knowledge_base()
        await driver.upload(base, "alpha")
        await driver.indexed(seconds=60)
        assert consumers[0].health().state == "degraded"
        monkeypatch.setattr(world.bus, "ping", ping)
        await driver.until(lambda: consumers[0].health().state == "ok", 30)
        for number in range(40):
            await world.bus.queue_push(MessageBusKeys.index_tasks_queue(), {"n": number})
        await world.bus.publish(MessageBusKeys.index_tasks_signal(), {})
        await asyncio.sleep(10)
        assert await world.bus.queue_length(MessageBusKeys.index_tasks_queue()) == 0

    story(tell)


def test_field_report_14_stopping_a_worker_leaves_no_task_and_no_lease() -> None:
    """Every task of the process has ended; the next worker goes on at once."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        before = asyncio.all_tasks()
        worker = world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "GATE alpha")
        await world.at_gate.wait()
        await world.drain(worker)
        await asyncio.sleep(1)
        left = [task for task in asyncio.all_tasks() - before if task.get_name() != "probe"]
        owned = [task for task in left if "index" in str(task.get_coro())]
        assert not owned
        assert driver.record(document).lease_owner is None
        world.gate.set()
        world.start_worker()
        await driver.until_status(document, "ready", seconds=20)

    story(tell)


def test_field_report_17_the_fence_refuses_a_worker_that_woke_up_late() -> None:
    """Neither its status nor its vectors count."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        first = world.start_worker()
        base = await driver.knowledge_base()
        world.model.hang(times=1)
        document = await driver.upload(base, LINES)
        await world.model.entered.wait()
        stale = driver.record(document).run_id
        world.suspend(first, 3 * TTL)
        world.model.heal()
        world.start_worker()
        await driver.until_status(document, "ready", seconds=2.5 * TTL)
        winner = driver.record(document).active_run_id
        assert winner != stale
        await asyncio.sleep(4 * TTL)
        assert driver.record(document).active_run_id == winner
        assert driver.record(document).status is DocumentStatus.READY
        await driver.rest(suspended=True)

    story(tell)


def test_field_report_18_a_renewal_that_raises_once_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The document becomes ready in its first run."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "LONG alpha")
        await driver.claimed(document)
        apply = world.storage.documents.apply
        failures = [StorageError(), StorageError()]

        async def flaky(*arguments: Any) -> Any:
            if failures:
                raise failures.pop()
            return await apply(*arguments)

        monkeypatch.setattr(world.storage.documents, "apply", flaky)
        await driver.until_status(document, "ready", "error")
        assert driver.status(document) == "ready"
        assert world.reads == [document]
        assert not failures

    story(tell)


def test_field_report_19_a_backlog_needs_no_new_signal() -> None:
    """A hundred tasks queued before the worker starts are all done."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        documents = [await driver.upload(base, f"alpha {number}") for number in range(100)]
        world.start_worker()
        await driver.indexed()
        assert {driver.status(document) for document in documents} == {"ready"}

    story(tell)


def test_field_report_20_two_workers_share_forty_slow_documents() -> None:
    """Each holds at most its slots, and the work is split about evenly."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        documents = [await driver.upload(base, f"alpha {number}") for number in range(40)]
        world.start_worker()
        world.start_worker()
        by_worker: dict[str, str] = {}
        while any(driver.status(document) != "ready" for document in documents):
            held = Counter[str]()
            for document in documents:
                owner = driver.record(document).lease_owner
                if owner is not None:
                    held[owner] += 1
                    by_worker[document] = owner
            assert all(count <= SIMULATED.limits.slots for count in held.values())
            await asyncio.sleep(0.1)
        assert min(Counter(by_worker.values()).values()) >= 12

    story(tell)


def test_field_report_21_a_knowledge_base_deleted_under_load_leaves_nothing() -> None:
    """Two hundred documents in every state: rows, blobs, vectors and collections are gone."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        world.start_worker()
        base = await driver.knowledge_base()
        for number in range(200):
            await driver.upload(base, f"alpha {number}")
        await driver.delete_base(base)
        with pytest.raises(KnowledgeBaseNotFoundError):
            await driver.delete_base(base)
        await driver.rest()
        assert not world.storage._state.documents
        assert not world.storage._state.knowledge_bases
        assert not world.blobs.blobs
        assert await world.vectors.list_collections() == []

    story(tell)


def test_field_report_22_a_failed_vector_delete_is_done_again_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The record stays until the vectors are gone; nobody sees the document meanwhile."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        document = await driver.upload(base, "alpha")
        await driver.until_status(document, "ready")
        delete = world.vectors.delete_document
        failures = [VectorStoreError(), VectorStoreError()]

        async def flaky(*arguments: Any) -> None:
            if failures:
                raise failures.pop()
            await delete(*arguments)

        monkeypatch.setattr(world.vectors, "delete_document", flaky)
        await driver.delete(document)
        assert driver.status(document) == "deleting"
        assert await driver.search(base, "alpha") == []
        await driver.delete(document)
        await driver.rest()
        assert not failures
        assert not driver.vectors()

    story(tell)


def test_field_report_24_a_killed_worker_is_recovered_within_lease_and_sweep() -> None:
    """The next worker takes over by itself; the attempt is counted."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        worker = world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "GATE alpha")
        await world.at_gate.wait()
        world.kill(worker)
        world.at_gate.clear()
        world.start_worker()
        took = await driver.until(world.at_gate.is_set)
        assert took <= TTL + seconds(SIMULATED.timings.sweep_interval)
        assert driver.record(document).attempt == 2
        world.gate.set()
        await driver.until_status(document, "ready", seconds=20)

    story(tell)


def test_field_report_27_a_failed_refresh_keeps_the_old_content() -> None:
    """It stays searchable, the failure is shown, and a retry works."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        document = await driver.upload(base, LINES)
        await driver.until_status(document, "ready")
        world.model.fail_with(EmbeddingError(retryable=False))
        await driver.reindex(document)
        await driver.until_status(document, "error")
        assert len(await driver.search(base, "alpha")) == 100
        assert driver.record(document).searchable
        world.model.heal()
        await driver.reindex(document)
        await driver.until_status(document, "ready", seconds=60)
        await driver.rest()

    story(tell)


def test_field_report_28_ten_parallel_uploads_of_one_file_store_one_copy() -> None:
    """All answers name it; after a deletion it can be stored again."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        skip = UploadFields(on_duplicate=OnDuplicate.SKIP)
        uploads = [driver.upload(base, "alpha", fields=skip) for _ in range(10)]
        names = await asyncio.gather(*uploads)
        assert len(set(names)) == 1
        await driver.rest()
        assert len(world.storage._state.documents) == 1
        assert len(world.blobs.blobs) == 1
        assert world.model.embedded == 1
        await driver.delete(names[0])
        again = await driver.upload(base, "alpha", fields=skip)
        assert again != names[0]
        await driver.rest()
        assert driver.status(again) == "ready"

    story(tell)


def test_field_report_30_wrong_dimensions_write_nothing() -> None:
    """The model returns other vectors than it says: a clear error, and deleting is complete."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        world.model.fail_with(DimensionMismatchError())
        document = await driver.upload(base, LINES)
        await driver.until_status(document, "error")
        failure = driver.record(document).failure
        assert failure is not None
        assert failure.code == "dimension_mismatch"
        assert len(world.reads) == 1
        await driver.rest()
        assert not driver.vectors()
        await driver.delete(document)
        await driver.rest()
        assert not world.blobs.blobs

    story(tell)


def test_field_report_36_a_blank_file_is_not_silently_ready() -> None:
    """It ends in `error` with code `no_text` and can be indexed again."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "EMPTY")
        await driver.until_status(document, "error")
        failure = driver.record(document).failure
        assert failure is not None
        assert (failure.code, failure.retryable) == ("no_text", False)
        assert failure.code != CorruptFileError.code
        await driver.rest()

    story(tell)


def test_field_report_40_a_large_document_is_never_half_visible() -> None:
    """Three thousand chunks arrive in many requests and appear all at once."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        text = "\n".join(f"alpha {number}" for number in range(3000))
        document = await driver.upload(base, text)
        seen = set()
        while driver.status(document) != "ready":
            seen.add(len(await driver.search(base, "alpha")))
            await asyncio.sleep(2)
        seen.add(len(await driver.search(base, "alpha")))
        assert seen == {0, 100}
        assert driver.record(document).chunk_count == 3000

    story(tell)


@pytest.mark.parametrize("workers", [1, 3])
def test_field_report_42_a_bulk_import_does_not_starve_anybody(workers: int) -> None:
    """The single document is ready within three times what it takes alone."""

    async def alone(world: World) -> None:
        driver = Driver(world)
        for _ in range(workers):
            world.start_worker()
        base = await driver.knowledge_base("u2")
        start = world.loop.time()
        for number in range(10):
            await driver.upload(base, f"{LINES} {number}", user="u2")
            await driver.indexed()
        took.append((world.loop.time() - start) / 10)

    async def crowded(world: World) -> None:
        driver = Driver(world)
        for _ in range(workers):
            world.start_worker()
        crowd, base = await driver.knowledge_base("u1"), await driver.knowledge_base("u2")
        for number in range(120):
            await driver.upload(crowd, f"{LINES} {number}", user="u1")
        start = world.loop.time()
        document = await driver.upload(base, LINES, user="u2")
        await driver.until_status(document, "ready")
        took.append(world.loop.time() - start)

    took: list[float] = []
    story(alone)
    story(crowded)
    assert took[1] <= 3 * took[0] + seconds(SIMULATED.timings.poll_interval)


def test_field_report_43_a_job_longer_than_its_lease_runs_once() -> None:
    """Heartbeats hold the lease; ten duplicates of the task change nothing."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        world.start_worker()
        base = await driver.knowledge_base()
        document = await driver.upload(base, "LONG alpha")
        await driver.claimed(document)
        for _ in range(10):
            await enqueue_index_task(world.bus, USER, base, document)
        await driver.until_status(document, "ready")
        assert world.reads == [document]
        assert driver.vectors()[document] == 1

    story(tell)
