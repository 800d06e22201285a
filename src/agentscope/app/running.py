"""A service put together and running: the same for the web application and for offline commands.

Parts are entered in the order in which they depend on each other and left in the reverse order,
so indexing drains before the stores that it writes to are closed.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from agentscope import tracing
from agentscope.app.access import ResourceAccessPolicyBase, SharedByOwners
from agentscope.app.egress import EgressPolicy
from agentscope.app.health import Health, Probe
from agentscope.app.message_bus.announcer import announcing
from agentscope.app.message_bus.base import MessageBus
from agentscope.app.rag.blob_store.base import BlobStoreBase, StreamingBlobStore
from agentscope.app.rag.blob_store.documented import as_streaming
from agentscope.app.rag.chunker_choices import ChunkerChoices
from agentscope.app.rag.indexing.assembly import IndexingParts, indexing
from agentscope.app.rag.indexing.consumer import Consumer
from agentscope.app.rag.indexing.parser_pool import ParserPool
from agentscope.app.rag.indexing.previewing import ParserPoolPreviewer
from agentscope.app.rag.indexing.purge import Purger
from agentscope.app.rag.indexing.reading import ReadLimits
from agentscope.app.rag.indexing.sweeper import Sweeper
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.provider_models import ProviderModels, check_secret_key
from agentscope.app.rag.service.events import EventFeed
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.rag.service.parts import CredentialParts, KnowledgeBaseService
from agentscope.app.rag.service.plans import LimitsFor, TenantPlans
from agentscope.app.rag.service.webhook_delivery import WebhookSender
from agentscope.app.rag.service.webhooks import Webhooks
from agentscope.app.records import Policy
from agentscope.app.storage import migrations
from agentscope.app.storage.base import StorageBase
from agentscope.clock import SystemClock
from agentscope.credential.sealing import SecretBox
from agentscope.embedding.discovery import ModelDiscovery
from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.embedding.provider_client import Transport
from agentscope.embedding.registry import EmbeddingModelPool
from agentscope.rag.parser.registry import ParserRegistry
from agentscope.rag.reranking import Reranker
from agentscope.rerank.base import RerankerBase
from agentscope.stopping import stopped

logger = logging.getLogger(__name__)

SETTLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What concerns the place where the service runs; the defaults fit an API behind a gateway."""

    cors_origins: Sequence[str] = ()  # besides those of a development web app
    allowed_hosts: Sequence[str] | None = None  # names in the Host header; None: any
    allow_url: Callable[[str], None] = field(default_factory=EgressPolicy)
    service_limits: ServiceLimits = field(default_factory=ServiceLimits)
    limits_for: LimitsFor | None = None  # what differs for single tenants
    reranker: Reranker | None = None  # asked by every search
    read_limits: ReadLimits | None = None
    scratch: Path | None = None  # for files of documents that are being read
    sole_owner: bool = False  # no other process works here: every lease belongs to a dead one
    ui: bool = True
    tracer_provider: Any = None  # of OpenTelemetry; None: no traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """What an embedder chose; nothing in it is running yet."""

    storage: StorageBase
    message_bus: MessageBus
    secrets: SecretBox
    workspace_manager: AbstractAsyncContextManager[Any] | None = None
    manager: KnowledgeBaseManagerBase | None = None
    blob_store: BlobStoreBase | None = None
    parsers: ParserRegistry | None = None
    chunkers: ChunkerChoices = field(default_factory=ChunkerChoices)
    index_here: bool = True
    policy: Policy = field(default_factory=Policy)
    access: ResourceAccessPolicyBase = field(default_factory=SharedByOwners)
    download_secret: str | bytes | None = None
    local_embedding: bool = True
    place: Deployment = field(default_factory=Deployment)
    plans: TenantPlans = field(default_factory=TenantPlans)

    def download_keys(self) -> tuple[bytes, ...]:
        """Return the keys of download tokens: the first signs, all verify."""
        given = self.download_secret
        if given:
            return (given.encode() if isinstance(given, str) else given,)
        return tuple(self.secrets.derive_all("download"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningParts:
    """What runs."""

    credentials: CredentialParts
    service: KnowledgeBaseService | None
    health: Health
    operator_key: str
    events: EventFeed
    webhooks: Webhooks
    consumer: Consumer | None = None


@asynccontextmanager
async def running(wiring: Wiring, *, version: str) -> AsyncIterator[RunningParts]:
    """Open every part, and yield while all of it runs."""
    async with AsyncExitStack() as stack:
        stack.enter_context(tracing.recording(wiring.place.tracer_provider))
        storage = await stack.enter_async_context(wiring.storage)
        await check_secret_key(storage, wiring.secrets)
        bus = await stack.enter_async_context(wiring.message_bus)
        if wiring.workspace_manager is not None:
            await stack.enter_async_context(wiring.workspace_manager)
        allow_url = wiring.place.allow_url
        pool = EmbeddingModelPool(
            local=LocalEmbeddingModel() if wiring.local_embedding else None,
            allow_url=allow_url,
            request_timeout_seconds=wiring.policy.timings.request_timeout.total_seconds(),
        )
        stack.push_async_callback(pool.aclose)
        models = ProviderModels(storage, wiring.secrets, pool)
        probes: dict[str, Probe] = {"storage": _pinged(storage.now), "message_bus": bus.ping}
        credentials = CredentialParts(
            storage=storage,
            secrets=wiring.secrets,
            started_at=await storage.now(),
            local_embedding=wiring.local_embedding,
            limits=wiring.place.service_limits,
            discovery=ModelDiscovery(Transport(allow_url=allow_url)),
            forget_model=models.forget,
        )
        service, consumer = None, None
        if wiring.manager is not None and wiring.blob_store is not None:
            opened = _Opened(wiring, storage, bus, models, credentials)
            service, consumer = await opened.enter(stack, wiring.manager, probes)
        yield RunningParts(
            credentials=credentials,
            service=service,
            health=Health(version, probes, _switched_off(wiring)),
            operator_key=operator_key(wiring.secrets),
            webhooks=_sending(stack, Webhooks(storage, wiring.secrets, allow_url=allow_url)),
            events=await stack.enter_async_context(EventFeed(storage, bus)),
            consumer=consumer,
        )


def _sending(stack: AsyncExitStack, webhooks: Webhooks) -> Webhooks:
    """Send to the webhooks while the stack is open."""
    stack.push_async_callback(stopped, [asyncio.create_task(WebhookSender(webhooks).run())])
    return webhooks


async def _entered(stack: AsyncExitStack, reranker: Reranker | None) -> Reranker | None:
    return (
        await stack.enter_async_context(reranker)
        if isinstance(reranker, RerankerBase)
        else reranker
    )


def operator_key(secrets: SecretBox) -> str:
    """Return the key that operator routes ask for; whoever holds the secret key can make it."""
    return secrets.derive("operator").hex()


@dataclass(frozen=True, slots=True)
class _Opened:
    """The knowledge base side, on top of an open storage and bus."""

    wiring: Wiring
    storage: StorageBase
    bus: MessageBus
    models: ProviderModels
    credentials: CredentialParts

    async def enter(
        self,
        stack: AsyncExitStack,
        manager: KnowledgeBaseManagerBase,
        probes: dict[str, Probe],
    ) -> tuple[KnowledgeBaseService, Consumer | None]:
        wiring = self.wiring
        assert wiring.blob_store is not None, "a manager comes with a blob store"
        manager.bind(embedding_models=self.models, policy=wiring.policy)
        manager.policy_of = partial(wiring.plans.policy, policy=wiring.policy)
        await stack.enter_async_context(manager)
        blobs = await stack.enter_async_context(as_streaming(wiring.blob_store))
        probes.update({"vector_store": manager.store.ping, "blob_store": blobs.ping})
        if wiring.place.sole_owner:
            await migrations.expire_leases(self.storage)
            if ended := await self.storage.documents.expire_leases():
                logger.info("leases_of_dead_process_ended", extra={"count": ended})
        consumer = await self._index(stack, manager, blobs) if wiring.index_here else None
        if consumer is not None:
            probes["index_worker"] = _running_well(consumer)
        sweeper = self._sweeper(manager, blobs)
        task = asyncio.create_task(sweeper.run())
        stack.push_async_callback(stopped, [task])
        probes["sweeper"] = _alive(task)
        previewer = None
        if wiring.parsers is not None:
            previewer = await stack.enter_async_context(
                ParserPoolPreviewer(wiring.parsers, blobs, temporary=wiring.place.scratch)
            )
        service = KnowledgeBaseService(
            storage=self.storage,
            message_bus=self.bus,
            blobs=blobs,
            manager=manager,
            credentials=self.credentials,
            parsers=wiring.parsers,
            chunkers=wiring.chunkers,
            policy=wiring.policy,
            plans=wiring.plans,
            limits=wiring.place.service_limits,
            access=wiring.access,
            download_keys=wiring.download_keys(),
            reranker=await _entered(stack, wiring.place.reranker),
            previewer=previewer,
            wake_maintenance=sweeper.wake,
        )
        return service, consumer

    async def _index(
        self,
        stack: AsyncExitStack,
        manager: KnowledgeBaseManagerBase,
        blobs: StreamingBlobStore,
    ) -> Consumer:
        wiring = self.wiring
        assert wiring.parsers is not None, "who indexes knows its parsers"
        reader = await stack.enter_async_context(ParserPool(wiring.policy.limits.slots))
        parts = IndexingParts(
            storage=self.storage,
            message_bus=self.bus,
            blobs=blobs,
            manager=manager,
            reader=reader,
            parsers=wiring.parsers,
            chunker_of=wiring.chunkers.build,
            policy=wiring.policy,
            read_limits=wiring.place.read_limits
            or ReadLimits(wall_seconds=wiring.policy.timings.parse_timeout.total_seconds()),
            max_file_bytes=wiring.place.service_limits.upload_bytes,
            temporary=wiring.place.scratch,
            on_ended=(await stack.enter_async_context(announcing(self.bus))).note,
            paused_seconds=self.models.paused_seconds,
        )
        consumer = await stack.enter_async_context(indexing(parts))
        await _settled(consumer)
        return consumer

    def _sweeper(self, manager: KnowledgeBaseManagerBase, blobs: StreamingBlobStore) -> Sweeper:
        policy = self.wiring.policy
        return Sweeper(
            storage=self.storage,
            message_bus=self.bus,
            blobs=blobs,
            purger=Purger(storage=self.storage, manager=manager, blobs=blobs, policy=policy),
            policy=policy,
            clock=SystemClock(),
        )


def _switched_off(wiring: Wiring) -> Mapping[str, bool]:
    """Return the parts that have no probe: True if they are there, False if switched off."""
    there = wiring.manager is not None
    return {
        "workspace_manager": wiring.workspace_manager is not None,
        "resource_access_service": True,
        "knowledge_base": there,
        "index_worker": there and wiring.index_here,
        "local_embedding": wiring.local_embedding,
        "background_task_manager": False,
        "chat_run_registry": False,
        "scheduler_manager": False,
        "chat_service": False,
        "session_service": False,
        "mcp_hubs": False,
        "skill_hubs": False,
    }


def _pinged(call: Callable[[], Any]) -> Probe:
    async def probe() -> None:
        await call()

    return probe


def _running_well(consumer: Consumer) -> Probe:
    async def probe() -> None:
        if consumer.health().state not in ("ok", "starting"):
            raise RuntimeError(f"the index consumer is {consumer.health().state}")

    return probe


async def _settled(consumer: Consumer) -> None:
    """Wait a moment for the consumer's first look, so that health is true from the start."""
    deadline = asyncio.get_running_loop().time() + SETTLE_SECONDS
    while consumer.health().state != "ok":  # it has no event for that, and nothing is urgent
        if asyncio.get_running_loop().time() > deadline:
            return
        await asyncio.sleep(0.005)


def _alive(task: "asyncio.Task[None]") -> Probe:
    async def probe() -> None:
        if task.done():
            raise RuntimeError("the sweeper ended")

    return probe
