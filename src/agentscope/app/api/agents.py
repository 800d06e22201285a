"""Empty answers for what lies outside this product, so that clients of the whole suite stay calm.

The documented web client asks for its agents, sessions and schedules when it starts; an error
there would be shown to somebody who only wants a knowledge base.
"""

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from agentscope.app.api.deps import CallerDep
from agentscope.app.api.responses import json_response

router = APIRouter(tags=["compatibility"])

_EMPTY: dict[str, Any] = {
    "/agent/schema/v2": {"schema": {}},
    "/schedule/": {"schedules": [], "total": 0},
    "/sessions/": {"sessions": [], "total": 0},
    "/model/": {"models": [], "total": 0},
    "/tts-model/": {"models": [], "total": 0},
    "/skill": [],
    "/hub/mcp": [],
    "/hub/skill": [],
    "/channels/": [],
    "/channels/types": [],
}


class ListAgentsResponse(BaseModel):
    """No agents: they live in another product."""

    agents: list[dict[str, Any]]
    total: int


@router.get("/agent/", response_model=ListAgentsResponse)
async def get_agents(caller: CallerDep) -> Response:
    """List the agents: there are none here."""
    del caller
    return json_response({"agents": [], "total": 0})


def _answering(body: Any) -> Any:
    async def empty(caller: CallerDep) -> Response:
        del caller
        return json_response(body)

    return empty


for _path, _body in _EMPTY.items():
    router.add_api_route(_path, _answering(_body), methods=["GET"], include_in_schema=False)
