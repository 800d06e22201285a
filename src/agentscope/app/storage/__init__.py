"""Storage: memory and SQLite for one machine; PostgreSQL and Redis for many."""

from agentscope.app.records import (
    ChunkerConfig,
    CredentialRecord,
    DocumentRecord,
    DocumentStatus,
    EmbeddingModelConfig,
    KnowledgeBaseRecord,
)
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.app.storage.redis.store import RedisStorage
from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.app.storage.sql.url import AsyncSQLAlchemyStorage

KnowledgeDocumentRecord = DocumentRecord
KnowledgeDocumentData = DocumentRecord
KnowledgeDocumentStatus = DocumentStatus
KnowledgeBaseData = KnowledgeBaseRecord

__all__ = [
    "AsyncSQLAlchemyStorage",
    "ChunkerConfig",
    "CredentialRecord",
    "EmbeddingModelConfig",
    "InMemoryStorage",
    "KnowledgeBaseData",
    "KnowledgeBaseRecord",
    "KnowledgeDocumentData",
    "KnowledgeDocumentRecord",
    "KnowledgeDocumentStatus",
    "PostgresStorage",
    "RedisStorage",
    "SQLiteStorage",
    "StorageBase",
]
