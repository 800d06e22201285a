"""Creating a knowledge base: everything that can be wrong is found before anything is written."""

import inspect
from dataclasses import dataclass, replace
from typing import Any

from agentscope.app.rag.service.credentials import is_local
from agentscope.app.rag.service.names import clean_name, clean_text, is_id
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import ChunkerConfig, EmbeddingModelConfig, KnowledgeBaseRecord
from agentscope.credential.factory import CredentialFactory
from agentscope.credential.local import LOCAL_CREDENTIAL_ID, LocalCredential
from agentscope.errors import (
    CredentialNotFoundError,
    InvalidInputError,
    KnowledgeBaseNotFoundError,
    UnknownProviderError,
)


@dataclass(frozen=True, slots=True)
class NewKnowledgeBase:
    """What a user asks for."""

    name: str
    embedding_model_config: EmbeddingModelConfig
    description: str = ""
    chunker_config: ChunkerConfig | None = None
    search_mode: str | None = None
    id: str | None = None
    """Chosen by a caller who wrote it down first; a manager of somebody else may choose another."""


async def create_knowledge_base(
    service: KnowledgeBaseService, user_id: str, wanted: NewKnowledgeBase
) -> KnowledgeBaseRecord:
    """Create an empty knowledge base of this user.

    Raises:
        CredentialNotFoundError: the user has no such credential.
        UnknownProviderError: the provider is unknown or has no embedding models.
        InvalidInputError: name, dimensions, chunker or parameters are not valid.
        DimensionPolicyError: the dimensions do not fit the other knowledge bases.
    """
    limits = service.limits
    name = clean_name(wanted.name, what="name", max_chars=limits.name_chars)
    description = clean_text(
        wanted.description, what="description", max_chars=limits.description_chars
    )
    config = await known_model_config(service, user_id, user_id, wanted.embedding_model_config)
    chunker = service.chunkers.config(wanted.chunker_config)
    record = await _create(
        service,
        user_id,
        replace(wanted, name=name, embedding_model_config=config),
        description,
        chunker,
    )
    if wanted.search_mode in (None, record.search_mode):
        return record
    changed = await service.manager.update_knowledge_base(
        user_id, record.id, search_mode=wanted.search_mode
    )
    if changed is None:
        raise KnowledgeBaseNotFoundError
    return changed


async def _create(
    service: KnowledgeBaseService,
    user_id: str,
    wanted: NewKnowledgeBase,
    description: str,
    chunker: ChunkerConfig | None,
) -> KnowledgeBaseRecord:
    create = service.manager.create_knowledge_base
    # Managers written against the first release do not know about chunkers.
    extra: dict[str, Any] = {"chunker_config": chunker} if _takes(create, "chunker_config") else {}
    if wanted.id is not None and _takes(create, "knowledge_base_id"):
        extra["knowledge_base_id"] = wanted.id
    return await create(
        user_id=user_id,
        name=wanted.name,
        description=description,
        embedding_model_config=wanted.embedding_model_config,
        **extra,
    )


def _takes(create: object, name: str) -> bool:
    parameters = inspect.signature(create).parameters  # type: ignore[arg-type]  # a bound method
    return name in parameters or any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()
    )


async def known_model_config(
    service: KnowledgeBaseService, viewer_id: str, owner_id: str, config: EmbeddingModelConfig
) -> EmbeddingModelConfig:
    """Return the configuration to record for a knowledge base of the owner.

    Raises:
        CredentialNotFoundError: the owner has no such credential.
        UnknownProviderError: the provider is unknown or has no embedding models.
        InvalidInputError: dimensions, model or type are not valid.
    """
    limits = service.limits
    if not 0 < config.dimensions <= limits.dimensions:
        raise InvalidInputError(f"The dimensions must be between 1 and {limits.dimensions}.")
    clean_name(config.model, what="model", max_chars=limits.name_chars)
    if viewer_id != owner_id and is_local(service.credentials, viewer_id, config.credential_id):
        config = replace(config, credential_id=LOCAL_CREDENTIAL_ID)
    return await _with_known_credential(service, owner_id, config)


async def _with_known_credential(
    service: KnowledgeBaseService, user_id: str, config: EmbeddingModelConfig
) -> EmbeddingModelConfig:
    """Return the configuration to record, with the virtual credential under its own name."""
    credential_id = config.credential_id
    local_type = str(LocalCredential.model_fields["type"].default)
    if config.type != local_type:
        require_embedding_provider(config.type)
    if service.credentials.local_embedding and is_local(
        service.credentials, user_id, credential_id
    ):
        credential_id, stored_type = LOCAL_CREDENTIAL_ID, local_type
    else:
        found = is_id(credential_id) and await service.storage.credentials.get(
            user_id, credential_id
        )
        if not found:
            raise CredentialNotFoundError(f"Credential '{credential_id[:200]}' not found.")
        stored_type = str(found.data.get("type"))
    if config.type != stored_type:
        raise InvalidInputError(
            f"The credential '{credential_id}' is of type '{stored_type}', not '{config.type}'."
        )
    return replace(config, credential_id=credential_id)


def require_embedding_provider(type_name: str) -> None:
    """Raise `UnknownProviderError` unless the provider has embedding models."""
    known = CredentialFactory.get_credential_class(type_name)
    if known is None:
        raise UnknownProviderError(f"Provider '{type_name[:100]}' not found.")
    if known.embedding_model is None and known.get_embedding_model_class() is None:
        raise UnknownProviderError(f"Provider '{type_name}' does not support embedding models.")
