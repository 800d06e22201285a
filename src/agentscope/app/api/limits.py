"""The route that shows tenants what they may hold and ask for, and how much of it is used."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from agentscope.app.api.deps import CallerDep, ServiceDep, state_of
from agentscope.app.api.responses import json_response
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.rag.service.usage import QuotaUse, quotas_of

router = APIRouter(tags=["limits"])


class QuotaView(BaseModel):
    """One quota; `limit` null: there is none."""

    used: int | None = Field(description="Null for a key that does not reach everything.")
    limit: int | None


class QuotasView(BaseModel):
    """What counts over all knowledge bases of the caller, with what is being made right now."""

    knowledge_bases: QuotaView
    documents: QuotaView
    stored_bytes: QuotaView
    pending: QuotaView = Field(description="Documents that are uploaded, waiting or indexed.")


class RatesView(BaseModel):
    """How often the caller may ask, in each process of the service; null: no limit."""

    requests_per_minute: int | None
    searches_per_minute: int | None
    searches_at_once: int | None


class LimitsResponse(BaseModel):
    """What the caller may hold and ask for."""

    quotas: QuotasView
    rates: RatesView


@router.get("/limits", response_model=LimitsResponse)
async def get_limits(request: Request, caller: CallerDep, service: ServiceDep) -> Response:
    """Show the caller's quotas with what is used of them, and the rates."""
    limits = await state_of(request).rates.of(caller.user_id)
    quotas = await quotas_of(service, caller.user_id)
    whole = caller.knowledge_bases is None  # totals tell of knowledge bases out of a key's reach
    return json_response(
        {
            "quotas": {name: _quota(use, shown=whole) for name, use in quotas.items()},
            "rates": {name: getattr(limits, name) or None for name in ServiceLimits.RATES},
        }
    )


def _quota(use: QuotaUse, *, shown: bool) -> dict[str, int | None]:
    return {"used": use.used if shown else None, "limit": use.limit or None}
