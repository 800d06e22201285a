"""The routes that search."""

from fastapi import APIRouter, Response

from agentscope.app.api.deps import SearcherDep, ServiceDep, check_reach_of
from agentscope.app.api.responses import json_response
from agentscope.app.api.schemas.search import (
    SearchKnowledgeBaseRequest,
    SearchKnowledgeBaseResponse,
    SearchKnowledgeBasesRequest,
    SearchKnowledgeBasesResponse,
)
from agentscope.app.rag.service.search import SearchRequest, search
from agentscope.app.rag.service.search_across import search_across

router = APIRouter(prefix="/knowledge_bases", tags=["search"])


@router.post("/search", response_model=SearchKnowledgeBasesResponse)
async def post_search_across(
    caller: SearcherDep, service: ServiceDep, body: SearchKnowledgeBasesRequest
) -> Response:
    """Search several knowledge bases at once."""
    check_reach_of(caller, body.knowledge_base_ids)
    found = await search_across(service, caller.user_id, body.knowledge_base_ids, _asked(body))
    return json_response(
        {
            "results": found.hits,
            "total": len(found.hits),
            "took_ms": round(found.took_seconds * 1000, 3),
            "warnings": found.warnings,
        }
    )


@router.post("/{knowledge_base_id}/search", response_model=SearchKnowledgeBaseResponse)
async def post_search(
    caller: SearcherDep,
    service: ServiceDep,
    knowledge_base_id: str,
    body: SearchKnowledgeBaseRequest,
) -> Response:
    """Search the documents of a knowledge base."""
    found = await search(service, caller.user_id, knowledge_base_id, _asked(body))
    return json_response(
        {
            "results": found.hits,
            "total": len(found.hits),
            "took_ms": round(found.took_seconds * 1000, 3),
            "mode": str(found.mode),
            "warnings": found.warnings,
        }
    )


def _asked(body: SearchKnowledgeBaseRequest) -> SearchRequest:
    return SearchRequest(
        query=body.query,
        top_k=body.top_k,
        mode=body.mode,
        score_threshold=body.score_threshold,
        metadata_filter=body.metadata_filter,
        document_ids=body.document_ids,
        content_types=body.content_types,
        neighbours=body.neighbours,
        rerank=body.rerank,
    )
