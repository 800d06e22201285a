"""Routes of the operator's view: what waits, who works, what failed; pause, resume, retry."""

from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field, model_validator

from agentscope.app.api.deps import ServiceDep
from agentscope.app.api.operator import operator
from agentscope.app.api.responses import json_response, no_content
from agentscope.app.api.views import timestamp
from agentscope.app.rag.service.overview import (
    Queue,
    Worker,
    overdue,
    read_failures,
    read_queue,
    read_workers,
)
from agentscope.app.rag.service.pauses import PauseKind, pause, resume
from agentscope.app.rag.service.retry_failed import RetryWanted, retry_failed
from agentscope.errors import NotFoundError

router = APIRouter(prefix="/operator", tags=["operator"], dependencies=[Depends(operator)])

_ID = Field(min_length=1, max_length=255)


class TenantClassView(BaseModel):
    """The tenants of one class: small (below 100 unfinished documents), large, or paused."""

    name: Literal["small", "large", "paused"]
    tenants: int
    documents: int
    running: int
    oldest_due_seconds: float


class TenantView(BaseModel):
    """A tenant with unfinished documents."""

    user_id: str
    documents: int
    running: int
    oldest_due_seconds: float


class QueueView(BaseModel):
    """What workers have to do; not complete if there are more tenants than were read."""

    tenants: int
    documents: int
    running: int
    oldest_due_seconds: float
    classes: list[TenantClassView]
    top: list[TenantView]
    complete: bool


class WorkerView(BaseModel):
    """A process that indexes; null where an older version does not say."""

    node_id: str
    host: str | None
    version: str | None
    state: str
    slots: int
    running: int
    started_at: str | None
    seen_at: str | None


class FailuresView(BaseModel):
    """Documents in `error`; not complete if there are more than were read."""

    total: int
    by_code: dict[str, int]
    complete: bool


class PauseView(BaseModel):
    """A tenant or knowledge base whose documents no worker takes."""

    kind: PauseKind
    id: str
    reason: str
    at: str


class OverviewResponse(BaseModel):
    """The state of indexing over all tenants."""

    at: str
    queue: QueueView
    workers: list[WorkerView]
    failures: FailuresView
    paused: list[PauseView]


class Target(BaseModel):
    """A tenant or a knowledge base, one of them."""

    user_id: Annotated[str | None, _ID] = None
    knowledge_base_id: Annotated[str | None, _ID] = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.user_id is None) == (self.knowledge_base_id is None):
            raise ValueError("name either user_id or knowledge_base_id")
        return self

    def named(self) -> tuple[PauseKind, str]:
        """Return kind and id."""
        if self.knowledge_base_id is not None:
            return "knowledge_base", self.knowledge_base_id
        assert self.user_id is not None, "the validator lets one of them pass"
        return "tenant", self.user_id


class PauseRequest(Target):
    """What to pause, and what to tell those who wait."""

    reason: str = Field(default="", max_length=500)


class RetryRequest(BaseModel):
    """Which failed documents to try again; what is left out limits nothing."""

    code: str | None = Field(default=None, max_length=100)
    user_id: Annotated[str | None, _ID] = None
    knowledge_base_id: Annotated[str | None, _ID] = None
    after: str = Field(default="", max_length=64)
    limit: int = Field(default=500, ge=1, le=1000)


class RetryResponse(BaseModel):
    """What one batch did; send `next` as `after` to go on, null: nothing is left."""

    retried: int
    looked_at: int
    next: str | None


@router.get("/overview", response_model=OverviewResponse)
async def get_overview(
    service: ServiceDep, top: Annotated[int, Query(ge=0, le=1000)] = 20
) -> Response:
    """Return queue, workers, failures and pauses."""
    storage = service.storage
    queue = await read_queue(storage)
    return json_response(
        {
            "at": timestamp(await storage.now()),
            "queue": _queue_view(queue, top),
            "workers": [_worker_view(worker) for worker in await read_workers(storage)],
            "failures": asdict(await read_failures(storage)),
            "paused": [asdict(one) for one in queue.pauses],
        }
    )


def _queue_view(queue: Queue, top: int) -> dict[str, Any]:
    return {
        "tenants": len(queue.waiting),
        "documents": sum(tenant.documents for tenant in queue.waiting),
        "running": sum(tenant.running for tenant in queue.waiting),
        "oldest_due_seconds": max((overdue(tenant) for tenant in queue.waiting), default=0.0),
        "classes": [asdict(one) for one in queue.classes],
        "top": [
            {
                "user_id": tenant.user_id,
                "documents": tenant.documents,
                "running": tenant.running,
                "oldest_due_seconds": overdue(tenant),
            }
            for tenant in queue.waiting[:top]
        ],
        "complete": queue.complete,
    }


def _worker_view(worker: Worker) -> dict[str, Any]:
    entry = worker.entry
    return {
        "node_id": worker.node_id,
        **{name: entry.get(name) for name in ("host", "version", "started_at", "seen_at")},
        "state": str(entry.get("state", "unknown")),
        "slots": int(entry.get("slots", 0)),
        "running": int(entry.get("running", 0)),
    }


@router.post("/pause", response_model=PauseView)
async def post_pause(service: ServiceDep, body: PauseRequest) -> Response:
    """Keep workers from starting documents of a tenant or knowledge base; uploads go on."""
    kind, target_id = body.named()
    return json_response(asdict(await pause(service, kind, target_id, body.reason.strip())))


@router.post("/resume", status_code=204, response_class=Response)
async def post_resume(service: ServiceDep, body: Target) -> Response:
    """End a pause."""
    kind, target_id = body.named()
    if not await resume(service, kind, target_id):
        raise NotFoundError("This is not paused.")
    return no_content()


@router.post("/retry", response_model=RetryResponse)
async def post_retry(service: ServiceDep, body: RetryRequest) -> Response:
    """Try failed documents again, one batch."""
    wanted = RetryWanted(
        code=body.code,
        user_id=body.user_id,
        knowledge_base_id=body.knowledge_base_id,
        after=body.after,
        limit=body.limit,
    )
    return json_response(asdict(await retry_failed(service, wanted)))
