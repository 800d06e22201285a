"""`agentscope-rag export`: one knowledge base to one file."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import click
import httpx

from agentscope.app.rag.archive.layout import ArchiveEnd
from agentscope.app.rag.archive.reader import ArchiveReader
from agentscope.app.rag.archive.tar import PIECE_BYTES
from agentscope.app.settings import Settings
from agentscope.cli.connection import (
    Client,
    connection_options,
    knowledge_base_named,
    refusal,
    run_command,
)
from agentscope.cli.progress import Transferred
from agentscope.errors import InvalidInputError, KnowledgeBaseNotFoundError, UpstreamError

NO_LIMIT = 2**63
ANSWER = httpx.Timeout(600, connect=10)


@click.command()
@click.option("--kb", "name", required=True, help="Name or id.")
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; it must not exist.",
)
@click.option("--force", is_flag=True, help="Replace the file.")
@click.option("--quiet", is_flag=True, help="No progress.")
@connection_options
def command(*, name: str, out: Path, force: bool, quiet: bool, **given: Any) -> None:
    """Write a knowledge base to one file: settings, original files, chunks, vectors.

    The file appears under its name when it is complete and was checked.
    """
    if out.exists() and not force:
        raise InvalidInputError(f"{out} exists already; give --force to replace it.")
    part = out.with_name(f"{out.name}.part")

    async def work(client: Client, settings: Settings) -> ArchiveEnd:
        del settings
        found = await knowledge_base_named(client, name)
        if found is None:
            raise KnowledgeBaseNotFoundError(f"There is no knowledge base '{name}'.")
        with Transferred("Exported", quiet=quiet) as shown:
            await _fetch(client, f"/knowledge_bases/{found['id']}/export", part, shown)
        return await _checked(part)

    end = run_command(given, work)
    part.replace(out)
    click.echo(f"Written to {out}: documents: {end.documents}, chunks: {end.chunks}.")
    for skipped in end.skipped:
        click.echo(f"Left out: {skipped.filename}: {skipped.reason}", err=True)


async def _fetch(client: Client, path: str, part: Path, shown: Transferred) -> None:
    try:
        async with client.http.stream("GET", path, timeout=ANSWER) as answer:
            if not answer.is_success:
                await answer.aread()
                raise refusal(answer)
            with part.open("wb") as file:
                async for piece in answer.aiter_bytes(PIECE_BYTES):
                    await asyncio.to_thread(file.write, piece)
                    shown.add(len(piece))
                await asyncio.to_thread(os.fsync, file.fileno())
    except httpx.HTTPError as exc:
        raise UpstreamError(f"The export broke off: {exc}") from exc


async def _checked(part: Path) -> ArchiveEnd:
    """Read the file as an import would, and return its totals."""
    reader = ArchiveReader(pieces_of(part), max_bytes=NO_LIMIT, max_documents=NO_LIMIT)
    await reader.manifest()
    async for _ in reader.documents():
        pass
    assert reader.end is not None, "reading all documents reads the end"
    return reader.end


async def pieces_of(path: Path) -> AsyncIterator[bytes]:
    """Yield the bytes of a file."""
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
            yield piece
