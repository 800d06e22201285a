"""One collection for many knowledge bases: for very many small tenants.

Points carry the id of their knowledge base and every search is restricted to it. All knowledge
bases have the same dimensions, and those of one embedding model share a collection.
"""

import hashlib
from typing import Any

from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.rag.knowledge_base_manager.dimension_policy import (
    DimensionPolicy,
    DimensionPolicyKind,
)
from agentscope.app.rag.knowledge_base_manager.placement import (
    is_own,
    remove_points,
    restriction,
)
from agentscope.app.records import EmbeddingModelConfig, KnowledgeBaseRecord, KnowledgeBaseStatus
from agentscope.app.storage.base import StorageBase
from agentscope.errors import KnowledgeBaseError
from agentscope.rag.vector_store.base import VectorStoreBase

PAGE = 500


class SharedCollectionManager(RecordedManager):
    """Keeps the points of all knowledge bases of one model in one collection.

    With `dimension` the policy is fixed; without, the first knowledge base decides for all. One
    that was made with a collection of its own keeps it.
    """

    def __init__(
        self, storage: StorageBase, vector_store: VectorStoreBase, dimension: int | None = None
    ) -> None:
        super().__init__(storage, vector_store)
        self._dimension = dimension

    async def get_dimension_policy(self) -> DimensionPolicy:
        """Return the fixed dimension, or that of the knowledge bases there are."""
        if self._dimension is not None:
            return DimensionPolicy(DimensionPolicyKind.FIXED, self._dimension)
        after = ""
        while page := await self.storage.knowledge_bases.all(after=after, limit=PAGE):
            for record in page:
                gone = record.status is KnowledgeBaseStatus.DELETING
                if not gone and not is_own(record.collection_name):
                    dimension = record.embedding_model_config.dimensions
                    return DimensionPolicy(DimensionPolicyKind.LOCKED_BY_EXISTING, dimension)
            after = page[-1].id
        return DimensionPolicy()

    def collection_name(
        self, knowledge_base_id: str, generation: int, config: EmbeddingModelConfig
    ) -> str:
        """Return the collection of the model; vectors of two models are never mixed.

        A later generation goes where no earlier one of the knowledge base can have been: what a
        late writer or remover of that one still does must not touch it.
        """
        del knowledge_base_id
        model = hashlib.sha256(f"{config.type}\0{config.model}".encode()).hexdigest()[:12]
        name = f"shared_{config.dimensions}_{model}"
        return name if generation == 1 else f"{name}_g{generation}"

    def metadata_filter(self, record: KnowledgeBaseRecord) -> dict[str, Any] | None:
        """Return what restricts the collection to this knowledge base."""
        return restriction(record)

    async def drop(self, record: KnowledgeBaseRecord) -> None:
        """Remove the points of this knowledge base; the collections stay for the others."""
        for name in await self.collections(record):
            await self.drop_collection(record, name)

    async def drop_collection(self, record: KnowledgeBaseRecord, name: str) -> None:
        """Remove the points of this knowledge base from the collection."""
        await remove_points(self.store, record, name)

    async def require_migratable(self, record: KnowledgeBaseRecord) -> None:
        """Refuse with a store that could not remove what the old model made."""
        await super().require_migratable(record)
        if not self.store.supports_delete_where:
            raise KnowledgeBaseError(
                "This vector store cannot remove one knowledge base from a shared collection, "
                "so its embedding model cannot be changed."
            )

    def owns_collection(self, name: str) -> bool:
        """Say that an empty shared collection is no orphan: the next knowledge base uses it."""
        del name
        return False
