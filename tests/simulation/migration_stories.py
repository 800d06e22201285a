"""Stories of the guards of a model migration, and how each guard is taken away."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agentscope.app.generations import EmbeddingModelConfig, Migration, MigrationPhase
from agentscope.app.rag.indexing import copying, worker
from agentscope.app.rag.service.migration import begin_with, cancel_migration
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import KnowledgeBaseRecord, KnowledgeBaseStatus
from agentscope.app.storage import verbs
from agentscope.app.transitions import migration as moves
from agentscope.app.transitions.migration import MigrationPlace
from agentscope.errors import ConflictError, LeaseLostError
from agentscope.testing.clients import CONFIG
from agentscope.testing.driver import Driver, story
from agentscope.testing.world import SIMULATED, USER, World

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = replace(CONFIG, model="second-embedding", dimensions=12)
LINES = "\n".join(f"alpha line{number}" for number in range(150))
Patch = pytest.MonkeyPatch


def migrating(phase: MigrationPhase) -> KnowledgeBaseRecord:
    """Return a knowledge base whose migration somebody holds under `m1`."""
    return KnowledgeBaseRecord(
        id="k",
        user_id="u",
        name="n",
        embedding_model_config=EmbeddingModelConfig("t", "c", "m", 8),
        collection_name="kb_k_1",
        status=KnowledgeBaseStatus.ACTIVE,
        migration=Migration(
            generation=2,
            embedding_model_config=SECOND,
            collection_name="kb_k_2",
            phase=phase,
            run_id="m1",
            lease_owner="w",
            due_at=NOW,
            started_at=NOW,
        ),
        created_at=NOW,
        updated_at=NOW,
    )


async def begin(driver: Driver, knowledge_base_id: str) -> None:
    """Begin to change to the second model."""

    async def ask(service: KnowledgeBaseService) -> None:
        record = await service.storage.knowledge_bases.get(USER, knowledge_base_id)
        assert record is not None
        await begin_with(service, record, SECOND)

    await driver.ask(ask)


def standing(world: World, knowledge_base_id: str) -> KnowledgeBaseRecord:
    """Return the knowledge base."""
    return world.storage._state.knowledge_bases[knowledge_base_id]


async def close_for_good(world: World, knowledge_base_id: str) -> None:
    """Put a migration into its closing phase, held by somebody who never goes on."""

    def closed(record: KnowledgeBaseRecord, now: datetime) -> KnowledgeBaseRecord:
        template = migrating(MigrationPhase.CLOSING).migration
        assert template is not None
        name = f"kb_{knowledge_base_id}_2"
        held = replace(template, collection_name=name, due_at=now + timedelta(days=1))
        return replace(record, migration=held, last_generation=2)

    await world.vectors.create_collection(f"kb_{knowledge_base_id}_2", 12)
    await world.storage.knowledge_bases.apply(knowledge_base_id, closed)


def a_swap_needs_the_closing_phase(patch: Patch) -> None:
    """Before it, a run may be published that only the old generation holds."""
    del patch
    with pytest.raises(ConflictError):
        moves.swap(migrating(MigrationPhase.COPYING), NOW, run_id="m1", policy=SIMULATED)


def a_stale_migrator_is_refused(patch: Patch) -> None:
    """Another holds the lease now."""
    del patch
    with pytest.raises(LeaseLostError):
        moves.swap(migrating(MigrationPhase.CLOSING), NOW, run_id="m0", policy=SIMULATED)


def a_place_of_another_phase_is_not_kept(patch: Patch) -> None:
    """A renewal that was under way while the phase changed."""
    del patch
    place = MigrationPlace(MigrationPhase.COPYING, "zz", 9, 9)
    record = moves.renew(
        migrating(MigrationPhase.CLOSING), NOW, run_id="m1", place=place, policy=SIMULATED
    )
    assert record.migration is not None
    assert record.migration.after == ""


def a_run_of_the_old_generation_alone_is_not_shown_when_closing(patch: Patch) -> None:
    """The knowledge base closes after the run looked and before it is published."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        await world.vectors.create_collection(f"kb_{base}_2", 12)
        publish = worker.IndexWorker._publish
        once = [True]

        def closed(record: KnowledgeBaseRecord, now: datetime) -> KnowledgeBaseRecord:
            template = migrating(MigrationPhase.CLOSING).migration
            assert template is not None
            held = replace(template, collection_name=f"kb_{base}_2", due_at=now + timedelta(days=1))
            return replace(record, migration=held, last_generation=2)

        async def late(self: Any, *arguments: Any) -> None:
            if once:
                once.clear()
                await close_for_good(world, base)
            await publish(self, *arguments)

        patch.setattr(worker.IndexWorker, "_publish", late)
        name = await driver.upload(base, LINES)
        await driver.until_status(name, "ready")
        record = driver.record(name)
        run = str(record.active_run_id)
        assert await world.vectors.count(f"kb_{base}_2", name, run) == record.chunk_count
        await driver.ask(lambda service: cancel_migration(service, USER, base))
        await driver.rest()

    story(tell)


