"""Routes of the change of a knowledge base's embedding model."""

from fastapi import APIRouter, Response

from agentscope.app.api.deps import CallerDep, ServiceDep, WriterDep
from agentscope.app.api.responses import json_response, no_content
from agentscope.app.api.schemas.migrations import BeginMigrationRequest, MigrationStateView
from agentscope.app.api.views import migration_view, model_view
from agentscope.app.generations import EmbeddingModelConfig
from agentscope.app.rag.service.migration import (
    begin_migration,
    cancel_migration,
    migration_state,
)
from agentscope.app.records import KnowledgeBaseRecord

router = APIRouter(
    prefix="/knowledge_bases/{knowledge_base_id}/migration", tags=["knowledge bases"]
)


@router.post("", status_code=202, response_model=MigrationStateView)
async def post_migration(
    caller: WriterDep, service: ServiceDep, knowledge_base_id: str, body: BeginMigrationRequest
) -> Response:
    """Change the embedding model in the background; searches use the old one until the end."""
    wanted = body.embedding_model_config
    config = EmbeddingModelConfig(**wanted.model_dump()) if wanted is not None else None
    record = await begin_migration(service, caller.user_id, knowledge_base_id, config)
    return json_response(_view(record, model_changed=None), 202)


@router.get("", response_model=MigrationStateView)
async def get_migration(caller: CallerDep, service: ServiceDep, knowledge_base_id: str) -> Response:
    """Tell how far the change of the embedding model is."""
    state = await migration_state(service, caller.user_id, knowledge_base_id)
    return json_response(_view(state.record, model_changed=state.model_changed))


@router.delete("", status_code=204, response_class=Response)
async def delete_migration(
    caller: WriterDep, service: ServiceDep, knowledge_base_id: str
) -> Response:
    """Give the new embedding model up; nothing happens if none is on its way."""
    await cancel_migration(service, caller.user_id, knowledge_base_id)
    return no_content()


def _view(record: KnowledgeBaseRecord, *, model_changed: bool | None) -> dict[str, object]:
    return {
        "knowledge_base_id": record.id,
        "generation": record.generation,
        "embedding_model_config": model_view(record.embedding_model_config),
        "model_changed": model_changed,
        "migration": migration_view(record.migration),
    }
