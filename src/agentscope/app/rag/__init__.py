"""The RAG side of the service: blob stores, knowledge base managers, indexing, workers."""

from agentscope.app.rag.blob_store import (
    AsyncReadable,
    BlobStoreBase,
    LocalBlobStore,
    S3BlobStore,
)
from agentscope.app.rag.index_worker import run_worker
from agentscope.app.rag.knowledge_base_manager import (
    CollectionPerKbManager,
    DimensionPolicy,
    DimensionPolicyError,
    DimensionPolicyKind,
    KnowledgeBaseError,
    KnowledgeBaseManagerBase,
    KnowledgeBaseNotFoundError,
    SharedCollectionManager,
)

__all__ = [
    "AsyncReadable",
    "BlobStoreBase",
    "CollectionPerKbManager",
    "DimensionPolicy",
    "DimensionPolicyError",
    "DimensionPolicyKind",
    "KnowledgeBaseError",
    "KnowledgeBaseManagerBase",
    "KnowledgeBaseNotFoundError",
    "LocalBlobStore",
    "S3BlobStore",
    "SharedCollectionManager",
    "run_worker",
]
