"""Searching one knowledge base, through the same handle that indexes and that an agent uses."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentscope import observe
from agentscope.app.rag.knowledge_base_manager.models import PinnedModel
from agentscope.app.rag.service.create_knowledge_base import require_embedding_provider
from agentscope.app.rag.service.names import clean_query
from agentscope.app.rag.service.opening import open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import KnowledgeBaseRecord
from agentscope.credential.local import LOCAL_CREDENTIAL_ID
from agentscope.errors import (
    CredentialNotFoundError,
    EmbeddingModelChangedError,
    InvalidInputError,
    KnowledgeBaseNotFoundError,
    RerankError,
)
from agentscope.rag.document import SearchHit, SearchMode
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.reranking import Reranker

logger = logging.getLogger(__name__)

MAX_QUERIES = 10
NOT_RERANKED = "The reranker did not answer, so the hits are in the order of the search itself."
MODEL_CHANGED = (
    "The embedding model is not the one this knowledge base was built with, "
    "so only words were compared."
)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question; None leaves a side open."""

    query: str | Sequence[str]
    top_k: int = 5
    mode: str | None = None
    score_threshold: float | None = None
    metadata_filter: Mapping[str, Any] | None = None
    document_ids: Sequence[str] | None = None
    content_types: Sequence[str] | None = None
    neighbours: int = 0
    rerank: bool | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first, and how they were found."""

    hits: list[SearchHit]
    took_seconds: float
    mode: SearchMode
    warnings: list[str] = field(default_factory=list)


async def search(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str, request: SearchRequest
) -> SearchAnswer:
    """Return the best chunks of the visible documents.

    Raises:
        KnowledgeBaseNotFoundError: there is none that the viewer may see.
        CredentialNotFoundError: its credential is gone.
        InvalidInputError, BadFilterError: the request is not valid.
        EmbeddingError, VectorStoreError: what it depends on did not answer.
    """
    started = time.perf_counter()
    queries = checked(service, request)
    record = (await open_knowledge_base(service, viewer_id, knowledge_base_id)).record
    handle = await open_handle(service, record)
    mode = SearchMode(request.mode or record.search_mode)
    reranker = reranker_for(service, request)
    warnings = []
    try:
        hits = await ask(handle, queries, request, mode, reranker)
    except RerankError as exc:
        if reranker is None:
            raise
        logger.warning("reranker_failed", extra={"error_code": exc.code})
        hits = await ask(handle, queries, request, mode, None)
        warnings.append(NOT_RERANKED)
    if mode is SearchMode.HYBRID and await _model_changed(handle):
        mode = SearchMode.KEYWORD
        warnings.append(MODEL_CHANGED)
    seconds = time.perf_counter() - started
    observe.SEARCH_SECONDS.labels(str(mode)).observe(seconds)
    return SearchAnswer(hits, seconds, mode, warnings)


async def open_handle(service: KnowledgeBaseService, record: KnowledgeBaseRecord) -> KnowledgeBase:
    """Return the handle of a knowledge base that was opened for a viewer.

    Raises:
        CredentialNotFoundError, UnknownProviderError: its model cannot be used any more.
    """
    config = record.embedding_model_config
    if config.credential_id != LOCAL_CREDENTIAL_ID:
        require_embedding_provider(config.type)
    try:
        return await service.manager.get_knowledge(record.user_id, record.id)
    except CredentialNotFoundError as exc:
        raise CredentialNotFoundError(
            f"Credential '{config.credential_id}' for knowledge base '{record.id}' not found."
        ) from exc
    except KnowledgeBaseNotFoundError as exc:
        raise KnowledgeBaseNotFoundError(f"Knowledge Base '{record.id}' not found.") from exc


async def ask(
    handle: KnowledgeBase,
    queries: list[str],
    request: SearchRequest,
    mode: SearchMode,
    reranker: Reranker | None,
) -> list[SearchHit]:
    """Ask one knowledge base what the request asks."""
    # Handles that somebody else wrote do not know about rerankers, and need not.
    extra: dict[str, Any] = {"reranker": reranker} if reranker is not None else {}
    return await handle.search(
        queries,
        request.top_k,
        request.score_threshold,
        mode=mode,
        metadata_filter=_filter(request),
        neighbours=request.neighbours,
        **extra,
    )


def checked(service: KnowledgeBaseService, request: SearchRequest) -> list[str]:
    """Return the queries of a request whose numbers are within the limits.

    Raises:
        InvalidInputError: they are not, or a query is blank or too long.
    """
    limits = service.limits
    asked = [request.query] if isinstance(request.query, str) else list(request.query)
    if not 1 <= len(asked) <= MAX_QUERIES:
        raise InvalidInputError(f"A search takes 1 to {MAX_QUERIES} queries.")
    if not 1 <= request.top_k <= limits.top_k:
        raise InvalidInputError(f"top_k must be between 1 and {limits.top_k}.")
    if not 0 <= request.neighbours <= limits.neighbours:
        raise InvalidInputError(f"neighbours must be between 0 and {limits.neighbours}.")
    return [clean_query(query, max_chars=limits.query_chars) for query in asked]


def reranker_for(service: KnowledgeBaseService, request: SearchRequest) -> Reranker | None:
    """Return who puts the hits in order, or None.

    Raises:
        InvalidInputError: the request insists, and there is no reranker here.
    """
    if request.rerank and service.reranker is None:
        raise InvalidInputError("This service has no reranker; leave `rerank` out.")
    return None if request.rerank is False else service.reranker


def _filter(request: SearchRequest) -> dict[str, Any] | None:
    clauses: list[Mapping[str, Any]] = []
    if request.metadata_filter:
        clauses.append(request.metadata_filter)
    if request.document_ids is not None:
        clauses.append({"document_id": {"$in": list(request.document_ids)}})
    if request.content_types is not None:
        clauses.append({"media_type": {"$in": list(request.content_types)}})
    if not clauses:
        return None
    return dict(clauses[0]) if len(clauses) == 1 else {"$and": clauses}


async def _model_changed(handle: KnowledgeBase) -> bool:
    if not isinstance(handle.embedding_model, PinnedModel):
        return False
    try:
        await handle.embedding_model.check()
    except EmbeddingModelChangedError:
        return True
    return False
