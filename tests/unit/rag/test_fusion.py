"""Fusion of the two legs."""

import pytest

from agentscope.rag.fusion import fuse, reciprocal_ranks


def test_both_legs_count_equally_when_the_words_are_there() -> None:
    """Best in both is 1, worst in both is 0."""
    scores = fuse({"a": 0.9, "b": 0.5, "c": 0.1}, {"a": 7.0, "b": 3.0}, coverage=1.0)
    assert scores == pytest.approx({"a": 1.0, "b": 0.25, "c": 0.0})


def test_a_poorly_covered_query_trusts_the_vectors() -> None:
    """A chance word does not lift a hit above the nearest one."""
    vector = {"meaning": 0.9, "word": 0.2}
    assert max(fuse(vector, {"word": 5.0}, coverage=0.05).items(), key=lambda x: x[1])[0] == (
        "meaning"
    )
    tied = fuse(vector, {"word": 5.0}, coverage=0.3)
    assert tied["word"] == pytest.approx(tied["meaning"])


def test_one_leg_alone_is_stretched_to_the_unit_range() -> None:
    """No keyword hit gives the vectors full weight; equal scores are all 1."""
    assert fuse({"a": 0.4, "b": 0.2}, {}, coverage=0.0) == {"a": 1.0, "b": 0.0}
    assert fuse({"a": 0.4, "b": 0.4}, {}, coverage=0.0) == {"a": 1.0, "b": 1.0}
    assert fuse({}, {}, coverage=0.0) == {}


def test_reciprocal_ranks_reward_agreement() -> None:
    """First everywhere is 1; in two lists beats in one."""
    scores = reciprocal_ranks([["a", "b"], ["a", "c", "b"]])
    assert scores["a"] == pytest.approx(1.0)
    assert scores["a"] > scores["b"] > scores["c"] > 0
    assert reciprocal_ranks([]) == {}
