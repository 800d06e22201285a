"""What a failed run means: try again later, or end in `error`."""

import enum
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from agentscope.app.records import (
    DocumentFailure,
    DocumentRecord,
    KnowledgeBaseRecord,
    Limits,
)
from agentscope.errors import (
    AgentScopeError,
    BlobNotFoundError,
    CollectionNotFoundError,
    ConfigurationError,
    EmbeddingModelChangedError,
    EmbeddingPausedError,
    GenerationMissedError,
    ParserCrashError,
    UpstreamError,
)

FIRST_DELAY_SECONDS = 5.0
LONGEST_DELAY_SECONDS = 15 * 60.0
CRASH_DELAY_SECONDS = 30.0
MISSING_BLOB_ATTEMPTS = 2
SWAP_SECONDS = 2.0
MIGRATION_SECONDS = 30.0


class Action(enum.StrEnum):
    """What to do with the run."""

    FAIL = "fail"  # nothing gets better by itself
    RETRY = "retry"  # hand back, try later
    CRASH = "crash"  # hand back and count: the document killed its reader


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do, what to tell the user, and when to try again."""

    action: Action
    failure: DocumentFailure
    delay: timedelta = timedelta(0)
    unforeseen: bool = False
    """Whether the run counts against the lower limit of what nobody foresaw."""


def judge(
    error: BaseException,
    document: DocumentRecord,
    *,
    stage: str,
    limits: Limits,
    rng: random.Random,
) -> Verdict:
    """Return the verdict on a run of `document` that ended with `error`."""
    failure = describe(error, stage)
    if isinstance(error, ParserCrashError):
        return Verdict(Action.CRASH, failure, timedelta(seconds=CRASH_DELAY_SECONDS))
    allowed = attempts_allowed(error, limits)
    unforeseen = allowed > 1 and not _is_transient(error)
    # A provider that was down for an hour must not use up the few chances of another failure.
    failures = document.unforeseen + 1 if unforeseen else document.attempt
    if failures >= allowed or document.attempt >= limits.max_attempts:
        return Verdict(Action.FAIL, _given_up(failure, retried=allowed > 1))
    return Verdict(Action.RETRY, failure, delay_of(error, document.attempt, rng), unforeseen)


def waits(error: BaseException, knowledge_base: KnowledgeBaseRecord) -> bool:
    """Say whether the document has to wait for something that is no fault of it."""
    if isinstance(error, EmbeddingModelChangedError):
        return knowledge_base.migration is not None  # which gives it a model that works
    return isinstance(error, EmbeddingPausedError | GenerationMissedError)


def waiting_time(error: BaseException, rng: random.Random) -> timedelta:
    """Return when to look again whether the wait is over."""
    if isinstance(error, EmbeddingPausedError):
        return timedelta(seconds=(error.retry_after_seconds or 0) + rng.uniform(0.1, 1.0))
    seconds = SWAP_SECONDS
    if isinstance(error, EmbeddingModelChangedError) or "next_model_failed" in context_of(error):
        seconds = MIGRATION_SECONDS  # the migration gives up closing meanwhile, or is done
    return timedelta(seconds=seconds * rng.uniform(0.5, 1.5))


def context_of(error: BaseException) -> Mapping[str, object]:
    """Return what only the log shows."""
    return error.context if isinstance(error, AgentScopeError) else {}


def attempts_allowed(error: BaseException, limits: Limits) -> int:
    """Return how many attempts a document gets that fails this way; 1 means it is final."""
    if isinstance(error, BlobNotFoundError):
        return MISSING_BLOB_ATTEMPTS
    if isinstance(error, CollectionNotFoundError):
        return limits.max_unknown_attempts
    if isinstance(error, ConfigurationError):
        return 1
    if _is_transient(error):
        return limits.max_attempts
    if isinstance(error, AgentScopeError) and not error.retryable:
        return 1
    return limits.max_unknown_attempts


def _is_transient(error: BaseException) -> bool:
    """Say whether another party failed in a way that passes: such failures have many attempts."""
    return isinstance(error, UpstreamError) and error.retryable


def delay_of(error: BaseException, attempt: int, rng: random.Random) -> timedelta:
    """Return how long to wait after this attempt; never less than the provider asked for."""
    seconds = min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0**attempt)
    seconds *= rng.uniform(0.5, 1.5)
    if isinstance(error, UpstreamError) and error.retry_after_seconds:
        seconds = max(seconds, min(error.retry_after_seconds, 4 * LONGEST_DELAY_SECONDS))
    return timedelta(seconds=seconds)


def describe(error: BaseException, stage: str) -> DocumentFailure:
    """Return what the user is told; the log holds the rest."""
    if isinstance(error, AgentScopeError):
        retryable = error.retryable or attempts_allowed(error, Limits()) > 1
        return DocumentFailure(error.code, error.message[:1000], stage, retryable)
    return DocumentFailure(
        "internal_error", "Indexing stopped at an unexpected problem.", stage, retryable=True
    )


def _given_up(failure: DocumentFailure, *, retried: bool) -> DocumentFailure:
    if not retried:
        return failure
    return DocumentFailure(
        failure.code, f"{failure.message} It was tried several times.", failure.stage, True
    )
