"""How good a ranking is: the usual measures, over judgements of whole documents.

A run gives, per query, document ids best first. Judgements (qrels) give, per query, the gain of
each relevant document. Queries without judgements are left out.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Judgements = Mapping[str, Mapping[str, float]]
Ranking = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Measures:
    """Means over the judged queries, each in 0..1."""

    queries: int
    ndcg: float  # linear gain, log2 discount, ideal over all judged documents (Järvelin 2002)
    recall: float
    mrr: float


def unique(document_ids: Iterable[str]) -> list[str]:
    """Return the ids without repeats: several passages of a document count once, at the best."""
    return list(dict.fromkeys(document_ids))


def ndcg(ranking: Sequence[str], gains: Mapping[str, float], k: int = 10) -> float:
    """Return the normalised discounted cumulative gain of the first `k`."""
    ideal = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg([gains.get(document, 0.0) for document in ranking[:k]]) / ideal if ideal else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranking: Sequence[str], gains: Mapping[str, float], k: int = 10) -> float:
    """Return which part of the relevant documents is among the first `k`."""
    relevant = {document for document, gain in gains.items() if gain > 0}
    return len(relevant & set(ranking[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], gains: Mapping[str, float], k: int = 10) -> float:
    """Return 1 / rank of the first relevant document among the first `k`, else 0."""
    ranks = (rank for rank, document in enumerate(ranking[:k], 1) if gains.get(document, 0) > 0)
    return 1 / first if (first := next(ranks, 0)) else 0.0


def measure(rankings: Ranking, judgements: Judgements, k: int = 10) -> Measures:
    """Return the means of all measures; a judged query without a ranking counts as zero."""
    judged = [query for query, gains in judgements.items() if any(g > 0 for g in gains.values())]
    pairs = [(unique(rankings.get(query, ())), judgements[query]) for query in judged]
    if not pairs:
        return Measures(0, 0.0, 0.0, 0.0)
    return Measures(
        queries=len(pairs),
        ndcg=statistics.fmean(ndcg(ranking, gains, k) for ranking, gains in pairs),
        recall=statistics.fmean(recall(ranking, gains, k) for ranking, gains in pairs),
        mrr=statistics.fmean(reciprocal_rank(ranking, gains, k) for ranking, gains in pairs),
    )
