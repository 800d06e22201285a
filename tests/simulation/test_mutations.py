"""Every guard of the protocol is removed once: the story that needs it must then fail.

Guards are marked in the code with a diamond and a name. Each has a story here that passes with
the guard and fails without it; those that random schedules find quickly are also removed under
the simulation.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.simulation.migration_stories import MIGRATION_GUARDS
from tests.simulation.record_stories import RECORD_GUARDS

import agentscope
from agentscope.app.rag.indexing import audit, lease, pipeline, purge, worker
from agentscope.app.rag.knowledge_base_manager import creation
from agentscope.app.rag.service import upload as upload_verb
from agentscope.app.rag.service.upload import UploadFields
from agentscope.app.records import (
    DocumentFailure,
    DocumentRecord,
    DocumentStatus,
    EmbeddingModelConfig,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
    Policy,
)
from agentscope.app.storage.memory import state
from agentscope.app.storage.verbs import RunWriter
from agentscope.app.transitions import deletion, guards, run, upload
from agentscope.errors import (
    AgentScopeError,
    ConflictError,
    EmbeddingInputError,
    LeaseLostError,
    NotReadyError,
    StorageError,
)
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point, Run
from agentscope.rag.vector_store import memory
from agentscope.testing.driver import Bytes, Driver, seconds, story
from agentscope.testing.plan import ROUGH
from agentscope.testing.scenario import simulate
from agentscope.testing.world import SIMULATED, USER, ViolationError, World

TTL = seconds(SIMULATED.timings.lease_ttl)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LINES = "\n".join(f"alpha line{number}" for number in range(300))
Patch = pytest.MonkeyPatch
Tell = Callable[[Patch], None]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Expected warnings help nobody."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def document(**fields: Any) -> DocumentRecord:
    """Return a record, pending unless the fields say otherwise."""
    known: dict[str, Any] = {
        "id": "d",
        "user_id": "u",
        "knowledge_base_id": "k",
        "filename": "a.txt",
        "status": DocumentStatus.PENDING,
        "due_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return DocumentRecord(**{**known, **fields})


def knowledge_base() -> KnowledgeBaseRecord:
    """Return an active knowledge base."""
    config = EmbeddingModelConfig("t", "c", "m", 8)
    return KnowledgeBaseRecord(
        id="k",
        user_id="u",
        name="n",
        embedding_model_config=config,
        collection_name="kb_k_1",
        status=KnowledgeBaseStatus.ACTIVE,
        created_at=NOW,
        updated_at=NOW,
    )


def no_document_is_stranded(patch: Patch) -> None:
    """A pending record without a due time is refused."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        name = await driver.upload(await driver.knowledge_base(), "alpha")
        with pytest.raises(ConflictError):
            await world.storage.documents.apply(
                name, lambda record, _, __: replace(record, due_at=None)
            )

    story(tell)


def a_stale_run_is_refused(patch: Patch) -> None:
    """Whatever a run tries that is not the current one."""
    record = document(status=DocumentStatus.INDEXING, run_id="new", lease_owner="w")
    policy = Policy()
    with pytest.raises(LeaseLostError):
        run.publish(
            record,
            knowledge_base(),
            NOW,
            run_id="old",
            chunk_count=1,
            warnings=(),
            report={},
            policy=policy,
        )
    with pytest.raises(LeaseLostError):
        run.renew(record, None, NOW, run_id="new", progress=None, policy=policy)


