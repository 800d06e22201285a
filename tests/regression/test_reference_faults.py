"""One test per proven fault of the reference implementation (rows A1 to C3): ours does better.

Each is a story in a simulated installation: production code, virtual time, no sleeping.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agentscope.app._bus_ops import enqueue_index_task
from agentscope.app.message_bus.base import MessageBusKeys
from agentscope.app.rag.service.upload import UploadFields, upload
from agentscope.app.records import DocumentStatus
from agentscope.app.storage.verbs import RunWriter, tombstone
from agentscope.errors import (
    BusError,
    EmbeddingError,
    EmbeddingInputError,
    KnowledgeBaseNotFoundError,
    LeaseLostError,
    VectorStoreError,
)
from agentscope.testing.driver import Bytes, Driver, seconds, story
from agentscope.testing.faults import FaultRates
from agentscope.testing.simulation import current_process
from agentscope.testing.world import SIMULATED, USER, World

TTL = seconds(SIMULATED.timings.lease_ttl)
LINES = "\n".join(f"alpha line{number}" for number in range(300))


def test_fault_a1_a_graceful_stop_hands_every_document_back() -> None:
    """The drained document is pending, unleased and unharmed; the next worker finishes it."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        worker = world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "GATE alpha")
        await world.at_gate.wait()
        await world.drain(worker)
        record = driver.record(document)
        assert record.status is DocumentStatus.PENDING
        assert record.lease_owner is None
        assert record.attempt == 0
        world.gate.set()
        world.start_worker()
        await driver.until_status(document, "ready", seconds=60)
        await driver.rest()

    story(tell)


def test_fault_a2_a_document_deleted_while_it_is_indexed_never_comes_back() -> None:
    """No hit, no vector, no blob, no record is left, although the worker was past parsing."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        world.model.hang()
        document = await driver.upload(base, "alpha secret")
        await world.model.entered.wait()
        await driver.delete(document)
        world.model.heal()
        assert await driver.search(base, "alpha") == []
        await driver.rest()
        assert driver.status(document) == "gone"
        assert not driver.vectors()
        assert not world.blobs.blobs

    story(tell)


def test_fault_a3_a_stale_worker_cannot_empty_a_ready_document() -> None:
    """The paused worker wakes after the new owner published: every chunk is still there."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        first = world.start_worker()
        base = await driver.knowledge_base()
        world.model.hang(times=1)
        document = await driver.upload(base, LINES)
        await world.model.entered.wait()
        world.suspend(first, 4 * TTL)
        world.start_worker()
        await driver.until_status(document, "ready", seconds=3 * TTL)
        world.model.heal()
        await asyncio.sleep(5 * TTL)
        assert len(await driver.search(base, "alpha")) == 100
        await driver.rest(suspended=True)
        assert driver.vectors()[document] == 300

    story(tell)


def test_fault_a4_a_worker_that_lost_writes_no_error() -> None:
    """The record stays as its new owner left it."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        first = world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "GATE alpha")
        await world.at_gate.wait()
        world.suspend(first, 4 * TTL)
        world.gate.set()
        world.start_worker()
        await driver.until_status(document, "ready", seconds=3 * TTL)
        version = driver.record(document).run_id
        await asyncio.sleep(5 * TTL)
        record = driver.record(document)
        assert (record.status, record.failure, record.run_id) == ("ready", None, version)
        await driver.rest(suspended=True)

    story(tell)


def test_fault_a5_duplicate_tasks_do_not_index_a_ready_document_again() -> None:
    """Ten more queue entries cost no reading and no embedding, even while the provider fails."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        document = await driver.upload(base, "alpha")
        await driver.until_status(document, "ready")
        world.model.fail_with(EmbeddingError())
        for _ in range(10):
            await enqueue_index_task(
                world.bus, user_id=USER, knowledge_base_id=base, document_id=document
            )
        await driver.rest()
        assert world.reads == [document]
        assert world.model.embedded == 1
        assert driver.status(document) == "ready"

    story(tell)


