"""`agentscope-rag ingest`: files and folders into a knowledge base, again and again if need be."""

import asyncio
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from agentscope.app.settings import Settings
from agentscope.cli.beir import Upload, corpus_uploads
from agentscope.cli.connection import Client, connection_options, knowledge_base_named, run_command
from agentscope.errors import AgentScopeError, ConfigurationError

PARALLEL = 4
POLL_SECONDS = 0.5
STATUS_IDS = 200
MARK = "path"
"""Metadata key under which a file's place is kept, so that a changed file replaces its old self."""


@dataclass(slots=True)
class Outcome:
    """What became of the files."""

    sent: dict[str, str] = field(default_factory=dict)  # document id -> place
    replaced: dict[str, str] = field(default_factory=dict)  # new document id -> old one
    unchanged: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)  # (place, sentence)
    failed: list[tuple[str, str]] = field(default_factory=list)
    ready: int = 0


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--beir",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A corpus.jsonl (_id, title, text): a document per line, for `eval`.",
)
@click.option("--kb", "name", required=True, help="Name or id; made if there is none.")
@click.option("--no-wait", is_flag=True, help="Do not wait until the files are indexed.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
@connection_options
def command(
    *,
    paths: tuple[Path, ...],
    beir: Path | None,
    name: str,
    no_wait: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Upload PATHS, files or folders, and wait until they are indexed.

    Run it again after an interruption or a change: what is there already is skipped, a changed
    file replaces its old version.
    """
    if bool(paths) == (beir is not None):
        raise click.UsageError("Give PATHS or --beir.")

    async def work(client: Client, settings: Settings) -> Outcome:
        del settings
        run = _Ingestion(client, await _target(client, name), quiet=quiet)
        await run.send(uploads)
        if not no_wait:
            await run.wait()
        return run.outcome

    with ExitStack() as stack:
        if beir is None:
            uploads = [Upload(path, place) for path, place in _files(paths)]
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            uploads = corpus_uploads(beir, Path(folder))
        outcome = run_command(given, work)
    _report(outcome, waited=not no_wait)
    sys.exit(1 if outcome.refused or outcome.failed else 0)


async def _target(client: Client, name: str) -> str:
    """Return the id of the knowledge base, which is made with the first offered model."""
    found = await knowledge_base_named(client, name)
    if found is not None:
        return str(found["id"])
    offered = (await client.call("GET", "/knowledge_bases/embedding_models"))["providers"]
    if not offered:
        raise ConfigurationError("There is no embedding model; store a credential first.")
    provider, model = offered[0], offered[0]["models"][0]
    config = {
        "type": provider["credential"]["data"]["type"],
        "credential_id": provider["credential"]["id"],
        "model": model["name"],
        "dimensions": model["dimensions"],
    }
    body = {"name": name, "embedding_model_config": config}
    return str((await client.call("POST", "/knowledge_bases/", json=body))["knowledge_base_id"])


class _Ingestion:
    """One run into one knowledge base."""

    def __init__(self, client: Client, knowledge_base_id: str, *, quiet: bool) -> None:
        self.client = client
        self.documents = f"/knowledge_bases/{knowledge_base_id}/documents"
        self.quiet = quiet
        self.outcome = Outcome()
        self._shas: set[str] = set()
        self._by_place: dict[str, tuple[str, str | None]] = {}  # place -> document id, SHA-256

    async def send(self, files: Sequence[Upload]) -> None:
        """Upload what is new or changed, a few files at a time."""
        async for known in self.client.pages(self.documents, "documents"):
            sha = known["content_sha256"] if known["status"] != "error" else None
            if sha:
                self._shas.add(sha)
            if MARK in known["metadata"]:
                self._by_place[str(known["metadata"][MARK])] = (known["id"], sha)
        gate = asyncio.Semaphore(PARALLEL)
        with _bar(len(files), "Uploading", quiet=self.quiet) as bar:

            async def one(file: Upload) -> None:
                async with gate:
                    await self._send(file)
                bar.update(1)

            await asyncio.gather(*(one(file) for file in files))

    async def _send(self, file: Upload) -> None:
        place = file.place
        old, old_sha = self._by_place.get(place, (None, None))
        sha = await asyncio.to_thread(_sha256, file.path)
        if sha == old_sha or (sha in self._shas and not file.keep_duplicates):
            self.outcome.unchanged += 1
            return
        try:
            answer = await self._upload(file)
        except AgentScopeError as exc:
            self.outcome.refused.append((place, exc.message))
            return
        if not answer["stored"]:
            self.outcome.unchanged += 1
            return
        self.outcome.sent[answer["document_id"]] = place
        if old is not None:
            self.outcome.replaced[answer["document_id"]] = old

    async def _upload(self, file: Upload) -> dict[str, Any]:
        data = {
            "metadata": json.dumps({MARK: file.place, **file.metadata}),
            "on_duplicate": "keep" if file.keep_duplicates else "skip",
        }
        with file.path.open("rb") as content:
            answer: dict[str, Any] = await self.client.call(
                "POST", self.documents, files={"file": (file.path.name, content)}, data=data
            )
        return answer

    async def wait(self) -> None:
        """Follow the documents until each is ready or has failed."""
        waiting = list(self.outcome.sent)
        with _bar(len(waiting), "Indexing", quiet=self.quiet) as bar:
            while waiting:
                still = []
                for start in range(0, len(waiting), STATUS_IDS):
                    still += await self._settled(waiting[start : start + STATUS_IDS])
                bar.update(len(waiting) - len(still))
                waiting = still
                if waiting:
                    await asyncio.sleep(POLL_SECONDS)

    async def _settled(self, ids: Sequence[str]) -> list[str]:
        """Return those that are still under way; what is gone was deleted by somebody."""
        answer = await self.client.call(
            "GET", f"{self.documents}/status", params={"ids": ",".join(ids)}
        )
        waiting = []
        for item in answer["items"]:
            if item["status"] == "ready":
                self.outcome.ready += 1
                await self._drop_old(item["id"])
            elif item["status"] == "error":
                self.outcome.failed.append((self.outcome.sent[item["id"]], item["error"] or ""))
            else:
                waiting.append(item["id"])
        return waiting

    async def _drop_old(self, document_id: str) -> None:
        old = self.outcome.replaced.get(document_id)
        if old is not None:
            await self.client.call("DELETE", f"{self.documents}/{old}")


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each file with its place; hidden files and folders are left out."""
    for path in paths:
        if path.is_file():
            yield path, path.name
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                found = Path(folder) / name
                if not name.startswith(".") and found.is_file():
                    yield found, found.relative_to(path).as_posix()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _bar(length: int, label: str, *, quiet: bool) -> Any:
    hidden = quiet or not sys.stderr.isatty()
    return click.progressbar(length=length, label=label, file=sys.stderr, hidden=hidden)


def _report(outcome: Outcome, *, waited: bool) -> None:
    for place, sentence in (*outcome.refused, *outcome.failed):
        click.echo(f"{place}: {sentence}", err=True)
    parts = [f"{outcome.unchanged} unchanged", f"{len(outcome.refused)} refused"]
    if waited:
        parts = [f"{outcome.ready} ready", f"{len(outcome.failed)} failed", *parts]
    else:
        parts = [f"{len(outcome.sent)} uploaded", *parts]
    click.echo(", ".join(parts))
