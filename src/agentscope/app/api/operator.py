"""Routes for whoever runs the service: the audit. They ask for the operator key, not for a user.

Where any caller may name any user (the documented header identity), a caller on this machine may
also audit: there is nothing left to protect from it. A proxy's traffic comes from elsewhere.
"""

import hmac
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from agentscope.app.api.deps import ServiceDep, parts_of, state_of
from agentscope.app.api.responses import json_response
from agentscope.app.rag.indexing.audit import OLD_ENOUGH, Auditor
from agentscope.app.rag.indexing.audit_report import AuditReport
from agentscope.app.rag.service.rotation import rotate_secrets
from agentscope.errors import AuthenticationError

router = APIRouter(prefix="/operator", tags=["operator"])

_LOOPBACK = frozenset({"127.0.0.1", "::1", "::ffff:127.0.0.1"})
_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


class AuditRequest(BaseModel):
    """How to audit."""

    repair: bool = False
    deep: bool = False
    wait_seconds: float = Field(default=0, ge=0, le=3600, allow_inf_nan=False)
    older_than_seconds: float = Field(
        default=OLD_ENOUGH.total_seconds(), ge=0, le=1e9, allow_inf_nan=False
    )


class FindingView(BaseModel):
    """An invariant that does not hold."""

    invariant: str
    subject: dict[str, Any]
    message: str
    repairable: bool


class AuditResponse(BaseModel):
    """Faults apart from what is merely unfinished."""

    clean: bool
    total: int
    findings: list[FindingView]
    unfinished: dict[str, int]
    counts: dict[str, int]
    repaired: list[str]
    waiting: int


class RotationResponse(BaseModel):
    """What was sealed again; older keys can go once nothing is unreadable."""

    key_id: str
    checked: int
    resealed: int
    unreadable: int


async def operator(request: Request) -> None:
    """Let the operator pass, and a caller on this machine where callers are trusted.

    Raises:
        AuthenticationError: the key is missing or wrong.
    """
    if not (state_of(request).identity.trusts_caller and _is_local(request)):
        await operator_with_key(request)


async def operator_with_key(request: Request) -> None:
    """Let only a request with the operator key pass: for what outlives the request.

    Raises:
        AuthenticationError: the key is missing or wrong.
    """
    sent = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    wanted = parts_of(request).operator_key
    if not hmac.compare_digest(sent.encode("latin-1", "replace"), wanted.encode()):
        raise AuthenticationError("The operator key is required.")


def _is_local(request: Request) -> bool:
    host = request.client.host if request.client else ""
    return host in _LOOPBACK and not any(name in request.headers for name in _FORWARDED)


@router.post("/audit", response_model=AuditResponse, dependencies=[Depends(operator)])
async def post_audit(service: ServiceDep, body: Annotated[AuditRequest, Query()]) -> Response:
    """Compare records, vectors and files, and mend what is certain if asked to."""
    auditor = Auditor(
        storage=service.storage, manager=service.manager, blobs=service.blobs, deep=body.deep
    )
    if body.wait_seconds:
        report = await auditor.wait(timeout_seconds=body.wait_seconds)
    if body.repair or not body.wait_seconds:
        older = timedelta(seconds=body.older_than_seconds)
        report = await auditor.run(repair=body.repair, older_than=older)
    return json_response(audit_view(report))


@router.post(
    "/rotate_secrets",
    response_model=RotationResponse,
    dependencies=[Depends(operator_with_key)],
)
async def post_rotate_secrets(request: Request) -> Response:
    """Seal every stored secret again with the newest secret key; harmless at any time."""
    parts = parts_of(request).credentials
    done = await rotate_secrets(parts.storage, parts.secrets)
    return json_response({"key_id": parts.secrets.key_id, **asdict(done)})


def audit_view(report: AuditReport) -> dict[str, Any]:
    """Return the report as it stands on the wire."""
    return {
        "clean": report.clean,
        "total": report.total,
        "findings": [asdict(finding) for finding in report.findings],
        "unfinished": dict(report.unfinished),
        "counts": dict(report.counts),
        "repaired": report.repaired,
        "waiting": report.waiting,
    }
