"""What every storage must do about lists, counts, credentials, events and the registry."""

import asyncio
import itertools
from datetime import timedelta

import pytest

from agentscope.app.records import DocumentQuery, DocumentRecord, DocumentStatus, Page
from agentscope.app.storage.verbs import tombstone
from agentscope.errors import AlreadyExistsError
from agentscope.testing.storage_uploads import StorageCase
from agentscope.testing.storage_world import FAILURE, HOSTILE_IDS, POLICY, World

SECOND = timedelta(seconds=1)
EVERYTHING = DocumentQuery()


async def fill(world: World) -> tuple[str, list[DocumentRecord]]:
    """Return a knowledge base with documents in many states, and those a user sees."""
    base = await world.knowledge_base()
    names = [
        "Beta.txt",
        "alpha.txt",
        "报告.txt",
        "alpha 2.txt",
        "100%.txt",
        "a_b.txt",
        "Straße.txt",
    ]
    for number, name in enumerate(names):
        await world.upload(base, filename=name, size=100 - number, id=f"d{number % 3}{number}")
        if number % 2:
            world.advance(SECOND)
    claims = await world.claim(limit=4)
    await world.writer(claims[0]).publish(9, warnings=(), report={})
    await world.writer(claims[1]).publish(2, warnings=(), report={})
    await world.writer(claims[2]).fail(FAILURE)
    await world.begin(base, filename="not yet.txt")
    gone = await world.upload(base, filename="gone.txt")
    await tombstone(world.storage.documents, gone.id, policy=POLICY)
    records = await world.storage.documents.of_knowledge_base(base.id)
    hidden = {DocumentStatus.UPLOADING, DocumentStatus.DELETING}
    return base.id, [record for record in records if record.status not in hidden]


