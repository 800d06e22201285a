"""What happens in a simulated installation, and what its clients may never see.

Clients upload, delete, re-index and search at random while processes die and the network fails.
Then the faults stop, the work must come to rest, and everything must be in its place.
"""

import asyncio
import gc
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from agentscope.app.rag.service.delete_document import delete_document
from agentscope.app.rag.service.delete_knowledge_base import delete_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.rag.service.reindex import reindex_document
from agentscope.app.rag.service.upload import UploadFields, upload
from agentscope.app.records import DocumentStatus, EmbeddingModelConfig
from agentscope.errors import AgentScopeError, EmbeddingError, EmbeddingTimeoutError
from agentscope.rag.document import SearchHit, SearchMode
from agentscope.testing.faults import FaultRates
from agentscope.testing.simulation import SimulationLoop
from agentscope.testing.world import (
    CORRUPT,
    CRASH,
    EMPTY,
    POISON,
    SLOW,
    USER,
    Api,
    ViolationError,
    World,
    seeded_ids,
)

T = TypeVar("T")

REQUEST_SECONDS = 100.0
CONFIG = EmbeddingModelConfig(
    type="simulated", credential_id="simulated", model="fake-embedding", dimensions=8
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How rough a run of the simulation is."""

    requests: int = 20
    knowledge_bases: int = 2
    workers: int = 3
    apis: int = 2
    rates: FaultRates = field(default_factory=FaultRates)
    disasters: int = 10  # kills, freezes and drains
    misbehaving: float = 0.2  # share of files that break readers
    provider_faults: int = 2
    suspends: bool = False
    """Machines are suspended: no local deadline holds, so garbage may come after the last purge.
    Nobody may ever see it, and the audit must find and remove it."""


ROUGH = Plan(
    rates=FaultRates(
        before=0.03,
        after=0.03,
        late=0.03,
        slow=0.03,
        signal_lost=0.2,
        signal_twice=0.2,
        signal_cut=0.1,
    )
)
SUSPENDED = replace(ROUGH, suspends=True)
CALM = Plan(disasters=0, misbehaving=0.0, provider_faults=0)
BUS_OFF = Plan(rates=FaultRates(signal_lost=1.0, signal_cut=1.0), disasters=2, provider_faults=0)


@dataclass(slots=True)
class ClientDocument:
    """A document as its client knows it."""

    token: str
    word: str
    lines: int
    knowledge_base_id: str
    id: str | None = None  # None: the upload was not answered
    ready_at: float | None = None
    delete_sent_at: float | None = None
    deleted_at: float | None = None  # the deletion was answered

    def text(self) -> str:
        """Return the content; the token stands in every line."""
        body = [f"{self.token} line{number}" for number in range(self.lines)]
        if self.word:
            body[0] = f"{self.word} {body[0]}"
        return "\n".join(body)


class TextFile:
    """A file on its way in, a few bytes at a time."""

    def __init__(self, document: ClientDocument, world: World) -> None:
        self.filename = f"{document.token}.txt"
        self.declared_type = "text/plain"
        self._data = document.text().encode()
        self._world = world

    async def chunks(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._data), 64):
            await asyncio.sleep(self._world.rng.uniform(0.0, 0.5))
            yield self._data[start : start + 64]

    def fields(self) -> UploadFields:
        return UploadFields()


class Clients:
    """Sends requests and remembers what was answered."""

    def __init__(self, world: World, plan: Plan) -> None:
        self._world = world
        self._plan = plan
        self._rng = world.rng
        self._number = 0
        self.knowledge_bases: list[str] = []
        self.deleted_bases: dict[str, float | None] = {}
        self.documents: list[ClientDocument] = []

    async def run(self) -> None:
        """Create knowledge bases, then do things at random."""
        while len(self.knowledge_bases) < self._plan.knowledge_bases:
            await self._create_knowledge_base()
        for _ in range(self._plan.requests):
            await asyncio.sleep(self._rng.uniform(0.0, 8.0))
            work = self._rng.choices(
                [self._upload, self._delete, self._reindex, self._search, self._delete_base],
                weights=[10, 4, 5, 8, 0.15],
            )[0]
            await work()

    def _live(self) -> list[str]:
        return [name for name in self.knowledge_bases if name not in self.deleted_bases]

    def _api(self) -> Api:
        self._world.restart_the_dead()
        return self._rng.choice(self._world.apis)

    async def _ask(
        self, what: str, work: Callable[[KnowledgeBaseService], Awaitable[T]]
    ) -> T | None:
        """Return the answer; None: it failed or never came, and nobody knows what happened."""
        answer = await self._world.call(self._api(), work, seconds=REQUEST_SECONDS)
        if answer is None:
            self._world.note("request", what, "no answer")
            return None
        error = answer.exception()
        if error is None:
            self._world.note("request", what, "ok")
            return answer.result()
        if isinstance(error, AgentScopeError):
            self._world.note("request", what, error.code)
            return None
        raise error

    async def _create_knowledge_base(self) -> None:
        record = await self._ask(
            "create",
            lambda service: service.manager.create_knowledge_base(USER, "name", "", CONFIG),
        )
        if record is not None:
            self.knowledge_bases.append(record.id)

    async def _upload(self) -> None:
        live = self._live()
        if not live:
            return
        self._number += 1
        word = ""
        if self._rng.random() < self._plan.misbehaving:
            word = self._rng.choice([POISON, CORRUPT, CRASH, EMPTY, SLOW])
        document = ClientDocument(
            token=f"token{self._number}x",
            word=word,
            lines=self._rng.choice([1, 5, 70, 140]),
            knowledge_base_id=self._rng.choice(live),
        )
        self.documents.append(document)
        file = TextFile(document, self._world)
        result = await self._ask(
            f"upload {document.token} {word}",
            lambda service: upload(service, USER, document.knowledge_base_id, file),
        )
        if result is not None:
            document.id = result.document.id

    def _some(self) -> ClientDocument | None:
        known = [
            document
            for document in self.documents
            if document.id is not None
            and document.delete_sent_at is None
            and document.knowledge_base_id not in self.deleted_bases
        ]
        return self._rng.choice(known) if known else None

    async def _delete(self) -> None:
        document = self._some()
        if document is None:
            return
        document.delete_sent_at = self._world.loop.time()
        done = await self._ask(
            f"delete {document.token}",
            lambda service: _answered(
                delete_document(service, USER, document.knowledge_base_id, document.id or "")
            ),
        )
        if done:
            document.deleted_at = self._world.loop.time()

    async def _reindex(self) -> None:
        document = self._some()
        if document is not None:
            await self._ask(
                f"reindex {document.token}",
                lambda service: reindex_document(
                    service, USER, document.knowledge_base_id, document.id or ""
                ),
            )

    async def _delete_base(self) -> None:
        live = self._live()
        if len(live) < 2:
            return
        name = self._rng.choice(live)
        self.deleted_bases[name] = None
        done = await self._ask(
            f"delete base {name[:6]}",
            lambda service: _answered(delete_knowledge_base(service, USER, name)),
        )
        if done:
            self.deleted_bases[name] = self._world.loop.time()

    async def _search(self) -> None:
        document = self._some()
        if document is None:
            return
        sent_at = self._world.loop.time()
        hits = await self.hits(document)
        if hits is None:
            return
        self.check(hits, document.knowledge_base_id, sent_at)
        found = any(hit.document_id == document.id for hit in hits)
        if found and document.ready_at is None:
            document.ready_at = sent_at
        if not found and document.ready_at is not None and document.delete_sent_at is None:
            raise ViolationError(f"I8: {document.token} was searchable and is not any more")

    async def hits(self, document: ClientDocument) -> list[SearchHit] | None:
        """Search for the token of a document."""

        async def search(service: KnowledgeBaseService) -> list[SearchHit]:
            handle = await service.manager.get_knowledge(USER, document.knowledge_base_id)
            return await handle.search(document.token, top_k=200, mode=SearchMode.KEYWORD)

        return await self._ask(f"search {document.token}", search)

    def check(self, hits: list[SearchHit], knowledge_base_id: str, sent_at: float) -> None:
        """Check an answer against the history: I3, I4."""
        deleted = {
            document.id: document
            for document in self.documents
            if document.deleted_at is not None and document.deleted_at <= sent_at
        }
        base_deleted_at = self.deleted_bases.get(knowledge_base_id)
        if hits and base_deleted_at is not None and base_deleted_at <= sent_at:
            raise ViolationError("I3: a deleted knowledge base was searched")
        seen = set()
        for hit in hits:
            if hit.document_id in deleted:
                raise ViolationError(f"I3: deleted {deleted[hit.document_id].token} was found")
            place = (hit.document_id, hit.chunk.chunk_index)
            if place in seen:
                raise ViolationError(f"I4: {place} was shown twice")
            seen.add(place)


async def _answered(work: Awaitable[None]) -> bool:
    await work
    return True


class Disasters:
    """What befalls processes and the provider."""

    def __init__(self, world: World, plan: Plan) -> None:
        self._world = world
        self._plan = plan
        self._rng = world.rng

    async def run(self) -> None:
        """Let things happen at random times."""
        for _ in range(self._plan.disasters):
            await asyncio.sleep(self._rng.uniform(0.0, 16.0))
            disaster = self._rng.choices(
                [self._kill_worker, self._kill_api, self._freeze, self._freeze_api, self._drain],
                weights=[3, 1, 5, 1, 1],
            )[0]
            await disaster()
            self._world.restart_the_dead()

    async def _kill_worker(self) -> None:
        self._world.kill(self._rng.choice(self._world.busy_workers()))

    async def _kill_api(self) -> None:
        self._world.kill(self._rng.choice(self._world.apis).process)

    async def _freeze(self) -> None:
        process = self._rng.choice(self._world.busy_workers())
        pause = self._world.suspend if self._plan.suspends else self._world.freeze
        pause(process, self._rng.uniform(20.0, 90.0))

    async def _freeze_api(self) -> None:
        api = self._rng.choice(self._world.apis)
        self._world.freeze(api.process, self._rng.uniform(5.0, 90.0))

    async def _drain(self) -> None:
        await self._world.drain(self._rng.choice(self._world.workers))

    async def provider(self) -> None:
        """Let the embedding provider fail for a while."""
        for _ in range(self._plan.provider_faults):
            await asyncio.sleep(self._rng.uniform(0.0, 60.0))
            error = self._rng.choice([EmbeddingError(), EmbeddingTimeoutError()])
            self._world.note("provider", error.code)
            self._world.model.fail_with(error, times=self._rng.randrange(1, 4))


async def play(world: World, plan: Plan) -> Clients:
    """Run a plan to its end and check everything."""
    clients, disasters = Clients(world, plan), Disasters(world, plan)
    for _ in range(plan.apis):
        world.start_api()
    for _ in range(plan.workers):
        world.start_worker()
    watch = asyncio.create_task(_watch(world))
    async with asyncio.TaskGroup() as group:
        group.create_task(clients.run())
        group.create_task(disasters.run())
        group.create_task(disasters.provider())
    world.note("heal")
    world.network.rates = FaultRates()
    world.model.heal()
    world.restart_the_dead()
    await world.quiescent(hours=6)
    watch.cancel()
    await asyncio.wait({watch})
    if not watch.cancelled():
        watch.result()
    if plan.suspends:
        await _remove_garbage(world)
    await judge(world, clients)
    return clients


async def _remove_garbage(world: World) -> None:
    """Let the audit remove what came too late; only runs that can never be shown may have."""
    report = await world.auditor().run(repair=True, older_than=timedelta(0))
    for finding in report.findings:
        record = world.storage._state.documents.get(finding.subject.document_id)
        late = finding.subject.kind == "run" and (
            record is None or finding.subject.epoch < record.epoch
        )
        if not late:
            raise ViolationError(f"audit: {finding}")


async def _watch(world: World) -> None:
    while True:
        await world.check_always()
        await asyncio.sleep(3.0)


async def judge(world: World, clients: Clients) -> None:
    """Check the state of rest: the audit, then every document against its client's history."""
    await world.check_always()
    report = await world.auditor().run()
    if not report.clean or report.unfinished:
        raise ViolationError(f"audit: {report.findings[:5]} unfinished {dict(report.unfinished)}")
    records = world.storage._state.documents
    for document in clients.documents:
        if document.id is None:
            continue
        base_gone = clients.deleted_bases.get(document.knowledge_base_id) is not None
        record = records.get(document.id)
        if document.deleted_at is not None or base_gone:
            if record is not None:
                raise ViolationError(f"I11: {document.token} was deleted and is still there")
        elif record is None:
            if document.delete_sent_at is None and (
                document.knowledge_base_id not in clients.deleted_bases
            ):
                raise ViolationError(f"I1: {document.token} was accepted and is gone")
        else:
            code = record.failure.code if record.failure else None
            _check_outcome(document, record.status, code)


def _check_outcome(document: ClientDocument, status: str, code: str | None) -> None:
    expected = {
        POISON: {"worker_crash_loop"},
        CRASH: {"worker_crash_loop", "parser_crash"},
        CORRUPT: {"corrupt_file", "worker_crash_loop", "attempts_exhausted"},
        EMPTY: {"no_text", "worker_crash_loop", "attempts_exhausted"},
    }
    if document.word in expected:
        if status != DocumentStatus.ERROR or code not in expected[document.word]:
            raise ViolationError(f"I1: {document.token} {document.word} ended {status} {code}")
    elif status != DocumentStatus.READY and code not in ("worker_crash_loop", "attempts_exhausted"):
        raise ViolationError(f"I1: {document.token} is fine but ended {status} {code}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one seed gave; `violation` is empty if all is well."""

    seed: int
    violation: str
    trace: tuple[str, ...]
    steps: int
    virtual_seconds: float
    embedded: int
    documents: int


def simulate(seed: int, plan: Plan = ROUGH) -> Outcome:
    """Run one seed on a loop of its own."""
    loop = SimulationLoop(seed)
    with tempfile.TemporaryDirectory(prefix="simulation-") as scratch, seeded_ids(seed):
        world = World(loop, Path(scratch), plan.rates)
        world.network.rates = _copy(plan.rates)

        async def run() -> tuple[str, int]:
            try:
                clients = await play(world, plan)
            except (ViolationError, ExceptionGroup) as exc:
                return _message(exc), 0
            else:
                broken = f"a background task broke: {loop.failures[:3]!r}" if loop.failures else ""
                return broken, len(clients.documents)
            finally:
                await world.end()

        gc.collect(0)  # the previous world, still young
        gc.disable()  # a collection may end an async generator: at a moment that no seed decides
        try:
            violation, documents = loop.run_until_complete(run())
        finally:
            gc.enable()
            loop.close()
    return Outcome(
        seed=seed,
        violation=violation,
        trace=tuple(world.trace),
        steps=loop.steps,
        virtual_seconds=loop.time(),
        embedded=world.model.embedded,
        documents=documents,
    )


def _copy(rates: FaultRates) -> FaultRates:
    return FaultRates(**vars(rates))


def _message(exc: BaseException) -> str:
    if isinstance(exc, BaseExceptionGroup):
        return "; ".join(_message(inner) for inner in exc.exceptions)
    if isinstance(exc, ViolationError):
        return str(exc)
    raise exc