def a_copy_of_what_was_deleted_meanwhile_is_not_written(patch: Patch) -> None:
    """The document and all its purges are over before the new model answers."""
    del patch

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        name = await driver.upload(base, LINES)
        other = await driver.upload(base, "beta")
        await driver.until_status(name, "ready")
        await driver.until_status(other, "ready")
        second = world.others["second-embedding"]
        second.hang(match="alpha")
        await begin(driver, base)
        await second.entered.wait()
        await driver.delete(name)
        await driver.until(lambda: driver.status(name) == "gone")
        second.heal()
        await driver.until(lambda: standing(world, base).generation == 2)
        assert name not in driver.vectors()
        await driver.rest()

    story(tell)


def a_copy_that_is_not_complete_is_not_swapped_to(patch: Patch) -> None:
    """The store loses a point twice without saying so: in the first pass and in the last."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        base = await driver.knowledge_base()
        name = await driver.upload(base, "alpha\nbeta")  # one batch in each pass
        await driver.until_status(name, "ready")
        upsert = world.vectors.upsert
        losses = [1, 1]

        async def lossy(collection: str, points: Any) -> None:
            await upsert(collection, points[: len(points) - (losses.pop() if losses else 0)])

        patch.setattr(world.vectors, "upsert", lossy)
        await begin(driver, base)
        await driver.until(lambda: standing(world, base).generation == 2)
        await world.check_always()
        await driver.rest()

    story(tell)


def remove_closing(patch: Patch) -> None:
    original = moves.swap

    def anyhow(record: KnowledgeBaseRecord, now: datetime, **named: Any) -> KnowledgeBaseRecord:
        assert record.migration is not None
        closing = replace(record.migration, phase=MigrationPhase.CLOSING)
        return original(replace(record, migration=closing), now, **named)

    patch.setattr(moves, "swap", anyhow)


def remove_fence(patch: Patch) -> None:
    patch.setattr(moves, "_held", lambda record, run_id: record.migration)


def remove_late_place(patch: Patch) -> None:
    original = moves.renew

    def kept(
        record: KnowledgeBaseRecord, now: datetime, *, place: MigrationPlace, **named: Any
    ) -> KnowledgeBaseRecord:
        assert record.migration is not None
        here = replace(place, phase=record.migration.phase)
        return original(record, now, place=here, **named)

    patch.setattr(moves, "renew", kept)


def remove_generations(patch: Patch) -> None:
    patch.setattr(verbs, "require_generations", lambda record, held: None)


def remove_late_copy(patch: Patch) -> None:
    async def all_of_them(self: Any, documents: Any) -> set[str]:
        await asyncio.sleep(0)
        return {document.id for document in documents}

    patch.setattr(copying.Copier, "_still_shown", all_of_them)


def remove_copy_verify(patch: Patch) -> None:
    async def nothing(self: Any, copied: Any) -> None:
        del self, copied

    patch.setattr(copying.Copier, "_verify", nothing)


MIGRATION_GUARDS: dict[str, tuple[Callable[[Patch], None], Callable[[Patch], None]]] = {
    "closing": (a_swap_needs_the_closing_phase, remove_closing),
    "migration_fence": (a_stale_migrator_is_refused, remove_fence),
    "late_place": (a_place_of_another_phase_is_not_kept, remove_late_place),
    "generations": (
        a_run_of_the_old_generation_alone_is_not_shown_when_closing,
        remove_generations,
    ),
    "late_copy": (a_copy_of_what_was_deleted_meanwhile_is_not_written, remove_late_copy),
    "copy_verify": (a_copy_that_is_not_complete_is_not_swapped_to, remove_copy_verify),
}
