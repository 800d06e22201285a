"""The route that tells a browser how to sign in, and as whom its request came."""

from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from agentscope.app.api.deps import identified, state_of
from agentscope.app.api.responses import json_response
from agentscope.app.auth.base import Caller

router = APIRouter(tags=["identity"])

WAYS = ("header", "api_key", "oidc")


class OidcView(BaseModel):
    """A provider where people sign in; `token` is the kind that this service takes."""

    issuer: str
    client_id: str
    token: Literal["access_token", "id_token"]


class CallerView(BaseModel):
    """Who sent the request and what that reaches; null: every knowledge base of the user."""

    user_id: str
    method: str
    capability: Literal["read", "write", "admin"]
    knowledge_base_ids: list[str] | None


class IdentityResponse(BaseModel):
    """The ways to sign in, and the caller if the request carried an identity."""

    ways: list[Literal["header", "api_key", "oidc"]]
    oidc: OidcView | None
    caller: CallerView | None


@router.get("/identity", response_model=IdentityResponse)
async def get_identity(request: Request) -> Response:
    """Answer anybody; 401 if the request carries an identity that is not valid."""
    ways = state_of(request).identity.sign_in()
    caller = await identified(request)
    body = {
        "ways": [way for way in WAYS if way in ways],
        "oidc": ways.get("oidc"),
        "caller": None if caller is None else _view(caller),
    }
    return json_response(body, headers={"Cache-Control": "no-store"})


def _view(caller: Caller) -> dict[str, Any]:
    bases = caller.knowledge_bases
    return {
        "user_id": caller.user_id,
        "method": caller.method,
        "capability": str(caller.capability),
        "knowledge_base_ids": None if bases is None else sorted(bases),
    }
