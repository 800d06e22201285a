"""The operator's view: what waits, who works, what failed, what is paused. It knows no content."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from agentscope.app.rag.indexing.presence import WORKER_PREFIX
from agentscope.app.rag.service.pauses import Pause, list_pauses
from agentscope.app.records import Waiting
from agentscope.app.storage.base import StorageBase

LARGE_DOCUMENTS = 100
CLASSES = ("small", "large", "paused")
MAX_TENANTS = 20_000
MAX_FAILED = 10_000
MAX_WORKERS = 1000
_PAGE = 500


@dataclass(frozen=True, slots=True)
class TenantClass:
    """The tenants of one class that have unfinished documents."""

    name: str
    tenants: int = 0
    documents: int = 0
    running: int = 0
    oldest_due_seconds: float = 0.0  # 0: nothing is due


@dataclass(frozen=True, slots=True)
class Queue:
    """What workers have to do; `complete` is false if there are more tenants than were read."""

    waiting: Sequence[Waiting]
    classes: Sequence[TenantClass]
    pauses: Sequence[Pause]
    complete: bool


@dataclass(frozen=True, slots=True)
class Failures:
    """Documents in `error` by code; `complete` is false if there are more than were read."""

    by_code: Mapping[str, int]
    total: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that indexes, as it told about itself."""

    node_id: str
    entry: Mapping[str, Any]


async def read_queue(storage: StorageBase) -> Queue:
    """Return who waits, by class: a tenant of which anything is paused is in a class of its own."""
    waiting = await storage.documents.waiting(MAX_TENANTS)
    pauses = await list_pauses(storage)
    held = {one.id for one in pauses if one.kind == "tenant"}
    for one in pauses:
        if one.kind == "knowledge_base":
            record = await storage.knowledge_bases.find(one.id)
            held |= {record.user_id} if record is not None else set()
    groups: dict[str, list[Waiting]] = {name: [] for name in CLASSES}
    for tenant in waiting:
        size = "large" if tenant.documents >= LARGE_DOCUMENTS else "small"
        groups["paused" if tenant.user_id in held else size].append(tenant)
    classes = [_class(name, group) for name, group in groups.items()]
    return Queue(waiting, classes, pauses, complete=len(waiting) < MAX_TENANTS)


def _class(name: str, group: Sequence[Waiting]) -> TenantClass:
    return TenantClass(
        name,
        tenants=len(group),
        documents=sum(tenant.documents for tenant in group),
        running=sum(tenant.running for tenant in group),
        oldest_due_seconds=max((overdue(tenant) for tenant in group), default=0.0),
    )


def overdue(tenant: Waiting) -> float:
    """Return for how many seconds the tenant's oldest due document has waited."""
    return max(timedelta(0), -tenant.due).total_seconds()


async def read_failures(storage: StorageBase) -> Failures:
    """Return what failed and was not tried again since."""
    codes: Counter[str] = Counter()
    after, page = "", True
    while page and codes.total() < MAX_FAILED:
        records = await storage.documents.failed(after=after, limit=_PAGE)
        codes.update(record.failure.code if record.failure else "unknown" for record in records)
        page = len(records) == _PAGE
        after = records[-1].id if records else after
    return Failures(dict(codes.most_common()), codes.total(), complete=not page)


async def read_workers(storage: StorageBase) -> list[Worker]:
    """Return the processes that index, by name; one that is gone leaves the list in a minute."""
    found = await storage.registry.list(WORKER_PREFIX, limit=MAX_WORKERS)
    return [Worker(name.removeprefix(WORKER_PREFIX), entry) for name, entry in found.items()]
