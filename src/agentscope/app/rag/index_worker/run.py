"""`run_worker`: the composition root of a separate worker. It never loads the web framework."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentscope import observe, tracing
from agentscope.app.egress import EgressPolicy
from agentscope.app.message_bus.announcer import announcing
from agentscope.app.message_bus.base import MessageBus
from agentscope.app.rag.blob_store.base import BlobStoreBase
from agentscope.app.rag.blob_store.documented import as_streaming
from agentscope.app.rag.chunker_choices import ChunkerChoice, ChunkerChoices
from agentscope.app.rag.indexing.assembly import IndexingParts, default_node_id, indexing
from agentscope.app.rag.indexing.consumer import DEFAULT_BATCH, Consumer
from agentscope.app.rag.indexing.parser_pool import ParserPool
from agentscope.app.rag.indexing.reading import ReadLimits
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.provider_models import ProviderModels, check_secret_key
from agentscope.app.records import Limits, Policy, Timings
from agentscope.app.secret_key import secret_box
from agentscope.app.storage.base import StorageBase
from agentscope.credential.sealing import SecretBox
from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.embedding.registry import EmbeddingModelPool
from agentscope.errors import ConfigurationError
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.registry import ParserRegistry

logger = logging.getLogger(__name__)

Parsers = Sequence[ParserBase] | Mapping[str, ParserBase]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """How a worker works; everything here has a documented default."""

    node_id: str = field(default_factory=default_node_id)
    policy: Policy = field(default_factory=Policy)
    max_batch: int = DEFAULT_BATCH
    readers: int = 4  # reading processes
    read_limits: ReadLimits = field(default_factory=ReadLimits)
    secrets: SecretBox | None = None
    local_embedding: bool = True
    allow_url: Callable[[str], None] = field(default_factory=EgressPolicy)
    temporary: Path | None = None
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None  # None: not shown; 0: any free port
    tracer_provider: Any = None  # of OpenTelemetry; None: no traces


async def run_worker(  # noqa: PLR0913 -- the documented signature
    *,
    storage: StorageBase,
    message_bus: MessageBus,
    blob_store: BlobStoreBase,
    knowledge_base_manager: KnowledgeBaseManagerBase,
    parsers: Parsers,
    chunker: ChunkerChoice | None = None,
    chunkers: Sequence[ChunkerChoice] | None = None,
    node_id: str | None = None,
    worker_max_concurrency: int = 4,
    consumer_max_batch: int = DEFAULT_BATCH,
    parser_executor: Any = None,
    secret_key: str | None = None,
    timings: Timings | None = None,
    limits: Limits | None = None,
    read_limits: ReadLimits | None = None,
    local_embedding: bool = True,
    allow_url: Callable[[str], None] | None = None,
    temporary_directory: Path | None = None,
    metrics_port: int | None = None,
    tracer_provider: Any = None,
) -> None:
    """Index until SIGINT or SIGTERM, then drain and return; a second signal exits at once.

    The back ends are entered and left here. `chunker` is the default for knowledge bases that
    were created without one, `chunkers` what they may have chosen. `parser_executor` only says
    how many reading processes there are. The secret key is `secret_key`, else
    `AGENTSCOPE_SECRET_KEY`, else the content of `~/.config/agentscope/secret.key`. With a
    `metrics_port` the worker's own metrics are shown there, on the loopback address. Spans go to
    `tracer_provider`, one of OpenTelemetry's, which the caller shuts down.

    Raises:
        ConfigurationError: the secret key is not the one of the stored credentials.
    """
    times = timings or Timings()
    settings = WorkerSettings(
        node_id=node_id or default_node_id(),
        policy=Policy(times, replace(limits or Limits(), slots=worker_max_concurrency)),
        max_batch=consumer_max_batch,
        readers=_readers(parser_executor, worker_max_concurrency),
        read_limits=read_limits or ReadLimits(wall_seconds=times.parse_timeout.total_seconds()),
        secrets=secret_box(secret_key),
        local_embedding=local_embedding,
        allow_url=allow_url or EgressPolicy(),
        temporary=temporary_directory,
        metrics_port=metrics_port,
        tracer_provider=tracer_provider,
    )
    stop = asyncio.Event()
    with _signals(stop):
        async with working(
            storage,
            message_bus,
            blob_store,
            knowledge_base_manager,
            ParserRegistry(parsers),
            ChunkerChoices(chunker if chunker is not None else chunkers),
            settings,
        ):
            await stop.wait()
            logger.info("index_worker_draining", extra={"node_id": settings.node_id})
    logger.info("index_worker_stopped", extra={"node_id": settings.node_id})


@contextlib.asynccontextmanager
async def working(
    storage: StorageBase,
    message_bus: MessageBus,
    blob_store: BlobStoreBase,
    manager: KnowledgeBaseManagerBase,
    parsers: ParserRegistry,
    chunkers: ChunkerChoices,
    settings: WorkerSettings,
) -> AsyncIterator[Consumer]:
    """Work while the context is open; leaving it drains and then closes the back ends."""
    logger.info("index_worker_starting", extra={"node_id": settings.node_id})
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(tracing.recording(settings.tracer_provider))
        if settings.metrics_port is not None:
            stack.enter_context(_metrics(settings.metrics_host, settings.metrics_port))
        await stack.enter_async_context(storage)
        secrets = settings.secrets or secret_box(None)
        await check_secret_key(storage, secrets)
        await stack.enter_async_context(message_bus)
        pool = EmbeddingModelPool(
            local=LocalEmbeddingModel() if settings.local_embedding else None,
            allow_url=settings.allow_url,
            request_timeout_seconds=settings.policy.timings.request_timeout.total_seconds(),
        )
        stack.push_async_callback(pool.aclose)
        models = ProviderModels(storage, secrets, pool)
        manager.bind(embedding_models=models, policy=settings.policy)
        await stack.enter_async_context(manager)
        blobs = await stack.enter_async_context(as_streaming(blob_store))
        reader = await stack.enter_async_context(ParserPool(settings.readers))
        parts = IndexingParts(
            storage=storage,
            message_bus=message_bus,
            blobs=blobs,
            manager=manager,
            reader=reader,
            parsers=parsers,
            chunker_of=chunkers.build,
            policy=settings.policy,
            read_limits=settings.read_limits,
            max_batch=settings.max_batch,
            node_id=settings.node_id,
            temporary=settings.temporary,
            on_ended=(await stack.enter_async_context(announcing(message_bus))).note,
            paused_seconds=models.paused_seconds,
        )
        yield await stack.enter_async_context(indexing(parts))


@contextlib.contextmanager
def _metrics(host: str, port: int) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            taken = stack.enter_context(observe.served(host, port))
        except OSError as exc:
            message = f"Port {port} for metrics cannot be used: {exc.strerror}."
            raise ConfigurationError(message) from exc
        logger.info("metrics_shown", extra={"host": host, "port": taken})
        yield


def _readers(executor: Any, slots: int) -> int:
    """Let a process pool that somebody passes on say how many files are read at once."""
    workers = getattr(executor, "_max_workers", None)
    if executor is None:
        return slots
    readers = workers if isinstance(workers, int) and workers > 0 else slots
    logger.info("parser_executor_sizes_the_pool", extra={"readers": readers})
    return readers


@contextlib.contextmanager
def _signals(stop: asyncio.Event) -> Any:
    """Set `stop` at the first SIGINT or SIGTERM and exit at the second."""
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.is_set():
            os._exit(130)
        stop.set()

    handled = []
    for number in (signal.SIGINT, signal.SIGTERM):
        # Not in a thread, and not on Windows: there the caller cancels instead.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, on_signal)
            handled.append(number)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