def crashes_are_capped(patch: Patch) -> None:
    """A file that kills its reader ends as what it is."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        name = await driver.upload(await driver.knowledge_base(), "CRASH alpha")
        await driver.until_status(name, "error", seconds=40_000)
        failure = driver.record(name).failure
        assert failure is not None
        assert failure.code == "worker_crash_loop"

    story(tell)


def a_pass_that_began_early_is_not_final(patch: Patch) -> None:
    """It took long: what a paused worker wrote meanwhile still needs another one."""
    grave = document(status=DocumentStatus.DELETING, purge_after=NOW + timedelta(seconds=5))
    late = NOW + timedelta(seconds=9)
    assert deletion.purge_passed(grave, None, late, claimed_at=NOW) is not None


def the_second_pass_removes_what_came_late(patch: Patch) -> None:
    """A suspended worker writes after the first pass."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        name = await driver.upload(base, "alpha")
        await driver.delete(name)
        await asyncio.sleep(10)
        collection = (await world.vectors.list_collections())[0]
        chunk = Chunk(content=TextBlock(text="late"), source="s", chunk_index=0, total_chunks=1)
        await world.vectors.upsert(collection, [Point([1.0] * 8, name, Run("r", 1), chunk)])
        await driver.rest()
        assert not driver.vectors()

    story(tell)


def a_given_up_upload_is_purged_twice(patch: Patch) -> None:
    """Its uploader may be slow and still finish the blob after the first pass."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        fields = {"id": "d1", "filename": "a.txt", "blob_uri": world.blobs.uri(f"kb/{base}/d1/1")}
        await world.storage.documents.begin_upload(USER, base, fields, policy=world.policy)
        await asyncio.sleep(2 * seconds(world.policy.timings.upload_ttl))
        assert driver.status("d1") == "deleting"
        await world.blobs.put(f"kb/{base}/d1/1", b"late")
        await driver.rest()
        assert not world.blobs.blobs

    story(tell)


def a_slow_upload_gets_no_name(patch: Patch) -> None:
    """It was silent for longer than it lives: its blob is never finished."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        names: list[str] = []
        put = world.blobs.put

        async def counted(key: str, data: bytes) -> str:
            names.append(key)
            return await put(key, data)

        patch.setattr(world.blobs, "put", counted)

        class Slow(Bytes):
            async def chunks(self) -> AsyncIterator[bytes]:
                yield b"alpha"
                await asyncio.sleep(2 * seconds(world.policy.timings.upload_ttl))

        with pytest.raises(NotReadyError):
            await driver.ask(
                lambda service: upload_verb.upload(
                    service, USER, base, Slow("a.txt", b"", UploadFields())
                )
            )
        assert not names

    story(tell)


def no_write_starts_after_the_deadline(patch: Patch) -> None:
    """The deadline counts from before the renewal was sent, and it holds without any answer."""

    async def tell(world: World) -> None:
        timings = world.policy.timings

        class SlowWriter:
            async def renew(self, progress: Any) -> None:
                await asyncio.sleep(8)

        held = lease.Lease(
            SlowWriter(),  # type: ignore[arg-type]  # all that is asked of it here
            clock=world.clock,
            timings=timings,
            sent_at=world.loop.time(),
            fields={},
        )
        usable = seconds(timings.lease_ttl - timings.margin)
        keeper = asyncio.create_task(held.keep())
        await asyncio.sleep(seconds(timings.heartbeat) + 9)
        assert held.deadline == pytest.approx(1000.0 + seconds(timings.heartbeat) + usable)
        keeper.cancel()
        await asyncio.sleep(usable)
        with pytest.raises(LeaseLostError):
            held.check()

    story(tell)


def a_run_that_may_be_shown_is_never_removed(patch: Patch) -> None:
    """The answer to `publish` is lost; the document is ready and complete."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        publish = RunWriter.publish

        async def lost(self: RunWriter, *arguments: Any, **named: Any) -> DocumentRecord:
            await publish(self, *arguments, **named)
            raise StorageError

        patch.setattr(RunWriter, "publish", lost)
        name = await driver.upload(base, LINES)
        await driver.until_status(name, "ready")
        await driver.rest()
        assert driver.vectors()[name] == 300

    story(tell)


def noting(sent: list[str], name: str, original: Any) -> Any:
    """Return `original` so that calls of it are noted."""

    async def told(self: RunWriter, *arguments: Any, **named: Any) -> Any:
        sent.append(name)
        return await original(self, *arguments, **named)

    return told


def who_lost_says_nothing(patch: Patch) -> None:
    """A worker that was told "lost" sends no failure."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        sent: list[str] = []
        for name in ("fail", "retry_later", "release"):
            original = getattr(RunWriter, name)

            async def told(
                self: RunWriter,
                *arguments: Any,
                _name: str = name,
                _to: Any = original,
                **named: Any,
            ) -> Any:
                sent.append(_name)
                return await _to(self, *arguments, **named)

            patch.setattr(RunWriter, name, told)
        deleted = await driver.upload(await driver.knowledge_base(), "GATE alpha")
        await world.at_gate.wait()
        await driver.delete(deleted)
        await driver.rest()
        assert not sent

    story(tell)


