"""What every storage must do when many documents and many workers meet."""

import asyncio
import contextlib
import random
from dataclasses import dataclass
from datetime import timedelta

from agentscope.app.records import KnowledgeBaseRecord, OnDuplicate
from agentscope.app.storage.verbs import purge_passed, reindex, tombstone
from agentscope.errors import (
    AgentScopeError,
    ConflictError,
    DocumentNotFoundError,
    LeaseLostError,
    StorageError,
)
from agentscope.testing.storage_uploads import StorageCase
from agentscope.testing.storage_world import FAILURE, GRACE, POLICY, TTL, World

SECOND = timedelta(seconds=1)


@dataclass
class Storm:
    """Callers that want different things of the same few documents."""

    world: World
    bases: list[KnowledgeBaseRecord]
    names: list[str]

    async def user(self, choice: random.Random) -> None:
        """Upload, delete and re-index; only a back end that gave up is no fair answer."""
        for _ in range(12):
            try:
                await self._ask(choice)
            except StorageError:
                raise
            except AgentScopeError:
                continue

    async def _ask(self, choice: random.Random) -> None:
        documents, act = self.world.storage.documents, choice.randrange(4)
        if act == 0:
            policy = choice.choice(list(OnDuplicate))
            await self.world.upload(choice.choice(self.bases), sha="s1", on_duplicate=policy)
        elif act == 1:
            await tombstone(documents, choice.choice(self.names), policy=POLICY)
        else:
            await reindex(documents, choice.choice(self.names))

    async def worker(self, choice: random.Random) -> None:
        """Claim and finish one way or the other."""
        for _ in range(12):
            for claim in await self.world.claim(limit=2, idle=False):
                writer = self.world.writer(claim)
                with contextlib.suppress(LeaseLostError):
                    await writer.renew()
                    if choice.random() < 0.5:
                        await writer.publish(choice.randrange(9), warnings=(), report={})
                    else:
                        await writer.retry_later(timedelta(), FAILURE)

    async def sweeper(self) -> None:
        """Purge what is due."""
        for _ in range(8):
            for claim in await self.world.sweep(limit=3):
                assert claim.document is not None
                with contextlib.suppress(DocumentNotFoundError, ConflictError):
                    await purge_passed(
                        self.world.storage.documents,
                        claim.document.id,
                        claimed_at=claim.claimed_at,
                    )