def test_fault_a6_one_worker_never_holds_a_document_twice() -> None:
    """After its own lease ran out, the same process claims again under a new run; one is shown."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        worker = world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "GATE alpha")
        await world.at_gate.wait()
        first = driver.record(document).run_id
        world.freeze(worker, 2 * TTL)
        await asyncio.sleep(2 * TTL)
        world.gate.set()
        await driver.until_status(document, "ready", seconds=3 * TTL)
        assert driver.record(document).active_run_id != first
        await driver.rest()
        assert driver.vectors()[document] == 1

    story(tell)


def test_fault_a7_a_run_never_brings_a_deleted_record_back() -> None:
    """Each write of the run after the deletion, and after the last purge, is refused."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        worker = world.start_worker()
        document = await driver.upload(base, "GATE alpha")
        await world.at_gate.wait()
        run_id = driver.record(document).run_id
        assert run_id is not None
        world.kill(worker)
        documents, policy = world.storage.documents, world.policy
        await tombstone(documents, document, policy=policy)
        writer = RunWriter(documents, document, run_id, policy)
        for _ in range(2):
            with pytest.raises(LeaseLostError):
                await writer.set_stage(DocumentStatus.CHUNKING)
            with pytest.raises(LeaseLostError):
                await writer.publish(1, warnings=(), report={})
            with pytest.raises(LeaseLostError):
                await writer.renew()
            await driver.until_status(document, "gone")
        assert driver.find(document) is None

    story(tell)


def test_fault_a8_a_lost_subscription_comes_back_and_polling_goes_on_meanwhile() -> None:
    """Every signal cuts the connection; every document is indexed all the same."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        documents = [await driver.upload(base, f"alpha {number}") for number in range(5)]
        await driver.indexed(seconds=120)
        assert {driver.status(document) for document in documents} == {"ready"}
        world.network.rates = FaultRates()
        late = await driver.upload(base, "beta")
        await driver.until_status(late, "ready", seconds=30)

    story(tell, rates=FaultRates(signal_cut=1.0))


def test_fault_a9_one_failed_renewal_harms_nothing() -> None:
    """The storage is away for a moment while a long file is read: still one run, still ready."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "LONG alpha")
        await driver.until(lambda: bool(world.reads))
        for _ in range(3):
            world.network.rates.before = 1.0
            await asyncio.sleep(TTL / 3)
            world.network.rates.before = 0.0
            await asyncio.sleep(TTL / 2)
        await driver.until_status(document, "ready", "error")
        assert driver.status(document) == "ready"
        assert world.reads == [document]

    story(tell)


def test_fault_a10_a_failure_that_could_not_be_told_is_told_later() -> None:
    """The storage is away when the run fails; the lease runs out and the next run tells it."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        document = await driver.upload(await driver.knowledge_base(), "CORRUPT alpha")
        await driver.claimed(document)
        world.network.rates.before = 1.0
        await asyncio.sleep(2 * TTL)
        world.network.rates.before = 0.0
        await driver.until_status(document, "error", seconds=3 * TTL)
        failure = driver.record(document).failure
        assert failure is not None
        assert failure.code == "corrupt_file"
        await driver.rest()

    story(tell)


def test_fault_a11_a_provider_that_recovers_needs_no_user() -> None:
    """Two failures, then the third run succeeds; nothing of the failures is left to see."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        world.model.fail_with(EmbeddingError(), times=2)
        document = await driver.upload(await driver.knowledge_base(), "alpha")
        await driver.until_status(document, "ready", seconds=120)
        record = driver.record(document)
        assert (record.failure, record.attempt) == (None, 0)
        assert len(world.reads) == 3

    story(tell)


def test_fault_a12_a_file_that_kills_workers_is_set_aside_and_blames_nobody_else() -> None:
    """It ends in `worker_crash_loop`; the files that ran beside it are ready."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        poison = await driver.upload(base, "POISON alpha")
        healthy = [await driver.upload(base, f"alpha {number}") for number in range(5)]
        started = 0
        while driver.status(poison) != "error":
            if not world.workers or all(worker.dead for worker in world.workers):
                world.start_worker()
                started += 1
            await asyncio.sleep(1)
        await driver.indexed()
        failure = driver.record(poison).failure
        assert failure is not None
        assert failure.code == "worker_crash_loop"
        assert {driver.status(document) for document in healthy} == {"ready"}
        assert started <= 1 + SIMULATED.limits.max_crashes + 1
        await driver.rest()

    story(tell)


def test_fault_a13_a_dead_reading_process_costs_its_document_only() -> None:
    """The crash is counted against one file; the five after it are ready."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        crash = await driver.upload(base, "CRASH alpha")
        healthy = [await driver.upload(base, f"alpha {number}") for number in range(5)]
        await driver.indexed()
        assert {driver.status(document) for document in healthy} == {"ready"}
        failure = driver.record(crash).failure
        assert failure is not None
        assert failure.code == "worker_crash_loop"
        assert world.reads.count(crash) == SIMULATED.limits.max_crashes

    story(tell)


