"""What this process measures about itself, in one registry that `/metrics` shows.

Labels take values from closed sets only (states, codes, route templates), never a tenant's or a
document's name: the number of series must not grow with use.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    generate_latest,
    start_http_server,
)

REGISTRY: Final = CollectorRegistry()
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_REQUEST = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_STAGE = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)

_BYTES = tuple(1024.0 * 4**step for step in range(1, 11))  # 4 KiB to 1 GiB
_CHUNKS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0, 100_000.0)

QUEUED = Gauge(
    "rag_index_unfinished_documents",
    "Documents of all tenants that wait for a worker or are with one; -1 if it is not known.",
    registry=REGISTRY,
)
OLDEST_DUE = Gauge(
    "rag_index_oldest_due_seconds",
    "For how long the oldest document that is due has waited for a worker; 0 if none is due.",
    registry=REGISTRY,
)
TENANTS_WAITING = Gauge(
    "rag_queue_tenants",
    "Tenants with unfinished documents, by class: small (below 100 documents), large, paused.",
    ["tenant_class"],
    registry=REGISTRY,
)
DOCUMENTS_WAITING = Gauge(
    "rag_queue_documents",
    "Unfinished documents by class of their tenant.",
    ["tenant_class"],
    registry=REGISTRY,
)
OLDEST_WAITING = Gauge(
    "rag_queue_oldest_due_seconds",
    "For how long the oldest due document of a class of tenants has waited; 0 if none is due.",
    ["tenant_class"],
    registry=REGISTRY,
)
PAUSED = Gauge(
    "rag_paused",
    "What the operator paused: tenants and knowledge bases.",
    ["kind"],
    registry=REGISTRY,
)
WORKERS = Gauge(
    "rag_workers", "Processes that index and were seen within a minute.", registry=REGISTRY
)
WORKER_SLOTS = Gauge(
    "rag_worker_slots", "Documents that all these processes index at once.", registry=REGISTRY
)
RUNNING = Gauge(
    "rag_index_running_documents", "Documents being indexed by this process.", registry=REGISTRY
)
RUNS = Counter(
    "rag_index_runs",
    "Ended runs by outcome: ready, failed, retried, crashed, lost or released; `code` of errors.",
    ["outcome", "code"],
    registry=REGISTRY,
)
STAGES = Histogram(
    "rag_index_stage_seconds",
    "Duration of one stage of a run.",
    ["stage"],
    buckets=_STAGE,
    registry=REGISTRY,
)
RENEWALS_FAILED = Counter(
    "rag_lease_renewals_failed",
    "Renewals of leases that got no answer and were tried again.",
    registry=REGISTRY,
)
CLAIMS_FAILED = Counter(
    "rag_index_claims_failed",
    "Rounds of the claim loop that got no answer from storage.",
    registry=REGISTRY,
)
READERS_BUSY = Gauge(
    "rag_parser_pool_busy", "Reading processes of this process at work.", registry=REGISTRY
)
READERS_STARTED = Counter(
    "rag_parser_pool_started", "Reading processes that were started.", registry=REGISTRY
)
READERS_ENDED = Counter(
    "rag_parser_pool_ended", "Reading processes that ended or were ended.", registry=REGISTRY
)
EMBEDDINGS = Counter(
    "rag_embedding_calls",
    "Calls of an embedding model by use (index or query) and outcome (ok or the error's code).",
    ["use", "outcome"],
    registry=REGISTRY,
)
EMBEDDING_SECONDS = Histogram(
    "rag_embedding_seconds",
    "Duration of one call of an embedding model, with its retries.",
    ["use"],
    buckets=_REQUEST,
    registry=REGISTRY,
)
EMBEDDING_INPUTS = Counter(
    "rag_embedding_inputs",
    "Texts and images given to embedding models.",
    ["use"],
    registry=REGISTRY,
)
EMBEDDING_TOKENS = Counter(
    "rag_embedding_tokens", "Tokens that embedding providers counted.", ["use"], registry=REGISTRY
)
PROVIDER_ANSWERS = Counter(
    "rag_embedding_provider_answers",
    "HTTP answers of embedding providers: 2xx, 3xx, 4xx, 5xx, and 429 on its own.",
    ["status"],
    registry=REGISTRY,
)
SEARCH_SECONDS = Histogram(
    "rag_search_seconds",
    "Duration of one search of a knowledge base, with embedding the query.",
    ["mode"],
    buckets=_REQUEST,
    registry=REGISTRY,
)
LEG_SECONDS = Histogram(
    "rag_search_leg_seconds",
    "Duration of one leg of a search, with the check of what is visible; of reranking, too.",
    ["leg"],
    buckets=_REQUEST,
    registry=REGISTRY,
)
UPLOADS = Counter(
    "rag_uploads",
    "Uploads by outcome: stored, duplicate or refused.",
    ["outcome"],
    registry=REGISTRY,
)
UPLOAD_BYTES = Counter("rag_upload_bytes", "Bytes of stored uploads.", registry=REGISTRY)
DOCUMENT_BYTES = Histogram(
    "rag_document_bytes", "Size of stored uploads.", buckets=_BYTES, registry=REGISTRY
)
DOCUMENT_CHUNKS = Histogram(
    "rag_document_chunks",
    "Chunks of documents that became ready.",
    buckets=_CHUNKS,
    registry=REGISTRY,
)
SWEEPS = Counter("rag_sweeps", "Rounds of the sweeper by outcome.", ["outcome"], registry=REGISTRY)
PURGES = Counter(
    "rag_maintenance_passes",
    "Passes over one deleted, abandoned or settled record, by kind of record and outcome.",
    ["kind", "outcome"],
    registry=REGISTRY,
)
REQUESTS = Counter(
    "rag_http_requests",
    "Answered requests by method, route template and status.",
    ["method", "route", "status"],
    registry=REGISTRY,
)
REQUEST_SECONDS = Histogram(
    "rag_http_request_seconds",
    "Time until an answer begins, by method and route template.",
    ["method", "route"],
    buckets=_REQUEST,
    registry=REGISTRY,
)
LISTENERS = Gauge("rag_event_listeners", "Open event streams of this process.", registry=REGISTRY)
DELIVERIES = Counter(
    "rag_webhook_deliveries",
    "Attempts to deliver an event to a webhook, by outcome.",
    ["outcome"],
    registry=REGISTRY,
)


def exposition() -> bytes:
    """Return all measurements in the text format of Prometheus."""
    return generate_latest(_WithoutBirthdays())


@contextmanager
def served(host: str, port: int) -> Iterator[int]:
    """Show the measurements over HTTP, from a thread, while the context is open; give the port.

    Raises:
        OSError: the address cannot be used.
    """
    server, thread = start_http_server(port, host, registry=_WithoutBirthdays())
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _WithoutBirthdays:
    """The registry without the times at which each series began, which double the text."""

    def collect(self) -> Iterator[Metric]:
        for family in REGISTRY.collect():
            family.samples = [
                sample for sample in family.samples if not sample.name.endswith("_created")
            ]
            yield family


@dataclass(frozen=True, slots=True)
class Family:
    """One metric as its reference page tells it."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


def families() -> list[Family]:
    """Return every metric of this module, by name; counters as they stand in the exposition."""
    found = []
    for value in globals().values():
        if isinstance(value, Counter | Gauge | Histogram):
            described = next(iter(value.describe()))
            name = described.name + ("_total" if described.type == "counter" else "")
            labels = tuple(value._labelnames)
            found.append(Family(name, described.type, labels, described.documentation))
    return sorted(found, key=lambda family: family.name)


@contextmanager
def timed(histogram: Histogram) -> Iterator[None]:
    """Measure the block, whether it ends well or not."""
    started = time.perf_counter()
    try:
        yield
    finally:
        histogram.observe(time.perf_counter() - started)


def provider_answered(status: int) -> None:
    """Count an answer of an embedding provider."""
    PROVIDER_ANSWERS.labels("429" if status == 429 else f"{status // 100}xx").inc()
