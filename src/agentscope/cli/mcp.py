"""`agentscope-rag mcp`: the running service as an MCP server on stdin and stdout."""

import asyncio
import os
from typing import Any

import click

from agentscope.app.mcp.server import serve_stdio
from agentscope.app.settings import Settings
from agentscope.installation import installed_version

DEFAULT_URL = "http://127.0.0.1:8000"


@click.command()
@click.option("--url", help=f"The service to talk to.  [default: {DEFAULT_URL}]")
@click.option("--user", help="The user whose knowledge bases are used.")
@click.option("--api-key", help="The key to present instead of a user name.")
def command(**given: Any) -> None:
    """Let an MCP client on this machine use the service.

    Put `agentscope-rag mcp --user NAME` into the client's configuration.
    """
    settings = Settings.from_environment(os.environ, **given)
    headers = {"X-User-ID": settings.user}
    if settings.api_key:
        headers = {"Authorization": f"Bearer {settings.api_key}"}
    url = settings.url or DEFAULT_URL
    asyncio.run(serve_stdio(url, headers, version=installed_version()))
