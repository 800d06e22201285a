"""`agentscope-rag worker`: indexing in a process of its own."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from agentscope.app.rag.chunker_choices import ChunkerChoices
from agentscope.app.rag.index_worker.run import WorkerSettings, working
from agentscope.app.records import Policy
from agentscope.app.settings import Settings
from agentscope.cli.announcement import announcing
from agentscope.cli.application import application, egress, manager_of
from agentscope.cli.place import Place, joined
from agentscope.cli.telemetry import set_up_logs, traces
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.parser.installed import default_parsers
from agentscope.rag.parser.registry import ParserRegistry

READY = "The worker is ready."


@click.command()
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="The directory of the service beside which it works.",
)
@click.option("--index-slots", type=click.IntRange(1, 256), help="Documents indexed at once.")
def command(**given: Any) -> None:
    """Index documents beside a service and other workers.

    They share the servers that AGENTSCOPE_STORAGE_URL and its companions name, or those that
    `serve --postgres embedded` started in the data directory. On a data directory without
    servers it indexes what waits there, while no service runs on it. Another composition is
    started with `python -m agentscope.app.rag.index_worker`.
    """
    settings = Settings.from_environment(os.environ, **given)
    set_up_logs(settings)
    with joined(settings) as place, traces(settings, role="worker") as provider:
        work = _beside if place.shared else _alone
        asyncio.run(work(settings, place, provider))


async def _beside(settings: Settings, place: Place, provider: Any) -> None:
    stop = _stop_signal()
    storage = place.storage()
    async with (
        working(
            storage,
            place.bus(),
            place.blobs(),
            manager_of(settings, storage, place),
            ParserRegistry(default_parsers()),
            ChunkerChoices([ApproxTokenChunker]),
            replace(_settings(settings, place), tracer_provider=provider),
        ),
        announcing(storage, place, role="worker", indexes=True),
    ):
        click.echo(READY)
        await stop.wait()


def _settings(settings: Settings, place: Place) -> WorkerSettings:
    return WorkerSettings(
        policy=Policy(settings.timings(), settings.limits()),
        readers=settings.index_slots,
        read_limits=settings.read_limits(),
        secrets=place.directory.secrets(settings.secret_key),
        local_embedding=settings.local_embedding,
        allow_url=egress(settings),
        temporary=place.directory.scratch,
        metrics_host=settings.host,
        metrics_port=settings.metrics_port or None,
    )


async def _alone(settings: Settings, place: Place, provider: Any) -> None:
    stop = _stop_signal()
    app = application(settings, place, ui=False, tracer_provider=provider)
    async with app.router.lifespan_context(app):
        click.echo(READY)
        await stop.wait()


def _stop_signal() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set; the second signal exits at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.is_set():
            os._exit(130)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    return stop
