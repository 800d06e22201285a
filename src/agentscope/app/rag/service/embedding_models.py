"""Which embedding models a user can give a new knowledge base."""

import asyncio
import logging
from dataclasses import dataclass

from pydantic import ValidationError

from agentscope.app.rag.knowledge_base_manager.dimension_policy import DimensionPolicy
from agentscope.app.rag.service.create_knowledge_base import require_embedding_provider
from agentscope.app.rag.service.credentials import CredentialDetails, local_credential
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import CredentialRecord
from agentscope.credential.base import CredentialBase
from agentscope.credential.factory import CredentialFactory
from agentscope.credential.local import LocalCredential
from agentscope.credential.openai import OpenAICredential
from agentscope.credential.sealing import masked_payload, opened_credential
from agentscope.embedding.base import EmbeddingModelCard
from agentscope.errors import ConfigurationError, UnknownProviderError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmbeddingProvider:
    """A credential and the models that can be used with it."""

    credential: CredentialDetails
    models: list[EmbeddingModelCard]


def provider_cards(provider: str, *, local_embedding: bool = True) -> list[EmbeddingModelCard]:
    """Return the models of a provider, by credential type.

    Raises:
        UnknownProviderError: there is no such provider.
    """
    if local_embedding and provider == LocalCredential.model_fields["type"].default:
        return _cards(LocalCredential)
    known = CredentialFactory.get_credential_class(provider)
    if known is None:
        raise UnknownProviderError(f"Provider '{provider[:100]}' not found.")
    return _cards(known)


async def embedding_providers(
    service: KnowledgeBaseService, user_id: str
) -> tuple[list[EmbeddingProvider], DimensionPolicy]:
    """Return each credential with the models that fit the policy; those without any are left out.

    The model of this machine comes first, so that somebody without a key can start.
    """
    policy = await service.manager.get_dimension_policy()
    offered = []
    if service.credentials.local_embedding:
        offered.append(
            EmbeddingProvider(
                local_credential(service.credentials, user_id),
                _fitting(_cards(LocalCredential), policy),
            )
        )
    records = await service.storage.credentials.list(user_id)
    found = await asyncio.gather(*(_cards_of(service, record) for record in records))
    for record, cards in zip(records, found, strict=True):
        details = CredentialDetails(record, masked_payload(record.data), editable=True)
        offered.append(EmbeddingProvider(details, _fitting(cards, policy)))
    return [provider for provider in offered if provider.models], policy


async def _cards_of(
    service: KnowledgeBaseService, record: CredentialRecord
) -> list[EmbeddingModelCard]:
    """Return what the provider is known to have, and what a server of one's own says it has."""
    kind = str(record.data.get("type"))
    try:
        require_embedding_provider(kind)
    except UnknownProviderError:
        return []
    try:
        parts = service.credentials
        credential = opened_credential(parts.secrets, record.data, owner=record.user_id)
        discovered = _declared(credential) or await parts.discovery.cards(
            credential, record.updated_at
        )
    except (ConfigurationError, ValidationError) as exc:
        fields = {"credential_id": record.id, "reason": type(exc).__name__}
        logger.warning("credential_not_opened", extra=fields)
        discovered = []
    return discovered or provider_cards(kind)


def _declared(credential: CredentialBase) -> list[EmbeddingModelCard]:
    """Return what the user says that a server has, so that it need not be asked."""
    if not isinstance(credential, OpenAICredential):
        return []
    return [
        EmbeddingModelCard(name=name, label=name, dimensions=dimensions)
        for name, dimensions in credential.declared_models().items()
    ]


def _cards(kind: type) -> list[EmbeddingModelCard]:
    found = kind.get_embedding_model_class()  # type: ignore[attr-defined]  # a credential class
    cards: list[EmbeddingModelCard] = found.list_models() if found is not None else []
    return cards


def _fitting(cards: list[EmbeddingModelCard], policy: DimensionPolicy) -> list[EmbeddingModelCard]:
    narrowed = (policy.filter_card(card) for card in cards)
    return [card for card in narrowed if card is not None]