def a_worker_removes_its_own_run_only(patch: Patch) -> None:
    """A re-index fails for good: what was published before stays whole."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        name = await driver.upload(base, LINES)
        await driver.until_status(name, "ready")
        world.model.fail_with(EmbeddingInputError(), match="line299")
        await driver.reindex(name)
        await driver.until_status(name, "error")
        await world.check_always()
        assert len(await driver.search(base, "alpha")) == 100
        await driver.rest()
        assert driver.vectors()[name] == 300

    story(tell)


def an_incomplete_run_is_not_published(patch: Patch) -> None:
    """The store loses a point without saying so; the next run is complete."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        upsert = world.vectors.upsert
        losses = [1]

        async def lossy(collection: str, points: Any) -> None:
            await upsert(collection, points[: len(points) - (losses.pop() if losses else 0)])

        patch.setattr(world.vectors, "upsert", lossy)
        name = await driver.upload(await driver.knowledge_base(), LINES)
        await driver.until_status(name, "ready")
        await world.check_always()
        await driver.rest()

    story(tell)


def a_late_collection_spares_a_newer_run(patch: Patch) -> None:
    """It decided by an old record; the run that is being written now stays."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        name = await driver.upload(base, LINES)
        await driver.until_status(name, "ready")
        old = driver.record(name)
        world.model.hang(match="line299")
        await driver.reindex(name)
        await world.model.entered.wait()
        await driver.until(lambda: driver.vectors()[name] > 400)
        before = driver.vectors()[name]
        service = driver.api.service
        purger = purge.Purger(
            storage=service.storage,
            manager=service.manager,
            blobs=service.blobs,
            policy=world.policy,
        )
        await purger._collect(old)
        assert driver.vectors()[name] >= before
        world.model.heal()
        await driver.rest()

    story(tell)


def a_run_under_way_is_not_found(patch: Patch) -> None:
    """Its first batches are stored; no search shows them."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        world.model.hang(match="line299")
        name = await driver.upload(base, LINES)
        await driver.until(lambda: driver.vectors()[name] > 100)
        assert await driver.search(base, "alpha") == []
        world.model.heal()
        await driver.rest()

    story(tell)


def a_stray_run_is_reported(patch: Patch) -> None:
    """Vectors that belong to no document are found by the audit, and removed when old."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        await driver.knowledge_base()
        collection = (await world.vectors.list_collections())[0]
        chunk = Chunk(content=TextBlock(text="stray"), source="s", chunk_index=0, total_chunks=1)
        await world.vectors.upsert(collection, [Point([1.0] * 8, "none", Run("r", 1), chunk)])
        report = await world.auditor().run(repair=True)
        assert [finding.invariant for finding in report.findings] == ["I10"]
        assert report.waiting == 1
        await asyncio.sleep(25 * 3600)
        assert len((await world.auditor().run(repair=True)).repaired) == 1
        assert (await world.auditor().run()).clean

    story(tell)


def writers_make_no_collection(patch: Patch) -> None:
    """The collection vanished: the run fails, and nothing is brought back."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        worker_process = world.start_worker()
        base = await driver.knowledge_base()
        world.model.hang(times=1)
        await driver.upload(base, "alpha")
        await world.model.entered.wait()
        world.suspend(worker_process, 3 * TTL)
        await driver.delete_base(base)
        await driver.until(lambda: not world.storage._state.knowledge_bases)
        world.model.heal()
        await asyncio.sleep(2 * TTL)
        assert await world.vectors.list_collections() == []

    story(tell)


