"""`agentscope-rag import`: a knowledge base from an exported file."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import click
import httpx

from agentscope.app.settings import Settings
from agentscope.cli.connection import Client, connection_options, run_command
from agentscope.cli.exporting import pieces_of
from agentscope.cli.progress import Transferred

ANSWER = httpx.Timeout(None, connect=10)


@click.command()
@click.argument("archive", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", help="Another name for the knowledge base.")
@click.option("--credential", "credential_id", help="Id of the embedding model's credential.")
@click.option("--model", help="Another embedding model; documents are indexed again.")
@click.option("--dimensions", type=int, help="Dimensions of that model.")
@click.option("--copy", "copy_again", is_flag=True, help="Import once more what was imported.")
@click.option("--quiet", is_flag=True, help="No progress.")
@connection_options
def command(
    *,
    archive: Path,
    name: str | None,
    credential_id: str | None,
    model: str | None,
    dimensions: int | None,
    copy_again: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Make a knowledge base from ARCHIVE, a file that `export` wrote.

    Run it again after an interruption: what arrived is left, the rest follows.
    """
    wanted = {
        "name": name,
        "credential_id": credential_id,
        "model": model,
        "dimensions": dimensions,
        "copy_again": copy_again,
    }

    size = archive.stat().st_size

    async def work(client: Client, settings: Settings) -> dict[str, Any]:
        del settings
        with Transferred("Imported", quiet=quiet, total=size) as shown:
            made: dict[str, Any] = await client.call(
                "POST",
                "/knowledge_bases/import",
                content=_counted(archive, shown),
                params={key: value for key, value in wanted.items() if value is not None},
                headers={"Content-Type": "application/x-tar", "Content-Length": str(size)},
                timeout=ANSWER,
            )
        return made

    _show(run_command(given, work))


async def _counted(archive: Path, shown: Transferred) -> AsyncIterator[bytes]:
    async for piece in pieces_of(archive):
        yield piece
        shown.add(len(piece))


def _show(made: dict[str, Any]) -> None:
    counts = made["documents"]
    verb = "Went on with" if made["continued"] else "Made"
    click.echo(f"{verb} the knowledge base '{made['name']}' ({made['knowledge_base_id']}).")
    click.echo(
        f"Documents: {counts['carried']} with their vectors, {counts['queued']} to be indexed, "
        f"{counts['present']} there already."
    )
    for note in made["notes"]:
        click.echo(f"Note: {note}")
    for missing in made["not_exported"]:
        click.echo(f"Not in the archive: {missing['filename']}: {missing['reason']}")
