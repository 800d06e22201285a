"""Which failure ends a document, and when the others are tried again."""

import random
from datetime import UTC, datetime

import pytest

from agentscope.app.rag.indexing.retries import Action, Verdict, judge
from agentscope.app.records import DocumentRecord, Limits
from agentscope.errors import (
    BlobNotFoundError,
    CollectionNotFoundError,
    ConfigurationError,
    CorruptFileError,
    CredentialNotFoundError,
    DimensionMismatchError,
    EmbeddingAuthError,
    EmbeddingError,
    EmbeddingInputError,
    EmbeddingModelChangedError,
    EmbeddingTimeoutError,
    MissingDependencyError,
    NoTextError,
    ParseLimitError,
    ParserCrashError,
    StorageError,
    TooLargeError,
    UnsupportedMediaTypeError,
    VectorStoreError,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


RNG = random.Random(1)


def verdict(error: BaseException, attempt: int = 1, unforeseen: int = 0) -> Verdict:
    """Judge a run that was the `attempt`-th, after so many that failed for unforeseen reasons."""
    document = DocumentRecord(
        id="d",
        user_id="u",
        knowledge_base_id="k",
        filename="a.txt",
        attempt=attempt,
        unforeseen=unforeseen,
        created_at=NOW,
        updated_at=NOW,
    )
    return judge(error, document, stage="indexing", limits=Limits(), rng=RNG)


@pytest.mark.parametrize(
    "error",
    [
        CorruptFileError(),
        NoTextError(),
        ParseLimitError(),
        TooLargeError(),
        UnsupportedMediaTypeError(),
        DimensionMismatchError(),
        EmbeddingAuthError(),
        EmbeddingInputError(),
        EmbeddingModelChangedError(),
        EmbeddingError(retryable=False),
        CredentialNotFoundError(),
        ConfigurationError(),
        MissingDependencyError("package", "extra"),
    ],
)
def test_what_does_not_get_better_by_itself_fails_at_once(error: BaseException) -> None:
    """The user has to change something first."""
    assert verdict(error).action is Action.FAIL


@pytest.mark.parametrize(
    "error", [EmbeddingError(), EmbeddingTimeoutError(), StorageError(), VectorStoreError()]
)
def test_what_may_pass_is_tried_twelve_times(error: BaseException) -> None:
    """The twelfth failure is the last; its message tells that it was tried often."""
    assert verdict(error, 11).action is Action.RETRY
    last = verdict(error, 12)
    assert last.action is Action.FAIL
    assert last.failure.retryable
    assert last.failure.message.endswith("It was tried several times.")


def test_an_unknown_problem_is_tried_three_times_and_tells_no_internals() -> None:
    """Nobody sees class names or texts of foreign exceptions."""
    again = verdict(ZeroDivisionError("/secret/path"), 2, unforeseen=1)
    assert again.action is Action.RETRY
    assert again.unforeseen
    last = verdict(ZeroDivisionError("/secret/path"), 3, unforeseen=2)
    assert last.action is Action.FAIL
    assert "secret" not in last.failure.message
    assert "ZeroDivision" not in last.failure.message


def test_a_missing_file_is_final_the_second_time() -> None:
    """A store may be late once."""
    assert verdict(BlobNotFoundError(), 1).action is Action.RETRY
    assert verdict(BlobNotFoundError(), 2, unforeseen=1).action is Action.FAIL


def test_an_outage_uses_up_no_chance_of_another_failure() -> None:
    """A provider was down for ten runs; what nobody foresaw still gets its three."""
    assert not verdict(EmbeddingError(), 10).unforeseen
    for error in (ZeroDivisionError(), BlobNotFoundError(), CollectionNotFoundError()):
        assert verdict(error, 11).action is Action.RETRY
        assert verdict(error, 12).action is Action.FAIL  # the limit of all runs holds
    assert verdict(EmbeddingError(), 5, unforeseen=2).action is Action.RETRY


def test_a_dead_reader_counts_as_a_crash() -> None:
    """The storage counts it and caps it."""
    found = verdict(ParserCrashError(), 11)
    assert found.action is Action.CRASH
    assert found.delay.total_seconds() == 30


def test_delays_grow_are_spread_and_have_an_end() -> None:
    """From five to twenty seconds at first, never above twenty-three minutes."""
    delays = [verdict(EmbeddingError(), attempt).delay.total_seconds() for attempt in range(1, 12)]
    assert 5 <= delays[0] <= 15
    assert max(delays) <= 1.5 * 15 * 60
    assert len(set(delays)) == len(delays)


def test_a_provider_that_names_a_time_is_not_asked_before() -> None:
    """`Retry-After` wins over a shorter delay."""
    error = EmbeddingError(retry_after_seconds=300)
    assert verdict(error).delay.total_seconds() >= 300
