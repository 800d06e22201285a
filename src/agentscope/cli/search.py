"""`agentscope-rag search`: a question to a knowledge base."""

import json
import textwrap
from typing import Any

import click

from agentscope.app.settings import Settings
from agentscope.cli.connection import (
    Client,
    connection_options,
    knowledge_base_named,
    run_command,
)
from agentscope.errors import KnowledgeBaseNotFoundError

SHOWN_CHARS = 400


@click.command()
@click.argument("query")
@click.option("--kb", "name", required=True, help="Name or id of the knowledge base.")
@click.option("--top-k", type=click.IntRange(1, 50), default=5, show_default=True)
@click.option("--mode", type=click.Choice(["vector", "keyword", "hybrid"]), help="How to compare.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@connection_options
def command(
    query: str, name: str, top_k: int, mode: str | None, as_json: bool, **given: Any
) -> None:
    """Print the passages that answer QUERY best."""

    async def work(client: Client, settings: Settings) -> dict[str, Any]:
        del settings
        found = await knowledge_base_named(client, name)
        if found is None:
            raise KnowledgeBaseNotFoundError(f"There is no knowledge base '{name}'.")
        body = {"query": query, "top_k": top_k, **({"mode": mode} if mode else {})}
        answer: dict[str, Any] = await client.call(
            "POST", f"/knowledge_bases/{found['id']}/search", json=body
        )
        return answer

    answer = run_command(given, work)
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=1))
        return
    for number, hit in enumerate(answer["results"], start=1):
        _show(number, hit)
    click.echo(f"{answer['total']} hits, {answer['mode']}, {answer['took_ms']:.0f} ms")


def _show(number: int, hit: dict[str, Any]) -> None:
    chunk = hit["chunk"]
    place = [
        f"{key} {chunk['metadata'][key]}"
        for key in ("page", "slide", "sheet")
        if key in chunk["metadata"]
    ]
    click.echo(f"{number}. {hit['score']:.3f}  {', '.join([chunk['source'], *place])}")
    text = " ".join(str(chunk["content"].get("text", "(no text)")).split())
    click.echo(textwrap.indent(textwrap.fill(text[:SHOWN_CHARS], 96), "   "))
