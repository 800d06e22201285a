"""`agentscope-rag doctor`: what is here, what is missing, and does the service answer?"""

import asyncio
import importlib.util
import os
import shutil
import sys
from typing import Any

import click
import httpx

from agentscope.app.settings import Settings
from agentscope.cli.connection import Client, connection_options, run_command
from agentscope.cli.data_directory import DataDirectory
from agentscope.cli.place import standing
from agentscope.cli.shared_parts import look_at
from agentscope.errors import AgentScopeError
from agentscope.installation import installed_version

EXTRAS = {
    "redis": "redis",
    "psycopg": "postgres",
    "qdrant_client": "qdrant",
    "obstore": "s3",
    "rapidocr_onnxruntime": "ocr",
    "mcp": "mcp",
}
LEAST_FREE_BYTES = 1024**3


@click.command()
@connection_options
def command(**given: Any) -> None:
    """Check this installation and the service, if one runs; exit status 1 for a problem."""
    named = {name: given.get(name) for name in ("url", "user", "data_dir", "api_key")}
    settings = Settings.from_environment(os.environ, **named)
    version = ".".join(str(part) for part in sys.version_info[:3])
    click.echo(f"agentscope-rag {installed_version()} on Python {version}")
    for module, extra in EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        click.echo(f"  extra {extra}: {'installed' if there else 'not installed'}")
    problems = [
        *_directory_problems(settings),
        *_service_problems(settings, given),
        *_shared_problems(settings),
    ]
    for problem in problems:
        click.echo(f"Problem: {problem}", err=True)
    click.echo("Nothing is wrong." if not problems else f"{len(problems)} problems.")
    sys.exit(1 if problems else 0)


def _directory_problems(settings: Settings) -> list[str]:
    path = DataDirectory(settings.data_dir).path
    if not path.exists():
        click.echo(f"  data directory: {path} (not made yet)")
        return []
    click.echo(f"  data directory: {path}")
    problems = []
    if not os.access(path, os.W_OK):
        problems.append(f"The data directory {path} cannot be written.")
    free = shutil.disk_usage(path).free
    if free < LEAST_FREE_BYTES:
        problems.append(f"Only {free // 1024**2} MiB are free where the data directory is.")
    key = path / "secret.key"
    if key.exists() and key.stat().st_mode & 0o077:
        problems.append("The secret key file can be read by other users of this machine.")
    return problems


def _shared_problems(settings: Settings) -> list[str]:
    try:
        place = standing(settings)
        if place is None:
            return []
        found = asyncio.run(look_at(place))
    except AgentScopeError as exc:
        return [exc.message]
    for fact in found.facts:
        click.echo(f"  {fact}")
    return found.problems


def _service_problems(settings: Settings, given: dict[str, Any]) -> list[str]:
    url = settings.url or DataDirectory(settings.data_dir).address()

    async def work(client: Client, settings: Settings) -> list[str]:
        del settings
        answer = await client.http.get("/health")
        components = answer.json()["components"]
        click.echo(f"  service: {client.where}, version {answer.json()['version']}")
        return [
            f"The part '{name}' of the service is not ready."
            for name, state in components.items()
            if state == "not_ready"
        ]

    try:
        return run_command({**given, "data_dir": None, "url": url}, work)
    except (AgentScopeError, httpx.HTTPError, ValueError, KeyError):
        click.echo("  service: none answers")
        return []
