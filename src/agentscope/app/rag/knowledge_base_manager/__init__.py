"""Knowledge base managers: who creates, opens and purges knowledge bases."""

from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.rag.knowledge_base_manager.dimension_policy import (
    DimensionPolicy,
    DimensionPolicyKind,
)
from agentscope.app.rag.knowledge_base_manager.models import EmbeddingModels
from agentscope.app.rag.knowledge_base_manager.shared_collection import SharedCollectionManager
from agentscope.errors import (
    DimensionPolicyError,
    KnowledgeBaseError,
    KnowledgeBaseNotFoundError,
)

__all__ = [
    "CollectionPerKbManager",
    "DimensionPolicy",
    "DimensionPolicyError",
    "DimensionPolicyKind",
    "EmbeddingModels",
    "KnowledgeBaseError",
    "KnowledgeBaseManagerBase",
    "KnowledgeBaseNotFoundError",
    "SharedCollectionManager",
]
