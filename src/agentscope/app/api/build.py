"""Puts the web application together: routes, error answers, middleware, lifespan."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from agentscope.app.api import (
    agents,
    audit_log,
    credentials,
    docs,
    documents,
    download,
    errors,
    events,
    external,
    health,
    identity,
    keys,
    knowledge_bases,
    limits,
    metrics,
    migrations,
    openapi,
    operator,
    operator_view,
    portability,
    previews,
    requests,
    search,
    shares,
    upload,
    webhooks,
)
from agentscope.app.api.deps import AppState
from agentscope.app.api.guards import BodyLimit, HostCheck, NoSurprises, SafeHeaders
from agentscope.app.api.rates import Rates
from agentscope.app.auth.base import IdentityBase
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.rag.service.plans import TenantPlans
from agentscope.app.running import RunningParts

logger = logging.getLogger(__name__)

DEFAULT_ORIGINS = ("http://localhost:5173", "http://127.0.0.1:5173")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_SENT_HEADERS = (
    "X-User-ID",
    "Content-Type",
    "Authorization",
    "Range",
    "Idempotency-Key",
    "Last-Event-ID",
    "X-Request-ID",
    "traceparent",
)
_SHOWN_HEADERS = ("Content-Disposition", "Content-Range", "Retry-After", "ETag", "X-Request-ID")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """What concerns the web side only."""

    title: str
    version: str
    identity: IdentityBase
    limits: ServiceLimits
    plans: TenantPlans
    with_knowledge_bases: bool
    cors_origins: Sequence[str] = ()
    allowed_hosts: Sequence[str] | None = None
    extra_middlewares: Sequence[Middleware] = ()


def build_app(
    open_parts: Callable[[], AbstractAsyncContextManager[RunningParts]], options: WebOptions
) -> FastAPI:
    """Return the application; `open_parts` is entered and left with its lifespan."""
    state = AppState(identity=options.identity, rates=Rates(options.limits, options.plans))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        async with open_parts() as parts:
            state.parts = parts
            try:
                yield
            finally:
                state.parts = None

    app = FastAPI(
        title=options.title,
        version=options.version,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=_middleware(options),
        responses=openapi.ERRORS,
    )
    app.state.agentscope = state
    errors.install(app)
    routers = _routers(options)
    for router in routers:
        app.include_router(router)
    _serve_both_slash_forms(app, routers)
    openapi.install(app, options.identity)
    docs.install(app)
    return app


def _routers(options: WebOptions) -> list[APIRouter]:
    routers = [
        health.router,
        identity.router,
        metrics.router,
        credentials.router,
        credentials.models_router,
        agents.router,
        audit_log.router,
        keys.router,
        keys.operator_router,
    ]
    if options.with_knowledge_bases:
        # Fixed paths come before those with an id in the same place.
        routers += [
            portability.router,
            knowledge_bases.router,
            migrations.router,
            limits.router,
            shares.router,
            events.router,
            webhooks.router,
            search.router,
            external.router,
            previews.router,
            documents.router,
            upload.router,
            download.router,
            operator.router,
            operator_view.router,
        ]
    return routers


def _middleware(options: WebOptions) -> list[Middleware]:
    """Return the layers, outermost first; what the embedder added is inside the CORS layer."""
    layers: list[Middleware] = [
        Middleware(requests.Observed),
        Middleware(metrics.Measured),
        Middleware(SafeHeaders),
    ]
    if options.allowed_hosts is not None:
        layers.append(Middleware(HostCheck, hosts=options.allowed_hosts))
    layers.append(
        Middleware(
            CORSMiddleware,
            allow_origins=[*dict.fromkeys((*DEFAULT_ORIGINS, *options.cors_origins))],
            allow_methods=_METHODS,
            allow_headers=_SENT_HEADERS,
            expose_headers=_SHOWN_HEADERS,
            max_age=600,
        )
    )
    layers.extend(options.extra_middlewares)
    layers.append(Middleware(NoSurprises))
    layers.append(Middleware(BodyLimit, limit=options.limits.json_body_bytes))
    layers.append(Middleware(audit_log.Audited))
    return layers


def _serve_both_slash_forms(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Answer every API path with and without its last slash; a redirect would drop bodies."""
    for route in (route for router in routers for route in router.routes):
        if not isinstance(route, APIRoute) or route.path.endswith(":path}"):
            continue  # where a slash belongs to the value, it is no other form
        other = route.path.removesuffix("/") if route.path.endswith("/") else f"{route.path}/"
        twin: dict[str, Any] = {
            "methods": sorted(route.methods or ()),
            "include_in_schema": False,
            "response_class": route.response_class,
            "status_code": route.status_code,
            "dependencies": route.dependencies,
            "name": f"{route.name}_other_slash",
        }
        app.add_api_route(other, route.endpoint, **twin)
