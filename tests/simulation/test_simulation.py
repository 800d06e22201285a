"""Seeded simulations of a whole installation; a failure prints its seed and what happened."""

import ast
import inspect
import logging
import os
from collections.abc import Iterator
from types import ModuleType

import pytest

from agentscope.app.rag.indexing import assembly, consumer, pipeline, purge, sweeper, worker
from agentscope.app.rag.service import upload as upload_verb
from agentscope.testing import (
    clients,
    driver,
    faults,
    line_reader,
    plan,
    scenario,
    simulation,
    world,
)
from agentscope.testing.plan import BUS_OFF, CALM, ROUGH, SUSPENDED, Plan
from agentscope.testing.scenario import simulate

SEEDS = int(os.environ.get("AGENTSCOPE_TEST_SEEDS", "2000"))
BLOCKS = 12


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of expected warnings help nobody; the trace tells the story."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def hold(seed: int, plan: Plan) -> None:
    """Run a seed; fail with its trace if an invariant broke."""
    outcome = simulate(seed, plan)
    if outcome.violation:
        trace = "\n".join(outcome.trace)
        pytest.fail(f"seed {seed}: {outcome.violation}\n{trace}", pytrace=False)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_invariant_holds_on_a_network_that_fails(block: int) -> None:
    """Kills, freezes, lost and late answers, poison, provider faults: then all is in its place."""
    for seed in range(block, SEEDS * 2 // 3, BLOCKS):
        hold(seed, ROUGH)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_deadline_of_a_worker_is_needed_for_safety(block: int) -> None:
    """Suspended machines go on an hour late: nobody sees it, and the audit removes the rest."""
    for seed in range(block, SEEDS // 3, BLOCKS):
        hold(10_000 + seed, SUSPENDED)


def test_without_faults_every_document_costs_exactly_one_run() -> None:
    """I12: as many texts are embedded as there are chunks in the documents that were kept."""
    for seed in range(8):
        hold(seed, CALM)


def test_indexing_works_without_any_signal() -> None:
    """The bus delivers nothing: latency, never loss."""
    for seed in range(8):
        hold(seed, BUS_OFF)


def test_a_seed_repeats_itself() -> None:
    """The same seed gives the same story, else a printed seed would be worth nothing."""
    first, second = simulate(7), simulate(7)
    assert first.trace == second.trace
    assert first.virtual_seconds == second.virtual_seconds


def test_the_simulation_runs_the_production_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims, pipelines, sweeps, purges and uploads all pass through the shipped functions."""
    seen: set[str] = set()

    def spy(owner: object, name: str) -> None:
        original = getattr(owner, name)

        async def counted(*args: object, **named: object) -> object:
            seen.add(name)
            return await original(*args, **named)

        monkeypatch.setattr(owner, name, counted)

    spy(consumer.Consumer, "_claim")
    spy(worker.IndexWorker, "process")
    spy(pipeline.Pipeline, "index")
    spy(sweeper.Sweeper, "sweep")
    spy(purge.Purger, "run")
    spy(upload_verb, "_receive")
    for seed in range(3):
        hold(seed, ROUGH)
    assert seen == {"_claim", "process", "index", "sweep", "run", "_receive"}
    assert vars(world)["indexing"] is assembly.indexing


@pytest.mark.parametrize(
    "module", [world, scenario, driver, faults, simulation, clients, plan, line_reader]
)
def test_the_simulation_defines_no_worker_of_its_own(module: ModuleType) -> None:
    """It may not claim, lease, publish or purge: whoever simulates those simulates a copy."""
    forbidden = {"claim_index", "claim_maintenance", "publish_run", "retry_later", "purge_passed"}
    tree = ast.parse(inspect.getsource(module))
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not called & forbidden
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    assert not {name for name in classes if name.endswith(("Worker", "Consumer", "Sweeper"))}
