"""Every storage does what the memory model does, whatever the order of calls."""

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agentscope.app.records import (
    PAUSED_KNOWLEDGE_BASE,
    PAUSED_USER,
    SETTLED,
    Claim,
    DocumentFailure,
    DocumentQuery,
    DocumentRecord,
    DocumentStatus,
    Limits,
    MaintenanceClaim,
    OnDuplicate,
    Page,
    Policy,
)
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.app.storage.redis.store import RedisStorage
from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.app.storage.verbs import (
    collected,
    extend_upload,
    postpone,
    purge_passed,
    reindex,
    reserve_upload,
    tombstone,
)
from agentscope.app.transitions import knowledge_base as moves
from agentscope.errors import AgentScopeError
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.storage import World

POLICY = Policy(
    limits=Limits(
        max_attempts=4,
        pending_per_user=12,
        knowledge_bases_per_user=2,
        documents_per_user=14,
        stored_bytes_per_user=24_000,
    )
)
USERS = ("u", "oidc:v")
STEPS = (timedelta(seconds=7), timedelta(seconds=61), timedelta(seconds=97), timedelta(seconds=401))
FAILURE = DocumentFailure("provider_down", "The provider does not answer.", "indexing", True)


class StoppedClock:
    """A clock that moves only when told."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    def advance(self, step: timedelta) -> None:
        """Move on."""
        self.time += step


@dataclass(frozen=True)
class Pair:
    """The same thing in the model and in the storage under test."""

    model: Any
    real: Any


def shape(record: DocumentRecord) -> tuple[object, ...]:
    """Return what must be equal in both; ids of runs are random and times differ by moments."""
    return (
        record.status,
        record.user_id,
        record.knowledge_base_id,
        record.attempt,
        record.crashes,
        record.alone,
        record.size,
        record.content_sha256,
        record.duplicate_of,
        record.chunk_count,
        record.searchable,
        record.run_id is None,
        record.active_run_id is None,
        record.lease_owner,
        record.due_at is None,
        record.purge_after is None,
        record.failure,
        record.progress_stage,
        record.version,
    )


class StorageMachine(RuleBasedStateMachine):
    """Calls of services, workers and sweepers in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = contextlib.AsyncExitStack()
        self.clock = StoppedClock()
        self.model = World(InMemoryStorage(clock=self.clock), self.clock.advance, POLICY)
        self.real = World(self.open_real(), self.advance_real, POLICY)
        self.run(self.stack.enter_async_context(self.real.storage))
        self.bases: list[str] = []
        self.owners: dict[str, str] = {}
        self.documents: list[str] = []
        self.claims: list[Pair] = []
        self.sweeps: list[Pair] = []
        self.epochs: dict[str, int] = {}

    def open_real(self) -> StorageBase:
        """Return the storage under test, empty."""
        raise AssertionError("bound by a subclass")

    def advance_real(self, step: timedelta) -> None:
        """Move its clock."""
        raise AssertionError("bound by a subclass")

    def run(self, work: Awaitable[Any]) -> Any:
        async def whole() -> Any:
            return await work

        return self.loop.run_until_complete(whole())

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.loop.close()

    def both(self, call: Callable[[World], Awaitable[Any]]) -> Pair | None:
        """Run the call on both; the answers are alike or the same error."""
        self.clock.advance(timedelta(milliseconds=1))
        answers: list[Any] = []
        for world in (self.model, self.real):
            try:
                answers.append(self.run(call(world)))
            except AgentScopeError as exc:
                answers.append(type(exc))
        model, real = answers
        if isinstance(model, type) or isinstance(real, type):
            assert model == real
            return None
        return Pair(model, real)

    @initialize()
    def first_bases(self) -> None:
        for user in USERS:
            self.new_base(user)

    @precondition(lambda self: len(self.bases) < 4)
    @rule(user=st.sampled_from(USERS))
    def new_base(self, user: str) -> None:
        name = f"kb:{len(self.bases)}"
        if self.both(lambda world: world.knowledge_base(user, id=name)) is not None:
            self.bases.append(name)
            self.owners[name] = user

    @rule(
        base=st.integers(0, 3),
        sha=st.sampled_from([None, "s", "t"]),
        size=st.sampled_from([10, 5000]),
        on_duplicate=st.sampled_from(OnDuplicate),
    )
    def upload(self, base: int, sha: str | None, size: int, on_duplicate: OnDuplicate) -> None:
        name = self.bases[base % len(self.bases)]
        document = f"d:{len(self.documents)}"
        self.documents.append(document)

        async def call(world: World) -> Any:
            documents = world.storage.documents
            begun = await documents.begin_upload(
                self.owners[name], name, {"id": document, "filename": document}, policy=POLICY
            )
            stored = {"size": size, "content_sha256": sha}
            return await documents.commit_upload(
                begun.id, stored=stored, on_duplicate=on_duplicate, policy=POLICY
            )

        found = self.both(call)
        if found is not None:
            assert found.model.stored == found.real.stored
            assert found.model.document.id == found.real.document.id

    @rule(base=st.integers(0, 3), size=st.sampled_from([0, 4000]))
    def begin(self, base: int, size: int) -> None:
        name = self.bases[base % len(self.bases)]
        document = f"d:{len(self.documents)}"
        self.documents.append(document)
        fields = {"id": document, "filename": "b", "size": size}
        self.both(
            lambda world: world.storage.documents.begin_upload(
                self.owners[name], name, fields, policy=POLICY
            )
        )

    @rule(
        limit=st.integers(1, 3),
        idle=st.booleans(),
        largest=st.sampled_from([None, 100]),
        owner=st.sampled_from(["w1", "w2"]),
    )
    def claim(self, limit: int, idle: bool, largest: int | None, owner: str) -> None:
        found = self.both(
            lambda world: world.batch(
                limit, owner=owner, idle=idle, max_bytes=largest, policy=POLICY
            )
        )
        assert found is not None
        assert found.model.alone_waiting == found.real.alone_waiting
        pairs = list(zip(found.model.claims, found.real.claims, strict=True))
        for model, real in pairs:
            assert model.document.id == real.document.id
            self.claims.append(Pair(model, real))

    @precondition(lambda self: self.claims)
    @rule(
        number=st.integers(0, 99),
        what=st.sampled_from(["renew", "stage", "publish", "retry", "crash", "release", "fail"]),
    )
    def write_as_holder(self, number: int, what: str) -> None:
        """Also by holders that lost their run long ago."""
        pair = self.claims[-1 - number % min(6, len(self.claims))]

        async def call(world: World) -> Any:
            claim: Claim = pair.model if world is self.model else pair.real
            writer = world.writer(claim)
            seconds = timedelta(seconds=31)
            if what == "renew":
                return await writer.renew()
            if what == "stage":
                return await writer.set_stage(DocumentStatus.INDEXING)
            if what == "publish":
                return await writer.publish(number % 7, warnings=("w",), report={"pages": 1})
            if what in ("retry", "crash"):
                return await writer.retry_later(seconds, FAILURE, crash=what == "crash")
            return await (writer.release() if what == "release" else writer.fail(FAILURE))

        self.both(call)

    @precondition(lambda self: self.documents)
    @rule(
        number=st.integers(0, 99),
        what=st.sampled_from(["tombstone", "reindex", "extend", "reserve"]),
    )
    def ask(self, number: int, what: str) -> None:
        name = self.documents[number % len(self.documents)]
        calls: dict[str, Callable[[World], Awaitable[Any]]] = {
            "tombstone": lambda world: tombstone(world.storage.documents, name, policy=POLICY),
            "reindex": lambda world: reindex(world.storage.documents, name),
            "extend": lambda world: extend_upload(world.storage.documents, name, policy=POLICY),
            "reserve": lambda world: reserve_upload(
                world.storage.documents, name, size=1000 * number, policy=POLICY
            ),
        }
        self.both(calls[what])

    @rule(number=st.integers(0, 5), paused=st.booleans())
    def pause(self, number: int, paused: bool) -> None:
        """Of a user or of a knowledge base; claims pass over it until it ends."""
        names = [PAUSED_USER + user for user in USERS]
        names += [PAUSED_KNOWLEDGE_BASE + name for name in self.bases]
        name = names[number % len(names)]
        self.both(
            lambda world: (
                world.storage.registry.put(name, {})
                if paused
                else world.storage.registry.delete(name)
            )
        )

    @rule()
    def operators_lists(self) -> None:
        waiting = self.both(lambda world: world.storage.documents.waiting(10))
        failed = self.both(lambda world: world.storage.documents.failed())
        assert waiting is not None
        assert failed is not None
        for model, real in zip(waiting.model, waiting.real, strict=True):
            assert replace(model, due=timedelta()) == replace(real, due=timedelta())
        ids = [[record.id for record in records] for records in (failed.model, failed.real)]
        assert ids[0] == ids[1]

    @rule(limit=st.integers(1, 5))
    def sweep(self, limit: int) -> None:
        found = self.both(
            lambda world: world.storage.documents.claim_maintenance(limit, policy=POLICY)
        )
        assert found is not None
        for model, real in zip(found.model, found.real, strict=True):
            assert model.document.id == real.document.id
            self.sweeps.append(Pair(model, real))

    @precondition(lambda self: self.sweeps)
    @rule(number=st.integers(0, 99), late=st.booleans())
    def report_sweep(self, number: int, late: bool) -> None:
        """Also by sweepers whose claim is old."""
        pair = self.sweeps[-1 - number % min(5, len(self.sweeps))]

        async def call(world: World) -> Any:
            claim: MaintenanceClaim = pair.model if world is self.model else pair.real
            assert claim.document is not None
            name, epoch = claim.document.id, claim.document.epoch
            documents = world.storage.documents
            if late:
                delay = timedelta(seconds=13)
                return await postpone(documents, name, epoch=epoch, delay=delay)
            if claim.document.status is DocumentStatus.DELETING:
                return await purge_passed(documents, name, claimed_at=claim.claimed_at)
            return await collected(documents, name, epoch=epoch, policy=POLICY)

        self.both(call)

    @precondition(lambda self: len(self.bases) > 2)
    @rule(number=st.integers(0, 3))
    def delete_base(self, number: int) -> None:
        name = self.bases[number % len(self.bases)]
        self.both(
            lambda world: world.storage.knowledge_bases.apply(
                name, partial(moves.tombstone_knowledge_base, policy=POLICY)
            )
        )

    @rule()
    def sweep_bases(self) -> None:
        found = self.both(
            lambda world: world.storage.knowledge_bases.claim_maintenance(2, policy=POLICY)
        )
        assert found is not None
        for model, real in zip(found.model, found.real, strict=True):
            assert model.knowledge_base.id == real.knowledge_base.id

    @rule(step=st.sampled_from(STEPS))
    def advance(self, step: timedelta) -> None:
        self.clock.advance(step)
        self.advance_real(step)

    @rule()
    def restart(self) -> None:
        """The embedded service ends the leases of its predecessor."""
        found = self.both(lambda world: world.storage.documents.expire_leases())
        assert found is not None
        assert found.model == found.real

    @invariant()
    def same_records(self) -> None:
        model = {record.id: record for record in self.run(self.model.everything())}
        real = {record.id: record for record in self.run(self.real.everything())}
        assert {name: shape(record) for name, record in real.items()} == {
            name: shape(record) for name, record in model.items()
        }
        for name, record in real.items():
            assert record.status in SETTLED or record.due_at is not None, "I2"
            assert record.epoch >= self.epochs.get(name, 0), "I7"
            self.epochs[name] = record.epoch

    @invariant()
    def same_totals_and_events(self) -> None:
        self.run(self.real.check_totals())
        for user in USERS:
            self.run(self.real.check_events(user))
            told = [
                [
                    (event.sequence, event.type, event.document_id)
                    for event in self.run(world.storage.events.after(user, 0, limit=10_000))
                ]
                for world in (self.model, self.real)
            ]
            assert told[0] == told[1]

    @invariant()
    def same_pages(self) -> None:
        for name in self.bases:
            seen = [
                self.run(
                    world.storage.documents.page(
                        self.owners[name], name, DocumentQuery(), Page(1, 3)
                    )
                )
                for world in (self.model, self.real)
            ]
            assert seen[0][1] == seen[1][1]
            assert [one.id for one in seen[0][0]] == [one.id for one in seen[1][0]]


