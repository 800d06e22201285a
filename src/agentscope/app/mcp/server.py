"""The MCP server: streamable HTTP under the app, or stdio for a program on the same machine.

HTTP is stateless: every request carries its identity, exactly as for REST, and nothing is kept
between requests. Over stdio the caller is fixed when the server starts. Needs the extra `mcp`.
"""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx

from agentscope.app.auth.base import IdentityBase
from agentscope.app.mcp.tools import TOOLS, KnowledgeClient, call
from agentscope.errors import AgentScopeError, ToolError
from agentscope.optional import require

INSTRUCTIONS = (
    "Search the user's knowledge bases before answering questions about their documents. "
    "Name the file and page of what you use."
)
FORWARDED = ("x-user-id", "authorization")

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
HeadersOf = Callable[[Any], Mapping[str, str]]


def build_server(http: httpx.AsyncClient, headers_of: HeadersOf, *, version: str) -> Any:
    """Return the SDK's server; `headers_of` gives the identity headers for a request context."""
    types = require("mcp_types", package="mcp", extra="mcp")
    lowlevel = require("mcp.server.lowlevel", package="mcp", extra="mcp")
    tools = [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.input_schema,
            annotations=types.ToolAnnotations(
                title=tool.title, read_only_hint=tool.read_only, open_world_hint=False
            ),
        )
        for tool in TOOLS
    ]

    async def list_tools(context: Any, parameters: Any) -> Any:
        del context, parameters
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, parameters: Any) -> Any:
        client = KnowledgeClient(http, headers_of(context))
        try:
            result = await call(client, parameters.name, parameters.arguments or {})
        except ToolError as exc:
            text = types.TextContent(type="text", text=str(exc))
            return types.CallToolResult(content=[text], is_error=True)
        text = types.TextContent(type="text", text=json.dumps(result, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=result)

    return lowlevel.Server(
        "agentscope-rag",
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class McpEndpoint:
    """The ASGI application for streamable HTTP; `run` must be entered while it serves."""

    def __init__(self, app: Any, identity: IdentityBase, *, version: str) -> None:
        manager = require(
            "mcp.server.streamable_http_manager", package="mcp", extra="mcp"
        ).StreamableHTTPSessionManager
        # The app itself answers: the call never leaves the process and meets every check of REST.
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        self._http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")
        self._identity = identity
        server = build_server(self._http, self._headers, version=version)
        self._manager = manager(server, json_response=True, stateless=True)

    @staticmethod
    def _headers(context: Any) -> Mapping[str, str]:
        request = context.request
        return {name: request.headers[name] for name in FORWARDED if name in request.headers}

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve until the block ends."""
        async with self._http, self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, if it says who is calling."""
        if scope["type"] != "http":
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        try:
            caller = await self._identity.identify(_CaseBlind(headers))
        except AgentScopeError as exc:
            await _refuse(send, exc.message)
            return
        if caller is None:
            await _refuse(send, "Authentication is required.")
            return
        await self._manager.handle_request(scope, receive, send)


class _CaseBlind(dict[str, str]):
    """Headers by name in any case."""

    def get(self, key: str, default: Any = None) -> Any:
        return super().get(key.lower(), default)

    def __getitem__(self, key: str) -> str:
        return super().__getitem__(key.lower())

    def __contains__(self, key: object) -> bool:
        return super().__contains__(str(key).lower())


async def _refuse(send: Send, sentence: str) -> None:
    body = json.dumps({"detail": sentence, "code": "unauthenticated"}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def serve_stdio(base_url: str, headers: Mapping[str, str], *, version: str) -> None:
    """Serve one MCP client on stdin and stdout until it goes; calls go to the service at a URL."""
    stdio = require("mcp.server.stdio", package="mcp", extra="mcp")
    async with httpx.AsyncClient(base_url=base_url, timeout=120, trust_env=False) as http:
        server = build_server(http, lambda context: headers, version=version)
        async with stdio.stdio_server() as (source, target):
            await server.run(source, target, server.create_initialization_options())
