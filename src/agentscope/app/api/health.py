"""The route that tells whether the service can do its work."""

from fastapi import APIRouter, Request, Response

from agentscope.app.api.deps import parts_of
from agentscope.app.api.responses import json_response
from agentscope.app.api.schemas.health import HealthResponse

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
