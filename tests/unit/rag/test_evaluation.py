"""The measures, against values worked out by hand."""

import math

import pytest

from agentscope.rag.evaluation import measure, ndcg, recall, reciprocal_rank, unique


def test_a_perfect_ranking_scores_one() -> None:
    """Best gain first, all found."""
    gains = {"a": 3.0, "b": 1.0}
    assert ndcg(["a", "b", "x"], gains) == pytest.approx(1.0)
    assert recall(["a", "b"], gains) == 1.0
    assert reciprocal_rank(["a"], gains) == 1.0


def test_a_swapped_ranking_scores_what_the_formula_says() -> None:
    """Linear gain and log2 discount."""
    gains = {"a": 3.0, "b": 1.0}
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert ndcg(["b", "a"], gains) == pytest.approx(expected)


def test_what_is_beyond_the_cut_does_not_count() -> None:
    """The first k only."""
    gains = {"a": 1.0}
    ranking = [f"x{n}" for n in range(10)] + ["a"]
    assert ndcg(ranking, gains) == 0
    assert recall(ranking, gains) == 0
    assert reciprocal_rank(ranking, gains) == 0
    assert reciprocal_rank(["x", "a"], gains) == 0.5


def test_passages_of_one_document_count_once() -> None:
    """At the best place."""
    assert unique(["a", "b", "a", "c", "b"]) == ["a", "b", "c"]


def test_means_are_over_judged_queries_only() -> None:
    """A query that found nothing is a zero; one without judgements is left out."""
    judgements = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"c": 0.0}}
    measures = measure({"q1": ["a"], "q9": ["z"]}, judgements)
    assert (measures.queries, measures.ndcg, measures.recall, measures.mrr) == (2, 0.5, 0.5, 0.5)
    assert measure({}, {}).queries == 0
