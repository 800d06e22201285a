"""Which knowledge bases are left alone, and how long, because their provider does not answer."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agentscope.app.generations import Migration
from agentscope.app.rag.indexing.breaker import FAILURES_TO_OPEN, FIRST_PAUSE_SECONDS, Breaker
from agentscope.app.rag.indexing.retries import waiting_time, waits
from agentscope.app.records import EmbeddingModelConfig, KnowledgeBaseRecord
from agentscope.errors import (
    EmbeddingAuthError,
    EmbeddingError,
    EmbeddingModelChangedError,
    EmbeddingPausedError,
    EmbeddingTimeoutError,
    GenerationMissedError,
)
from agentscope.testing.driver import Driver, story
from agentscope.testing.world import World

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODEL = EmbeddingModelConfig("t", "c", "m", 8)


class HandClock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


def base(name: str, credential: str = "c") -> KnowledgeBaseRecord:
    """Return a knowledge base that uses a credential."""
    return KnowledgeBaseRecord(
        id=name,
        user_id="u",
        name=name,
        embedding_model_config=replace(MODEL, credential_id=credential),
        collection_name=name,
        created_at=NOW,
        updated_at=NOW,
    )


def test_failures_in_a_row_open_the_circuit_of_a_credential() -> None:
    """For longer each time; the first success closes it; another credential is not concerned."""
    clock = HandClock()
    breaker = Breaker(clock)
    rests = [breaker.failed(base("k")) for _ in range(FAILURES_TO_OPEN)]
    assert rests == [0.0] * (FAILURES_TO_OPEN - 1) + [FIRST_PAUSE_SECONDS]
    breaker.failed(base("other", "d"))
    assert breaker.skipped() == {"k"}
    clock.seconds += FIRST_PAUSE_SECONDS + 1
    assert breaker.skipped() == frozenset()
    assert breaker.failed(base("k")) == 2 * FIRST_PAUSE_SECONDS
    breaker.succeeded(base("k"))
    assert breaker.skipped() == frozenset()


def test_a_pause_is_kept_without_any_failure() -> None:
    """As long as the provider asked for, and never shortened by a shorter one."""
    clock = HandClock()
    breaker = Breaker(clock)
    breaker.paused(base("k"), 20)
    breaker.paused(base("k2"), 5)
    assert breaker.skipped() == {"k", "k2"}
    clock.seconds += 19
    assert breaker.skipped() == {"k", "k2"}
    clock.seconds += 2
    assert breaker.skipped() == frozenset()


@pytest.mark.parametrize(
    ("error", "migrating", "expected"),
    [
        (EmbeddingPausedError(retry_after_seconds=5), False, True),
        (GenerationMissedError(), False, True),
        (EmbeddingModelChangedError(), False, False),
        (EmbeddingModelChangedError(), True, True),
        (EmbeddingError(), True, False),
        (EmbeddingTimeoutError(), False, False),
        (EmbeddingAuthError(), False, False),
    ],
)
def test_a_document_waits_only_for_what_is_no_fault_of_it(
    error: Exception, migrating: bool, expected: bool
) -> None:
    """A provider that rests, a swap that came between, a new model on its way."""
    record = base("k")
    if migrating:
        migration = Migration(
            generation=2, embedding_model_config=MODEL, collection_name="c", started_at=NOW
        )
        record = replace(record, migration=migration)
    assert waits(error, record) is expected


def test_a_wait_is_as_long_as_the_provider_asked_for() -> None:
    """And a little more, so that not all come at once."""
    rng = random.Random(1)
    waited = [waiting_time(EmbeddingPausedError(retry_after_seconds=7), rng) for _ in range(20)]
    assert all(timedelta(seconds=7) < wait < timedelta(seconds=9) for wait in waited)
    assert waiting_time(GenerationMissedError(), rng) < timedelta(seconds=5)
    failed = GenerationMissedError(context={"next_model_failed": "embedding_error"})
    assert waiting_time(failed, rng) > timedelta(seconds=10)


def test_while_a_provider_rests_no_attempt_is_burned() -> None:
    """However often; the reason is shown, and each text is paid for once."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.model.fail_with(EmbeddingPausedError(retry_after_seconds=30), times=40)
        world.start_worker()
        kb = await driver.knowledge_base()
        names = [await driver.upload(kb, f"alpha{number}") for number in range(3)]

        def told() -> bool:
            failures = [driver.record(name).failure for name in names]
            return any(failure and failure.code == "embedding_paused" for failure in failures)

        await driver.until(told)
        for name in names:
            await driver.until_status(name, "ready", seconds=7200)
            assert driver.record(name).crashes == 0
        assert world.model.embedded == len(names)
        assert len(world.model.calls) == 40 + len(names)
        await driver.rest()

    story(tell)
