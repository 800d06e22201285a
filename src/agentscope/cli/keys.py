"""`agentscope-rag keys`: API keys of users, and the key that seals stored secrets."""

from typing import Any

import click

from agentscope.app.settings import Settings
from agentscope.cli.connection import Client, connection_options, operator_headers, run_command

DAY_SECONDS = 86_400


@click.group()
def command() -> None:
    """Make, list and revoke API keys; seal stored secrets with a new secret key."""


@command.command()
@click.option("--for", "owner", required=True, help="The user that the key identifies.")
@click.option("--name", required=True, help="What the key is for.")
@click.option(
    "--capability",
    type=click.Choice(["read", "write", "admin"]),
    default="write",
    show_default=True,
    help="What it allows.",
)
@click.option("--kb", "bases", multiple=True, help="Id of a knowledge base it is limited to.")
@click.option("--days", type=click.IntRange(1, 3650), help="Days until it expires.")
@connection_options
def create(
    *,
    owner: str,
    name: str,
    capability: str,
    bases: tuple[str, ...],
    days: int | None,
    **given: Any,
) -> None:
    """Make a key of any user and print it, this once.

    Needs the operator key, or the data directory of the service.
    """
    body = {
        "user_id": owner,
        "name": name,
        "capability": capability,
        "knowledge_base_ids": list(bases) or None,
        "expires_in_seconds": days and days * DAY_SECONDS,
    }

    async def work(client: Client, settings: Settings) -> Any:
        headers = operator_headers(settings)
        return await client.call("POST", "/operator/api_keys", headers=headers, json=body)

    click.echo(run_command(given, work)["key"])


@command.command(name="rotate-secrets")
@connection_options
def rotate_secrets(**given: Any) -> None:
    """Seal every stored secret again with the newest secret key.

    AGENTSCOPE_SECRET_KEY holds all keys meanwhile, the newest first. Safe while the service runs
    and as often as one likes. When nothing is unreadable, the older keys can be taken out.
    """

    async def work(client: Client, settings: Settings) -> Any:
        headers = operator_headers(settings)
        return await client.call("POST", "/operator/rotate_secrets", headers=headers)

    done = run_command(given, work)
    click.echo(f"{done['checked']} secrets checked, {done['resealed']} sealed with the newest key.")
    if done["unreadable"]:
        raise click.ClickException(
            f"{done['unreadable']} secrets could not be opened: an older key is missing, or they "
            "are damaged. Their owners can enter them again."
        )


@command.command(name="list")
@connection_options
def list_keys(**given: Any) -> None:
    """List the caller's keys, without their secrets."""
    for key in _call(given, "GET", "/api_keys/")["api_keys"]:
        until = key["expires_at"] or "revoked"
        click.echo(f"{key['id']}  {key['capability']}  {key['name']}  until {until}")


@command.command()
@click.argument("key_id")
@connection_options
def rotate(*, key_id: str, **given: Any) -> None:
    """Give a key of the caller a new secret and print it, this once."""
    click.echo(_call(given, "POST", f"/api_keys/{key_id}/rotate")["key"])


@command.command()
@click.argument("key_id")
@connection_options
def revoke(*, key_id: str, **given: Any) -> None:
    """Revoke a key of the caller."""
    _call(given, "DELETE", f"/api_keys/{key_id}")
    click.echo("Revoked.")


def _call(given: dict[str, Any], method: str, path: str) -> Any:
    async def work(client: Client, settings: Settings) -> Any:
        del settings
        return await client.call(method, path)

    return run_command(given, work)
