"""Routes that stream what happens, as server-sent events; a client that comes back misses nothing.

`id:` is the event's sequence. A page that was cut sends it back as `Last-Event-ID`. Who listens is
asked again before anything is sent: a revoked key or a withdrawn share ends the stream. So does
time, after a quarter of an hour; browsers come back by themselves.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from agentscope.app.api.deps import CallerDep, ServiceDep, identified, parts_of
from agentscope.app.api.views import timestamp
from agentscope.app.auth.base import Caller
from agentscope.app.rag.service.events import Listener
from agentscope.app.rag.service.events import Scope as Wanted
from agentscope.app.rag.service.opening import open_knowledge_base
from agentscope.app.records import Event
from agentscope.errors import (
    AuthenticationError,
    InvalidInputError,
    NotFoundError,
    PermissionDeniedError,
)

router = APIRouter(tags=["events"])

HEARTBEAT_SECONDS = 15.0
LIFETIME_SECONDS = 900.0
RETRY_MILLISECONDS = 1000
MAX_SEQUENCE = 2**63 - 1
_STREAM: dict[int | str, Any] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


class EventsAsked(BaseModel):
    """Where to begin and for how long to listen.

    `Last-Event-ID`, if the request has it, wins over `after`; without both the stream begins now.
    """

    after: int | None = Field(default=None, ge=0, le=MAX_SEQUENCE)
    seconds: float = Field(default=LIFETIME_SECONDS, ge=0, le=LIFETIME_SECONDS, allow_inf_nan=False)


@router.get("/events", response_class=Response, responses=_STREAM)
async def get_events(
    request: Request, caller: CallerDep, asked: Annotated[EventsAsked, Query()]
) -> Response:
    """Stream the events of all knowledge bases of the caller."""
    wanted = Wanted(caller.user_id, reached=caller.knowledge_bases)

    async def check() -> None:
        await _still(request, caller)

    return await _stream(request, wanted, asked, check)


@router.get(
    "/knowledge_bases/{knowledge_base_id}/events", response_class=Response, responses=_STREAM
)
async def get_knowledge_base_events(
    request: Request,
    caller: CallerDep,
    service: ServiceDep,
    knowledge_base_id: str,
    asked: Annotated[EventsAsked, Query()],
) -> Response:
    """Stream the events of one knowledge base that the caller may read."""
    record = (await open_knowledge_base(service, caller.user_id, knowledge_base_id)).record

    async def check() -> None:
        await _still(request, caller)
        if caller.user_id != record.user_id:
            await open_knowledge_base(service, caller.user_id, knowledge_base_id)

    return await _stream(request, Wanted(record.user_id, record.id), asked, check)


async def _still(request: Request, caller: Caller) -> None:
    """Raise unless the headers of the request still stand for the same caller."""
    if await identified(request) != caller:
        raise PermissionDeniedError


async def _stream(
    request: Request, wanted: Wanted, asked: EventsAsked, check: Callable[[], Awaitable[None]]
) -> Response:
    after = _resumed(request) if "last-event-id" in request.headers else asked.after
    listener = parts_of(request).events.listen(wanted)
    return _EventStream(listener, _checked(_frames(listener, after, asked.seconds), check))


async def _checked(
    frames: AsyncIterator[bytes], check: Callable[[], Awaitable[None]]
) -> AsyncIterator[bytes]:
    """Pass frames on while the check holds; the stream ends before the first one it forbids."""
    async for frame in frames:
        try:
            await check()
        except (AuthenticationError, NotFoundError, PermissionDeniedError):
            return
        yield frame


def _resumed(request: Request) -> int:
    text = request.headers["last-event-id"].strip()
    if not (text.isascii() and text.isdigit() and int(text[:20]) <= MAX_SEQUENCE):
        raise InvalidInputError("Last-Event-ID must be the id of an event of this service.")
    return int(text[:20])


class _EventStream(StreamingResponse):
    """Gives the listener's place back however the stream ends, even before it began."""

    def __init__(self, listener: Listener, frames: AsyncIterator[bytes]) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(frames, media_type="text/event-stream", headers=headers)
        self._listener = listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._listener.close()


async def _frames(listener: Listener, after: int | None, seconds: float) -> AsyncIterator[bytes]:
    if after is None:
        after = await listener.last()
    elif await listener.missed(after):
        # What was there is gone: the client reads the lists again and goes on from here.
        yield b"event: gap\ndata: {}\n\n"
    # The id alone makes a client remember its place before anything happened.
    yield f"retry: {RETRY_MILLISECONDS}\nid: {after}\n\n".encode()
    async for place, events in listener.pages(after, heartbeat=HEARTBEAT_SECONDS, seconds=seconds):
        if events:
            yield b"".join(_frame(event) for event in events)
        else:
            yield f": still here\nid: {place}\n\n".encode()


def _frame(event: Event) -> bytes:
    body = to_json(event_view(event), inf_nan_mode="null")  # JSON of one line, so one data field
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.sequence, event.type.encode(), body)


def event_view(event: Event) -> dict[str, Any]:
    """Return an event as streams and webhooks show it."""
    return {
        "sequence": event.sequence,
        "type": event.type,
        "at": timestamp(event.at),
        "knowledge_base_id": event.knowledge_base_id,
        "document_id": event.document_id,
        "data": dict(event.data),
    }
