"""A real MCP client over both transports, as two tenants."""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from agentscope.app.mcp.tools import TOOLS
from agentscope.testing.processes import Served, serving


async def _call(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    text: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
    assert result.structured_content == text
    return text


async def _refusal(client: Client, tool: str, /, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


async def _ready(client: Client, base: str) -> list[dict[str, Any]]:
    deadline = time.monotonic() + 60
    while True:
        found: list[dict[str, Any]] = (
            await _call(client, "document_status", knowledge_base_id=base)
        )["documents"]
        if all(view["status"] in ("ready", "error") for view in found):
            return found
        assert time.monotonic() < deadline, found
        await asyncio.sleep(0.1)


async def _main_job(client: Client, word: str) -> str:
    """Create, ingest, search and read; return the id of the knowledge base."""
    listed = await client.list_tools()
    assert {tool.name for tool in listed.tools} == {tool.name for tool in TOOLS}
    made = await _call(client, "create_knowledge_base", name=f"notes of {word}")
    base = made["knowledge_base_id"]
    text = f"# Harbour\n\nThe {word} sails at dawn.\n"
    await _call(client, "ingest_text", knowledge_base_id=base, title="a/b", text=text)
    [view] = await _ready(client, base)
    assert (view["status"], view["filename"]) == ("ready", "a-b.md")
    [hit] = (await _call(client, "search_knowledge", knowledge_base_id=base, query=word))["results"]
    assert word in hit["text"]
    passages = await _call(
        client,
        "read_passage",
        knowledge_base_id=base,
        document_id=hit["document_id"],
        chunk_index=hit["chunk_index"],
        neighbours=2,
    )
    assert word in passages["passages"][0]["text"]
    names = (await _call(client, "list_knowledge_bases"))["knowledge_bases"]
    assert [item["id"] for item in names] == [base]
    return str(base)


@contextlib.asynccontextmanager
async def _as(service: Served, user: str) -> AsyncIterator[Client]:
    headers = {"X-User-ID": user}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{service.base_url}/mcp", http_client=http)) as client,
    ):
        yield client


async def _over_http(service: Served) -> None:
    async with _as(service, "alice") as client:
        foreign = await _main_job(client, "aliceship")
    async with _as(service, "bob") as client:
        own = await _main_job(client, "bobship")
        ask = {"query": "aliceship"}
        said = await _refusal(client, "search_knowledge", knowledge_base_id=foreign, **ask)
        unknown = await _refusal(client, "search_knowledge", knowledge_base_id="0" * 32, **ask)
        assert said.replace(foreign, "0" * 32) == unknown
        for tool, arguments in (
            ("search_knowledge", {"knowledge_base_id": "../x", "query": "x"}),
            ("search_knowledge", {"knowledge_base_id": own, "query": " "}),
            ("read_passage", {"knowledge_base_id": own}),
            ("no_such_tool", {}),
        ):
            assert await _refusal(client, tool, **arguments)


async def _nobody(service: Served) -> None:
    async with httpx2.AsyncClient(timeout=60, trust_env=False) as http:
        answer = await http.post(f"{service.base_url}/mcp", json={})
    assert answer.status_code == 401
    assert answer.json()["code"] == "unauthenticated"


async def _over_stdio(service: Served) -> None:
    for user in ("carol", "dave"):
        command = ["-m", "agentscope.cli", "mcp", "--url", service.base_url, "--user", user]
        parameters = StdioServerParameters(command=sys.executable, args=command)
        async with Client(stdio_client(parameters)) as client:
            await _main_job(client, f"{user}ship")


async def test_a_real_client_works_over_both_transports_as_two_tenants(tmp_path: Path) -> None:
    """Create, ingest, search, read; foreign ids are like unknown ones; nobody gets nothing."""
    with serving(tmp_path / "data") as service:
        await _over_http(service)
        await _nobody(service)
        await _over_stdio(service)
