"""Puts the best candidates in a better order with a model that reads query and text together."""

from collections.abc import Sequence
from typing import Protocol

from agentscope import observe, tracing
from agentscope.errors import RerankError
from agentscope.rag.document import LegScore, SearchHit
from agentscope.rag.vector_store.points import chunk_text

MAX_RERANKED = 200


class Reranker(Protocol):
    """What a knowledge base asks of a reranker."""

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one relevance per text, in input order; higher is better."""
        ...


async def rerank(
    reranker: Reranker, query: str, hits: Sequence[SearchHit], *, top_k: int
) -> list[SearchHit]:
    """Return the first `top_k` hits in the reranker's order; hits without text go last.

    Raises:
        RerankError: the reranker failed or returned another number of scores.
    """
    candidates = [hit for hit in hits[:top_k] if chunk_text(hit.chunk)]
    rest = [hit for hit in hits[:top_k] if not chunk_text(hit.chunk)]
    if not candidates:
        return rest
    texts = [chunk_text(hit.chunk) for hit in candidates]
    with observe.timed(observe.LEG_SECONDS.labels("rerank")), tracing.span("rerank"):
        scores = await reranker.score(query, texts)
    if len(scores) != len(candidates):
        raise RerankError("The reranker returned another number of scores than it got texts.")
    ranked = sorted(
        zip(scores, candidates, strict=True),
        key=lambda pair: (-pair[0], pair[1].document_id, pair[1].chunk.chunk_index),
    )
    return [
        *(
            hit.model_copy(
                update={"score": float(score), "rerank": LegScore(score=float(score), rank=rank)}
            )
            for rank, (score, hit) in enumerate(ranked, start=1)
        ),
        *rest,
    ]
