"""Routes of knowledge bases."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from agentscope.app.api.deps import CallerDep, ServiceDep, WriterDep
from agentscope.app.api.paging import KnowledgeBasesAsked, page_of, storable
from agentscope.app.api.responses import json_response, no_content
from agentscope.app.api.schemas import knowledge_bases as shapes
from agentscope.app.api.views import credential_view, knowledge_base_view
from agentscope.app.rag.service.capabilities import capabilities
from agentscope.app.rag.service.change_knowledge_base import (
    KnowledgeBaseChanges,
    change_knowledge_base,
)
from agentscope.app.rag.service.create_knowledge_base import (
    NewKnowledgeBase,
    create_knowledge_base,
)
from agentscope.app.rag.service.delete_knowledge_base import delete_knowledge_base
from agentscope.app.rag.service.embedding_models import embedding_providers
from agentscope.app.rag.service.list_knowledge_bases import (
    KnowledgeBaseQuery,
    get_knowledge_base,
    list_knowledge_bases,
)
from agentscope.app.records import ChunkerConfig, EmbeddingModelConfig
from agentscope.errors import PermissionDeniedError
from agentscope.middleware.parameters import Parameters

router = APIRouter(prefix="/knowledge_bases", tags=["knowledge bases"])


@router.get("/embedding_models", response_model=shapes.ListKbEmbeddingModelsResponse)
async def get_embedding_models(caller: CallerDep, service: ServiceDep) -> Response:
    """List the embedding models that a new knowledge base can use."""
    providers, policy = await embedding_providers(service, caller.user_id)
    return json_response(
        {
            "providers": [
                {"credential": credential_view(item.credential), "models": item.models}
                for item in providers
            ],
            "policy": {"kind": str(policy.kind), "dimension": policy.dimension},
        }
    )


@router.get("/chunkers", response_model=shapes.ListChunkersResponse)
async def get_chunkers(caller: CallerDep, service: ServiceDep) -> Response:
    """List the chunkers that a new knowledge base can use, the default first."""
    del caller
    offered = service.chunkers.offered()
    return json_response(
        {"chunkers": [{"type": name, "parameter_schema": schema} for name, schema in offered]}
    )


@router.get("/middleware/parameters_schema", response_model=shapes.ParametersSchemaResponse)
async def get_parameters_schema(caller: CallerDep) -> Response:
    """Return the form of the parameters of the middleware for agents."""
    del caller
    schema = Parameters.model_json_schema()
    schema.pop("description", None)
    return json_response({"parameter_schema": schema})


@router.get("/supported_content_types", response_model=shapes.SupportedContentTypesResponse)
async def get_supported_content_types(caller: CallerDep, service: ServiceDep) -> Response:
    """List the file types that can be read here, and the limits."""
    return json_response(await capabilities(service, caller.user_id))


@router.post("/", status_code=201, response_model=shapes.CreateKnowledgeBaseResponse)
async def post_knowledge_base(
    caller: WriterDep, service: ServiceDep, body: shapes.CreateKnowledgeBaseRequest
) -> Response:
    """Create a knowledge base."""
    if caller.knowledge_bases is not None:
        raise PermissionDeniedError("A key for certain knowledge bases cannot create others.")
    chunker = body.chunker_config
    wanted = NewKnowledgeBase(
        name=body.name,
        description=body.description,
        embedding_model_config=EmbeddingModelConfig(**body.embedding_model_config.model_dump()),
        chunker_config=ChunkerConfig(chunker.type, chunker.parameters) if chunker else None,
        search_mode=body.search_mode,
    )
    record = await create_knowledge_base(service, caller.user_id, wanted)
    return json_response({"knowledge_base_id": record.id}, 201)


@router.get("/", response_model=shapes.ListKnowledgeBasesResponse)
async def get_knowledge_bases(
    caller: CallerDep,
    service: ServiceDep,
    asked: Annotated[KnowledgeBasesAsked, Query()],
) -> Response:
    """List knowledge bases."""
    rows, total = await list_knowledge_bases(
        service,
        caller.user_id,
        KnowledgeBaseQuery(asked.id, storable(asked.name), caller.knowledge_bases),
        page_of(asked),
    )
    return json_response(
        {
            "knowledge_bases": [knowledge_base_view(row) for row in rows],
            "total": total,
            "page": asked.page,
            "page_size": asked.page_size,
        }
    )


@router.get("/{knowledge_base_id}", response_model=shapes.KnowledgeBaseView)
async def get_one_knowledge_base(
    caller: CallerDep, service: ServiceDep, knowledge_base_id: str
) -> Response:
    """Read one knowledge base."""
    details = await get_knowledge_base(service, caller.user_id, knowledge_base_id)
    return json_response(knowledge_base_view(details))


@router.patch("/{knowledge_base_id}", response_model=shapes.KnowledgeBaseView)
async def patch_knowledge_base(
    caller: WriterDep,
    service: ServiceDep,
    knowledge_base_id: str,
    body: shapes.UpdateKnowledgeBaseRequest,
) -> Response:
    """Rename a knowledge base or change how it is searched."""
    changes = KnowledgeBaseChanges(
        body.name,
        body.description,
        body.search_mode,
        embedding_model_config=body.embedding_model_config or {},
        chunker_config=body.chunker_config or {},
    )
    details = await change_knowledge_base(service, caller.user_id, knowledge_base_id, changes)
    return json_response(knowledge_base_view(details))


@router.delete("/{knowledge_base_id}", status_code=204, response_class=Response)
async def remove_knowledge_base(
    caller: WriterDep, service: ServiceDep, knowledge_base_id: str
) -> Response:
    """Delete a knowledge base with all its documents."""
    await delete_knowledge_base(service, caller.user_id, knowledge_base_id)
    return no_content()