class ListSuite(StorageCase):
    """Pages and batch reads."""

    async def test_pages_are_what_the_records_say(self) -> None:
        """Every order, both directions, page by page, ties by id."""
        keys = {"name": "filename", "chunks": "chunk_count"}
        async with self.open_world() as world:
            base_id, shown = await fill(world)
            orders = ("created_at", "updated_at", "name", "size", "chunks")
            for order, descending, size in itertools.product(orders, (True, False), (3, 50)):
                key = keys.get(order, order)

                def value(record: DocumentRecord, key: str = key) -> tuple[object, str]:
                    found = getattr(record, key)
                    return (found.casefold() if isinstance(found, str) else found, record.id)

                expected = sorted(shown, key=value, reverse=descending)
                seen: list[DocumentRecord] = []
                for number in itertools.count(1):
                    part, total = await world.storage.documents.page(
                        "u", base_id, EVERYTHING, Page(number, size, order, descending)
                    )
                    assert total == len(expected)
                    if not part:
                        break
                    assert len(part) <= size
                    seen += part
                assert seen == expected

    @pytest.mark.parametrize(
        "query",
        [
            DocumentQuery(filename_contains="ALPHA"),
            DocumentQuery(filename_contains="%"),
            DocumentQuery(filename_contains="_"),
            DocumentQuery(filename_contains="STRASSE"),
            DocumentQuery(filename_contains="告"),
            DocumentQuery(filename_contains="' OR 1=1 --"),
            DocumentQuery(statuses=frozenset({DocumentStatus.READY, DocumentStatus.ERROR})),
            DocumentQuery(statuses=frozenset({DocumentStatus.PENDING})),
            DocumentQuery(statuses=frozenset({DocumentStatus.DELETING})),
            DocumentQuery(statuses=frozenset()),
            DocumentQuery(id="d11"),
            DocumentQuery(id="missing"),
            DocumentQuery(content_type="text/plain", filename_contains="txt"),
            DocumentQuery(content_type="application/pdf"),
        ],
    )
    async def test_filters_narrow_page_and_total(self, query: DocumentQuery) -> None:
        """A filter is literal, without case, and counts what it matches."""
        async with self.open_world() as world:
            base_id, shown = await fill(world)
            expected = [
                record
                for record in sorted(shown, key=lambda one: (one.created_at, one.id))
                if (query.filename_contains or "").casefold() in record.filename.casefold()
                and query.id in (None, record.id)
                and (query.statuses is None or record.status in query.statuses)
                and query.content_type in (None, record.content_type)
            ]
            part, total = await world.storage.documents.page(
                "u", base_id, query, Page(1, 3, "created_at", False)
            )
            assert part == expected[:3]
            assert total == len(expected)

    async def test_a_page_of_another_user_is_empty(self) -> None:
        """Whoever does not own the knowledge base sees nothing in it."""
        async with self.open_world() as world:
            base_id, shown = await fill(world)
            ids = [record.id for record in shown]
            documents = world.storage.documents
            assert await documents.page("v", base_id, EVERYTHING, Page()) == ([], 0)
            assert await documents.page("u", "missing", EVERYTHING, Page()) == ([], 0)
            assert await documents.get_many("v", base_id, ids) == {}
            assert await documents.get("v", base_id, ids[0]) is None
            other = await world.knowledge_base()
            assert await documents.get("u", other.id, ids[0]) is None

    async def test_a_batch_read_returns_the_visible_ones(self) -> None:
        """Missing, hidden and repeated ids do no harm; a thousand ids are one call."""
        async with self.open_world() as world:
            base_id, shown = await fill(world)
            every = await world.storage.documents.of_knowledge_base(base_id)
            ids = [record.id for record in every] * 2 + [f"missing{n}" for n in range(1000)]
            found = await world.storage.documents.get_many("u", base_id, ids)
            assert found == {record.id: record for record in shown}
            assert await world.storage.documents.get_many("u", base_id, []) == {}

    async def test_the_cascade_sees_every_state_in_pages(self) -> None:
        """Ordered by id, from after the last one."""
        async with self.open_world() as world:
            base_id, shown = await fill(world)
            seen: list[str] = []
            while part := await world.storage.documents.of_knowledge_base(
                base_id, after=seen[-1] if seen else "", limit=2
            ):
                seen += [record.id for record in part]
            assert seen == sorted(seen)
            assert len(seen) == len(shown) + 2

    async def test_knowledge_bases_are_listed_in_pages(self) -> None:
        """By time, ties by id, with the total; a name filter is literal and without case."""
        async with self.open_world() as world:
            made = []
            for number in range(7):
                made.append(await world.knowledge_base(name=f"Notes {number}% 笔记"))
                if number % 2:
                    world.advance(SECOND)
            await world.knowledge_base("v", name="foreign")
            bases = world.storage.knowledge_bases
            expected = sorted(made, key=lambda one: (one.created_at, one.id), reverse=True)
            seen = []
            for number in (1, 2, 3):
                part, total = await bases.page("u", Page(number, 3))
                assert total == 7
                seen += part
            assert seen == expected
            assert (await bases.page("u", Page(), name_contains="NOTES 3"))[1] == 1
            assert (await bases.page("u", Page(), name_contains="%"))[1] == 7
            assert (await bases.page("u", Page(), name_contains="_"))[1] == 0
            assert await bases.page("u", Page(), id=made[2].id) == ([made[2]], 1)
            assert (await bases.page("u", Page(), id="missing"))[1] == 0
            every = await bases.all(limit=5)
            every += await bases.all(after=every[-1].id)
            assert [one.id for one in every] == sorted(one.id for one in every)
            assert len(every) == 8

    async def test_counts_exist_for_unknown_ids(self) -> None:
        """An id that was never seen counts zero in all six states."""
        async with self.open_world() as world:
            counts = await world.storage.knowledge_bases.counts(["missing"])
            assert counts["missing"].documents == 0
            assert set(counts["missing"].by_status.values()) == {0}
            assert len(counts["missing"].by_status) == 6
            assert (await world.storage.knowledge_bases.user_counts("nobody")).documents == 0


