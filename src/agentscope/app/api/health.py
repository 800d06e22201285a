"""Whether the service can do its work, and whether it lives at all.

A process whose storage is down is not ready, but starting it again would mend nothing: what
restarts processes asks `/health/live`, what sends them requests asks `/health`.
"""

from fastapi import APIRouter, Request, Response

from agentscope.app.api.deps import parts_of
from agentscope.app.api.responses import json_response
from agentscope.app.api.schemas.health import HealthResponse, LiveResponse

router = APIRouter(tags=["health"])


@router.get("/health", response_model=HealthResponse, responses={503: {"model": HealthResponse}})
async def get_health(request: Request) -> Response:
    """Ask every part; 503 with the same body if one of them does not answer."""
    report = await parts_of(request).health.report()
    body = {
        "status": "ok" if report.ready else "not_ready",
        "version": report.version,
        "components": dict(report.components),
    }
    return json_response(body, 200 if report.ready else 503)


@router.get("/health/live", response_model=LiveResponse)
async def get_live() -> Response:
    """Answer: the process serves requests, whatever the parts behind it do."""
    return json_response({"status": "ok"})
