"""What stands before every route: body size, Host and safe headers, a last net for exceptions."""

import logging
from collections.abc import Collection
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentscope.app.api.errors import problem, unexpected

logger = logging.getLogger(__name__)

_TOO_LARGE = "The body of the request is larger than {limit} bytes."


class NoSurprises:
    """Answers an exception nobody foresaw in JSON, inside the layers that add headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as exc:
            answer = unexpected(scope["path"], scope["method"], exc)
            if started:
                raise  # half an answer is out: only a cut connection tells the client
            await answer(scope, receive, send)


class SafeHeaders:
    """Tells browsers and caches what they must not do with an answer that says nothing itself.

    Nothing is guessed to be another type; an address, which may carry a download token, is told
    to no other site; what a tenant was answered is kept by no cache.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Referrer-Policy", "no-referrer")
                if headers.get("content-type", "").startswith("application/json"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, guarded if scope["type"] == "http" else send)


class BodyLimit:
    """Stops bodies beyond the limit while they arrive; files have limits of their own."""

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_form(scope) or _is_archive(scope):
            await self.app(scope, receive, send)
            return
        length = _header(scope, b"content-length")
        if length.isdigit() and int(length[:20]) > self.limit:
            await problem(413, _TOO_LARGE.format(limit=self.limit))(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.limit:
                raise HTTPException(413, _TOO_LARGE.format(limit=self.limit))
            return message

        await self.app(scope, counted, send)


class HostCheck:
    """Refuses requests that were sent to another name than this service has.

    A web page can point a name of its own at this machine and then talk to a local service as if
    it were its own (DNS rebinding); the name it used gives it away.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _name_of(_header(scope, b"host")) in self.hosts:
            await self.app(scope, receive, send)
            return
        detail = "This service does not answer to the host name of the request."
        await problem(421, detail, "misdirected_request")(scope, receive, send)


def _header(scope: Scope, name: bytes) -> str:
    headers: Any = scope["headers"]
    return next((value.decode("latin-1") for key, value in headers if key == name), "")


def _name_of(host: str) -> str:
    name = host.strip().lower()
    if name.startswith("["):
        return name.partition("]")[0].lstrip("[")
    return name.rpartition(":")[0] if ":" in name else name


def _is_form(scope: Scope) -> bool:
    kind = _header(scope, b"content-type").lower()
    return kind.startswith("multipart/form-data") and scope["method"] == "POST"


def _is_archive(scope: Scope) -> bool:
    path = str(scope["path"]).rstrip("/")
    return scope["method"] == "POST" and path.endswith("/knowledge_bases/import")
