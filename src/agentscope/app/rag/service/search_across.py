"""Searching several knowledge bases at once, whatever models they were built with."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agentscope.app.rag.service.opening import open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.rag.service.search import (
    NOT_RERANKED,
    SearchRequest,
    ask,
    checked,
    open_handle,
    reranker_for,
)
from agentscope.app.records import KnowledgeBaseRecord
from agentscope.errors import InvalidInputError, RerankError, UpstreamError
from agentscope.rag.document import SearchHit, SearchMode
from agentscope.rag.federation import fuse_by_rank
from agentscope.rag.reranking import Reranker, rerank

logger = logging.getLogger(__name__)

MAX_KNOWLEDGE_BASES = 20
PARALLEL = 4
CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class FusedAnswer:
    """Hits of several knowledge bases, best first; each names its own."""

    hits: list[SearchHit]
    took_seconds: float
    warnings: list[str] = field(default_factory=list)


async def search_across(
    service: KnowledgeBaseService,
    viewer_id: str,
    knowledge_base_ids: Sequence[str],
    request: SearchRequest,
) -> FusedAnswer:
    """Return the best chunks of several knowledge bases, fused by rank, never by raw score.

    One that does not answer is left out with a warning, unless none does.

    Raises:
        InvalidInputError: the request is not valid.
        KnowledgeBaseNotFoundError: one of them is none that the viewer may see.
        UpstreamError: none of them answered.
    """
    started = time.perf_counter()
    queries = checked(service, request)
    ids = list(dict.fromkeys(knowledge_base_ids))
    if not 1 <= len(ids) <= MAX_KNOWLEDGE_BASES:
        raise InvalidInputError(f"A search takes 1 to {MAX_KNOWLEDGE_BASES} knowledge bases.")
    reranker = reranker_for(service, request)
    records = [(await open_knowledge_base(service, viewer_id, one)).record for one in ids]
    depth = max(request.top_k, CANDIDATES) if reranker else request.top_k
    wanted = replace(request, top_k=min(depth, service.limits.top_k))
    answers, warnings = await _answers(service, records, queries, wanted)
    hits = fuse_by_rank(answers, wanted.top_k)
    if reranker is not None:
        hits = await _reranked(reranker, queries, hits, warnings)
    return FusedAnswer(hits[: request.top_k], time.perf_counter() - started, warnings)


async def _answers(
    service: KnowledgeBaseService,
    records: Sequence[KnowledgeBaseRecord],
    queries: list[str],
    request: SearchRequest,
) -> tuple[list[list[SearchHit]], list[str]]:
    gate = asyncio.Semaphore(PARALLEL)

    async def one(record: KnowledgeBaseRecord) -> list[SearchHit] | UpstreamError:
        async with gate:
            try:
                handle = await open_handle(service, record)
                mode = SearchMode(request.mode or record.search_mode)
                return await ask(handle, queries, request, mode, None)
            except UpstreamError as exc:
                return exc

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(record)) for record in records]
    answers: list[list[SearchHit]] = []
    failures: list[UpstreamError] = []
    warnings = []
    for record, task in zip(records, tasks, strict=True):
        answer = task.result()
        if isinstance(answer, UpstreamError):
            failures.append(answer)
            logger.warning(
                "knowledge_base_not_searched",
                extra={"knowledge_base_id": record.id, "error_code": answer.code},
            )
            warnings.append(f"Knowledge Base '{record.id}' did not answer: {answer.message}")
        else:
            answers.append(answer)
    if not answers:
        raise failures[0]
    return answers, warnings


async def _reranked(
    reranker: Reranker, queries: Sequence[str], hits: list[SearchHit], warnings: list[str]
) -> list[SearchHit]:
    try:
        return await rerank(reranker, "\n".join(queries), hits, top_k=len(hits))
    except RerankError as exc:
        logger.warning("reranker_failed", extra={"error_code": exc.code})
        warnings.append(NOT_RERANKED)
        return hits
