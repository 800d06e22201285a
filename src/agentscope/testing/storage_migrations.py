"""What every storage must do for the change of an embedding model: leases, fences and the swap."""

import asyncio
from datetime import timedelta
from functools import partial

import pytest

from agentscope.app.generations import EmbeddingModelConfig, MigrationFailure, MigrationPhase
from agentscope.app.records import DocumentStatus, KnowledgeBaseRecord
from agentscope.app.storage import migrations
from agentscope.app.storage.migrations import MigrationWriter
from agentscope.app.transitions import migration as moves
from agentscope.app.transitions.migration import MigrationPlace
from agentscope.errors import ConflictError, GenerationMissedError, LeaseLostError
from agentscope.testing.storage_uploads import StorageCase
from agentscope.testing.storage_world import GRACE, POLICY, TTL, World

NEXT = EmbeddingModelConfig("test", "c", "next", 12, {"truncate": True})
FAILURE = MigrationFailure("provider_down", "The provider does not answer.", retryable=True)
SECOND = timedelta(seconds=1)


async def begun(world: World, config: EmbeddingModelConfig = NEXT) -> KnowledgeBaseRecord:
    """Return a new knowledge base that migrates."""
    return await begin(world, await world.knowledge_base(), config)


async def begin(
    world: World, base: KnowledgeBaseRecord, config: EmbeddingModelConfig = NEXT
) -> KnowledgeBaseRecord:
    """Begin a migration."""
    change = partial(
        moves.begin,
        config=config,
        fingerprint={"model": config.model, "sample": [0.5, -0.25]},
        collection_name=lambda generation: f"kb_x_{generation}",
        total=3,
    )
    record = await world.storage.knowledge_bases.apply(base.id, change)
    assert record is not None
    return record


async def held(
    world: World, base: KnowledgeBaseRecord, run_id: str = "m1", owner: str = "w"
) -> MigrationWriter:
    """Return the writer of whoever takes the migration, which must be due."""
    claimed = await migrations.claim(
        world.storage.knowledge_bases, base.id, owner=owner, run_id=run_id, policy=POLICY
    )
    assert claimed is not None
    return MigrationWriter(world.storage.knowledge_bases, claimed, POLICY)


async def standing(world: World, base: KnowledgeBaseRecord) -> KnowledgeBaseRecord:
    """Return the knowledge base as it stands."""
    found = await world.storage.knowledge_bases.find(base.id)
    assert found is not None
    return found


