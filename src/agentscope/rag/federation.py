"""One answer from several knowledge bases."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from agentscope.embedding.base import EmbeddingInput
from agentscope.rag.concurrency import together
from agentscope.rag.document import SearchHit, SearchMode
from agentscope.rag.fusion import reciprocal_ranks
from agentscope.rag.knowledge_base import KnowledgeBase


async def search_many(
    knowledge_bases: Sequence[KnowledgeBase],
    queries: Sequence[EmbeddingInput] | str,
    top_k: int = 5,
    score_threshold: float | None = None,
    *,
    mode: SearchMode | None = None,
    metadata_filter: dict[str, Any] | None = None,
    neighbours: int = 0,
) -> list[SearchHit]:
    """Search several knowledge bases and fuse their answers by rank.

    Scores of different models cannot be compared, so `score` here comes from ranks alone: scaled so
    that a first place in every list would be 1.
    """
    bases = list({id(base): base for base in knowledge_bases}.values())
    answers = await together(
        [
            partial(
                base.search,
                queries,
                top_k,
                score_threshold,
                mode=mode,
                metadata_filter=metadata_filter,
                neighbours=neighbours,
            )
            for base in bases
        ]
    )
    return fuse_by_rank(answers, top_k)


def fuse_by_rank(answers: Sequence[Sequence[SearchHit]], top_k: int) -> list[SearchHit]:
    """Return the first `top_k` hits of several rankings, none of which holds another's chunks."""
    hits = {
        (number, hit.document_id, hit.chunk.chunk_index): hit
        for number, answer in enumerate(answers)
        for hit in answer
    }
    rankings = [
        [(number, hit.document_id, hit.chunk.chunk_index) for hit in answer]
        for number, answer in enumerate(answers)
    ]
    scores = reciprocal_ranks(rankings)
    ordered = sorted(scores, key=lambda key: (-scores[key], key))[:top_k]
    return [hits[key].model_copy(update={"score": scores[key]}) for key in ordered]
