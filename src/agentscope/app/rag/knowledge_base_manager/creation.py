"""Creating and opening knowledge bases: what every kind of manager does the same way."""

import abc
import logging
from dataclasses import replace
from functools import partial
from typing import Any

from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.knowledge_base_manager.models import PinnedModel, fingerprint_fields
from agentscope.app.rag.knowledge_base_manager.visibility import RecordVisibility
from agentscope.app.records import ChunkerConfig, EmbeddingModelConfig, KnowledgeBaseRecord
from agentscope.app.transitions import knowledge_base as moves
from agentscope.errors import AgentScopeError, KnowledgeBaseError, KnowledgeBaseNotFoundError
from agentscope.identity import new_id
from agentscope.rag.document import SearchMode
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.base import VectorStoreBase

logger = logging.getLogger(__name__)

DEFAULT_SEARCH_MODE = "hybrid"


class RecordedManager(KnowledgeBaseManagerBase):
    """A manager whose knowledge bases differ only in where their points lie."""

    @abc.abstractmethod
    def collection_name(
        self, knowledge_base_id: str, generation: int, config: EmbeddingModelConfig
    ) -> str:
        """Return the collection that this generation of the knowledge base writes into."""

    async def create_knowledge_base(
        self,
        user_id: str,
        name: str,
        description: str,
        embedding_model_config: EmbeddingModelConfig,
        chunker_config: ChunkerConfig | None = None,
        knowledge_base_id: str | None = None,
    ) -> KnowledgeBaseRecord:
        """Record the intent, make the collection, show the knowledge base.

        `knowledge_base_id` is an id that nobody ever had, for a caller who wrote it down before.
        """
        knowledge_base_id = knowledge_base_id or new_id()
        config = embedding_model_config
        (await self.get_dimension_policy()).require(config.dimensions)
        model = await self.embedding_models(user_id, config)
        fields = {
            "id": knowledge_base_id,
            "name": name,
            "description": description,
            "embedding_model_config": config,
            "chunker_config": chunker_config,
            "collection_name": self.collection_name(knowledge_base_id, 1, config),
            "search_mode": DEFAULT_SEARCH_MODE,
            "fingerprint": fingerprint_fields(await model.fingerprint()),
        }
        policy = self.policy if self.policy_of is None else await self.policy_of(user_id)
        record = await self.storage.knowledge_bases.create(user_id, fields, policy=policy)
        try:
            await self.store.create_collection(record.collection_name, config.dimensions)
            active = await self.storage.knowledge_bases.apply(record.id, moves.activate)
        except BaseException:
            await self._give_up(record)
            raise
        assert active is not None, "activating never removes a record"
        return active

    async def _give_up(self, record: KnowledgeBaseRecord) -> None:
        """Let the sweeper purge a half-made knowledge base now instead of when it expires."""
        try:
            await self._tombstone(record.id)
        except AgentScopeError as exc:
            logger.warning(
                "knowledge_base_not_given_up",
                extra={"knowledge_base_id": record.id, "error_code": exc.code},
            )

    async def _tombstone(self, knowledge_base_id: str) -> None:
        change = partial(moves.tombstone_knowledge_base, policy=self.policy)
        await self.storage.knowledge_bases.apply(knowledge_base_id, change)

    async def delete_knowledge_base(self, user_id: str, knowledge_base_id: str) -> bool:
        """Make it invisible for good; the sweeper removes points, files and records."""
        if await self.get_knowledge_base(user_id, knowledge_base_id) is None:
            return False
        try:
            await self._tombstone(knowledge_base_id)
        except KnowledgeBaseNotFoundError:
            return False
        return True

    async def collections(self, record: KnowledgeBaseRecord) -> list[str]:
        """Return the collection in use, the next one, and those that are still to be removed."""
        names = [record.collection_name, *(item.name for item in record.retired)]
        if record.migration is not None:
            names.append(record.migration.collection_name)
        return list(dict.fromkeys(names))

    @abc.abstractmethod
    async def drop_collection(self, record: KnowledgeBaseRecord, name: str) -> None:
        """Remove what the knowledge base has in one of its collections; idempotent."""

    async def require_migratable(self, record: KnowledgeBaseRecord) -> None:
        """Raise if the embedding model of the knowledge base can never be changed.

        Raises:
            KnowledgeBaseError: the vector store lacks what that needs.
        """
        del record
        if type(self.vector_store).list_chunks is VectorStoreBase.list_chunks and (
            self.store is not self.vector_store
        ):
            raise KnowledgeBaseError(
                "This vector store cannot give back the chunks it holds, so the embedding model "
                "cannot be changed."
            )

    async def next_knowledge(self, record: KnowledgeBaseRecord) -> KnowledgeBase:
        """Return the handle of the generation that `record` migrates to; creates nothing.

        Raises:
            CredentialNotFoundError: the credential of the new model is gone.
        """
        migration = record.migration
        assert migration is not None, "the knowledge base migrates"
        inner = await self.embedding_models(record.user_id, migration.embedding_model_config)
        model = PinnedModel(inner, migration.fingerprint)
        following = replace(record, collection_name=migration.collection_name)
        return self.handle(following, model)

    async def get_knowledge(self, user_id: str, knowledge_base_id: str) -> KnowledgeBase:
        """Return the handle; hits are checked against the records."""
        record = await self.get_knowledge_base(user_id, knowledge_base_id)
        if record is None:
            raise KnowledgeBaseNotFoundError
        model = await self.embedding_models(user_id, record.embedding_model_config)
        return self.handle(record, PinnedModel(model, record.fingerprint))

    def handle(self, record: KnowledgeBaseRecord, model: PinnedModel) -> KnowledgeBase:
        """Return the handle of a knowledge base for a model."""
        return KnowledgeBase(
            name=record.name,
            description=record.description,
            embedding_model=model,
            vector_store=self.store,
            collection=record.collection_name,
            metadata_filter=self.metadata_filter(record),
            visibility=RecordVisibility(self.storage, record),
            search_mode=SearchMode(record.search_mode),
            knowledge_base_id=record.id,
        )

    def metadata_filter(self, record: KnowledgeBaseRecord) -> dict[str, Any] | None:
        """Return what restricts a shared collection to this knowledge base."""
        del record
        return None
