"""The list of commands."""

import importlib
import sys
from typing import Any

import click

from agentscope.errors import AgentScopeError
from agentscope.installation import installed_version

COMMANDS = {
    "serve": "Start the service with its web app.",
    "worker": "Index documents in a process of its own.",
    "ingest": "Upload files and folders, and wait until they are indexed.",
    "search": "Search a knowledge base.",
    "eval": "Measure how well a knowledge base finds.",
    "export": "Write a knowledge base to one file.",
    "import": "Make a knowledge base from an exported file.",
    "backup": "Copy a data directory, also while it is in use.",
    "operator": "See queue, workers and failures; pause and retry.",
    "audit": "Compare records, vectors and files.",
    "mcp": "Let an MCP client on this machine use the service.",
    "keys": "Make, list and revoke API keys.",
    "doctor": "Check this installation and a running service.",
}

MODULES = {"export": "exporting", "import": "importing"}
"""Modules with another name than their command; `import` can be none."""


class LazyGroup(click.Group):
    """Knows the names and the summaries; loads the rest on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *(name for name in super().list_commands(ctx) if name not in COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"agentscope.cli.{MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AgentScopeError as exc:
            click.echo(f"Error: {exc.message}", err=True)
            sys.exit(1)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(installed_version(), package_name="agentscope-rag")
def main() -> None:
    """Upload documents, index them in the background, search them.

    Every default is a setting: AGENTSCOPE_<NAME> in the environment.
    """
