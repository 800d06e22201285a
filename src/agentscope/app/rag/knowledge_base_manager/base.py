"""The knowledge base manager contract: the life of knowledge bases and their vector collections.

A manager owns one vector store: it is entered and closed with the manager. A knowledge base is
recorded before its collection is made, so that one whose creation was cut short is found and
purged. Deleting never needs the embedding model. Collection names are never used twice.
"""

import abc
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from agentscope.app.rag.knowledge_base_manager.dimension_policy import DimensionPolicy
from agentscope.app.rag.knowledge_base_manager.models import EmbeddingModels, no_models
from agentscope.app.records import (
    ChunkerConfig,
    EmbeddingModelConfig,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
    Page,
    Policy,
)
from agentscope.app.storage.base import StorageBase
from agentscope.errors import KnowledgeBaseNotFoundError
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.base import RunVectorStore, VectorStoreBase
from agentscope.rag.vector_store.legacy import as_run_store

MAX_LISTED = 10_000


class KnowledgeBaseManagerBase(abc.ABC):
    """Creates, opens and purges knowledge bases."""

    def __init__(self, storage: StorageBase, vector_store: VectorStoreBase) -> None:
        self.storage = storage
        self.vector_store = vector_store
        self.store: RunVectorStore = as_run_store(vector_store)
        self.policy = Policy()
        self.policy_of: Callable[[str], Awaitable[Policy]] | None = None
        self.embedding_models: EmbeddingModels = no_models
        self._stack = AsyncExitStack()

    def bind(self, *, embedding_models: EmbeddingModels, policy: Policy) -> None:
        """Give the manager what the composition root knows; called once, before it is used."""
        self.embedding_models = embedding_models
        self.policy = policy

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.store)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the vector store; calling it twice is harmless."""
        await self._stack.aclose()

    @abc.abstractmethod
    async def get_dimension_policy(self) -> DimensionPolicy:
        """Return which dimensions a new knowledge base may have now."""

    @abc.abstractmethod
    async def create_knowledge_base(
        self,
        user_id: str,
        name: str,
        description: str,
        embedding_model_config: EmbeddingModelConfig,
        chunker_config: ChunkerConfig | None = None,
    ) -> KnowledgeBaseRecord:
        """Create an empty knowledge base and return its active record.

        Raises:
            DimensionPolicyError: the policy does not accept the dimensions.
            CredentialNotFoundError, InvalidInputError: there is no such model for this user.
        """

    @abc.abstractmethod
    async def delete_knowledge_base(self, user_id: str, knowledge_base_id: str) -> bool:
        """Make it invisible for good; say whether it was there. The sweeper purges the rest."""

    @abc.abstractmethod
    async def get_knowledge(self, user_id: str, knowledge_base_id: str) -> KnowledgeBase:
        """Return the handle that searches and indexes; hits are checked against the records.

        Raises:
            KnowledgeBaseNotFoundError: not there, not active, or of another user.
            CredentialNotFoundError: its credential is gone.
        """

    @abc.abstractmethod
    async def drop(self, record: KnowledgeBaseRecord) -> None:
        """Remove all points of the knowledge base; idempotent, any number of times."""

    @abc.abstractmethod
    async def collections(self, record: KnowledgeBaseRecord) -> list[str]:
        """Return the collections that may hold points of the knowledge base (audit)."""

    @abc.abstractmethod
    def owns_collection(self, name: str) -> bool:
        """Say whether a manager of this kind gives such names (audit)."""

    async def get_knowledge_base(
        self, user_id: str, knowledge_base_id: str
    ) -> KnowledgeBaseRecord | None:
        """Return the active knowledge base of this user."""
        return await self.storage.knowledge_bases.get(user_id, knowledge_base_id)

    async def list_knowledge_bases(self, user_id: str) -> list[KnowledgeBaseRecord]:
        """Return the user's knowledge bases, newest first; at most 10,000."""
        records, _ = await self.storage.knowledge_bases.page(user_id, Page(size=MAX_LISTED))
        return records

    async def update_knowledge_base(
        self,
        user_id: str,
        knowledge_base_id: str,
        name: str | None = None,
        description: str | None = None,
        *,
        search_mode: str | None = None,
        chunker_config: ChunkerConfig | None = None,
    ) -> KnowledgeBaseRecord | None:
        """Change what is not None; None if there is no such knowledge base."""
        if await self.get_knowledge_base(user_id, knowledge_base_id) is None:
            return None
        wanted: dict[str, Any] = {
            "name": name,
            "description": description,
            "search_mode": search_mode,
            "chunker_config": chunker_config,
        }
        given = {key: value for key, value in wanted.items() if value is not None}

        def change(record: KnowledgeBaseRecord, now: datetime) -> KnowledgeBaseRecord:
            del now
            if record.status is not KnowledgeBaseStatus.ACTIVE:
                raise KnowledgeBaseNotFoundError
            return replace(record, **given)

        try:
            return await self.storage.knowledge_bases.apply(knowledge_base_id, change)
        except KnowledgeBaseNotFoundError:
            return None