def test_fault_a14_deleting_a_hung_document_frees_its_slot() -> None:
    """Both slots hang; after the deletions the third file is ready at once."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        hung = [await driver.upload(base, f"GATE {number}") for number in range(2)]
        await driver.until(lambda: len(world.reads) == 2)
        third = await driver.upload(base, "alpha")
        await asyncio.sleep(TTL)
        assert driver.status(third) == "pending"
        for document in hung:
            await driver.delete(document)
        assert await driver.until_status(third, "ready", seconds=20)
        await driver.rest()

    story(tell)


def test_fault_a15_the_clock_of_a_worker_decides_nothing() -> None:
    """A worker a day behind indexes, keeps its lease, and is recovered from like any other."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        worker = world.start_worker()
        worker.lag = 86_400.0
        base = await driver.knowledge_base()
        long = await driver.upload(base, "LONG alpha")
        await driver.until_status(long, "ready")
        assert world.reads == [long]
        second = await driver.upload(base, "GATE beta")
        await world.at_gate.wait()
        world.kill(worker)
        world.gate.set()
        world.start_worker()
        await driver.until_status(second, "ready", seconds=2 * TTL)

    story(tell)


def test_fault_a16_user_ids_with_colons_are_recovered_like_any_other() -> None:
    """The worker of `oidc:alice:1` dies; her document is finished."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        worker = world.start_worker()
        user = "oidc:alice:1"
        base = await driver.knowledge_base(user)
        document = await driver.upload(base, "GATE alpha", user=user)
        await world.at_gate.wait()
        world.kill(worker)
        world.gate.set()
        world.start_worker()
        await driver.until_status(document, "ready", seconds=2 * TTL)
        assert len(await driver.search(base, "alpha", user)) == 1

    story(tell)


def test_fault_a17_a_knowledge_base_deleted_during_an_upload_leaves_nothing() -> None:
    """The uploader is told that it is gone; neither record nor blob stays."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()

        class Slow(Bytes):
            async def chunks(self) -> AsyncIterator[bytes]:
                yield b"alpha"
                await driver.delete_base(base)
                yield b"beta"

        with pytest.raises(KnowledgeBaseNotFoundError):
            await driver.ask(
                lambda service: upload(service, USER, base, Slow("a.txt", b"", UploadFields()))
            )
        await driver.rest()
        assert not world.blobs.blobs
        assert not world.storage._state.documents
        assert not world.storage._state.knowledge_bases

    story(tell)


def test_fault_a18_a_failing_vector_store_cannot_make_a_deletion_lose_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is touched before the collection is gone; then everything goes by itself."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        document = await driver.upload(base, "alpha")
        await driver.until_status(document, "ready")

        async def refuse(name: str) -> None:
            raise VectorStoreError

        with monkeypatch.context() as patch:
            patch.setattr(world.vectors, "delete_collection", refuse)
            await driver.delete_base(base)
            await asyncio.sleep(60)
            assert len(world.blobs.blobs) == 1
            with pytest.raises(KnowledgeBaseNotFoundError):
                await driver.search(base, "alpha")
        await driver.rest()
        assert not world.blobs.blobs
        assert not world.storage._state.knowledge_bases

    story(tell)


def test_fault_a19_the_collection_of_a_deleted_knowledge_base_is_never_made_again() -> None:
    """A worker that still holds the handle cannot bring the collection back."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        worker = world.start_worker()
        base = await driver.knowledge_base()
        world.model.hang(times=1)
        await driver.upload(base, LINES)
        await world.model.entered.wait()
        world.suspend(worker, TTL)
        await driver.delete_base(base)
        world.model.heal()
        await driver.rest(suspended=True)
        assert await world.vectors.list_collections() == []

    story(tell)


def test_fault_a20_a_malformed_queue_entry_costs_nothing() -> None:
    """Entries that name nothing are acknowledged; the ten documents are ready."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        garbage: list[dict[str, Any]] = [{}, {"document_id": 7}, {"user_id": None}]
        for entry in garbage:
            await world.bus.queue_push(MessageBusKeys.index_tasks_queue(), entry)
        for number in range(10):
            await driver.upload(base, f"alpha {number}")
        await world.bus.publish(MessageBusKeys.cancel_signal(), {"document_id": None})
        world.start_worker()
        await driver.indexed(seconds=120)
        assert Counter(record.status for record in world.storage._state.documents.values()) == {
            DocumentStatus.READY: 10
        }

    story(tell)


