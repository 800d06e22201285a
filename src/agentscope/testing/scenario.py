"""What happens in a simulated installation, and how it must end.

Clients upload, delete, re-index and search at random while processes die and the network fails.
Then the faults stop, the work must come to rest, and everything must be in its place.
"""

import asyncio
import gc
from dataclasses import dataclass

from agentscope.app.records import DocumentStatus
from agentscope.errors import EmbeddingError, EmbeddingTimeoutError
from agentscope.testing.clients import ClientDocument, Clients
from agentscope.testing.faults import FaultRates
from agentscope.testing.line_reader import CORRUPT, CRASH, EMPTY, POISON
from agentscope.testing.plan import ROUGH, Plan
from agentscope.testing.simulation import SimulationLoop
from agentscope.testing.world import ViolationError, World, scratch_folder, seeded_ids


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
            for model in self._world.others.values():
                # Documents only: else most migrations would be refused when they are asked for.
                model.fail_with(error, times=self._rng.randrange(1, 4), match="token")


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
    for model in (world.model, *world.others.values()):
        model.heal()
    world.restart_the_dead()
    await world.quiescent(hours=6)
    watch.cancel()
    await asyncio.wait({watch})
    if not watch.cancelled():
        watch.result()
    if plan.suspends:
        await world.remove_late_garbage()
    await judge(world, clients)
    return clients


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
    with scratch_folder() as scratch, seeded_ids(seed):
        world = World(loop, scratch, plan.rates)
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
