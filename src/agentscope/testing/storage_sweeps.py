"""What every storage must do about deletion, collection and the life of a knowledge base."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from agentscope.app.records import DocumentStatus, KnowledgeBaseStatus, OnDuplicate, Page
from agentscope.app.storage.verbs import collected, postpone, purge_passed, reindex, tombstone
from agentscope.app.transitions import knowledge_base as moves
from agentscope.errors import (
    AlreadyExistsError,
    ConflictError,
    DocumentNotFoundError,
    KnowledgeBaseNotFoundError,
    NotReadyError,
)
from agentscope.identity import new_id
from agentscope.testing.storage_uploads import StorageCase
from agentscope.testing.storage_world import GRACE, MODEL, POLICY, TTL

SECOND = timedelta(seconds=1)


class DeletionSuite(StorageCase):
    """From the tombstone to nothing."""

    async def test_a_tombstone_hides_the_document_at_once(self) -> None:
        """Repeating it changes nothing; only the record stays until the last pass."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.ready(base)
            documents = world.storage.documents
            gone = await tombstone(documents, document.id, policy=POLICY)
            assert gone.status is DocumentStatus.DELETING
            assert gone.epoch > document.epoch
            assert gone.run_id is None
            assert gone.active_run_id is None
            assert await tombstone(documents, document.id, policy=POLICY) == gone
            assert await documents.get("u", base.id, document.id) is None
            assert await documents.get_many("u", base.id, [document.id]) == {}
            with pytest.raises(DocumentNotFoundError):
                await reindex(documents, document.id)
            await world.check_totals()
            await world.check_events("u")

    async def test_a_deletion_takes_two_passes(self) -> None:
        """The second comes only when no paused worker can write any more."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            claim = await world.running(base)
            document = claim.document
            documents = world.storage.documents
            await tombstone(documents, document.id, policy=POLICY)
            (first,) = await world.sweep()
            assert first.document is not None
            assert first.document.id == document.id
            assert await world.sweep() == []
            after = await purge_passed(documents, document.id, claimed_at=first.claimed_at)
            assert after is not None
            assert after.due_at == after.purge_after
            assert document.max_lease_at is not None
            assert after.purge_after is not None
            assert after.purge_after >= document.max_lease_at + GRACE
            world.advance(TTL + GRACE - timedelta(seconds=30))
            assert await world.sweep() == []
            world.advance(timedelta(minutes=1))
            (second,) = await world.sweep()
            # The end is judged by the time at which the pass began.
            kept = await purge_passed(documents, document.id, claimed_at=first.claimed_at)
            assert kept is not None
            done = await purge_passed(documents, document.id, claimed_at=second.claimed_at)
            assert done is None
            assert await world.raw(document) is None
            with pytest.raises(DocumentNotFoundError):
                await purge_passed(documents, document.id, claimed_at=second.claimed_at)
            await world.check_totals()

    async def test_a_failed_pass_is_tried_later(self) -> None:
        """A postponed purge waits; a claim that is never reported comes back, too."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.ready(base)
            gone = await tombstone(world.storage.documents, document.id, policy=POLICY)
            assert len(await world.sweep()) == 1
            await postpone(
                world.storage.documents, gone.id, epoch=gone.epoch, delay=timedelta(seconds=40)
            )
            world.advance(timedelta(seconds=39))
            assert await world.sweep() == []
            world.advance(timedelta(seconds=2))
            assert len(await world.sweep()) == 1
            world.advance(TTL + SECOND)
            assert len(await world.sweep()) == 1

    async def test_a_purge_of_a_living_document_is_refused(self) -> None:
        """Only a tombstone can be purged."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.ready(base)
            now = await world.storage.now()
            with pytest.raises(ConflictError):
                await purge_passed(
                    world.storage.documents, document.id, claimed_at=now + timedelta(days=1)
                )

    async def test_garbage_is_collected_once_after_a_run(self) -> None:
        """A finished document is swept until no late writer is left, then never again."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.ready(base)
            assert await world.sweep() == []
            world.advance(GRACE + SECOND)
            (claim,) = await world.sweep()
            assert claim.document is not None
            assert claim.document.id == document.id
            await collected(
                world.storage.documents, document.id, epoch=claim.document.epoch, policy=POLICY
            )
            record = await world.standing(document)
            if record.due_at is not None:  # the sweep itself was a write
                world.advance(record.due_at - await world.storage.now() + SECOND)
                (claim,) = await world.sweep()
                world.advance(POLICY.timings.request_timeout + SECOND)
                await collected(
                    world.storage.documents, document.id, epoch=document.epoch, policy=POLICY
                )
            assert (await world.standing(document)).due_at is None
            assert (await world.storage.documents.due()).maintenance is None
            world.advance(timedelta(days=30))
            assert await world.sweep() == []

    async def test_a_late_collection_leaves_a_newer_run_alone(self) -> None:
        """Reports about an older epoch change nothing."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.ready(base)
            await reindex(world.storage.documents, document.id)
            (claim,) = await world.claim()
            held = claim.document
            await collected(world.storage.documents, held.id, epoch=document.epoch, policy=POLICY)
            await postpone(
                world.storage.documents, held.id, epoch=document.epoch, delay=timedelta(days=9)
            )
            assert await world.standing(held) == held

    async def test_sweepers_share_the_work(self) -> None:
        """Parallel sweeps never take the same record."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            for _ in range(30):
                document = await world.upload(base)
                await tombstone(world.storage.documents, document.id, policy=POLICY)
            await world.warm()
            parts = await asyncio.gather(*(world.sweep(limit=5) for _ in range(10)))
            taken = [claim.document.id for part in parts for claim in part if claim.document]
            while more := await world.sweep(limit=5):  # what all saw taken at that moment
                taken += [claim.document.id for claim in more if claim.document]
            assert len(taken) == len(set(taken)) == 30

    async def test_deletion_and_uploads_of_the_same_bytes_do_not_meet(self) -> None:
        """A tombstone is no duplicate."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            first = await world.upload(base, sha="s")
            await tombstone(world.storage.documents, first.id, policy=POLICY)
            second = await world.upload(base, sha="s", on_duplicate=OnDuplicate.REJECT)
            assert second.duplicate_of is None


class KnowledgeBaseSuite(StorageCase):
    """Knowledge bases."""

    async def test_a_knowledge_base_is_shown_once_it_is_active(self) -> None:
        """Creation is an intent that is purged unless it is finished."""
        async with self.open_world() as world:
            bases = world.storage.knowledge_bases
            fields = {
                "id": new_id(),
                "name": "n",
                "embedding_model_config": MODEL,
                "collection_name": "c",
            }
            made = await bases.create("u", fields, policy=POLICY)
            assert made.status is KnowledgeBaseStatus.CREATING
            assert await bases.get("u", made.id) is None
            assert await bases.find(made.id) == made
            with pytest.raises(AlreadyExistsError):
                await bases.create("v", fields, policy=POLICY)
            shown = await bases.apply(made.id, moves.activate)
            assert shown is not None
            assert await bases.get("u", made.id) == shown
            assert await bases.get("v", made.id) is None
            assert shown.embedding_model_config == MODEL
            await bases.apply(made.id, lambda record, _: replace(record, name="new name"))
            types = [event.type for event in await world.storage.events.after("u", 0)]
            assert types == ["knowledge_base.created", "knowledge_base.updated"]

    async def test_an_unfinished_creation_is_swept(self) -> None:
        """It becomes a tombstone and cannot be activated any more."""
        async with self.open_world() as world:
            bases = world.storage.knowledge_bases
            fields = {
                "id": new_id(),
                "name": "n",
                "embedding_model_config": MODEL,
                "collection_name": "c",
            }
            made = await bases.create("u", fields, policy=POLICY)
            assert await bases.claim_maintenance(9, policy=POLICY) == []
            world.advance(POLICY.timings.upload_ttl + SECOND)
            (claim,) = await bases.claim_maintenance(9, policy=POLICY)
            assert claim.knowledge_base is not None
            assert claim.knowledge_base.status is KnowledgeBaseStatus.DELETING
            with pytest.raises(KnowledgeBaseNotFoundError):
                await bases.apply(made.id, moves.activate)

    async def test_a_cascade_ends_when_nothing_is_left(self) -> None:
        """The record goes last, after the last lease and its grace."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            document = await world.ready(base)
            bases, documents = world.storage.knowledge_bases, world.storage.documents
            await world.delete_base(base.id)
            assert await bases.get("u", base.id) is None
            assert await documents.get("u", base.id, document.id) is None
            assert (await bases.page("u", Page())) == ([], 0)
            (claim,) = await bases.claim_maintenance(9, policy=POLICY)
            assert await bases.claim_maintenance(9, policy=POLICY) == []
            gone = await tombstone(documents, document.id, policy=POLICY)
            assert gone.purge_after is not None
            assert await documents.apply(document.id, _remove) is None
            passed = partial(
                moves.knowledge_base_passed,
                claimed_at=claim.claimed_at,
                remaining=0,
                next_document_due=None,
            )
            kept = await bases.apply(base.id, passed)
            assert kept is not None
            assert kept.due_at == kept.purge_after
            world.advance(TTL + GRACE + SECOND)
            (claim,) = await bases.claim_maintenance(9, policy=POLICY)
            passed = partial(
                moves.knowledge_base_passed,
                claimed_at=claim.claimed_at,
                remaining=0,
                next_document_due=None,
            )
            assert await bases.apply(base.id, passed) is None
            assert await bases.find(base.id) is None
            assert await bases.all() == []
            with pytest.raises(KnowledgeBaseNotFoundError):
                await bases.apply(base.id, passed)
            await world.check_totals()

    async def test_a_deletion_and_commits_are_one_after_the_other(self) -> None:
        """No upload is accepted after the tombstone; what was accepted before is listed."""
        async with self.open_world() as world:
            end: dict[str, Any] = {
                "stored": {"size": 1},
                "on_duplicate": OnDuplicate.KEEP,
                "policy": POLICY,
            }
            commit = world.storage.documents.commit_upload
            refused = 0
            for _ in range(6):
                base = await world.knowledge_base()
                begun = [await world.begin(base) for _ in range(8)]
                await world.warm()
                results = await asyncio.gather(
                    *(commit(one.id, **end) for one in begun[:4]),
                    world.delete_base(base.id),
                    *(commit(one.id, **end) for one in begun[4:]),
                    return_exceptions=True,
                )
                errors = [one for one in results if isinstance(one, BaseException)]
                assert all(
                    isinstance(one, KnowledgeBaseNotFoundError | NotReadyError) for one in errors
                )
                # The outbox tells in which order they happened.
                events = await world.storage.events.after("u", 0, knowledge_base_id=base.id)
                assert events[-1].type == "knowledge_base.deleted"
                refused += len(errors)
            states = [record.status for record in await world.everything()]
            assert states.count(DocumentStatus.PENDING) == 48 - refused
            await world.check_totals()


def _remove(record: object, base: object, now: object) -> None:
    del record, base, now
