"""What differs for single tenants, and which defaults hold for all."""

import pytest

from agentscope.app.rag.service.limits import PROVEN_DEFAULTS, ServiceLimits, agreed
from agentscope.app.rag.service.plans import REMEMBERED_SECONDS, TenantLimits, TenantPlans
from agentscope.app.records import Limits, Policy
from agentscope.clock import SystemClock


class Stopped(SystemClock):
    """A clock that tests move."""

    seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds


async def test_a_hook_may_be_async_and_is_asked_once_a_minute() -> None:
    """Its answer holds for a while; None means nothing differs."""
    asked = []
    clock = Stopped()

    async def limits_for(user_id: str) -> TenantLimits | None:
        asked.append(user_id)
        return TenantLimits(documents=7, pending=0) if user_id == "a" else None

    plans = TenantPlans(limits_for, clock=clock)
    policy = Policy(limits=Limits(documents_per_user=3, stored_bytes_per_user=9))
    for _ in range(3):
        own = await plans.policy("a", policy)
        assert (own.limits.documents_per_user, own.limits.pending_per_user) == (7, 0)
        assert own.limits.stored_bytes_per_user == 9
        assert await plans.policy("b", policy) == policy
    assert asked == ["a", "b"]
    clock.seconds += REMEMBERED_SECONDS
    await plans.policy("a", policy)
    assert asked == ["a", "b", "a"]


async def test_an_answer_of_the_hook_that_failed_is_not_remembered() -> None:
    """The next request asks again."""
    answers: list[TenantLimits | None] = [None, TenantLimits(documents=1)]

    def limits_for(user_id: str) -> TenantLimits | None:
        del user_id
        answer = answers.pop()
        if answer is not None:
            raise RuntimeError("no answer")
        return answer

    plans = TenantPlans(limits_for)
    with pytest.raises(RuntimeError):
        await plans.of("a")
    assert await plans.of("a") == TenantLimits()


def test_there_are_limits_where_callers_prove_who_they_are() -> None:
    """Where anybody may be anybody, a limit per user protects nothing."""
    limits, requests = agreed(Limits(), ServiceLimits(), trusted=True)
    assert limits == Limits()
    assert (requests.documents_per_user, requests.requests_per_minute) == (0, 0)
    limits, requests = agreed(Limits(), ServiceLimits(), trusted=False)
    for name, value in PROVEN_DEFAULTS.items():
        assert getattr(requests, name) == value
    assert limits.stored_bytes_per_user == PROVEN_DEFAULTS["stored_bytes_per_user"]


def test_what_was_asked_for_wins_over_the_defaults() -> None:
    """Zero takes a limit away; both places where a quota can be given are heard."""
    asked = ServiceLimits(documents_per_user=0, knowledge_bases_per_user=2)
    limits, requests = agreed(Limits(stored_bytes_per_user=5), asked, trusted=False)
    assert limits.documents_per_user == requests.documents_per_user == 0
    assert limits.knowledge_bases_per_user == requests.knowledge_bases_per_user == 2
    assert limits.stored_bytes_per_user == requests.stored_bytes_per_user == 5


@pytest.mark.parametrize("name", ["documents_per_user", "requests_per_minute", "searches_at_once"])
def test_a_limit_is_not_negative(name: str) -> None:
    """And what must be there is at least one."""
    with pytest.raises(ValueError, match=name):
        ServiceLimits(**{name: -1})
    with pytest.raises(ValueError, match="upload_bytes"):
        ServiceLimits(upload_bytes=0)
