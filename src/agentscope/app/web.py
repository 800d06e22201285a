"""The web side in one import: the API, and the web app and the MCP endpoint beside it."""

import importlib.util
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route

from agentscope.app.api.build import WebOptions, build_app
from agentscope.app.mcp.server import McpEndpoint
from agentscope.app.running import RunningParts
from agentscope.app.ui.serving import ui_routes

OpenParts = Callable[[], AbstractAsyncContextManager[RunningParts]]


def web_app(open_parts: OpenParts, options: WebOptions, *, ui: bool) -> FastAPI:
    """Return the application; the web app's files come after every route of the API.

    `/mcp` exists with the knowledge base routes, if the extra `mcp` is installed.
    """
    if options.with_knowledge_bases and importlib.util.find_spec("mcp") is not None:
        app = _with_mcp(open_parts, options)
    else:
        app = build_app(open_parts, options)
    if ui:
        app.router.routes.extend(ui_routes(provider=_provider(options)))
    return app


def _provider(options: WebOptions) -> str | None:
    way = options.identity.sign_in().get("oidc")
    return None if way is None else str(way["issuer"])


def _with_mcp(open_parts: OpenParts, options: WebOptions) -> FastAPI:
    endpoint: McpEndpoint | None = None

    @asynccontextmanager
    async def opened() -> AsyncIterator[RunningParts]:
        assert endpoint is not None, "the lifespan begins after the app was built"
        async with open_parts() as parts, endpoint.run():
            yield parts

    app = build_app(opened, options)
    endpoint = McpEndpoint(app, options.identity, version=options.version)
    for path in ("/mcp", "/mcp/"):
        app.router.routes.append(Route(path, endpoint, include_in_schema=False))
    return app


__all__ = ["WebOptions", "web_app"]
