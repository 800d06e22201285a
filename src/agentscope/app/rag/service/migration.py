"""Changing the embedding model of a knowledge base: begin, watch, cancel. Workers do the work."""

import asyncio
import logging
from dataclasses import dataclass
from functools import partial

from agentscope.app.generations import EmbeddingModelConfig, Migration
from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.rag.knowledge_base_manager.models import fingerprint_fields, same_vectors
from agentscope.app.rag.service.create_knowledge_base import known_model_config
from agentscope.app.rag.service.opening import open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import KnowledgeBaseRecord
from agentscope.app.storage import migrations
from agentscope.app.transitions import migration as moves
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.errors import AgentScopeError, ConflictError, KnowledgeBaseError

logger = logging.getLogger(__name__)

TEST_TEXT = "A text to see that the model works."
CHECK_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class MigrationState:
    """The model of a knowledge base, and the next one if there is one."""

    record: KnowledgeBaseRecord
    model_changed: bool | None
    """Whether the model makes other vectors than those stored; None: it cannot be asked."""

    @property
    def migration(self) -> Migration | None:
        """What is under way."""
        return self.record.migration


async def begin_migration(
    service: KnowledgeBaseService,
    viewer_id: str,
    knowledge_base_id: str,
    wanted: EmbeddingModelConfig | None,
) -> KnowledgeBaseRecord:
    """Start changing the model, or go on with a change to the same model that stopped.

    None embeds everything again with the present configuration, after the model behind it changed.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it cannot be changed by this viewer.
        CredentialNotFoundError, UnknownProviderError, InvalidInputError: there is no such model.
        DimensionPolicyError: the dimensions do not fit the other knowledge bases.
        ConflictError: it has this model already, or another change is under way.
        KnowledgeBaseError: the manager or vector store cannot do it.
        EmbeddingError: the new model does not work.
    """
    record = (await open_knowledge_base(service, viewer_id, knowledge_base_id, edit=True)).record
    config = wanted or record.embedding_model_config
    if wanted is not None:
        config = await known_model_config(service, viewer_id, record.user_id, wanted)
    return await begin_with(service, record, config)


async def begin_with(
    service: KnowledgeBaseService, record: KnowledgeBaseRecord, config: EmbeddingModelConfig
) -> KnowledgeBaseRecord:
    """Start the change to a model whose choice was checked; errors as in `begin_migration`."""
    manager = service.manager
    if not isinstance(manager, RecordedManager):
        raise KnowledgeBaseError("This service cannot change the model of a knowledge base.")
    await manager.require_migratable(record)
    if record.migration is not None and record.migration.embedding_model_config != config:
        raise ConflictError("The embedding model of this knowledge base is being changed already.")
    (await manager.get_dimension_policy()).require(config.dimensions)
    model = await manager.embedding_models(record.user_id, config)
    fingerprint = fingerprint_fields(await model.fingerprint())
    if config == record.embedding_model_config and same_vectors(
        record.fingerprint, await model.fingerprint()
    ):
        raise ConflictError("The knowledge base has this embedding model already.")
    await model([TEST_TEXT])  # a model that does not work is told now, not in the background
    return await _begin(service, manager, record, config, fingerprint)


async def _begin(
    service: KnowledgeBaseService,
    manager: RecordedManager,
    record: KnowledgeBaseRecord,
    config: EmbeddingModelConfig,
    fingerprint: dict[str, object],
) -> KnowledgeBaseRecord:
    counts = await service.storage.knowledge_bases.counts([record.id])
    change = partial(
        moves.begin,
        config=config,
        fingerprint=fingerprint,
        collection_name=lambda generation: manager.collection_name(record.id, generation, config),
        total=counts[record.id].documents,
    )
    begun = await service.storage.knowledge_bases.apply(record.id, change)
    assert begun is not None, "beginning removes no record"
    try:
        await migrations.announce(service.storage.registry, record.id)
    except AgentScopeError as exc:  # a sweeper announces it, too
        logger.warning("migration_not_announced", extra={"error_code": exc.code})
    service.wake_maintenance()
    return begun


async def migration_state(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str
) -> MigrationState:
    """Return how far the change is.

    Raises:
        KnowledgeBaseNotFoundError: there is none that the viewer may see.
    """
    record = (await open_knowledge_base(service, viewer_id, knowledge_base_id)).record
    return MigrationState(record, await _model_changed(service, record))


async def _model_changed(service: KnowledgeBaseService, record: KnowledgeBaseRecord) -> bool | None:
    config = record.embedding_model_config
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            model: EmbeddingModelBase = await service.manager.embedding_models(
                record.user_id, config
            )
            return not same_vectors(record.fingerprint, await model.fingerprint())
    except (AgentScopeError, TimeoutError):
        return None


async def cancel_migration(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str
) -> None:
    """Give the new model up; the old one goes on as before. Nothing happens if there is none.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it cannot be changed by this viewer.
    """
    record = (await open_knowledge_base(service, viewer_id, knowledge_base_id, edit=True)).record
    change = partial(moves.cancel, policy=service.policy)
    await service.storage.knowledge_bases.apply(record.id, change)
