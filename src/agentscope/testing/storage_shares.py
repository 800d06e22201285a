"""What every storage must do about knowledge bases that their owners share."""

import asyncio
from datetime import timedelta

import pytest

from agentscope.app.shares import ResourcePermission
from agentscope.errors import KnowledgeBaseNotFoundError, QuotaExceededError
from agentscope.testing.storage_uploads import StorageCase
from agentscope.testing.storage_world import HOSTILE_IDS

READ, EDIT = ResourcePermission.READ, ResourcePermission.EDIT
LIMIT = 100
SECOND = timedelta(seconds=1)


class ShareSuite(StorageCase):
    """Shares."""

    async def test_a_share_is_read_from_both_sides(self) -> None:
        """By the pair, by the owner's knowledge base and by the viewer, the oldest first."""
        async with self.open_world() as world:
            shares = world.storage.shares
            first = await world.knowledge_base("owner")
            second = await world.knowledge_base("other")
            made = await shares.put("owner", first.id, "viewer", READ, limit=LIMIT)
            world.advance(SECOND)
            later = await shares.put("other", second.id, "viewer", EDIT, limit=LIMIT)
            assert (made.owner_id, made.viewer_id, made.permission) == ("owner", "viewer", READ)
            assert await shares.get("viewer", first.id) == made
            assert await shares.of_knowledge_base("owner", first.id) == [made]
            assert await shares.with_viewer("viewer", limit=LIMIT) == [made, later]
            assert await shares.with_viewer("viewer", limit=1) == [made]

    async def test_a_share_is_changed_in_place(self) -> None:
        """It keeps when it was made, and its place in the list."""
        async with self.open_world() as world:
            shares = world.storage.shares
            base = await world.knowledge_base("owner")
            made = await shares.put("owner", base.id, "viewer", READ, limit=LIMIT)
            world.advance(SECOND)
            changed = await shares.put("owner", base.id, "viewer", EDIT, limit=LIMIT)
            assert (changed.created_at, changed.permission) == (made.created_at, EDIT)
            assert changed.updated_at > made.updated_at
            assert await shares.with_viewer("viewer", limit=LIMIT) == [changed]
            assert await shares.of_knowledge_base("owner", base.id) == [changed]

    async def test_only_the_owner_gives_and_takes(self) -> None:
        """For everybody else the knowledge base is unknown, as is one that never was."""
        async with self.open_world() as world:
            shares = world.storage.shares
            base = await world.knowledge_base("owner")
            await shares.put("owner", base.id, "viewer", EDIT, limit=LIMIT)
            for user, name in (("viewer", base.id), ("owner", "0" * 32)):
                with pytest.raises(KnowledgeBaseNotFoundError):
                    await shares.put(user, name, "third", READ, limit=LIMIT)
                assert await shares.of_knowledge_base(user, name) == []
                assert not await shares.delete(user, name, "viewer")
            assert await shares.get("third", base.id) is None
            assert await shares.get("viewer", base.id) is not None

    async def test_what_was_taken_is_gone_at_once(self) -> None:
        """From all three sides; taking it twice changes nothing."""
        async with self.open_world() as world:
            shares = world.storage.shares
            base = await world.knowledge_base("owner")
            await shares.put("owner", base.id, "viewer", READ, limit=LIMIT)
            kept = await shares.put("owner", base.id, "kept", READ, limit=LIMIT)
            assert await shares.delete("owner", base.id, "viewer")
            assert not await shares.delete("owner", base.id, "viewer")
            assert await shares.get("viewer", base.id) is None
            assert await shares.with_viewer("viewer", limit=LIMIT) == []
            assert await shares.of_knowledge_base("owner", base.id) == [kept]

    async def test_shares_go_with_the_knowledge_base(self) -> None:
        """With its tombstone already; others stay."""
        async with self.open_world() as world:
            shares = world.storage.shares
            gone, stays = await world.knowledge_base("owner"), await world.knowledge_base("owner")
            await shares.put("owner", gone.id, "viewer", READ, limit=LIMIT)
            world.advance(SECOND)
            kept = await shares.put("owner", stays.id, "viewer", READ, limit=LIMIT)
            await world.delete_base(gone.id)
            assert await shares.get("viewer", gone.id) is None
            assert await shares.with_viewer("viewer", limit=1) == [kept]
            assert await shares.of_knowledge_base("owner", gone.id) == []
            with pytest.raises(KnowledgeBaseNotFoundError):
                await shares.put("owner", gone.id, "viewer", READ, limit=LIMIT)

    async def test_the_number_of_viewers_is_bounded(self) -> None:
        """Also when many come at once; those who are in can still be changed."""
        async with self.open_world() as world:
            shares = world.storage.shares
            base = await world.knowledge_base("owner")
            await world.warm()
            answers = await asyncio.gather(
                *(shares.put("owner", base.id, f"v{n}", READ, limit=5) for n in range(12)),
                return_exceptions=True,
            )
            refused = [answer for answer in answers if isinstance(answer, QuotaExceededError)]
            standing = await shares.of_knowledge_base("owner", base.id)
            assert (len(refused), len(standing)) == (7, 5)
            one = await shares.put("owner", base.id, standing[0].viewer_id, EDIT, limit=5)
            assert one.permission is EDIT

    async def test_a_share_and_a_deletion_at_once_leave_no_share(self) -> None:
        """Whichever comes first."""
        async with self.open_world() as world:
            shares = world.storage.shares
            await world.warm()
            for number in range(5):
                base = await world.knowledge_base("owner")
                await asyncio.gather(
                    shares.put("owner", base.id, f"v{number}", READ, limit=LIMIT),
                    world.delete_base(base.id),
                    return_exceptions=True,
                )
                assert await shares.get(f"v{number}", base.id) is None
                assert await shares.with_viewer(f"v{number}", limit=LIMIT) == []

    async def test_user_ids_of_every_kind_stay_apart(self) -> None:
        """As owner and as viewer."""
        async with self.open_world() as world:
            shares = world.storage.shares
            for owner in HOSTILE_IDS:
                base = await world.knowledge_base(owner)
                for viewer in HOSTILE_IDS:
                    await shares.put(owner, base.id, viewer, READ, limit=LIMIT)
                found = await shares.of_knowledge_base(owner, base.id)
                assert [share.viewer_id for share in found] == sorted(HOSTILE_IDS)
                assert {share.owner_id for share in found} == {owner}
            for viewer in HOSTILE_IDS:
                found = await shares.with_viewer(viewer, limit=LIMIT)
                assert {share.owner_id for share in found} == set(HOSTILE_IDS)
                assert {share.viewer_id for share in found} == {viewer}