def _nothing(*arguments: Any, **named: Any) -> None:
    return


async def _async_nothing(*arguments: Any, **named: Any) -> None:
    return


def remove_due(patch: Patch) -> None:
    patch.setattr(state, "check_stranded", _nothing)
    patch.setattr(guards, "check_stranded", _nothing)


def remove_fence(patch: Patch) -> None:
    patch.setattr(run, "require_run", _nothing)


def remove_crash_cap(patch: Patch) -> None:
    claim = run.claim

    def uncapped(*arguments: Any, policy: Policy, **named: Any) -> DocumentRecord:
        policy = replace(policy, limits=replace(policy.limits, max_crashes=10**9))
        return claim(*arguments, policy=policy, **named)

    patch.setattr(run, "claim", uncapped)


def remove_final(patch: Patch) -> None:
    passed = deletion.purge_passed

    def by_the_end(
        record: DocumentRecord, base: Any, now: datetime, *, claimed_at: datetime
    ) -> DocumentRecord | None:
        return passed(record, base, now, claimed_at=now)

    patch.setattr(deletion, "purge_passed", by_the_end)


def remove_second_pass(patch: Patch) -> None:
    patch.setattr(deletion, "purge_passed", _nothing)


def remove_upload_tombstone(patch: Patch) -> None:
    abandon = upload.abandon_upload

    def at_once(record: DocumentRecord, base: Any, now: datetime, *, policy: Policy) -> Any:
        new = abandon(record, base, now, policy=policy)
        return new if new is record else replace(new, purge_after=now)

    patch.setattr(deletion, "abandon_upload", at_once)


def remove_upload_deadline(patch: Patch) -> None:
    patch.setattr(upload_verb._Meter, "_lifetime", lambda self: 1e9)


def remove_deadline(patch: Patch) -> None:
    patch.setattr(lease.Lease, "left", lambda self: 1e9)


def stamp_the_deadline_late(patch: Patch) -> None:
    granted = lease.Lease.granted

    def late(self: lease.Lease, sent_at: float) -> None:
        granted(self, self._clock.monotonic())

    patch.setattr(lease.Lease, "granted", late)


def remove_publish(patch: Patch) -> None:
    async def hasty(self: Any, attempt: Any, indexed: Any) -> None:
        try:
            await attempt.lease.writer.publish(indexed.chunk_count, warnings=(), report={})
        except AgentScopeError:
            await self._remove_own_run(attempt, 10)

    patch.setattr(worker.IndexWorker, "_publish", hasty)


def remove_lost(patch: Patch) -> None:
    async def complaining(self: Any, attempt: Any) -> None:
        try:
            await attempt.lease.writer.fail(DocumentFailure("lost", "The lease was lost."))
        except LeaseLostError:
            return

    patch.setattr(worker.IndexWorker, "_lost", complaining)


def remove_own_run(patch: Patch) -> None:
    async def all_of_it(self: Any, attempt: Any, limit: float) -> None:
        store = self._pipeline.manager.store
        for handle in attempt.handles:
            await store.delete_document(handle.collection, attempt.document.id)

    patch.setattr(worker.IndexWorker, "_remove_own_run", all_of_it)


def remove_verify(patch: Patch) -> None:
    patch.setattr(pipeline.Pipeline, "_verify", _async_nothing)


def remove_collect(patch: Patch) -> None:
    async def unbounded(
        self: Any, collection: str, document_id: str, *, below_epoch: int, keep_run_id: str | None
    ) -> None:
        self._drop(
            collection,
            lambda point: point.document_id == document_id and point.run.run_id != keep_run_id,
        )

    patch.setattr(memory.InMemoryVectorStore, "delete_stale", unbounded)


def remove_visibility(patch: Patch) -> None:
    patch.setattr(creation, "RecordVisibility", lambda storage, record: None)


