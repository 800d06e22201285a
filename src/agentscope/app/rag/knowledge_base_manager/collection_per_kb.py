"""One collection per knowledge base: full isolation, free choice of dimensions."""

from typing import Any

from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.rag.knowledge_base_manager.dimension_policy import DimensionPolicy
from agentscope.app.rag.knowledge_base_manager.placement import (
    is_own,
    own_name,
    remove_points,
    restriction,
)
from agentscope.app.records import EmbeddingModelConfig, KnowledgeBaseRecord


class CollectionPerKbManager(RecordedManager):
    """Gives every generation of every knowledge base a collection of its own."""

    def collection_name(
        self, knowledge_base_id: str, generation: int, config: EmbeddingModelConfig
    ) -> str:
        """Return `kb_{id}_{generation}`; ids and generations are never used twice."""
        del config
        return own_name(knowledge_base_id, generation)

    async def get_dimension_policy(self) -> DimensionPolicy:
        """Return the policy that accepts every dimension."""
        return DimensionPolicy()

    async def drop(self, record: KnowledgeBaseRecord) -> None:
        """Remove the collections of all generations there ever were, and points in shared ones."""
        last = max(record.generation, record.last_generation)
        for generation in range(1, last + 1):
            name = self.collection_name(record.id, generation, record.embedding_model_config)
            await self.store.delete_collection(name)
        for name in await self.collections(record):
            if not is_own(name):
                await remove_points(self.store, record, name)

    def metadata_filter(self, record: KnowledgeBaseRecord) -> dict[str, Any] | None:
        """Return None, except for a knowledge base that was made in a shared collection."""
        return restriction(record)

    async def drop_collection(self, record: KnowledgeBaseRecord, name: str) -> None:
        """Remove the collection, or what the knowledge base has in a shared one."""
        await remove_points(self.store, record, name)

    def owns_collection(self, name: str) -> bool:
        """Say whether the name has the form of this manager."""
        return is_own(name)
