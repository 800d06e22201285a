"""`agentscope-rag worker`: indexing in a process of its own."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import click

from agentscope.app.settings import Settings
from agentscope.cli.data_directory import DataDirectory
from agentscope.cli.embedded import embedded_app
from agentscope.cli.logs import set_up_logs


@click.command()
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Index what waits in this directory, without serving it.",
)
@click.option("--index-slots", type=click.IntRange(1, 256), help="Documents indexed at once.")
def command(**given: Any) -> None:
    """Index the documents of a data directory that no service runs on.

    Workers beside a service share servers with it; start those with
    `python -m agentscope.app.rag.index_worker` and AGENTSCOPE_WORKER_BOOTSTRAP.
    """
    settings = Settings.from_environment(os.environ, **given)
    set_up_logs(settings.log_level)
    directory = DataDirectory(settings.data_dir)
    with directory.owned():
        asyncio.run(_work(embedded_app(settings, directory, ui=False)))


async def _work(app: Any) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with app.router.lifespan_context(app):
        click.echo("The worker is ready.")
        await stop.wait()
