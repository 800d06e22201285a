"""The embedded service: everything under one data directory, in one process."""

from typing import TYPE_CHECKING, Any

from agentscope.app.auth.api_keys import ApiKeyIdentity
from agentscope.app.auth.header import HeaderIdentity
from agentscope.app.egress import EgressPolicy
from agentscope.app.factory import create_app
from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.settings import Settings
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.cli.data_directory import DataDirectory
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.parser.installed import default_parsers
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore

if TYPE_CHECKING:
    from fastapi import FastAPI

TITLE = "AgentScope RAG"


def embedded_app(settings: Settings, directory: DataDirectory, **options: Any) -> "FastAPI":
    """Return the application over a data directory that this process owns."""
    storage = SQLiteStorage(directory.database)
    return create_app(
        storage,
        InMemoryMessageBus(),
        None,
        CollectionPerKbManager(storage, EmbeddedVectorStore(directory.vectors)),
        default_parsers(),
        [ApproxTokenChunker],
        LocalBlobStore(directory.blobs),
        title=TITLE,
        identity=ApiKeyIdentity(storage) if settings.identity == "api_key" else HeaderIdentity(),
        secret_key=settings.secret_key or directory.key_text(),
        cors_origins=settings.cors_origins,
        timings=settings.timings(),
        limits=settings.limits(),
        service_limits=settings.service_limits(),
        read_limits=settings.read_limits(),
        local_embedding=settings.local_embedding,
        allow_url=EgressPolicy(
            allow_loopback=settings.allow_private_addresses,
            allow_private=settings.allow_private_addresses,
        ).check,
        scratch=directory.scratch,
        sole_owner=True,
        **{"ui": settings.ui, **options},
    )
