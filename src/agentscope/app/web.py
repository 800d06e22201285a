"""The web side in one import: the API, and the web app in front of it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI

from agentscope.app.api.build import WebOptions, build_app
from agentscope.app.running import RunningParts
from agentscope.app.ui.serving import ui_routes


def web_app(
    open_parts: Callable[[], AbstractAsyncContextManager[RunningParts]],
    options: WebOptions,
    *,
    ui: bool,
) -> FastAPI:
    """Return the application; the web app's files come after every route of the API."""
    app = build_app(open_parts, options)
    if ui:
        app.router.routes.extend(ui_routes())
    return app


__all__ = ["WebOptions", "web_app"]
