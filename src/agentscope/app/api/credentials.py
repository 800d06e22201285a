"""Routes of credentials and of the models their providers offer."""

from collections.abc import Awaitable
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import ValidationError

from agentscope.app.api.deps import CredentialsDep, WholeAdminDep
from agentscope.app.api.errors import invalid_payload
from agentscope.app.api.responses import json_response, no_content
from agentscope.app.api.schemas import credentials as shapes
from agentscope.app.api.views import credential_view
from agentscope.app.rag.service.credentials import (
    create_credential,
    delete_credential,
    list_credentials,
    replace_credential,
    try_credential,
)
from agentscope.app.rag.service.embedding_models import provider_cards
from agentscope.credential.factory import CredentialFactory
from agentscope.errors import (
    EmbeddingError,
    InvalidInputError,
    NotFoundError,
    UnknownProviderError,
)

router = APIRouter(prefix="/credential", tags=["credentials"])
models_router = APIRouter(prefix="/embedding-model", tags=["credentials"])


@router.get("/schemas", response_model=shapes.ListCredentialSchemasResponse)
async def get_schemas() -> Response:
    """Return the form of every credential type."""
    return json_response({"schemas": CredentialFactory.list_schemas()})


@router.get("/", response_model=shapes.ListCredentialsResponse)
async def get_credentials(caller: WholeAdminDep, credentials: CredentialsDep) -> Response:
    """List the caller's credentials, secrets masked."""
    found = await list_credentials(credentials, caller.user_id)
    return json_response(
        {"credentials": [credential_view(item) for item in found], "total": len(found)}
    )


@router.post("/", status_code=201, response_model=shapes.CreateCredentialResponse)
async def post_credential(
    caller: WholeAdminDep, credentials: CredentialsDep, body: shapes.CredentialPayloadRequest
) -> Response:
    """Store a credential; its secrets are encrypted."""
    try:
        record = await create_credential(credentials, caller.user_id, body.data)
    except ValidationError as exc:
        return invalid_payload(exc)
    return json_response({"credential_id": record.id}, 201)


@router.post("/test", response_model=shapes.TryCredentialResponse)
async def post_test(
    caller: WholeAdminDep, credentials: CredentialsDep, body: shapes.CredentialPayloadRequest
) -> Response:
    """Try a credential that is not stored yet."""
    return await _tried(try_credential(credentials, caller.user_id, body.data))


@router.post("/{credential_id}/test", response_model=shapes.TryCredentialResponse)
async def post_stored_test(
    caller: WholeAdminDep,
    credentials: CredentialsDep,
    credential_id: str,
    body: shapes.TryCredentialRequest | None = None,
) -> Response:
    """Try a stored credential, or a change of it; masked secrets stand for the stored ones."""
    payload = body.data if body else None
    return await _tried(try_credential(credentials, caller.user_id, payload, credential_id))


async def _tried(attempt: Awaitable[None]) -> Response:
    try:
        await attempt
    except ValidationError as exc:
        return invalid_payload(exc)
    except (EmbeddingError, InvalidInputError) as exc:
        return json_response({"ok": False, "code": exc.code, "detail": exc.message})
    return json_response({"ok": True, "code": None, "detail": None})


@router.patch("/{credential_id}", response_model=shapes.CredentialView)
async def patch_credential(
    caller: WholeAdminDep,
    credentials: CredentialsDep,
    credential_id: str,
    body: shapes.CredentialPayloadRequest,
) -> Response:
    """Replace a credential; a masked or absent secret keeps its stored value."""
    try:
        details = await replace_credential(credentials, caller.user_id, credential_id, body.data)
    except ValidationError as exc:
        return invalid_payload(exc)
    return json_response(credential_view(details))


@router.delete("/{credential_id}", status_code=204, response_class=Response)
async def remove_credential(
    caller: WholeAdminDep,
    credentials: CredentialsDep,
    credential_id: str,
    only_if_unused: Annotated[
        bool, Query(description="Refuse with 409 while a knowledge base uses it.")
    ] = False,
) -> Response:
    """Delete a credential."""
    await delete_credential(
        credentials, caller.user_id, credential_id, only_if_unused=only_if_unused
    )
    return no_content()


@models_router.get("/", response_model=shapes.ListEmbeddingModelsResponse)
async def get_models(
    credentials: CredentialsDep,
    provider: Annotated[str, Query(max_length=200, description="A credential type.")],
) -> Response:
    """List the embedding models of a provider."""
    try:
        cards = provider_cards(provider, local_embedding=credentials.local_embedding)
    except UnknownProviderError as exc:
        raise NotFoundError(exc.message) from exc
    return json_response({"models": cards, "total": len(cards)})
