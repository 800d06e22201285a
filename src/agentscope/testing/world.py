"""A whole installation inside one seeded loop: API processes, workers, servers, faults.

Everything that decides anything is the production code; what is simulated is the world around it:
network, clock, processes, and the file format ("one line is one chunk").
"""

import asyncio
import contextlib
import os
import random
import tempfile
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from agentscope import identity
from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.rag.chunker_choices import ChunkerChoices
from agentscope.app.rag.indexing.assembly import IndexingParts, indexing
from agentscope.app.rag.indexing.audit import Auditor
from agentscope.app.rag.indexing.purge import Purger
from agentscope.app.rag.indexing.sweeper import Sweeper
from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.rag.service.parts import CredentialParts, KnowledgeBaseService
from agentscope.app.records import (
    DocumentStatus,
    EmbeddingModelConfig,
    Limits,
    Policy,
    Timings,
)
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.clock import LoopClock
from agentscope.credential.sealing import SecretBox
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.errors import (
    EmbeddingError,
    VectorStoreError,
)
from agentscope.rag.parser.registry import ParserRegistry
from agentscope.rag.parser.text import TextParser
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel
from agentscope.testing.faults import (
    FaultRates,
    MemoryBlobStore,
    Network,
    RemoteBlobStore,
    RemoteBus,
    RemoteStorage,
    behind,
)
from agentscope.testing.line_reader import LineReader
from agentscope.testing.simulation import Process, SimulationLoop

T = TypeVar("T")

USER = "user-1"
TRACE_LINES = 400
IN_MEMORY = Path("/dev/shm")  # a folder of its own is made in it

# The documented durations, a third each: the same protocol with less waiting.
SIMULATED = Policy(
    timings=Timings(
        lease_ttl=timedelta(seconds=30),
        heartbeat=timedelta(seconds=15),
        margin=timedelta(seconds=4),
        request_timeout=timedelta(seconds=10),
        upload_ttl=timedelta(seconds=20),
        poll_interval=timedelta(seconds=3),
        sweep_interval=timedelta(seconds=4),
        drain_timeout=timedelta(seconds=7),
        grace_extra=timedelta(seconds=20),
    ),
    limits=Limits(slots=2, max_attempts=12),
)


class ProcessClock(LoopClock):
    """The clock of one process; it stands still while the machine is suspended."""

    def __init__(self, process: Process) -> None:
        super().__init__()
        self._process = process

    def monotonic(self) -> float:
        return super().monotonic() - self._process.lag


@dataclass(eq=False)
class Api:
    """A simulated API process."""

    process: Process
    service: KnowledgeBaseService


@dataclass(slots=True)
class ViolationError(Exception):
    """An invariant that did not hold."""

    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(eq=False)
