"""Routes of API keys: one's own, and for the operator those of any user."""

from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field, StringConstraints

from agentscope.app.api.deps import CredentialsDep, WholeAdminDep
from agentscope.app.api.operator import operator_with_key
from agentscope.app.api.responses import json_response, no_content
from agentscope.app.api.views import timestamp
from agentscope.app.auth.api_keys import ApiKey, ApiKeys, NewApiKey
from agentscope.app.auth.permissions import Capability
from agentscope.app.rag.service.names import clean_name

router = APIRouter(prefix="/api_keys", tags=["API keys"])
operator_router = APIRouter(
    prefix="/operator/api_keys", tags=["operator"], dependencies=[Depends(operator_with_key)]
)

TEN_YEARS = 10 * 365 * 86_400
IdText = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class CreateApiKeyRequest(BaseModel):
    """A new key; without `expires_in_seconds` it is good until it is revoked."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"\S")]
    capability: Literal["read", "write", "admin"] = "write"
    knowledge_base_ids: list[IdText] | None = Field(default=None, max_length=100)
    expires_in_seconds: int | None = Field(default=None, ge=1, le=TEN_YEARS)


class CreateUserApiKeyRequest(CreateApiKeyRequest):
    """A new key for any user."""

    user_id: Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"\S")]


class ApiKeyView(BaseModel):
    """What is known of a key; its secret is not."""

    id: str
    name: str
    capability: Literal["read", "write", "admin"]
    knowledge_base_ids: list[str] | None
    created_at: str
    expires_at: str | None
    last_used_at: str | None


class NewApiKeyView(ApiKeyView):
    """A new key; `key` is shown this once."""

    key: str


class ListApiKeysResponse(BaseModel):
    """The caller's keys, oldest first."""

    api_keys: list[ApiKeyView]
    total: int


@router.post("/", status_code=201, response_model=NewApiKeyView)
async def post_api_key(
    caller: WholeAdminDep, credentials: CredentialsDep, body: CreateApiKeyRequest
) -> Response:
    """Make a key of the caller; its text is in this answer and nowhere else."""
    key, text = await ApiKeys(credentials.storage).create(caller.user_id, _wanted(body))
    return json_response({**_view(key), "key": text}, 201)


@router.get("/", response_model=ListApiKeysResponse)
async def get_api_keys(caller: WholeAdminDep, credentials: CredentialsDep) -> Response:
    """List the caller's keys."""
    keys = await ApiKeys(credentials.storage).list(caller.user_id)
    return json_response({"api_keys": [_view(key) for key in keys], "total": len(keys)})


@router.post("/{api_key_id}/rotate", response_model=NewApiKeyView)
async def post_rotation(
    caller: WholeAdminDep, credentials: CredentialsDep, api_key_id: str
) -> Response:
    """Give a key a new secret; the old one opens nothing from now on."""
    key, text = await ApiKeys(credentials.storage).rotate(caller.user_id, api_key_id)
    return json_response({**_view(key), "key": text})


@router.delete("/{api_key_id}", status_code=204, response_class=Response)
async def remove_api_key(
    caller: WholeAdminDep, credentials: CredentialsDep, api_key_id: str
) -> Response:
    """Revoke a key; it opens nothing from now on."""
    await ApiKeys(credentials.storage).revoke(caller.user_id, api_key_id)
    return no_content()


@operator_router.post("", status_code=201, response_model=NewApiKeyView)
async def post_user_api_key(credentials: CredentialsDep, body: CreateUserApiKeyRequest) -> Response:
    """Make a key of any user: the way to the first one."""
    key, text = await ApiKeys(credentials.storage).create(body.user_id, _wanted(body))
    return json_response({**_view(key), "key": text}, 201)


def _wanted(body: CreateApiKeyRequest) -> NewApiKey:
    seconds, bases = body.expires_in_seconds, body.knowledge_base_ids
    return NewApiKey(
        name=clean_name(body.name, what="name", max_chars=200),
        capability=Capability(body.capability),
        knowledge_bases=None if bases is None else frozenset(bases),
        lifetime=None if seconds is None else timedelta(seconds=seconds),
    )


def _view(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "capability": str(key.capability),
        "knowledge_base_ids": None if key.knowledge_bases is None else sorted(key.knowledge_bases),
        "created_at": timestamp(key.created_at),
        "expires_at": timestamp(key.expires_at) if key.expires_at else None,
        "last_used_at": timestamp(key.last_used_at) if key.last_used_at else None,
    }