def test_fault_a21_what_a_failed_run_wrote_is_never_found() -> None:
    """The last batch is refused by the provider; the first ones are invisible and then gone."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        world.model.fail_with(EmbeddingInputError(), match="line299")
        document = await driver.upload(base, LINES)
        await driver.until_status(document, "error")
        assert await driver.search(base, "alpha") == []
        await driver.rest()
        assert not driver.vectors()

    story(tell)


def test_fault_a22_a_reindexed_document_stays_searchable_all_the_time() -> None:
    """While the new run is under way the old one answers."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        world.gate.set()
        document = await driver.upload(base, "GATE alpha")
        await driver.until_status(document, "ready")
        world.gate.clear()
        world.at_gate.clear()
        await driver.reindex(document)
        await world.at_gate.wait()
        assert len(await driver.search(base, "alpha")) == 1
        world.gate.set()
        await driver.until_status(document, "ready")
        assert len(await driver.search(base, "alpha")) == 1
        await driver.rest()

    story(tell)


def test_fault_b1_an_outage_costs_no_embedding_call() -> None:
    """Twenty documents wait through many sweeps without a worker; each is embedded once."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        for number in range(20):
            await driver.upload(base, f"alpha {number}")
        await asyncio.sleep(1200)
        assert await world.bus.queue_length(MessageBusKeys.index_tasks_queue()) == 20
        world.start_worker()
        world.start_worker()
        await driver.indexed()
        await driver.rest()
        assert len(world.model.calls) == 20
        assert sorted(world.reads) == sorted(set(world.reads))

    story(tell)


def test_fault_b2_a_starting_worker_takes_everything_that_waits() -> None:
    """A hundred documents queued before the start are ready without another signal."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        for number in range(100):
            await driver.upload(base, f"alpha {number}")
        world.kill(driver.api.process)
        world.start_worker()
        await driver.indexed()
        assert len(world.reads) == 100

    story(tell)


def test_fault_b3_a_worker_holds_no_more_than_it_can_run() -> None:
    """Never more leases than slots; a worker that joins late takes its share of the rest."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        documents = [await driver.upload(base, f"alpha {number}") for number in range(60)]
        world.start_worker()

        def leases() -> Counter[str | None]:
            held = Counter(driver.record(document).lease_owner for document in documents)
            del held[None]
            return held

        def ready() -> int:
            return sum(driver.status(document) == "ready" for document in documents)

        by_worker: dict[str, str] = {}
        second_started = False
        while ready() < 60:
            for document in documents:
                owner = driver.record(document).lease_owner
                if owner is not None:
                    by_worker[document] = owner
            assert all(count <= SIMULATED.limits.slots for count in leases().values())
            if ready() >= 10 and not second_started:
                second_started = True
                world.start_worker()
            await asyncio.sleep(0.1)
        assert Counter(by_worker.values())["worker-2"] >= 0.4 * 50

    story(tell)


def test_fault_b4_one_document_does_not_wait_behind_another_tenants_hundred() -> None:
    """It is ready within a few service times."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        crowd = await driver.knowledge_base("crowd")
        single = await driver.knowledge_base("single")
        for number in range(100):
            await driver.upload(crowd, f"alpha {number}", user="crowd")
        document = await driver.upload(single, "alpha", user="single")
        before = len(world.reads)
        await driver.until_status(document, "ready")
        assert len(world.reads) - before <= 2 + SIMULATED.limits.slots
        await driver.indexed()

    story(tell)


def test_fault_b5_an_idle_sweep_costs_the_same_for_any_number_of_documents() -> None:
    """With two hundred finished documents a minute of rest takes as many calls as with none."""

    async def idle_calls(world: World) -> int:
        before = world.network.calls
        await asyncio.sleep(60)
        return world.network.calls - before

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        empty = await idle_calls(world)
        world.start_worker()
        for number in range(200):
            await driver.upload(base, f"alpha {number}")
        await driver.indexed()
        await driver.rest()
        world.kill(world.workers[0])
        assert await idle_calls(world) <= empty + 3

    story(tell)