def remove_orphan(patch: Patch) -> None:
    patch.setattr(audit.Auditor, "_run", _async_nothing)


def share_points_between_runs(patch: Patch) -> None:
    def key(point: Point) -> tuple[str, str, int]:
        return (point.document_id, "", point.chunk.chunk_index)

    def of_run(self: Any, collection: str, document_id: str, run_id: str) -> list[Any]:
        entries = self._get(collection).entries.values()
        return [
            entry
            for entry in entries
            if (entry.point.document_id, entry.point.run.run_id) == (document_id, run_id)
        ]

    patch.setattr(memory, "_key", key)
    patch.setattr(memory.InMemoryVectorStore, "_run", of_run)


def let_writers_make_collections(patch: Patch) -> None:
    upsert = memory.InMemoryVectorStore.upsert

    async def making(self: Any, collection: str, points: Any) -> None:
        await self.create_collection(collection, 8)
        await upsert(self, collection, points)

    patch.setattr(memory.InMemoryVectorStore, "upsert", making)


GUARDS: dict[str, tuple[Tell, Callable[[Patch], None]]] = {
    "due": (no_document_is_stranded, remove_due),
    "fence": (a_stale_run_is_refused, remove_fence),
    "crash_cap": (crashes_are_capped, remove_crash_cap),
    "final": (a_pass_that_began_early_is_not_final, remove_final),
    "second_pass": (the_second_pass_removes_what_came_late, remove_second_pass),
    "upload_tombstone": (a_given_up_upload_is_purged_twice, remove_upload_tombstone),
    "upload_deadline": (a_slow_upload_gets_no_name, remove_upload_deadline),
    "deadline": (no_write_starts_after_the_deadline, remove_deadline),
    "deadline_stamp": (no_write_starts_after_the_deadline, stamp_the_deadline_late),
    "publish": (a_run_that_may_be_shown_is_never_removed, remove_publish),
    "lost": (who_lost_says_nothing, remove_lost),
    "own_run": (a_worker_removes_its_own_run_only, remove_own_run),
    "verify": (an_incomplete_run_is_not_published, remove_verify),
    "collect": (a_late_collection_spares_a_newer_run, remove_collect),
    "visibility": (a_run_under_way_is_not_found, remove_visibility),
    "orphan": (a_stray_run_is_reported, remove_orphan),
    "run_namespace": (a_worker_removes_its_own_run_only, share_points_between_runs),
    "no_collection": (writers_make_no_collection, let_writers_make_collections),
    **MIGRATION_GUARDS,
    **RECORD_GUARDS,
}


@pytest.mark.parametrize("name", GUARDS)
def test_the_story_of_a_guard_holds(name: str, monkeypatch: Patch) -> None:
    """With the guard in place."""
    tell, _ = GUARDS[name]
    tell(monkeypatch)


@pytest.mark.parametrize("name", GUARDS)
def test_without_the_guard_its_story_fails(name: str, monkeypatch: Patch) -> None:
    """A story that cannot see the loss of its guard would prove nothing."""
    tell, remove = GUARDS[name]
    remove(monkeypatch)
    try:
        tell(monkeypatch)
    except (AssertionError, ViolationError, pytest.fail.Exception):
        return
    pytest.fail(f"the guard {name} can be removed unseen")


def test_every_marked_guard_has_a_story() -> None:
    """A diamond in the code is a promise."""
    marked: set[str] = set()
    for path in Path(agentscope.__file__).parent.rglob("*.py"):
        marked.update(re.findall(r"◆ (\w+)", path.read_text(encoding="utf-8")))
    assert marked - {"and"} <= set(GUARDS)


@pytest.mark.parametrize("name", ["crash_cap", "second_pass"])
def test_the_simulation_sees_the_loss_of_a_guard(name: str, monkeypatch: Patch) -> None:
    """Within a few dozen seeds."""
    GUARDS[name][1](monkeypatch)
    assert any(simulate(seed, ROUGH).violation for seed in range(60))
