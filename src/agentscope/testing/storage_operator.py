"""What every storage must do for whoever runs the service: pauses, and who waits or failed."""

from datetime import timedelta

from agentscope.app.records import PAUSED_KNOWLEDGE_BASE, PAUSED_USER
from agentscope.app.storage.verbs import reindex, tombstone
from agentscope.testing.storage_uploads import StorageCase
from agentscope.testing.storage_world import FAILURE, HOSTILE_IDS, POLICY, World

SECOND = timedelta(seconds=1)


async def _claimed(world: World) -> set[str]:
    found: set[str] = set()
    while claims := await world.claim(limit=10, idle=False):
        found |= {claim.document.id for claim in claims}
    return found


class OperatorSuite(StorageCase):
    """Pauses and the operator's lists."""

    async def test_a_paused_user_is_passed_over_and_others_are_not(self) -> None:
        """Uploads go on; the documents wait until the pause ends."""
        async with self.open_world() as world:
            registry = world.storage.registry
            held = await world.upload(await world.knowledge_base("held"))
            free = await world.upload(await world.knowledge_base("free"))
            await registry.put(f"{PAUSED_USER}held", {"reason": "too much"})
            assert await _claimed(world) == {free.id}
            later = await world.upload(await world.knowledge_base("held"))
            assert await _claimed(world) == set()
            await registry.delete(f"{PAUSED_USER}held")
            assert await _claimed(world) == {held.id, later.id}

    async def test_a_paused_knowledge_base_is_passed_over_and_its_neighbours_are_not(self) -> None:
        """Also of the same user, whichever was uploaded first."""
        async with self.open_world() as world:
            registry = world.storage.registry
            paused, other = await world.knowledge_base("u"), await world.knowledge_base("u")
            held = await world.upload(paused)
            free = await world.upload(other)
            await registry.put(f"{PAUSED_KNOWLEDGE_BASE}{paused.id}", {})
            assert await _claimed(world) == {free.id}
            await registry.delete(f"{PAUSED_KNOWLEDGE_BASE}{paused.id}")
            assert await _claimed(world) == {held.id}

    async def test_a_pause_takes_no_run_from_its_worker(self) -> None:
        """What runs goes on to its end; only a new run waits."""
        async with self.open_world() as world:
            claim = await world.running(await world.knowledge_base("u"))
            await world.storage.registry.put(f"{PAUSED_USER}u", {})
            published = await world.writer(claim).publish(3, warnings=(), report={})
            assert published.searchable
            await reindex(world.storage.documents, published.id)
            assert await world.claim() == []

    async def test_any_user_can_be_paused(self) -> None:
        """An id is never taken for another, whatever it holds."""
        async with self.open_world() as world:
            documents = {
                user_id: await world.upload(await world.knowledge_base(user_id))
                for user_id in HOSTILE_IDS
            }
            for user_id in HOSTILE_IDS[::2]:
                await world.storage.registry.put(f"{PAUSED_USER}{user_id}", {})
            free = {documents[user_id].id for user_id in HOSTILE_IDS[1::2]}
            assert await _claimed(world) == free

    async def test_the_users_that_wait_are_listed_with_what_waits(self) -> None:
        """Most documents first; what nobody waits for is not counted."""
        async with self.open_world() as world:
            few, many = await world.knowledge_base("few"), await world.knowledge_base("many")
            await world.ready(await world.knowledge_base("done"))
            running = await world.running(many)
            await world.upload(few)
            world.advance(5 * SECOND)
            for _ in range(2):
                await world.upload(many)
            first, second = await world.storage.documents.waiting(10)
            assert (first.user_id, first.documents, first.running) == ("many", 3, 1)
            assert (second.user_id, second.documents, second.running) == ("few", 1, 0)
            assert first.due <= timedelta(0)
            assert second.due <= -5 * SECOND
            (first,) = await world.storage.documents.waiting(1)
            assert first.user_id == "many"
            await world.writer(running).retry_later(timedelta(hours=1), FAILURE)
            await tombstone(
                world.storage.documents, (await world.claim())[0].document.id, policy=POLICY
            )
            names = [one.user_id for one in await world.storage.documents.waiting(10)]
            assert names == ["many"]

    async def test_failed_documents_are_listed_page_by_page(self) -> None:
        """All users', by id; those that are tried again or deleted leave the list."""
        async with self.open_world() as world:
            documents = world.storage.documents
            failed = []
            for user_id in ("a", "b", "a"):
                claim = await world.running(await world.knowledge_base(user_id))
                await world.writer(claim).fail(FAILURE)
                failed.append(claim.document.id)
            await world.ready(await world.knowledge_base("a"))
            failed.sort()
            page = await documents.failed(limit=2)
            assert [record.id for record in page] == failed[:2]
            assert page[0].failure == FAILURE
            rest = await documents.failed(after=failed[1], limit=2)
            assert [record.id for record in rest] == failed[2:]
            await reindex(documents, failed[0])
            await tombstone(documents, failed[1], policy=POLICY)
            assert [record.id for record in await documents.failed()] == failed[2:]
