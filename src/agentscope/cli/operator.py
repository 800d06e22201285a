"""`agentscope-rag operator`: queue, workers and failures; pause, resume and retry.

Needs the operator key, or the data directory of the service.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import click

from agentscope.app.settings import Settings
from agentscope.cli.connection import Client, connection_options, operator_headers, run_command

BATCH = 500


def _asked(method: str, path: str, **options: Any) -> Callable[[Client, Settings], Awaitable[Any]]:
    async def work(client: Client, settings: Settings) -> Any:
        return await client.call(method, path, headers=operator_headers(settings), **options)

    return work


@click.group()
def command() -> None:
    """See queue, workers and failures; pause, resume and retry."""


@command.command()
@click.option("--top", type=click.IntRange(0, 1000), default=10, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@connection_options
def overview(top: int, as_json: bool, **given: Any) -> None:
    """Show what waits, who works, what failed and what is paused."""
    found = run_command(given, _asked("GET", "/operator/overview", params={"top": top}))
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    for line in _queue_lines(found["queue"]):
        click.echo(line)
    for worker in found["workers"]:
        click.echo(
            f"Worker {worker['node_id']}: {worker['state']}, {worker['running']} of "
            f"{worker['slots']} slots busy, version {worker['version']}, seen {worker['seen_at']}"
        )
    if not found["workers"]:
        click.echo("No worker was seen within a minute.")
    failures = found["failures"]
    more = "" if failures["complete"] else " or more"
    click.echo(f"{failures['total']}{more} documents failed.")
    for code, count in failures["by_code"].items():
        click.echo(f"  {code}: {count}")
    for one in found["paused"]:
        reason = f": {one['reason']}" if one["reason"] else ""
        click.echo(f"Paused since {one['at']}: {one['kind'].replace('_', ' ')} {one['id']}{reason}")


def _queue_lines(queue: dict[str, Any]) -> list[str]:
    waits = f"the oldest has waited {queue['oldest_due_seconds']:.0f} s"
    more = "" if queue["complete"] else " or more"
    return [
        f"{queue['documents']} documents of {queue['tenants']}{more} tenants are unfinished, "
        f"{queue['running']} are with a worker; {waits}.",
        *(
            f"  {tenant['user_id']}: {tenant['documents']} documents, {tenant['running']} running, "
            f"oldest {tenant['oldest_due_seconds']:.0f} s"
            for tenant in queue["top"]
        ),
    ]


@command.command()
@click.option("--code", help="Only what failed with this code.")
@click.option("--of", "owner", help="Only documents of this user.")
@click.option("--kb", help="Only documents of the knowledge base with this id.")
@connection_options
def retry(*, code: str | None, owner: str | None, kb: str | None, **given: Any) -> None:
    """Index failed documents again, in batches."""
    wanted = {"code": code, "user_id": owner, "knowledge_base_id": kb, "limit": BATCH}

    async def work(client: Client, settings: Settings) -> int:
        after: str | None = ""
        retried = 0
        while after is not None:
            batch = _asked("POST", "/operator/retry", json={**wanted, "after": after})
            done = await batch(client, settings)
            retried, after = retried + done["retried"], done["next"]
        return retried

    click.echo(f"{run_command(given, work)} documents are tried again.")


def _target(owner: str | None, kb: str | None) -> dict[str, str]:
    if (owner is None) == (kb is None):
        raise click.UsageError("Name either a user (--of) or a knowledge base (--kb).")
    return {"knowledge_base_id": kb} if kb is not None else {"user_id": str(owner)}


@command.command()
@click.option("--of", "owner", help="The user whose documents wait from now on.")
@click.option("--kb", help="Id of the knowledge base whose documents wait from now on.")
@click.option("--reason", default="", help="Shown to those who wait.")
@connection_options
def pause(*, owner: str | None, kb: str | None, reason: str, **given: Any) -> None:
    """Keep workers from starting documents; uploads and searches go on."""
    body = {**_target(owner, kb), "reason": reason}
    found = run_command(given, _asked("POST", "/operator/pause", json=body))
    click.echo(f"Paused: {found['kind'].replace('_', ' ')} {found['id']}")


@command.command()
@click.option("--of", "owner", help="The user.")
@click.option("--kb", help="Id of the knowledge base.")
@connection_options
def resume(*, owner: str | None, kb: str | None, **given: Any) -> None:
    """End a pause."""
    run_command(given, _asked("POST", "/operator/resume", json=_target(owner, kb)))
    click.echo("Workers take its documents again.")