class MigrationSuite(StorageCase):
    """A knowledge base moves to its next generation."""

    async def test_a_migration_goes_from_begin_to_swap(self) -> None:
        """The next generation becomes the active one in one write; the old collection is noted."""
        async with self.open_world() as world:
            base = await begun(world)
            migration = base.migration
            assert migration is not None
            assert (migration.generation, migration.collection_name) == (2, "kb_x_2")
            assert (base.generation, base.collection_name) == (1, "kb_x")
            writer = await held(world, base)
            await writer.renew(MigrationPlace(MigrationPhase.COPYING, "d2", 2, 3))
            await writer.close()
            closing = (await standing(world, base)).migration
            assert closing is not None
            assert (closing.phase, closing.after, closing.done) == (MigrationPhase.CLOSING, "", 0)
            await writer.swap()
            moved = await standing(world, base)
            assert moved.embedding_model_config == NEXT
            assert (moved.generation, moved.collection_name) == (2, "kb_x_2")
            assert moved.fingerprint == {"model": "next", "sample": [0.5, -0.25]}
            assert moved.migration is None
            (old,) = moved.retired
            assert old.name == "kb_x"
            assert moved.due_at == old.drop_after
            events = await world.storage.events.after("u", 0)
            assert [event.type for event in events] == [
                "knowledge_base.created",
                "knowledge_base.migration_started",
                "knowledge_base.migrated",
            ]

    async def test_one_worker_holds_a_migration(self) -> None:
        """Of many that ask at once one gets it, and another only when its lease has ended."""
        async with self.open_world() as world:
            base = await begun(world)
            await world.warm()

            async def ask(number: int) -> bool:
                claimed = await migrations.claim(
                    world.storage.knowledge_bases,
                    base.id,
                    owner=f"w{number}",
                    run_id=f"m{number}",
                    policy=POLICY,
                )
                return claimed is not None

            assert sum(await asyncio.gather(*(ask(number) for number in range(12)))) == 1
            world.advance(TTL - SECOND)
            assert not await ask(20)
            world.advance(2 * SECOND)
            assert await ask(21)

    async def test_who_lost_a_migration_writes_nothing(self) -> None:
        """Not its place, not the next phase, not the swap, not a failure."""
        async with self.open_world() as world:
            base = await begun(world)
            old = await held(world, base)
            world.advance(TTL + SECOND)
            await held(world, base, "m2", "other")
            before = await standing(world, base)
            place = MigrationPlace(MigrationPhase.COPYING, "z", 9, 9)
            for call in (
                old.renew(place),
                old.close(),
                old.swap(),
                old.release(),
                old.failed(FAILURE, delay=SECOND, final=True, counted=True),
            ):
                with pytest.raises(LeaseLostError):
                    await call
            assert await standing(world, base) == before

    async def test_a_place_of_an_earlier_phase_is_not_kept(self) -> None:
        """Else documents would be skipped that nobody counted; the lease is renewed."""
        async with self.open_world() as world:
            base = await begun(world)
            writer = await held(world, base)
            await writer.close()
            world.advance(TTL / 2)
            await writer.renew(MigrationPlace(MigrationPhase.COPYING, "z", 9, 9))
            migration = (await standing(world, base)).migration
            assert migration is not None
            assert (migration.after, migration.done) == ("", 0)
            world.advance(TTL - SECOND)
            await writer.renew(MigrationPlace(MigrationPhase.CLOSING, "a", 1, 9))

    async def test_a_swap_needs_the_closing_phase(self) -> None:
        """Before it, a run may be published that only the old generation holds."""
        async with self.open_world() as world:
            base = await begun(world)
            writer = await held(world, base)
            with pytest.raises(ConflictError):
                await writer.swap()
            assert (await standing(world, base)).generation == 1

    async def test_a_run_is_published_only_where_it_can_be_found(self) -> None:
        """Before closing in one generation, then in both, after the swap in the new one."""
        async with self.open_world() as world:
            base = await begun(world)
            claims = [await world.running(base) for _ in range(4)]
            runs = [world.writer(claim) for claim in claims]
            assert (await runs[0].publish(1, warnings=(), report={})).searchable
            writer = await held(world, base)
            await writer.close()
            for generations in ({1}, {2}):
                with pytest.raises(GenerationMissedError):
                    await runs[1].publish(1, warnings=(), report={}, generations=generations)
            await runs[1].publish(1, warnings=(), report={}, generations={1, 2})
            await writer.swap()
            with pytest.raises(GenerationMissedError):
                await runs[2].publish(1, warnings=(), report={}, generations={1})
            await runs[2].publish(1, warnings=(), report={}, generations={1, 2})
            await runs[3].publish(1, warnings=(), report={}, generations={2})
            await world.check_totals()

    async def test_nothing_slips_between_closing_and_a_publication(self) -> None:
        """Of both at the same instant: either it was published before, or it is refused."""
        async with self.open_world() as world:
            await world.warm()
            for number in range(6):
                base = await begun(world)
                writer = await held(world, base, f"m{number}")
                run = world.writer(await world.running(base))

                async def publish(run: object = run) -> bool:
                    try:
                        await run.publish(1, warnings=(), report={})  # type: ignore[attr-defined]
                    except GenerationMissedError:
                        return False
                    return True

                closed, published = await asyncio.gather(writer.close(), publish())
                (document,) = await world.storage.documents.of_knowledge_base(base.id)
                assert (document.status is DocumentStatus.READY) is published
                if not published:
                    assert closed.migration is not None

    async def test_a_failure_is_tried_again_and_ends_the_closing_phase(self) -> None:
        """Uploads must not wait for a model that does not answer; tries without success count."""
        async with self.open_world() as world:
            base = await begun(world)
            writer = await held(world, base)
            await writer.close()
            await writer.failed(FAILURE, delay=10 * SECOND, final=False, counted=True)
            migration = (await standing(world, base)).migration
            assert migration is not None
            assert migration.phase is MigrationPhase.COPYING
            assert (migration.failure, migration.attempt) == (FAILURE, 1)
            world.advance(9 * SECOND)
            assert not await migrations.claim(
                world.storage.knowledge_bases, base.id, owner="w", run_id="m2", policy=POLICY
            )
            world.advance(2 * SECOND)
            again = await held(world, base, "m3")
            await again.renew(MigrationPlace(MigrationPhase.COPYING, "d1", 1, 3))
            migration = (await standing(world, base)).migration
            assert migration is not None
            assert (migration.failure, migration.attempt) == (None, 0)

    async def test_one_that_stopped_goes_on_when_it_is_asked_for_again(self) -> None:
        """With its place; another model is refused until it is cancelled."""
        async with self.open_world() as world:
            base = await begun(world)
            writer = await held(world, base)
            await writer.renew(MigrationPlace(MigrationPhase.COPYING, "d1", 1, 3))
            with pytest.raises(ConflictError):
                await begin(world, base)
            await writer.failed(FAILURE, delay=SECOND, final=True, counted=True)
            world.advance(10 * TTL)
            assert not await migrations.claim(
                world.storage.knowledge_bases, base.id, owner="w", run_id="m2", policy=POLICY
            )
            with pytest.raises(ConflictError):
                await begin(world, base, EmbeddingModelConfig("test", "c", "third", 4))
            again = await begin(world, base)
            assert again.migration is not None
            assert again.migration.after == "d1"
            await held(world, base, "m3")

    async def test_a_cancelled_generation_is_never_used_again(self) -> None:
        """Whoever still writes into it touches nothing that anybody reads."""
        async with self.open_world() as world:
            base = await begun(world)
            writer = await held(world, base)
            cancel = partial(moves.cancel, policy=POLICY)
            cancelled = await world.storage.knowledge_bases.apply(base.id, cancel)
            assert cancelled is not None
            assert (cancelled.generation, cancelled.migration) == (1, None)
            assert [item.name for item in cancelled.retired] == ["kb_x_2"]
            with pytest.raises(LeaseLostError):
                await writer.close()
            again = await begin(world, base)
            assert again.migration is not None
            assert again.migration.generation == 3
            assert [item.name for item in again.retired] == ["kb_x_2"]

    async def test_a_retired_collection_is_due_when_nobody_reads_it(self) -> None:
        """A sweeper gets the knowledge base then, and it rests when all is removed."""
        async with self.open_world() as world:
            base = await begun(world)
            writer = await held(world, base)
            await writer.close()
            await writer.swap()
            bases = world.storage.knowledge_bases
            assert await bases.claim_maintenance(5, policy=POLICY) == []
            world.advance(TTL + GRACE + SECOND)
            (claim,) = await bases.claim_maintenance(5, policy=POLICY)
            assert claim.knowledge_base is not None
            assert claim.knowledge_base.retired[0].drop_after <= claim.claimed_at
            after = await bases.apply(base.id, partial(moves.looked_after, dropped={"kb_x"}))
            assert after is not None
            assert (after.retired, after.due_at) == ((), None)

    async def test_a_migration_is_due_to_sweepers_until_it_ends(self) -> None:
        """So that workers hear of it again if the first word was lost."""
        async with self.open_world() as world:
            base = await begun(world)
            bases = world.storage.knowledge_bases
            (claim,) = await bases.claim_maintenance(5, policy=POLICY)
            assert claim.knowledge_base is not None
            await migrations.announce(world.storage.registry, base.id)
            assert await migrations.announced(world.storage.registry) == [base.id]
            looked = await bases.apply(base.id, partial(moves.looked_after, dropped=()))
            assert looked is not None
            assert looked.due_at is not None
            await migrations.forget(world.storage.registry, base.id)
            assert await migrations.announced(world.storage.registry) == []

    async def test_the_lease_of_a_dead_holder_can_be_ended(self) -> None:
        """The embedded service knows that its predecessor is gone."""
        async with self.open_world() as world:
            base = await begun(world)
            await migrations.announce(world.storage.registry, base.id)
            await held(world, base)
            await migrations.expire_leases(world.storage)
            await held(world, base, "m2")

    async def test_a_deleted_knowledge_base_does_not_migrate(self) -> None:
        """Its holder has lost, and nobody takes it."""
        async with self.open_world() as world:
            base = await begun(world)
            writer = await held(world, base)
            await world.delete_base(base.id)
            with pytest.raises(LeaseLostError):
                await writer.swap()
            world.advance(TTL + SECOND)
            assert not await migrations.claim(
                world.storage.knowledge_bases, base.id, owner="w", run_id="m2", policy=POLICY
            )
            assert not await migrations.claim(
                world.storage.knowledge_bases, "nothing", owner="w", run_id="m2", policy=POLICY
            )
