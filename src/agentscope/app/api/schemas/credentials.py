"""Credentials on the wire; secrets are masked in every answer."""

from typing import Any

from pydantic import BaseModel, Field

from agentscope.embedding.base import EmbeddingModelCard


class CredentialPayloadRequest(BaseModel):
    """A provider credential; `data.type` says which, see `GET /credential/schemas`."""

    data: dict[str, Any]


class TryCredentialRequest(BaseModel):
    """A payload to try before it is stored; null tries the stored one."""

    data: dict[str, Any] | None = None


class TryCredentialResponse(BaseModel):
    """Whether the provider accepted the credential; if not, why."""

    ok: bool
    code: str | None = None
    detail: str | None = None


class CreateCredentialResponse(BaseModel):
    """The id of the new credential."""

    credential_id: str


class CredentialUse(BaseModel):
    """A knowledge base that embeds with the credential."""

    id: str
    name: str


class CredentialView(BaseModel):
    """One credential."""

    id: str
    updated_at: str
    created_at: str
    user_id: str
    data: dict[str, Any]
    editable: bool
    used_by: list[CredentialUse] = Field(default_factory=list)


class ListCredentialsResponse(BaseModel):
    """The user's credentials, oldest first."""

    credentials: list[CredentialView]
    total: int


class ListCredentialSchemasResponse(BaseModel):
    """One JSON schema per provider type."""

    schemas: list[dict[str, Any]]


class ListEmbeddingModelsResponse(BaseModel):
    """The models of one provider."""

    models: list[EmbeddingModelCard]
    total: int