class ClaimSuite(StorageCase):
    """Many documents, many workers."""

    async def test_fifty_racers_get_each_document_once(self) -> None:
        """Parallel claims never give a document to two workers."""
        async with self.open_world() as world:
            bases = [await world.knowledge_base(f"u{number}") for number in range(5)]
            for base in bases:
                for _ in range(8):
                    await world.upload(base)

            await world.warm()

            async def racer(number: int) -> list[str]:
                found = []
                while claims := await world.claim(owner=f"w{number}", idle=False):
                    found += [claim.document.id for claim in claims]
                return found

            found = [name for part in await asyncio.gather(*map(racer, range(50))) for name in part]
            while claims := await world.claim(limit=10):  # what all racers saw taken
                found += [claim.document.id for claim in claims]
            assert len(found) == len(set(found)) == 40
            records = await world.everything()
            assert {record.attempt for record in records} == {1}
            await world.check_totals()

    async def test_a_claim_is_never_larger_than_asked(self) -> None:
        """A worker gets at most what it can start."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            for _ in range(5):
                await world.upload(base)
            assert len(await world.claim(limit=2)) == 2
            assert await world.storage.documents.unfinished() == 5
            assert len(await world.claim(limit=10)) == 3
            assert await world.claim(limit=10) == []

    async def test_users_take_turns(self) -> None:
        """One document per user per turn, whoever queued more or earlier."""
        async with self.open_world() as world:
            for user, count in (("a", 6), ("b", 2), ("c", 1)):
                base = await world.knowledge_base(user)
                for number in range(count):
                    await world.upload(base, filename=f"{user}{number}")
                    world.advance(SECOND)
            claims = await world.claim(limit=9)
            order = [claim.document.filename for claim in claims]
            assert order == ["a0", "b0", "c0", "a1", "b1", "a2", "a3", "a4", "a5"]

    async def test_who_was_served_last_waits(self) -> None:
        """With equal running leases the user served longest ago comes first."""
        async with self.open_world() as world:
            for user in ("a", "b", "c"):
                base = await world.knowledge_base(user)
                for _ in range(3):
                    await world.upload(base)
            order = []
            for _ in range(9):
                (claim,) = await world.claim()
                order.append(claim.document.user_id)
                await world.writer(claim).publish(1, warnings=(), report={})
            assert order == ["a", "b", "c"] * 3

    async def test_a_user_with_running_work_yields(self) -> None:
        """Running leases weigh more than being served long ago."""
        async with self.open_world() as world:
            first, second = await world.knowledge_base("a"), await world.knowledge_base("b")
            for _ in range(3):
                await world.upload(first)
            claims = await world.claim(limit=2)
            for _ in range(2):
                await world.upload(second)
            (next_claim,) = await world.claim()
            assert next_claim.document.user_id == "b"
            await world.writer(next_claim).publish(1, warnings=(), report={})
            (next_claim,) = await world.claim()
            assert next_claim.document.user_id == "b"
            assert len(claims) == 2

    async def test_within_a_user_the_oldest_due_goes_first(self) -> None:
        """A retried document comes back in the place of its due time."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            first = await world.upload(base)
            (claim,) = await world.claim()
            world.advance(SECOND)
            second = await world.upload(base)
            await world.writer(claim).retry_later(SECOND, FAILURE)
            world.advance(timedelta(seconds=5))
            third = await world.upload(base)
            order = [one.document.id for one in await world.claim(limit=3)]
            assert order == [second.id, first.id, third.id]

    async def test_documents_of_a_dead_worker_run_alone(self) -> None:
        """Only an idle worker gets one, and nothing beside it; others hear that it waits."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            dead = [await world.running(base), await world.running(base)]
            fresh = [await world.upload(base), await world.upload(base)]
            world.advance(TTL + SECOND)
            busy = await world.batch(limit=4, idle=False)
            assert busy.alone_waiting
            assert [one.document.id for one in busy.claims] == [one.id for one in fresh]
            idle = await world.batch(limit=4, idle=True)
            assert [one.document.id for one in idle.claims] == [dead[0].document.id]
            assert idle.claims[0].document.alone
            await world.writer(idle.claims[0]).publish(1, warnings=(), report={})
            (last,) = await world.claim(limit=4)
            assert last.document.id == dead[1].document.id
            assert not (await world.batch(limit=1)).alone_waiting

    async def test_a_claim_may_be_narrowed(self) -> None:
        """Size limit and knowledge bases to leave out are honoured."""
        async with self.open_world() as world:
            first, second = await world.knowledge_base("a"), await world.knowledge_base("b")
            for _ in range(12):
                await world.upload(first, size=5_000)
            small = await world.upload(first, size=10)
            other = await world.upload(second, size=5_000)
            skip = frozenset({second.id, "missing", "it's"})
            (claim,) = await world.claim(max_bytes=100)
            assert claim.document.id == small.id
            assert await world.claim(max_bytes=100) == []
            claims = await world.claim(limit=20, skip_knowledge_bases=skip)
            assert len(claims) == 12
            assert {one.document.user_id for one in claims} == {"a"}
            (claim,) = await world.claim(limit=20)
            assert claim.document.id == other.id

    async def test_nothing_of_a_dying_knowledge_base_is_claimed(self) -> None:
        """Its documents wait for the cascade, others go on."""
        async with self.open_world() as world:
            dying, alive = await world.knowledge_base(), await world.knowledge_base()
            for _ in range(3):
                await world.upload(dying)
            kept = await world.upload(alive)
            await world.delete_base(dying.id)
            assert [one.document.id for one in await world.claim(limit=9)] == [kept.id]

    async def test_a_storm_of_calls_keeps_the_books(self) -> None:
        """Workers, users and sweepers at once: counters, events and records agree after it."""
        async with self.open_world() as world:
            bases = [await world.knowledge_base(f"u{number % 2}") for number in range(3)]
            names = [(await world.upload(bases[n % 3], sha=f"s{n % 4}")).id for n in range(9)]
            await world.warm()
            storm = Storm(world, bases, names)
            await asyncio.gather(
                *(storm.user(random.Random(seed)) for seed in range(4)),
                *(storm.worker(random.Random(seed)) for seed in range(4)),
                *(storm.sweeper() for _ in range(2)),
            )
            await world.check_totals()
            for name in ("u0", "u1"):
                await world.check_events(name)

    async def test_due_times_tell_when_to_look_again(self) -> None:
        """Nothing waits: None; due now: not positive; later: how long."""
        async with self.open_world() as world:
            documents = world.storage.documents
            due = await documents.due()
            assert (due.index, due.maintenance) == (None, None)
            base = await world.knowledge_base()
            await world.upload(base)
            due = await documents.due()
            assert due.index is not None
            assert due.index <= timedelta()
            (claim,) = await world.claim()
            await world.writer(claim).publish(1, warnings=(), report={})
            due = await documents.due()
            assert due.index is None
            assert due.maintenance is not None
            assert GRACE - timedelta(seconds=30) < due.maintenance <= GRACE
