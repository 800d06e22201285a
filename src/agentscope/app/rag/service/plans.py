"""What each tenant may hold and ask for: the same for all, or as an embedder's hook says."""

import inspect
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.records import Policy
from agentscope.app.transitions import quota
from agentscope.clock import Clock, SystemClock

REMEMBERED_SECONDS = 60.0
MAX_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantLimits:
    """What differs for one tenant. None: as for everybody; 0: no limit."""

    knowledge_bases: int | None = None
    documents: int | None = None
    stored_bytes: int | None = None
    pending: int | None = None
    requests_per_minute: int | None = None
    searches_per_minute: int | None = None
    searches_at_once: int | None = None


LimitsFor = Callable[[str], TenantLimits | Awaitable[TenantLimits | None] | None]
"""Given a user id, says what differs for that tenant; None: nothing. It may be async."""


class TenantPlans:
    """Asks the hook, at most once a minute for each tenant."""

    def __init__(self, limits_for: LimitsFor | None = None, *, clock: Clock | None = None) -> None:
        self._limits_for = limits_for
        self._clock = clock or SystemClock()
        self._known: OrderedDict[str, tuple[float, TenantLimits]] = OrderedDict()

    async def of(self, user_id: str) -> TenantLimits:
        """Return what differs for the tenant."""
        if self._limits_for is None:
            return TenantLimits()
        now = self._clock.monotonic()
        asked_at, known = self._known.get(user_id, (now - REMEMBERED_SECONDS, None))
        if known is not None and now - asked_at < REMEMBERED_SECONDS:
            return known
        answer: Any = self._limits_for(user_id)
        found = (await answer if inspect.isawaitable(answer) else answer) or TenantLimits()
        self._known[user_id] = (now, found)
        self._known.move_to_end(user_id)
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return found

    async def policy(self, user_id: str, policy: Policy) -> Policy:
        """Return the policy with the quotas of the tenant."""
        own = await self.of(user_id)
        changed = {
            f"{name}_per_user": wanted
            for name in quota.QUOTAS
            if (wanted := getattr(own, name)) is not None
        }
        return replace(policy, limits=replace(policy.limits, **changed)) if changed else policy

    async def service_limits(self, user_id: str, limits: ServiceLimits) -> ServiceLimits:
        """Return the limits of requests with what differs for the tenant."""
        own = await self.of(user_id)
        named = {
            **{name: f"{name}_per_user" for name in quota.QUOTAS if name != quota.PENDING},
            **{name: name for name in ServiceLimits.RATES},
        }
        changed = {
            field: wanted
            for name, field in named.items()
            if (wanted := getattr(own, name)) is not None
        }
        return replace(limits, **changed) if changed else limits
