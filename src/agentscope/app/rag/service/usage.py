"""How much of its quotas a tenant uses."""

from dataclasses import dataclass

from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.transitions import quota


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """One quota; limit 0: there is none."""

    used: int
    limit: int


async def quotas_of(service: KnowledgeBaseService, user_id: str) -> dict[str, QuotaUse]:
    """Return the quotas of a user by name."""
    policy = await service.plans.policy(user_id, service.policy)
    usage = await service.storage.knowledge_bases.usage(user_id)
    return {
        name: QuotaUse(getattr(usage, name), quota.limit_of(policy.limits, name))
        for name in quota.QUOTAS
    }
