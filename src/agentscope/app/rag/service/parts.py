"""What every verb of the service works with; put together once by the composition root."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from agentscope.app.access import ResourceAccessPolicyBase, SharedByOwners
from agentscope.app.message_bus.base import MessageBus
from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.app.rag.chunker_choices import ChunkerChoices
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.rag.service.plans import TenantPlans
from agentscope.app.rag.service.previewer import Previewer
from agentscope.app.records import Policy
from agentscope.app.storage.base import StorageBase
from agentscope.credential.sealing import SecretBox
from agentscope.embedding.discovery import ModelDiscovery
from agentscope.rag.parser.registry import ParserRegistry
from agentscope.rag.reranking import Reranker


def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialParts:
    """What the credential verbs work with; they exist without any knowledge base manager."""

    storage: StorageBase
    secrets: SecretBox
    started_at: datetime
    local_embedding: bool = True
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    discovery: ModelDiscovery = field(default_factory=ModelDiscovery)
    forget_model: Callable[[str, str], None] = lambda user_id, credential_id: None
    """Called with owner and credential after a change: models built with it are stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeBaseService:
    """The parts behind the knowledge base verbs."""

    storage: StorageBase
    message_bus: MessageBus
    blobs: StreamingBlobStore
    manager: KnowledgeBaseManagerBase
    credentials: CredentialParts
    parsers: ParserRegistry | None
    """None: this process does not index and was told no parsers, workers say what they take."""
    chunkers: ChunkerChoices
    policy: Policy = field(default_factory=Policy)
    plans: TenantPlans = field(default_factory=TenantPlans)
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    access: ResourceAccessPolicyBase = field(default_factory=SharedByOwners)
    download_keys: tuple[bytes, ...] = ()
    """Keys that sign download tokens; the first signs, all verify."""
    reranker: Reranker | None = None
    """Puts the best candidates of every search in order, unless the search wants none of it."""
    previewer: Previewer | None = None
    """None: this process reads no documents."""
    wake_maintenance: Callable[[], None] = _nothing
    """Tells the sweeper that there is something to purge now."""