class World:
    """Servers that never die, processes that do."""

    loop: SimulationLoop
    scratch: Path
    rates: FaultRates
    policy: Policy = SIMULATED
    trace: "deque[str]" = field(default_factory=lambda: deque(maxlen=TRACE_LINES))

    def __post_init__(self) -> None:
        self.rng = random.Random(self.loop.rng.random())
        self.network = Network(self.loop, self.rates)
        self.clock = LoopClock()
        self.storage = InMemoryStorage(clock=self.clock)
        self.vectors = InMemoryVectorStore()
        self.blobs = MemoryBlobStore(self.loop.time)
        self.bus = InMemoryMessageBus()
        self.model = FakeEmbeddingModel(dimensions=8)
        self.others = {  # what a knowledge base can be migrated to; never the same dimensions
            name: FakeEmbeddingModel(dimensions=size, model=name)
            for name, size in (("second-embedding", 12), ("third-embedding", 16))
        }
        self.parsers = ParserRegistry([TextParser()])
        self.chunkers = ChunkerChoices()
        self.gate = asyncio.Event()  # files that begin with GATE wait for it
        self.at_gate = asyncio.Event()  # one does
        self.apis: list[Api] = []
        self.workers: list[Process] = []
        self.graves: list[Process] = []
        self.reads: list[str] = []  # document ids, one per reading
        self._epochs: dict[str, int] = {}
        self._numbers = Counter[str]()

    def note(self, event: str, *details: object) -> None:
        """Add a line to the trace that a failure prints."""
        words = " ".join(str(detail) for detail in details)
        self.trace.append(f"{self.loop.time():10.3f} {event} {words}")

    def _name(self, kind: str) -> str:
        self._numbers[kind] += 1
        return f"{kind}-{self._numbers[kind]}"

    def _manager(self) -> CollectionPerKbManager:
        storage = RemoteStorage(self.network, self.storage)
        manager = CollectionPerKbManager(
            storage, behind(self.network, self.vectors, VectorStoreError, seconds=0.3)
        )
        known = {
            name: behind(self.network, model, EmbeddingError, seconds=1.0)
            for name, model in {self.model.model: self.model, **self.others}.items()
        }

        async def models(user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
            del user_id
            return known[config.model]

        manager.bind(embedding_models=models, policy=self.policy)
        return manager

    def start_api(self) -> Api:
        """Start an API process with its sweeper."""
        process = Process(self._name("api"))
        manager = self._manager()
        blobs = RemoteBlobStore(self.network, self.blobs)
        bus = RemoteBus(self.network, self.bus)
        rng = random.Random(self.rng.random())
        purger = Purger(storage=manager.storage, manager=manager, blobs=blobs, policy=self.policy)
        sweeper = Sweeper(
            storage=manager.storage,
            message_bus=bus,
            blobs=blobs,
            purger=purger,
            policy=self.policy,
            clock=self.clock,
            rng=rng,
        )
        service = KnowledgeBaseService(
            storage=manager.storage,
            message_bus=bus,
            blobs=blobs,
            manager=manager,
            credentials=CredentialParts(
                storage=manager.storage,
                secrets=SecretBox(["a key of the simulation"]),
                started_at=datetime(2026, 1, 1, tzinfo=UTC),
            ),
            parsers=self.parsers,
            chunkers=self.chunkers,
            policy=self.policy,
            wake_maintenance=sweeper.wake,
        )
        self.loop.spawn(process, sweeper.run())
        api = Api(process, service)
        self.apis.append(api)
        self.note("start", process.name)
        return api

    def start_worker(self) -> Process:
        """Start a worker process."""
        process = Process(self._name("worker"))
        manager = self._manager()
        parts = IndexingParts(
            storage=manager.storage,
            message_bus=RemoteBus(self.network, self.bus),
            blobs=RemoteBlobStore(self.network, self.blobs),
            manager=manager,
            reader=LineReader(self, self.loop, self.rng),
            parsers=self.parsers,
            chunker_of=self.chunkers.build,
            policy=self.policy,
            node_id=process.name,
            temporary=self.scratch,
            clock=ProcessClock(process),
            rng=random.Random(self.rng.random()),
        )
        process.main = self.loop.spawn(process, self._work(process, parts))
        self.workers.append(process)
        self.note("start", process.name)
        return process

    async def _work(self, process: Process, parts: IndexingParts) -> None:
        async with indexing(parts):
            await process.stop.wait()

    def busy_workers(self) -> list[Process]:
        """Return the workers that hold a lease, or all if none does."""
        state = self.storage._state
        owners = {record.lease_owner for record in state.documents.values()}
        migrations = (record.migration for record in state.knowledge_bases.values())
        owners |= {migration.lease_owner for migration in migrations if migration is not None}
        return [worker for worker in self.workers if worker.name in owners] or self.workers

    def kill(self, process: Process) -> None:
        """Kill a process at whatever it awaits."""
        self.note("kill", process.name)
        self.loop.kill(process)

    def freeze(self, process: Process, seconds: float) -> None:
        """Pause a process."""
        self.note("freeze", process.name, f"{seconds:.1f}s")
        self.loop.freeze(process, seconds)

    def suspend(self, process: Process, seconds: float) -> None:
        """Pause the machine of a process: its clock stands still, so its deadlines come late."""
        self.note("suspend", process.name, f"{seconds:.1f}s")
        already = max(0.0, process.frozen_until - self.loop.time())
        if seconds > already:
            process.lag += seconds - already
            self.loop.freeze(process, seconds)

    async def drain(self, process: Process) -> None:
        """End a worker gently."""
        self.note("drain", process.name)
        process.stop.set()
        assert process.main is not None, "it was started"
        await asyncio.wait({process.main}, timeout=120)
        self.loop.kill(process)

    async def call(
        self, api: Api, work: Callable[[KnowledgeBaseService], Awaitable[T]], *, seconds: float
    ) -> "asyncio.Task[T] | None":
        """Run a request inside an API process; None: no answer came in time."""

        async def request() -> T:
            return await work(api.service)

        task: asyncio.Task[T] = self.loop.spawn(api.process, request())
        task.add_done_callback(_seen)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return task if done else None

    def restart_the_dead(self) -> None:
        """Replace dead processes by new ones."""
        dead = [api for api in self.apis if api.process.dead]
        for api in dead:
            self.apis.remove(api)
            self.graves.append(api.process)
            self.start_api()
        for process in [process for process in self.workers if process.dead]:
            self.workers.remove(process)
            self.graves.append(process)
            self.start_worker()

    def auditor(self) -> Auditor:
        """Return an auditor that sees the servers without any network."""
        manager = CollectionPerKbManager(self.storage, self.vectors)
        return Auditor(storage=self.storage, manager=manager, blobs=self.blobs, deep=True)

    async def remove_late_garbage(self) -> None:
        """Let the audit remove what suspended machines wrote too late.

        Only runs that can never be shown may have been left.
        """
        report = await self.auditor().run(repair=True, older_than=timedelta(0))
        for finding in report.findings:
            record = self.storage._state.documents.get(finding.subject.document_id)
            stale = record is None or finding.subject.epoch < record.epoch
            if finding.subject.kind != "run" or not stale:
                raise ViolationError(f"audit: {finding}")

    async def check_always(self) -> None:
        """Check what must hold at any instant: I2, I5, I6, I7."""
        state = self.storage._state
        for record in list(state.documents.values()):
            before = self._epochs.get(record.id, 0)
            if record.epoch < before:
                raise ViolationError(f"I7: the epoch of {record.id} fell from {before}")
            self._epochs[record.id] = record.epoch
            if record.status not in ("ready", "error") and record.due_at is None:
                raise ViolationError(f"I2: {record.id} is {record.status} and never due")
            if record.attempt > self.policy.limits.max_attempts:
                raise ViolationError(f"I9: {record.id} has {record.attempt} attempts")
            if record.active_run_id is None or record.status is DocumentStatus.DELETING:
                continue
            owner = state.knowledge_bases.get(record.knowledge_base_id)
            if owner is None or owner.status != "active":
                continue
            collection = owner.collection_name
            stored = await self.vectors.count(collection, record.id, record.active_run_id)
            if stored != record.chunk_count:
                raise ViolationError(
                    f"I6: {record.id} shows {stored} of {record.chunk_count} chunks "
                    f"of run {record.active_run_id}"
                )

    async def quiescent(self, *, hours: float) -> None:
        """Wait until nothing is due any more; healed processes do the work."""
        deadline = self.loop.time() + hours * 3600
        while self.loop.time() < deadline:
            await asyncio.sleep(20)
            self.restart_the_dead()
            due = await self.storage.documents.due()
            if due.index is None and due.maintenance is None:
                return
        left = [
            f"{record.id} {record.status} due {record.due_at} attempt {record.attempt} "
            f"crashes {record.crashes} {record.failure}"
            for record in self.storage._state.documents.values()
            if record.due_at is not None
        ]
        raise ViolationError(f"I1: still not finished after {hours} hours: {left[:5]}")

    async def end(self) -> None:
        """Unwind every process, so that no task is left half-run."""
        self.network.closed = True
        processes = [api.process for api in self.apis] + self.workers + self.graves
        for process in processes:
            self.loop.bury(process)
        mine = asyncio.current_task()
        for _ in range(20):
            left = [task for task in asyncio.all_tasks() if task is not mine]
            if not left:
                return
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=100)


def _seen(task: "asyncio.Task[Any]") -> None:
    """Take note of the outcome of a request whose client went away."""
    if not task.cancelled():
        task.exception()


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder for the files of a run, in memory where that is possible: there are many."""
    place = IN_MEMORY if IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="simulation-", dir=place) as folder:
        yield Path(folder)


@contextlib.contextmanager
def seeded_ids(seed: int) -> Iterator[None]:
    """Make ids that only the seed decides."""
    rng = random.Random(f"ids {seed}")
    before = identity._factories["id"]
    identity.set_id_factory(lambda: f"{rng.getrandbits(128):032x}")
    try:
        yield
    finally:
        identity.set_id_factory(before)
