"""Makes one ranking of the two search legs.

`fuse` is min-max fusion: each leg's scores are stretched to 0..1 over the union of both candidate
lists and added with equal weights. Two details carry the quality (benchmarks/bench_retrieval.py):

- Every candidate has a vector similarity, also one that only the keyword leg found. Taking 0 for
  it instead cost .048 nDCG@10 on long technical text.
- The keyword leg's weight shrinks when even its best hit shares few of the query's terms, as
  when question and text are in different languages: a chance number must not outweigh meaning.
  Without it an English question over Chinese text fell from .82 to .63.

`reciprocal_ranks` fuses lists whose scores cannot be compared, such as several knowledge bases
with different models. (Cormack, Clarke, Buettcher: "Reciprocal Rank Fusion", SIGIR 2009.)
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

KEYWORD_WEIGHT = 0.5
FULL_COVERAGE = 0.3
"""Share of the query's terms in the best keyword hit from which the keyword leg has full weight."""

RANK_CONSTANT = 60

Key = TypeVar("Key", bound=Hashable)


def fuse(
    vector: Mapping[Key, float], keyword: Mapping[Key, float], *, coverage: float
) -> dict[Key, float]:
    """Return a score in 0..1 for every candidate of `vector`, which includes those of `keyword`.

    `coverage` is the share of the query's terms that the best keyword hit has.
    """
    weight = KEYWORD_WEIGHT * min(1.0, coverage / FULL_COVERAGE) if keyword else 0.0
    meaning, words = _stretch(vector), _stretch(keyword)
    return {
        key: (1 - weight) * value + weight * words.get(key, 0.0) for key, value in meaning.items()
    }


def _stretch(scores: Mapping[Key, float]) -> dict[Key, float]:
    if not scores:
        return {}
    least, most = min(scores.values()), max(scores.values())
    if most <= least:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - least) / (most - least) for key, score in scores.items()}


def reciprocal_ranks(rankings: Sequence[Sequence[Key]]) -> dict[Key, float]:
    """Return a score in 0..1 for every key; 1 is the first place of every ranking."""
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for place, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1 / (RANK_CONSTANT + place)
    best = len(rankings) / (RANK_CONSTANT + 1)
    return {key: score / best for key, score in scores.items()}
