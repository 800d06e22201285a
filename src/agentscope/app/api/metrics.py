"""`/metrics` in the text format of Prometheus, and the layer that measures every request."""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta

from fastapi import APIRouter, Depends, Request, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentscope import observe
from agentscope.app.api.deps import parts_of
from agentscope.app.api.operator import operator
from agentscope.app.rag.service.overview import Queue, Worker, read_queue, read_workers
from agentscope.app.rag.service.pauses import PREFIXES
from agentscope.app.storage.base import StorageBase
from agentscope.errors import AgentScopeError

logger = logging.getLogger(__name__)

router = APIRouter(tags=["operator"], dependencies=[Depends(operator)])

UNMATCHED = "unmatched"
_KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_metrics(request: Request) -> Response:
    """Return what this process measured, and the state of the queue that all processes share."""
    await _look_at_queue(parts_of(request).credentials.storage)
    return Response(observe.exposition(), media_type=observe.CONTENT_TYPE)


async def _look_at_queue(storage: StorageBase) -> None:
    """Read the shared figures; a storage that is down must not hide the others."""
    try:
        due = await storage.documents.due()
        observe.QUEUED.set(await storage.documents.unfinished())
        queue, workers = await read_queue(storage), await read_workers(storage)
    except AgentScopeError as exc:
        logger.warning("queue_not_measured", extra={"error_code": exc.code})
        observe.QUEUED.set(-1)
        return
    _show(queue, workers)
    waited = -due.index if due.index is not None else timedelta(0)
    observe.OLDEST_DUE.set(max(0.0, waited.total_seconds()))


def _show(queue: Queue, workers: Sequence[Worker]) -> None:
    for group in queue.classes:
        observe.TENANTS_WAITING.labels(group.name).set(group.tenants)
        observe.DOCUMENTS_WAITING.labels(group.name).set(group.documents)
        observe.OLDEST_WAITING.labels(group.name).set(group.oldest_due_seconds)
    for kind in PREFIXES:
        count = sum(1 for one in queue.pauses if one.kind == kind)
        observe.PAUSED.labels(kind).set(count)
    observe.WORKERS.set(len(workers))
    observe.WORKER_SLOTS.set(sum(int(worker.entry.get("slots", 0)) for worker in workers))


class Measured:
    """Counts answers and measures the time until each begins; event streams never end in time."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                _count(scope, int(message["status"]), time.perf_counter() - started)
            await send(message)

        await self.app(scope, receive, watched)


def _count(scope: Scope, status: int, seconds: float) -> None:
    method = scope["method"] if scope["method"] in _KNOWN_METHODS else "other"
    # A path that a client made up would be a new series per request: templates only.
    path = getattr(scope.get("route"), "path", UNMATCHED)
    route = path.rstrip("/") or "/"
    observe.REQUESTS.labels(method, route, str(status)).inc()
    observe.REQUEST_SECONDS.labels(method, route).observe(seconds)
