"""One collection per knowledge base: full isolation, free choice of dimensions."""

import re

from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.rag.knowledge_base_manager.dimension_policy import DimensionPolicy
from agentscope.app.records import EmbeddingModelConfig, KnowledgeBaseRecord

_OWN_NAME = re.compile(r"kb_.+_\d+")


class CollectionPerKbManager(RecordedManager):
    """Gives every generation of every knowledge base a collection of its own."""

    def collection_name(
        self, knowledge_base_id: str, generation: int, config: EmbeddingModelConfig
    ) -> str:
        """Return `kb_{id}_{generation}`; ids and generations are never used twice."""
        del config
        return f"kb_{knowledge_base_id}_{generation}"

    async def get_dimension_policy(self) -> DimensionPolicy:
        """Return the policy that accepts every dimension."""
        return DimensionPolicy()

    async def drop(self, record: KnowledgeBaseRecord) -> None:
        """Remove the collections of all generations there ever were."""
        last = max(record.generation, record.last_generation)
        for generation in range(1, last + 1):
            name = self.collection_name(record.id, generation, record.embedding_model_config)
            await self.store.delete_collection(name)

    async def drop_collection(self, record: KnowledgeBaseRecord, name: str) -> None:
        """Remove the collection: it belongs to nothing else."""
        del record
        await self.store.delete_collection(name)

    def owns_collection(self, name: str) -> bool:
        """Say whether the name has the form of this manager."""
        return _OWN_NAME.fullmatch(name) is not None