class SQLiteMachine(StorageMachine):
    """One file, on the clock of the model."""

    def open_real(self) -> StorageBase:
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        return SQLiteStorage(Path(folder) / "rag.db", clock=self.clock)

    def advance_real(self, step: timedelta) -> None:
        return


class ShiftedMachine(StorageMachine):
    """A server with its own clock, moved by the steps only."""

    def __init__(self) -> None:
        self.moved = timedelta()
        super().__init__()

    def advance_real(self, step: timedelta) -> None:
        self.moved += step


class PostgresMachine(ShiftedMachine):
    """A real PostgreSQL."""

    def open_real(self) -> StorageBase:
        server, name = servers.shared_postgres(), f"s{new_id()}"
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        url = f"{server.url}?options=-csearch_path%3D{name}"
        return PostgresStorage(url, connections=2, shift=lambda: self.moved)


class RedisMachine(ShiftedMachine):
    """A real Valkey."""

    def open_real(self) -> StorageBase:
        url = servers.shared_redis().url
        return RedisStorage(url=url, key_prefix=new_id(), shift=lambda: self.moved)


def bounded(examples: int, steps: int) -> settings:
    """Return how much to try."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


TestSQLiteMachine = SQLiteMachine.TestCase
TestSQLiteMachine.settings = bounded(20, 40)
TestPostgresMachine = pytest.mark.server(PostgresMachine.TestCase)
TestPostgresMachine.settings = bounded(4, 30)
TestRedisMachine = pytest.mark.server(RedisMachine.TestCase)
TestRedisMachine.settings = bounded(8, 30)