class LedgerSuite(StorageCase):
    """Credentials, events, the registry and the clock."""

    async def test_credentials_belong_to_one_user(self) -> None:
        """Replacing keeps the time of creation; others see nothing."""
        async with self.open_world() as world:
            credentials = world.storage.credentials
            first = await credentials.put("u:1", "c", {"type": "t", "键": "值"})
            world.advance(SECOND)
            second = await credentials.put("u:1", "c", {"type": "t2"})
            assert second.created_at == first.created_at
            assert second.updated_at > first.updated_at
            assert await credentials.get("u:1", "c") == second
            assert await credentials.get("u", "c") is None
            with pytest.raises(AlreadyExistsError):
                await credentials.put("u", "c", {})
            third = await credentials.put("u:1", "a", {})
            assert await credentials.list("u:1") == [second, third]
            assert await credentials.list("u") == []
            assert not await credentials.delete("u", "c")
            assert await credentials.delete("u:1", "c")
            assert not await credentials.delete("u:1", "c")
            assert await credentials.list("u:1") == [third]

    async def test_events_are_numbered_without_gaps_per_user(self) -> None:
        """Also when changes of one user happen at once."""
        async with self.open_world() as world:
            bases = [await world.knowledge_base(), await world.knowledge_base()]
            other = await world.knowledge_base("v")
            await asyncio.gather(*(world.upload(base) for base in [*bases, other] * 8))
            events = await world.storage.events.after("u", 0)
            assert [event.sequence for event in events] == list(range(1, 19))
            assert await world.storage.events.last("u") == 18
            assert await world.storage.events.last("nobody") == 0
            part = await world.storage.events.after("u", 4, limit=3)
            assert [event.sequence for event in part] == [5, 6, 7]
            own = await world.storage.events.after("u", 0, knowledge_base_id=bases[0].id)
            assert len(own) == 9
            assert {event.knowledge_base_id for event in own} == {bases[0].id}
            assert own[-1].data["filename"] == "a.txt"
            await world.check_events("u")

    async def test_a_refused_change_leaves_no_event(self) -> None:
        """Whatever rolls back takes its event and counters with it."""
        async with self.open_world() as world:
            base = await world.knowledge_base()
            await world.begin(base, id="d")
            before = await world.storage.events.last("u")
            with pytest.raises(AlreadyExistsError):
                await world.begin(base, id="d")
            assert await world.storage.events.last("u") == before
            await world.check_totals()

    async def test_old_events_are_trimmed_and_numbers_go_on(self) -> None:
        """At most as many as asked, of all users, the oldest first."""
        async with self.open_world() as world:
            base, other = await world.knowledge_base(), await world.knowledge_base("v")
            for _ in range(4):
                await world.upload(base)
            await world.upload(other)
            world.advance(timedelta(hours=2))
            await world.upload(base)
            events = world.storage.events
            assert await events.trim(older_than=timedelta(hours=3)) == 0
            first = await events.trim(older_than=timedelta(hours=1), limit=3)
            rest = await events.trim(older_than=timedelta(hours=1))
            assert (first, rest) == (3, 4)
            left = await events.after("u", 0)
            assert [event.sequence for event in left] == [6]
            assert await events.after("v", 0) == []
            await world.upload(base)
            assert await events.last("u") == 7

    async def test_the_registry_keeps_and_forgets(self) -> None:
        """Entries end after their time; the first of many writers wins once."""
        async with self.open_world() as world:
            registry = world.storage.registry
            await registry.put("worker:1", {"types": ["text/plain"]}, ttl=SECOND * 30)
            await registry.put("worker:2", {"n": 2})
            await registry.put("key", {"id": "k"})
            assert await registry.get("worker:1") == {"types": ["text/plain"]}
            assert list(await registry.list("worker:")) == ["worker:1", "worker:2"]
            assert list(await registry.list("worker:", after="worker:1")) == ["worker:2"]
            assert await registry.list("worker:", after="worker:2") == {}
            assert list(await registry.list("worker:", after="a")) == ["worker:1", "worker:2"]
            assert await registry.list("worker:", limit=1) == {
                "worker:1": {"types": ["text/plain"]}
            }
            world.advance(timedelta(seconds=31))
            assert await registry.get("worker:1") is None
            assert await registry.list("worker:") == {"worker:2": {"n": 2}}
            assert await registry.put_if_absent("worker:1", {"n": 3}) == {"n": 3}
            answers = await asyncio.gather(
                *(registry.put_if_absent("new", {"by": number}) for number in range(10))
            )
            assert len({answer["by"] for answer in answers}) == 1
            await registry.delete("key")
            await registry.delete("key")
            assert await registry.get("key") is None
            for name in HOSTILE_IDS:
                await registry.put(f"p{name}", {"name": name})
            assert len(await registry.list("p")) == len(HOSTILE_IDS)

    async def test_store_time_is_aware_and_moves_on(self) -> None:
        """Time comes from the storage, in UTC."""
        async with self.open_world() as world:
            first = await world.storage.now()
            assert first.utcoffset() == timedelta()
            world.advance(timedelta(hours=1))
            second = await world.storage.now()
            assert second - first >= timedelta(hours=1)
