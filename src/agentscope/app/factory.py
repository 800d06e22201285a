"""`create_app`: the composition root of the web service.

It turns the documented, loosely typed arguments into exact types, decides what is switched on,
and hands over to `agentscope.app.api`, which is imported only when an app is built.
"""

import logging
import secrets as randomness
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentscope.app.access import DenyAllResourceAccessPolicy, ResourceAccessPolicyBase
from agentscope.app.auth.base import IdentityBase
from agentscope.app.auth.header import HeaderIdentity
from agentscope.app.egress import EgressPolicy
from agentscope.app.message_bus.base import MessageBus
from agentscope.app.rag.blob_store.base import BlobStoreBase
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.chunker_choices import ChunkerChoice, ChunkerChoices
from agentscope.app.rag.indexing.reading import ReadLimits
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.records import Limits, Policy, Timings
from agentscope.app.running import Wiring, running
from agentscope.app.storage.base import StorageBase
from agentscope.credential.base import CredentialBase
from agentscope.credential.factory import CredentialFactory
from agentscope.credential.sealing import SecretBox, key_from_file
from agentscope.installation import installed_version
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.registry import ParserRegistry
from agentscope.rag.parser.text import TextParser

if TYPE_CHECKING:
    from fastapi import FastAPI

logger = logging.getLogger(__name__)

Parsers = Sequence[ParserBase] | Mapping[str, ParserBase]
Chunkers = ChunkerChoice | Sequence[ChunkerChoice]

AGENT_SIDE = frozenset(
    {
        "mcp_hubs",
        "skill_hubs",
        "enable_channel_worker",
        "enable_scheduler",
        "extra_agent_middlewares",
        "extra_agent_tools",
        "custom_subagent_templates",
        "custom_agent_cls",
        "channels",
        "realtime_ice_servers",
    }
)
"""Documented arguments for agents, which live in another product."""


def create_app(  # noqa: PLR0913, PLR0917 -- the documented signature
    storage: StorageBase,
    message_bus: MessageBus,
    workspace_manager: Any = None,
    knowledge_base_manager: KnowledgeBaseManagerBase | None = None,
    knowledge_parsers: Parsers | None = None,
    knowledge_chunkers: Chunkers | None = None,
    blob_store: BlobStoreBase | None = None,
    enable_index_worker: bool = True,
    mcp_hubs: Any = None,
    skill_hubs: Any = None,
    *,
    knowledge_chunker: Chunkers | None = None,
    extra_credentials: Sequence[type[CredentialBase]] | None = None,
    extra_middlewares: Sequence[Any] | None = None,
    resource_access_policy: ResourceAccessPolicyBase | None = None,
    download_secret: str | bytes | None = None,
    title: str = "AgentScope",
    version: str | None = None,
    secret_key: str | None = None,
    identity: IdentityBase | None = None,
    cors_origins: Sequence[str] = (),
    allowed_hosts: Sequence[str] | None = None,
    timings: Timings | None = None,
    limits: Limits | None = None,
    service_limits: ServiceLimits | None = None,
    local_embedding: bool = True,
    allow_url: Callable[[str], None] | None = None,
    parser_executor: Any = None,
    read_limits: ReadLimits | None = None,
    ui: bool = True,
    scratch_dir: str | Path | None = None,
    sole_owner: bool = False,
    **kwargs: Any,
) -> "FastAPI":
    """Return the web application; everything it is given is entered and left with its lifespan.

    Without a `knowledge_base_manager` there are no knowledge base routes. The secret key is
    `secret_key`, else the content of `~/.config/agentscope/secret.key`, made if it is missing.

    Raises:
        ConfigurationError: two chunkers of one type, a bad key, or arguments that do not fit.
    """
    _note_ignored({**kwargs, "mcp_hubs": mcp_hubs, "skill_hubs": skill_hubs})
    for credential_class in extra_credentials or ():
        CredentialFactory.register_credential(credential_class)
    box = SecretBox.from_text(secret_key or key_from_file(_default_key_file()))
    service_limits = service_limits or ServiceLimits()
    manager = knowledge_base_manager
    wiring = Wiring(
        storage=storage,
        message_bus=message_bus,
        secrets=box,
        workspace_manager=_bound(workspace_manager, storage),
        manager=manager,
        blob_store=blob_store or (LocalBlobStore("./blobs") if manager else None),
        parsers=_parsers(knowledge_parsers, index_here=enable_index_worker),
        chunkers=ChunkerChoices(
            knowledge_chunkers if knowledge_chunker is None else knowledge_chunker
        ),
        index_here=enable_index_worker,
        policy=Policy(timings or Timings(), _slots(limits or Limits(), parser_executor)),
        limits=service_limits,
        access=resource_access_policy or DenyAllResourceAccessPolicy(),
        download_keys=_download_keys(download_secret, box),
        local_embedding=local_embedding,
        allow_url=allow_url or EgressPolicy().check,
        read_limits=read_limits,
        scratch=Path(scratch_dir) if scratch_dir else None,
        sole_owner=sole_owner,
    )
    # The one import inside a function that the house allows: a worker, which imports this
    # package too, must never load the web framework.
    from agentscope.app.api.build import WebOptions, build_app  # noqa: PLC0415

    version = version or installed_version()
    options = WebOptions(
        title=title,
        version=version,
        identity=identity or HeaderIdentity(),
        limits=service_limits,
        with_knowledge_bases=manager is not None,
        cors_origins=cors_origins,
        allowed_hosts=allowed_hosts,
        ui=ui,
        extra_middlewares=extra_middlewares or (),
    )
    return build_app(partial(running, wiring, version=version), options)


def _note_ignored(arguments: Mapping[str, Any]) -> None:
    agent_side = sorted(
        name for name, value in arguments.items() if name in AGENT_SIDE and value is not None
    )
    if agent_side:
        logger.info("agent_arguments_ignored", extra={"arguments": agent_side})
    unknown = sorted(set(arguments) - AGENT_SIDE)
    if unknown:
        logger.warning("unknown_arguments_ignored", extra={"arguments": unknown})


def _parsers(given: Parsers | None, *, index_here: bool) -> ParserRegistry | None:
    """Return the API's parsers; None if workers index and the API was not told theirs."""
    if given is not None:
        return ParserRegistry(given)
    return ParserRegistry([TextParser()]) if index_here else None


def _slots(limits: Limits, executor: Any) -> Limits:
    """Let a process pool that somebody passes on say how many documents are read at once."""
    workers = getattr(executor, "_max_workers", None)
    if executor is None or not isinstance(workers, int):
        return limits
    logger.info("parser_executor_sizes_the_pool", extra={"slots": workers})
    fields = {name: getattr(limits, name) for name in limits.__slots__}
    return Limits(**{**fields, "slots": workers})


def _bound(workspace_manager: Any, storage: StorageBase) -> Any:
    if workspace_manager is not None and hasattr(workspace_manager, "bind_storage"):
        workspace_manager.bind_storage(storage)
    return workspace_manager


def _download_keys(given: str | bytes | None, box: SecretBox) -> tuple[bytes, ...]:
    if given is None:
        return tuple(box.derive_all("download"))
    key = given.encode() if isinstance(given, str) else given
    return (key or randomness.token_bytes(32),)


def _default_key_file() -> Path:
    return Path.home() / ".config" / "agentscope" / "secret.key"
