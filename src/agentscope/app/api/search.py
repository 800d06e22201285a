"""The route that searches."""

from fastapi import APIRouter, Response

from agentscope.app.api.deps import CallerDep, ServiceDep
from agentscope.app.api.responses import json_response
from agentscope.app.api.schemas.search import (
    SearchKnowledgeBaseRequest,
    SearchKnowledgeBaseResponse,
)
from agentscope.app.rag.service.search import SearchRequest, search

router = APIRouter(prefix="/knowledge_bases", tags=["search"])


@router.post("/{knowledge_base_id}/search", response_model=SearchKnowledgeBaseResponse)
async def post_search(
    caller: CallerDep,
    service: ServiceDep,
    knowledge_base_id: str,
    body: SearchKnowledgeBaseRequest,
) -> Response:
    """Search the documents of a knowledge base."""
    request = SearchRequest(
        query=body.query,
        top_k=body.top_k,
        mode=body.mode,
        score_threshold=body.score_threshold,
        metadata_filter=body.metadata_filter,
        document_ids=body.document_ids,
        content_types=body.content_types,
        neighbours=body.neighbours,
    )
    found = await search(service, caller.user_id, knowledge_base_id, request)
    return json_response(
        {
            "results": found.hits,
            "total": len(found.hits),
            "took_ms": round(found.took_seconds * 1000, 3),
            "mode": str(found.mode),
            "warnings": found.warnings,
        }
    )
