"""Provider credentials of a user: sealed before they are stored, masked whenever they are read."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentscope.app.rag.service.names import is_id
from agentscope.app.rag.service.parts import CredentialParts
from agentscope.app.records import CredentialRecord, Page
from agentscope.credential.factory import CredentialFactory, default_name
from agentscope.credential.local import LOCAL_CREDENTIAL_ID, LocalCredential
from agentscope.credential.sealing import (
    masked_payload,
    merged_payload,
    opened_payload,
    sealed_payload,
)
from agentscope.errors import (
    AlreadyExistsError,
    ConflictError,
    CredentialNotFoundError,
    PermissionDeniedError,
)
from agentscope.identity import new_id

_KNOWLEDGE_BASES_SEEN = 1_000
_PAGE = 128


@dataclass(frozen=True, slots=True)
class CredentialDetails:
    """A credential as its owner may see it; `data` is masked."""

    record: CredentialRecord
    data: Mapping[str, Any]
    editable: bool
    used_by: tuple[tuple[str, str], ...] = ()  # (id, name) of knowledge bases


def is_local(parts: CredentialParts, user_id: str, credential_id: str) -> bool:
    """Say whether the id names the virtual credential, by its own name or as this user saw it."""
    return credential_id in (LOCAL_CREDENTIAL_ID, _shown_local_id(parts, user_id))


def _shown_local_id(parts: CredentialParts, user_id: str) -> str:
    """Return an id that only this user was ever shown: ids of one user are unknown to others."""
    key = parts.secrets.derive("local-credential")
    return f"local-{hmac.new(key, user_id.encode(), hashlib.sha256).hexdigest()[:24]}"


def local_credential(parts: CredentialParts, user_id: str) -> CredentialDetails:
    """Return the virtual credential of the model that runs on this machine."""
    shown_id = _shown_local_id(parts, user_id)
    data = {**LocalCredential().model_dump(mode="json"), "id": shown_id}
    record = CredentialRecord(
        id=shown_id,
        user_id=user_id,
        data=data,
        created_at=parts.started_at,
        updated_at=parts.started_at,
    )
    return CredentialDetails(record, data, editable=False)


async def list_credentials(parts: CredentialParts, user_id: str) -> list[CredentialDetails]:
    """Return the user's credentials, oldest first, each with the knowledge bases that use it."""
    records = await parts.storage.credentials.list(user_id)
    used = await _usage(parts, user_id) if records else {}
    return [_details(record, tuple(used.get(record.id, ()))) for record in records]


async def create_credential(
    parts: CredentialParts, user_id: str, payload: Mapping[str, Any]
) -> CredentialRecord:
    """Store a new credential.

    Raises:
        pydantic.ValidationError: unknown type, or a field is missing or wrong.
        AlreadyExistsError: the id that was asked for is taken.
    """
    known = await parts.storage.credentials.list(user_id)
    data = {**payload, "id": payload.get("id") or new_id()}
    if is_local(parts, user_id, str(data["id"])) or any(
        record.id == data["id"] for record in known
    ):
        raise AlreadyExistsError("A credential with this id already exists.")
    return await _store(parts, user_id, data, known)


async def replace_credential(
    parts: CredentialParts, user_id: str, credential_id: str, payload: Mapping[str, Any]
) -> CredentialDetails:
    """Replace the whole payload; secrets that are absent or masked keep their stored value.

    Raises:
        CredentialNotFoundError: the user has no such credential.
        PermissionDeniedError: the virtual credential cannot be changed.
        pydantic.ValidationError: unknown type, or a field is missing or wrong.
    """
    record = await _existing(parts, user_id, credential_id)
    opened = opened_payload(parts.secrets, record.data, owner=user_id)
    merged = merged_payload(opened, payload)
    known = await parts.storage.credentials.list(user_id)
    others = [other for other in known if other.id != credential_id]
    stored = await _store(parts, user_id, merged, others)
    parts.forget_model(user_id, credential_id)
    used = await _usage(parts, user_id)
    return _details(stored, tuple(used.get(stored.id, ())))


async def delete_credential(
    parts: CredentialParts, user_id: str, credential_id: str, *, only_if_unused: bool = False
) -> None:
    """Remove the credential; knowledge bases that use it can then neither index nor embed queries.

    Raises:
        CredentialNotFoundError: the user has no such credential.
        PermissionDeniedError: the virtual credential cannot be deleted.
        ConflictError: `only_if_unused` and a knowledge base uses it.
    """
    await _existing(parts, user_id, credential_id)
    if only_if_unused and (used := (await _usage(parts, user_id)).get(credential_id)):
        names = ", ".join(f"'{name}'" for _, name in used[:5])
        raise ConflictError(f"The credential is used by {names}.")
    if not await parts.storage.credentials.delete(user_id, credential_id):
        raise CredentialNotFoundError(f"Credential '{credential_id}' not found.")
    parts.forget_model(user_id, credential_id)


async def try_credential(
    parts: CredentialParts, user_id: str, payload: Mapping[str, Any] | None, credential_id: str = ""
) -> None:
    """Try a stored credential, or a payload before it is stored; masked secrets are the stored.

    Raises:
        CredentialNotFoundError: the user has no such credential.
        pydantic.ValidationError: the payload does not fit.
        EmbeddingError, InvalidInputError: it does not work; the message says why.
    """
    data: Mapping[str, Any] = payload or {}
    if credential_id:
        record = await _existing(parts, user_id, credential_id)
        opened = opened_payload(parts.secrets, record.data, owner=user_id)
        data = merged_payload(opened, data) if payload else opened
    await parts.discovery.check(CredentialFactory.from_dict(data))


async def _existing(parts: CredentialParts, user_id: str, credential_id: str) -> CredentialRecord:
    if parts.local_embedding and is_local(parts, user_id, credential_id):
        raise PermissionDeniedError("The built-in credential cannot be changed.")
    record = None
    if is_id(credential_id):
        record = await parts.storage.credentials.get(user_id, credential_id)
    if record is None:
        raise CredentialNotFoundError(f"Credential '{credential_id[:200]}' not found.")
    return record


async def _store(
    parts: CredentialParts,
    user_id: str,
    data: Mapping[str, Any],
    others: list[CredentialRecord],
) -> CredentialRecord:
    credential = CredentialFactory.from_dict(data)
    if not credential.name.strip():
        kind = str(data["type"])
        taken = {str(other.data.get("name")) for other in others if other.data.get("type") == kind}
        credential = credential.model_copy(update={"name": default_name(kind, taken)})
    sealed = sealed_payload(parts.secrets, credential, owner=user_id)
    return await parts.storage.credentials.put(user_id, credential.id, sealed)


async def _usage(parts: CredentialParts, user_id: str) -> dict[str, list[tuple[str, str]]]:
    used: dict[str, list[tuple[str, str]]] = {}
    for number in range(1, _KNOWLEDGE_BASES_SEEN // _PAGE + 2):
        records, total = await parts.storage.knowledge_bases.page(user_id, Page(number, _PAGE))
        for record in records:
            configs = [record.embedding_model_config]
            if record.migration is not None:
                configs.append(record.migration.embedding_model_config)
            for credential_id in {config.credential_id for config in configs}:
                used.setdefault(credential_id, []).append((record.id, record.name))
        if number * _PAGE >= total:
            break
    return used


def _details(record: CredentialRecord, used_by: tuple[tuple[str, str], ...]) -> CredentialDetails:
    return CredentialDetails(record, masked_payload(record.data), editable=True, used_by=used_by)
