"""The audit log: a layer that adds to it, and the route that reads it."""

import logging
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from pydantic_core import from_json, to_json
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentscope.app.api.deps import AdminDep, CredentialsDep
from agentscope.app.api.responses import json_response
from agentscope.app.auth.base import Caller
from agentscope.app.rag.service.audit_log import MAX_PAGE, AuditLog
from agentscope.errors import AgentScopeError, PermissionDeniedError

logger = logging.getLogger(__name__)

router = APIRouter(tags=["audit log"])

_CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_ONLY_READS = frozenset({"/knowledge_bases/{knowledge_base_id}/search", "/agent"})
_MADE = ("knowledge_base_id", "document_id", "credential_id", "id")
_MAX_ANSWER_BYTES = 64 * 1024


class AuditLogAsked(BaseModel):
    """From where to read; `jsonl` exports everything from there on, one entry per line."""

    after: str = Field(default="", max_length=64, pattern=r"^[0-9a-f-]*$")
    limit: int = Field(default=100, ge=1, le=MAX_PAGE)
    format: Literal["json", "jsonl"] = "json"


class AuditEntryView(BaseModel):
    """Who did what to which resource when."""

    id: str
    at: str
    actor: str
    identified_by: str
    action: str
    status: int
    resources: dict[str, str]


class AuditLogResponse(BaseModel):
    """Entries, oldest first; `next` is the `after` of the next page, null at the end."""

    entries: list[AuditEntryView]
    next: str | None


@router.get(
    "/audit_log",
    response_model=AuditLogResponse,
    responses={200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}},
)
async def get_audit_log(
    caller: AdminDep, credentials: CredentialsDep, asked: Annotated[AuditLogAsked, Query()]
) -> Response:
    """Read what was done by the caller and to what the caller owns."""
    if caller.knowledge_bases is not None:
        raise PermissionDeniedError("The audit log needs a key for all knowledge bases.")
    log = AuditLog(credentials.storage)
    if asked.format == "jsonl":
        lines = _lines(log, caller.user_id, asked.after)
        return StreamingResponse(lines, media_type="application/x-ndjson")
    entries = await log.after(caller.user_id, asked.after, limit=asked.limit)
    full = len(entries) == asked.limit
    body = {
        "entries": [asdict(entry) for entry in entries],
        "next": entries[-1].id if full else None,
    }
    return json_response(body)


async def _lines(log: AuditLog, user_id: str, after: str) -> AsyncIterator[bytes]:
    while entries := await log.after(user_id, after):
        yield b"".join(to_json(asdict(entry)) + b"\n" for entry in entries)
        after = entries[-1].id


class Audited:
    """Adds an entry for each call that changed something, before its answer begins."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in _CHANGES:
            await self.app(scope, receive, send)
            return
        start: Message | None = None

        async def watched(message: Message) -> None:
            # The answer begins with its first part of content, which names what was made.
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is not None:
                begin, start = start, None
                await _note(scope, int(begin["status"]), message.get("body", b""))
                await send(begin)
            await send(message)

        await self.app(scope, receive, watched)


async def _note(scope: Scope, status: int, body: bytes) -> None:
    state = scope.get("state", {})
    caller: Caller | None = state.get("caller")
    route = getattr(scope.get("route"), "path_format", "").rstrip("/")
    if caller is None or route in _ONLY_READS or (status >= 400 and status != 403):
        return
    if not state.get("audited", True):
        return
    parts = scope["app"].state.agentscope.parts
    if parts is None:
        return
    resources = {name: str(value) for name, value in scope.get("path_params", {}).items()}
    if status == 201:
        resources = {**_made(body), **resources}
    try:
        await AuditLog(parts.credentials.storage).add(
            caller.user_id, caller.method, f"{scope['method']} {route}", status, resources
        )
    except AgentScopeError as exc:
        # What was done is done; the log of the process is the second place that tells of it.
        fields = {"action": f"{scope['method']} {route}", "resources": resources}
        logger.error("audit_entry_lost", extra={**fields, "error_code": exc.code})


def _made(body: bytes) -> dict[str, str]:
    """Return the ids in the answer to a creation."""
    if len(body) > _MAX_ANSWER_BYTES:
        return {}
    try:
        answer: Any = from_json(body)
    except ValueError:
        return {}
    if not isinstance(answer, dict):
        return {}
    return {name: answer[name] for name in _MADE if isinstance(answer.get(name), str)}
