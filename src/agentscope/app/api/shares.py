"""Routes with which an owner shares a knowledge base; user ids may hold slashes."""

from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from agentscope.app.api.deps import AdminDep, ServiceDep
from agentscope.app.api.responses import json_response, no_content
from agentscope.app.api.views import timestamp
from agentscope.app.rag.service.sharing import list_shares, share, unshare
from agentscope.app.shares import ResourcePermission, ShareRecord

router = APIRouter(prefix="/knowledge_bases/{knowledge_base_id}/shares", tags=["sharing"])

PermissionName = Literal["read", "edit"]


class ShareRequest(BaseModel):
    """`read`: list, search, browse, download; `edit`: also upload, change and delete."""

    permission: PermissionName = "read"


class ShareView(BaseModel):
    """One user who may use the knowledge base."""

    user_id: str
    permission: PermissionName
    created_at: str
    updated_at: str


class ListSharesResponse(BaseModel):
    """Who may use the knowledge base besides its owner, ordered by user."""

    shares: list[ShareView]
    total: int


@router.get("", response_model=ListSharesResponse)
async def get_shares(caller: AdminDep, service: ServiceDep, knowledge_base_id: str) -> Response:
    """List with whom the caller's knowledge base is shared."""
    shares = await list_shares(service, caller.user_id, knowledge_base_id)
    return json_response({"shares": [_view(each) for each in shares], "total": len(shares)})


@router.put("/{user_id:path}", response_model=ShareView)
async def put_share(
    caller: AdminDep,
    service: ServiceDep,
    knowledge_base_id: str,
    user_id: str,
    body: ShareRequest,
) -> Response:
    """Share the caller's knowledge base with a user, or change what that user may do."""
    permission = ResourcePermission(body.permission)
    made = await share(service, caller.user_id, knowledge_base_id, user_id, permission)
    return json_response(_view(made))


@router.delete("/{user_id:path}", status_code=204, response_class=Response)
async def remove_share(
    caller: AdminDep, service: ServiceDep, knowledge_base_id: str, user_id: str
) -> Response:
    """Take a user's access; it ends with this answer."""
    await unshare(service, caller.user_id, knowledge_base_id, user_id)
    return no_content()


def _view(record: ShareRecord) -> dict[str, Any]:
    return {
        "user_id": record.viewer_id,
        "permission": str(record.permission),
        "created_at": timestamp(record.created_at),
        "updated_at": timestamp(record.updated_at),
    }
