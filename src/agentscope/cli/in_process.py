"""Calls an application in this process as a stream: neither side is held in memory as a whole."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx

MAX_WAITING = 4
"""Pieces of an answer that wait for whoever reads it."""


class InProcessTransport(httpx.AsyncBaseTransport):
    """Like the client library's own, which collects every answer first."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        call = _Call(self._app, request)
        return await call.answer()


class _Call(httpx.AsyncByteStream):
    """One request, and the answer to it as it comes."""

    def __init__(self, app: Any, request: httpx.Request) -> None:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        self._sent: AsyncIterator[bytes] = request.stream.__aiter__()
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(MAX_WAITING)
        self._gone = asyncio.Event()
        self._sent_all = False
        self._complete = False
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": request.url.raw_path.partition(b"?")[0],
            "query_string": request.url.query,
            "server": (request.url.host, request.url.port),
            "client": ("127.0.0.1", 0),
            "root_path": "",
        }
        self._task = asyncio.create_task(self._run(app, scope))

    async def answer(self) -> httpx.Response:
        """Return status and headers; the content follows while it is read."""
        begin = await self._messages.get()
        if begin is None:
            await self._task  # raises what the application did
            raise httpx.ReadError("The application gave no answer.")
        return httpx.Response(begin["status"], headers=begin["headers"], stream=self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._messages.get()) is not None:
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                self._complete = True
                return
        error = self._task.exception() if self._task.done() else None
        raise httpx.ReadError("The answer was cut short.") from error

    async def aclose(self) -> None:
        """Let the application end, or stop it if its answer was not wanted to the end."""
        self._gone.set()
        if not self._complete:
            self._task.cancel()
        await asyncio.wait({self._task})
        if not self._task.cancelled():
            self._task.exception()  # seen: whoever read the answer was told

    async def _run(self, app: Any, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._messages.put)
        except Exception:
            await self._messages.put(None)
            raise
        await self._messages.put(None)

    async def _receive(self) -> dict[str, Any]:
        if not self._sent_all:
            piece = await anext(self._sent, None)
            self._sent_all = piece is None
            return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}
        await self._gone.wait()
        return {"type": "http.disconnect"}
