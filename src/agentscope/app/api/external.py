"""Search in the shapes of other products: Dify's external knowledge, OpenAI's vector stores."""

from typing import Any

from fastapi import APIRouter, Response

from agentscope.app.api.deps import CallerDep, SearcherDep, ServiceDep, check_reach_of
from agentscope.app.api.external_filters import from_comparison, from_conditions
from agentscope.app.api.responses import json_response
from agentscope.app.api.schemas import external as shapes
from agentscope.app.rag.service.list_knowledge_bases import get_knowledge_base
from agentscope.app.rag.service.search import SearchRequest, search
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import SearchHit

router = APIRouter(tags=["other products"])

UNDER_WAY = ("pending", "parsing", "chunking", "indexing")


@router.post("/integrations/dify/retrieval", response_model=shapes.RetrievalResponse)
async def post_retrieval(
    caller: SearcherDep, service: ServiceDep, body: shapes.RetrievalRequest
) -> Response:
    """Answer Dify's external knowledge API; its endpoint is this path without `/retrieval`."""
    check_reach_of(caller, [body.knowledge_id])
    setting = body.retrieval_setting
    request = SearchRequest(
        query=body.query,
        top_k=setting.top_k,
        score_threshold=setting.score_threshold or None,
        metadata_filter=from_conditions(body.metadata_condition),
    )
    found = await search(service, caller.user_id, body.knowledge_id, request)
    records = [
        {
            "content": text,
            "score": hit.score,
            "title": hit.chunk.source,
            "metadata": {
                **hit.chunk.metadata,
                "document_id": hit.document_id,
                "chunk_index": hit.chunk.chunk_index,
            },
        }
        for hit in found.hits
        if (text := _text(hit))
    ]
    return json_response({"records": records})


@router.get("/v1/vector_stores/{knowledge_base_id}", response_model=shapes.VectorStoreView)
async def get_vector_store(
    caller: CallerDep, service: ServiceDep, knowledge_base_id: str
) -> Response:
    """Read a knowledge base as OpenAI's clients read a vector store."""
    details = await get_knowledge_base(service, caller.user_id, knowledge_base_id)
    record, counts = details.record, details.counts
    running = sum(counts.by_status.get(status, 0) for status in UNDER_WAY)
    return json_response(
        {
            "id": record.id,
            "object": "vector_store",
            "created_at": int(record.created_at.timestamp()),
            "name": record.name,
            "usage_bytes": counts.size_bytes,
            "file_counts": {
                "in_progress": running,
                "completed": counts.by_status.get("ready", 0),
                "failed": counts.by_status.get("error", 0),
                "cancelled": 0,
                "total": counts.documents,
            },
            "status": "in_progress" if running else "completed",
            "last_active_at": int(record.updated_at.timestamp()),
            "metadata": {},
        }
    )


@router.post(
    "/v1/vector_stores/{knowledge_base_id}/search",
    response_model=shapes.VectorStoreSearchResponse,
)
async def post_vector_store_search(
    caller: SearcherDep,
    service: ServiceDep,
    knowledge_base_id: str,
    body: shapes.VectorStoreSearchRequest,
) -> Response:
    """Search a knowledge base as OpenAI's clients search a vector store."""
    options = body.ranking_options or shapes.RankingOptions()
    request = SearchRequest(
        query=body.query,
        top_k=body.max_num_results,
        score_threshold=options.score_threshold or None,
        metadata_filter=from_comparison(body.filters),
    )
    found = await search(service, caller.user_id, knowledge_base_id, request)
    data = [
        {
            "file_id": hit.document_id,
            "filename": hit.chunk.source,
            "score": hit.score,
            "attributes": _attributes(hit.chunk.metadata),
            "content": [{"type": "text", "text": text}],
        }
        for hit in found.hits
        if (text := _text(hit))
    ]
    return json_response(
        {
            "object": "vector_store.search_results.page",
            "search_query": [body.query] if isinstance(body.query, str) else body.query,
            "data": data,
            "has_more": False,
            "next_page": None,
        }
    )


def _text(hit: SearchHit) -> str:
    content = hit.chunk.content
    return content.text if isinstance(content, TextBlock) else ""


def _attributes(metadata: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if isinstance(value, str | int | float)}