def test_fault_b6_a_large_document_goes_out_in_bounded_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two thousand chunks: no request holds more than 256 points."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        sizes: list[int] = []
        upsert = world.vectors.upsert

        async def counted(collection: str, points: Any) -> None:
            sizes.append(len(points))
            await upsert(collection, points)

        monkeypatch.setattr(world.vectors, "upsert", counted)
        text = "\n".join(f"alpha {number}" for number in range(2000))
        document = await driver.upload(await driver.knowledge_base(), text)
        await driver.until_status(document, "ready")
        assert sum(sizes) == 2000
        assert max(sizes) <= 256

    story(tell)


def test_fault_b7_embedding_is_bounded_and_stops_at_the_first_final_failure() -> None:
    """At most four calls at once; after a refusal no more than those are made."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        world.model.fail_with(EmbeddingInputError(), match="line100 ")
        text = "\n".join(f"alpha line{number} " for number in range(5000))
        document = await driver.upload(await driver.knowledge_base(), text)
        await driver.until_status(document, "error")
        assert world.model.running_max <= 4
        await asyncio.sleep(60)
        assert len(world.model.calls) <= 10

    story(tell)


def test_fault_b9_a_reading_longer_than_the_lease_keeps_it() -> None:
    """Four lease times of reading, ten duplicate tasks meanwhile: one run."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        world.start_worker()
        base = await driver.knowledge_base()
        document = await driver.upload(base, "LONG alpha")
        await driver.claimed(document)
        for _ in range(10):
            await enqueue_index_task(
                world.bus, user_id=USER, knowledge_base_id=base, document_id=document
            )
            await asyncio.sleep(5)
        await driver.until_status(document, "ready")
        assert world.reads == [document]

    story(tell)


def test_fault_c1_a_cut_upload_leaves_nothing() -> None:
    """The client goes away in the middle: no record, no blob."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()

        class Cut(Bytes):
            async def chunks(self) -> AsyncIterator[bytes]:
                yield b"alpha"
                raise ConnectionResetError

        with pytest.raises(ConnectionResetError):
            await driver.ask(
                lambda service: upload(service, USER, base, Cut("a.txt", b"", UploadFields()))
            )
        await driver.rest()
        assert not world.blobs.blobs
        assert not world.storage._state.documents

    story(tell)


def test_fault_c2_an_upload_is_accepted_although_the_bus_is_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One answer, one record; the document is indexed without any signal."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()

        async def refuse(*arguments: Any, **named: Any) -> Any:
            raise BusError

        monkeypatch.setattr(world.bus, "queue_push", refuse)
        monkeypatch.setattr(world.bus, "publish", refuse)
        document = await driver.upload(base, "alpha")
        await driver.until_status(document, "ready", seconds=30)
        assert len(world.storage._state.documents) == 1

    story(tell)


def test_fault_c3_a_crash_after_the_bytes_were_stored_leaves_no_orphan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The API dies between blob and record; the intent leads the sweeper to the blob."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        put = world.blobs.put
        process = driver.api.process

        async def put_and_die(key: str, data: bytes) -> str:
            uri = await put(key, data)
            world.kill(process)
            return uri

        monkeypatch.setattr(world.blobs, "put", put_and_die)
        answer = await world.call(
            driver.api,
            lambda service: upload(service, USER, base, Bytes("a.txt", b"alpha", UploadFields())),
            seconds=30,
        )
        assert answer is None
        assert len(world.blobs.blobs) == 1
        world.restart_the_dead()
        await driver.rest()
        assert not world.blobs.blobs

    story(tell)


def test_the_world_outside_is_no_process() -> None:
    """Servers answer although every process is dead."""
    assert current_process() is None


def test_a_driver_that_swallows_a_cancellation_holds_no_document() -> None:
    """A lost connection is told instead, and the renewal goes on: it is stopped again."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        world.network.rates.slow = 0.7
        world.network.rates.swallowed = 1.0
        names = [await driver.upload(base, LINES) for _ in range(12)]
        for name in names:
            assert await driver.until_status(name, "ready", "error", seconds=3600) == "ready"
        world.network.rates = FaultRates()
        await driver.rest()

    story(tell)
