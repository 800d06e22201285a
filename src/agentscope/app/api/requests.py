"""The outermost layer: gives a request its id, its span and its log line.

A client may name its request (`X-Request-ID`) and hand over its trace (`traceparent`); the answer
names the request, too.
"""

import logging
import re
import time
from contextlib import AbstractContextManager, nullcontext

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentscope import logs, tracing
from agentscope.identity import new_id

logger = logging.getLogger(__name__)

REQUEST_ID = "X-Request-ID"
_WELL_FORMED = re.compile(r"[\w.:+/=-]{1,128}", re.ASCII)
_ASKED_ALL_THE_TIME = frozenset({"/health", "/health/live", "/metrics"})
"""By probes and scrapers, which would fill the traces."""
_QUIET = frozenset({"GET", "HEAD", "OPTIONS"})


class Observed:
    """Traces a request, and logs one line when its answer has ended; reads at DEBUG level."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = headers.get(REQUEST_ID, "")
        if not _WELL_FORMED.fullmatch(request_id):
            request_id = new_id()
        with logs.bound(request_id=request_id), _traced(scope, headers, request_id) as span:
            await _Answer(scope, span, request_id).through(self.app, receive, send)


def _traced(
    scope: Scope, headers: Headers, request_id: str
) -> AbstractContextManager[tracing.Span]:
    if scope["path"].rstrip("/") in _ASKED_ALL_THE_TIME:
        return nullcontext(tracing.Span())
    method = scope["method"]
    names = {"http.request.method": method, "rag.request_id": request_id}
    return tracing.continued(headers.get("traceparent", ""), method, names, kind="SERVER")


class _Answer:
    """One answer on its way out."""

    def __init__(self, scope: Scope, span: tracing.Span, request_id: str) -> None:
        self._scope = scope
        self._span = span
        self._request_id = request_id
        self._status = 0

    async def through(self, app: ASGIApp, receive: Receive, send: Send) -> None:
        started = time.perf_counter()

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._status = int(message["status"])
                MutableHeaders(scope=message)[REQUEST_ID] = self._request_id
            await send(message)

        try:
            await app(self._scope, receive, named)
        finally:
            self._tell(time.perf_counter() - started)

    def _tell(self, seconds: float) -> None:
        method = self._scope["method"]
        route = getattr(self._scope.get("route"), "path", None)
        if route is not None:
            self._span.rename(f"{method} {route}")
            self._span.set({"http.route": route})
        self._span.set({"http.response.status_code": self._status})
        if self._status >= 500:
            self._span.failed(str(self._status))
        fields = {
            "method": method,
            "route": route or "unmatched",
            "status": self._status,
            "seconds": round(seconds, 4),
            **{
                name: value
                for name, value in self._scope.get("path_params", {}).items()
                if name in ("knowledge_base_id", "document_id") and _WELL_FORMED.fullmatch(value)
            },
        }
        level = logging.DEBUG if method in _QUIET and self._status < 500 else logging.INFO
        logger.log(level, "request_answered", extra=fields)
