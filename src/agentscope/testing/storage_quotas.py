"""What every storage must do about quotas: they hold in a race and are counted exactly."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from agentscope.app.records import (
    DocumentRecord,
    KnowledgeBaseRecord,
    Limits,
    OnDuplicate,
    Policy,
    UploadResult,
)
from agentscope.app.storage.verbs import abandon_upload, reserve_upload, tombstone
from agentscope.app.transitions import knowledge_base as moves
from agentscope.errors import QuotaExceededError, StorageQuotaExceededError
from agentscope.identity import new_id
from agentscope.testing.storage_uploads import StorageCase
from agentscope.testing.storage_world import MODEL, POLICY, World

RACERS = 20


def refused(results: list[Any]) -> list[StorageQuotaExceededError]:
    """Return the refusals; anything else that failed fails the test."""
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, StorageQuotaExceededError):
            raise result
    return [result for result in results if isinstance(result, StorageQuotaExceededError)]


class QuotaSuite(StorageCase):
    """Knowledge bases, documents and bytes of one user."""

    async def test_of_parallel_creations_as_many_succeed_as_the_quota_allows(self) -> None:
        """Those whose collections are still being made count, deleted ones do not."""
        async with self.open_world() as world:
            world.policy = Policy(limits=Limits(knowledge_bases_per_user=5))
            await world.warm()
            results = await asyncio.gather(
                *(_create(world) for _ in range(RACERS)), return_exceptions=True
            )
            assert len(refused(results)) == RACERS - 5
            made = [one for one in results if isinstance(one, KnowledgeBaseRecord)]
            for record in made[:3]:
                await world.storage.knowledge_bases.apply(record.id, moves.activate)
            with pytest.raises(StorageQuotaExceededError) as caught:
                await _create(world)
            expected = {"quota": "knowledge_bases", "limit": 5, "used": 5}
            assert caught.value.details == expected
            await _create(world, "other")
            await world.delete_base(made[0].id)
            await world.delete_base(made[4].id)
            assert (await world.storage.knowledge_bases.usage("u")).knowledge_bases == 3
            await _create(world)
            await _create(world)
            with pytest.raises(StorageQuotaExceededError):
                await _create(world)

    async def test_of_parallel_uploads_as_many_begin_as_documents_are_allowed(self) -> None:
        """In whatever state documents are, and whatever becomes of them."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            await world.ready(base)
            world.policy = Policy(limits=Limits(documents_per_user=6))
            await world.warm()
            results = await asyncio.gather(
                *(world.begin(base) for _ in range(RACERS)), return_exceptions=True
            )
            errors = refused(results)
            assert len(errors) == RACERS - 5
            assert errors[0].details == {"quota": "documents", "limit": 6, "used": 6}
            await world.begin(await world.knowledge_base("other"))
            begun = [one for one in results if isinstance(one, DocumentRecord)]
            await _commit(world, begun[0])
            await abandon_upload(world.storage.documents, begun[1].id, policy=POLICY)
            await world.begin(base)
            with pytest.raises(StorageQuotaExceededError):
                await world.begin(base)
            await tombstone(world.storage.documents, begun[0].id, policy=POLICY)
            await world.begin(base)
            await world.check_totals()

    async def test_of_parallel_uploads_as_many_are_stored_as_bytes_are_allowed(self) -> None:
        """Also when nothing was set aside, because nobody knew how long they would be."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            world.policy = Policy(limits=Limits(stored_bytes_per_user=75))
            begun = [await world.begin(base) for _ in range(RACERS)]
            await world.warm()
            results = await asyncio.gather(
                *(_commit(world, one, size=10) for one in begun), return_exceptions=True
            )
            errors = refused(results)
            assert len(errors) == RACERS - 7
            assert errors[0].details == {"quota": "stored_bytes", "limit": 75, "used": 70}
            assert (await world.storage.knowledge_bases.user_counts("u")).size_bytes == 70
            await world.check_totals()

    async def test_of_parallel_uploads_as_many_begin_as_bytes_can_be_set_aside(self) -> None:
        """Who says how much will come is refused before it comes."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            world.policy = Policy(limits=Limits(stored_bytes_per_user=75))
            await world.warm()
            results = await asyncio.gather(
                *(world.begin(base, size=10) for _ in range(RACERS)), return_exceptions=True
            )
            assert len(refused(results)) == RACERS - 7
            assert (await world.storage.knowledge_bases.usage("u")).stored_bytes == 70
            begun = [one for one in results if isinstance(one, DocumentRecord)]
            for one in begun:
                await _commit(world, one, size=4)
            assert (await world.storage.knowledge_bases.usage("u")).stored_bytes == 28
            await world.begin(base, size=47)
            with pytest.raises(StorageQuotaExceededError):
                await world.begin(base, size=1)
            await world.check_totals()

    async def test_more_bytes_are_set_aside_until_the_quota_is_reached(self) -> None:
        """A refusal changes nothing; what was set aside is free again with the upload."""
        async with self.open_world() as world:
            base, documents = await world.knowledge_base(), world.storage.documents
            world.policy = policy = Policy(limits=Limits(stored_bytes_per_user=100))
            one, two = await world.begin(base, size=40), await world.begin(base)
            await reserve_upload(documents, two.id, size=60, policy=policy)
            for late in (one, two):
                with pytest.raises(StorageQuotaExceededError):
                    await reserve_upload(documents, late.id, size=61, policy=policy)
            await reserve_upload(documents, one.id, size=10, policy=policy)
            assert (await world.standing(one)).size == 40
            assert (await world.storage.knowledge_bases.usage("u")).stored_bytes == 100
            await abandon_upload(documents, two.id, policy=policy)
            await reserve_upload(documents, one.id, size=100, policy=policy)
            await _commit(world, one, size=100)
            assert (await world.storage.knowledge_bases.usage("u")).stored_bytes == 100

    async def test_reserving_keeps_an_upload_alive(self) -> None:
        """It counts as a sign of life."""
        async with self.open_world() as world:
            begun = await world.begin(await world.knowledge_base())
            step = POLICY.timings.upload_ttl - timedelta(seconds=1)
            for size in (5, 6):
                world.advance(step)
                await reserve_upload(world.storage.documents, begun.id, size=size, policy=POLICY)
                assert await world.sweep() == []

    async def test_an_expired_upload_gives_its_bytes_back(self) -> None:
        """The sweeper makes it a tombstone, which holds nothing."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            await world.begin(base, size=50)
            world.advance(POLICY.timings.upload_ttl + timedelta(seconds=1))
            assert len(await world.sweep()) == 1
            usage = await world.storage.knowledge_bases.usage("u")
            assert (usage.documents, usage.stored_bytes, usage.pending) == (0, 0, 0)
            assert usage.knowledge_bases == 1

    async def test_a_lowered_quota_stops_growth_only(self) -> None:
        """Documents go on being indexed, replaced by smaller ones and deleted."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            ready = await world.ready(base, size=50, sha="same")
            begun = await world.begin(base, size=20)
            world.policy = Policy(limits=Limits(stored_bytes_per_user=10))
            await _commit(world, begun, size=20)
            other = await world.begin(base)
            result = await _commit(
                world, other, size=30, sha="same", on_duplicate=OnDuplicate.REPLACE
            )
            assert result.replaced is not None
            assert result.replaced.id == ready.id
            with pytest.raises(StorageQuotaExceededError):
                await world.upload(base, size=1)
            await world.check_totals()

    async def test_a_refused_upload_can_still_be_given_up(self) -> None:
        """The refusal of its bytes leaves it uploading, and nothing is counted twice."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            world.policy = Policy(limits=Limits(stored_bytes_per_user=10))
            begun = await world.begin(base, size=5)
            with pytest.raises(QuotaExceededError):
                await _commit(world, begun, size=11)
            await abandon_upload(world.storage.documents, begun.id, policy=POLICY)
            assert (await world.storage.knowledge_bases.usage("u")).stored_bytes == 0
            await world.upload(base, size=10)
            await world.check_totals()


async def _create(world: World, user_id: str = "u") -> KnowledgeBaseRecord:
    fields = {
        "id": new_id(),
        "name": "notes",
        "embedding_model_config": MODEL,
        "collection_name": "kb_x",
    }
    return await world.storage.knowledge_bases.create(user_id, fields, policy=world.policy)


async def _commit(
    world: World,
    begun: DocumentRecord,
    *,
    size: int = 1,
    sha: str | None = None,
    on_duplicate: OnDuplicate = OnDuplicate.KEEP,
) -> UploadResult:
    return await world.storage.documents.commit_upload(
        begun.id,
        stored={"size": size, "content_sha256": sha, "content_type": "text/plain"},
        on_duplicate=on_duplicate,
        policy=world.policy,
    )
