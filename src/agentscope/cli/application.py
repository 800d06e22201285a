"""The service over a place, as `serve` and the offline commands start it."""

from typing import TYPE_CHECKING, Any

from agentscope.app.access import DenyAllResourceAccessPolicy
from agentscope.app.auth.api_keys import ApiKeyIdentity
from agentscope.app.auth.base import IdentityBase
from agentscope.app.auth.header import HeaderIdentity
from agentscope.app.auth.tokens import IdentityChain, TokenIdentity
from agentscope.app.egress import EgressPolicy
from agentscope.app.factory import create_app
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.rag.knowledge_base_manager.shared_collection import SharedCollectionManager
from agentscope.app.settings import Settings
from agentscope.app.storage.base import StorageBase
from agentscope.cli.announcement import announced
from agentscope.cli.place import Place
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.parser.installed import default_parsers
from agentscope.rerank.base import RerankerBase
from agentscope.rerank.http import HTTPReranker

if TYPE_CHECKING:
    from fastapi import FastAPI

TITLE = "AgentScope RAG"


def application(settings: Settings, place: Place, **options: Any) -> "FastAPI":
    """Return the application over an open place."""
    storage = place.storage()
    app = create_app(
        storage,
        place.bus(),
        None,
        manager_of(settings, storage, place),
        default_parsers(),
        [ApproxTokenChunker],
        place.blobs(),
        settings.index,
        title=TITLE,
        identity=identity_of(settings, storage),
        secret_key=settings.secret_key or place.directory.key_text(),
        cors_origins=settings.cors_origins,
        timings=settings.timings(),
        limits=settings.limits(),
        service_limits=settings.service_limits(),
        read_limits=settings.read_limits(),
        local_embedding=settings.local_embedding,
        reranker=reranker_of(settings),
        allow_url=egress(settings),
        resource_access_policy=None if settings.sharing else DenyAllResourceAccessPolicy(),
        scratch=place.directory.scratch,
        sole_owner=place.sole_owner,
        **{"ui": settings.ui, **options},
    )
    return announced(app, storage, place, indexes=settings.index) if place.shared else app


def reranker_of(settings: Settings) -> RerankerBase | None:
    """Return the reranker that searches ask, if one is set."""
    if settings.rerank_url is None:
        return None
    return HTTPReranker(
        settings.rerank_url,
        protocol=settings.rerank_protocol,
        model=settings.rerank_model,
        api_key=settings.rerank_api_key,
    )


def manager_of(settings: Settings, storage: StorageBase, place: Place) -> KnowledgeBaseManagerBase:
    """Return who creates knowledge bases, by the settings."""
    if settings.collections == "own":
        return CollectionPerKbManager(storage, place.vectors())
    return SharedCollectionManager(
        storage, place.vectors(), dimension=settings.shared_dimension or None
    )


def egress(settings: Settings) -> EgressPolicy:
    """Return where credentials may point."""
    return EgressPolicy(
        allow_loopback=settings.allow_private_addresses,
        allow_private=settings.allow_private_addresses,
    )


def identity_of(settings: Settings, storage: StorageBase) -> IdentityBase:
    """Return who says who is calling: the header, or keys and, if a provider is set, its tokens."""
    if settings.identity == "header":
        return HeaderIdentity()
    keys = ApiKeyIdentity(storage)
    if settings.oidc_issuer is None:
        return keys
    tokens = TokenIdentity(
        issuer=settings.oidc_issuer,
        audience=settings.oidc_audience or "",
        jwks_url=settings.oidc_jwks_url,
        client_id=settings.oidc_client_id,
    )
    return IdentityChain(keys, tokens)
