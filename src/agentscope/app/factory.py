"""`create_app`: the composition root of the web service.

It turns the documented, loosely typed arguments into exact types, decides what is switched on,
and hands over to `agentscope.app.api`, which is imported only when an app is built.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agentscope.app.access import ResourceAccessPolicyBase, access_policy
from agentscope.app.auth.base import IdentityBase
from agentscope.app.auth.header import HeaderIdentity
from agentscope.app.message_bus.base import MessageBus
from agentscope.app.rag.blob_store.base import BlobStoreBase
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.chunker_choices import ChunkerChoice, ChunkerChoices
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.service.limits import agreed
from agentscope.app.rag.service.plans import TenantPlans
from agentscope.app.records import Limits, Policy, Timings
from agentscope.app.running import Deployment, Wiring, running
from agentscope.app.secret_key import secret_box
from agentscope.app.storage.base import StorageBase
from agentscope.credential.base import CredentialBase
from agentscope.credential.factory import CredentialFactory
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
    extra_credentials: Sequence[type[CredentialBase]] = (),
    extra_middlewares: Sequence[Any] = (),
    resource_access_policy: ResourceAccessPolicyBase | None = None,
    download_secret: str | bytes | None = None,
    title: str = "AgentScope",
    version: str | None = None,
    secret_key: str | None = None,
    identity: IdentityBase | None = None,
    timings: Timings | None = None,
    limits: Limits | None = None,
    local_embedding: bool = True,
    parser_executor: Any = None,
    deployment: Deployment | None = None,
    **kwargs: Any,
) -> "FastAPI":
    """Return the web application; everything it is given is entered and left with its lifespan.

    Without a `knowledge_base_manager` there are no knowledge base routes. The secret key is
    `secret_key`, else `AGENTSCOPE_SECRET_KEY`, else the content of
    `~/.config/agentscope/secret.key`, which is made if it is missing.
    Fields of `Deployment` may also be given by name.

    Raises:
        ConfigurationError: two chunkers of one type, a bad key, or arguments that do not fit.
    """
    identity = identity or HeaderIdentity()
    place, others = _deployment(deployment, kwargs)
    bounds, requests = agreed(
        _slots(limits or Limits(), parser_executor),
        place.service_limits,
        trusted=identity.trusts_caller,
    )
    place = replace(place, service_limits=requests)
    _note_ignored({**others, "mcp_hubs": mcp_hubs, "skill_hubs": skill_hubs})
    _register(extra_credentials or ())
    chunkers = knowledge_chunkers if knowledge_chunker is None else knowledge_chunker
    wiring = Wiring(
        storage=storage,
        message_bus=message_bus,
        secrets=secret_box(secret_key),
        workspace_manager=_bound(workspace_manager, storage),
        manager=knowledge_base_manager,
        blob_store=blob_store or _default_blobs(knowledge_base_manager),
        parsers=_parsers(knowledge_parsers, index_here=enable_index_worker),
        chunkers=ChunkerChoices(chunkers),
        index_here=enable_index_worker,
        policy=Policy(timings or Timings(), bounds),
        access=access_policy(resource_access_policy),
        download_secret=download_secret,
        local_embedding=local_embedding,
        place=place,
        plans=TenantPlans(place.limits_for),
    )
    about = (title, version or installed_version())
    return _web(wiring, about, identity, extra_middlewares or ())


def _web(
    wiring: Wiring, about: tuple[str, str], identity: IdentityBase, middlewares: Sequence[Any]
) -> "FastAPI":
    # The one import inside a function that the house allows: a worker, which imports this
    # package too, must never load the web framework.
    from agentscope.app.web import WebOptions, web_app  # noqa: PLC0415

    title, version = about
    options = WebOptions(
        title=title,
        version=version,
        identity=identity,
        limits=wiring.place.service_limits,
        plans=wiring.plans,
        with_knowledge_bases=wiring.manager is not None,
        cors_origins=wiring.place.cors_origins,
        allowed_hosts=wiring.place.allowed_hosts,
        extra_middlewares=middlewares,
    )
    return web_app(partial(running, wiring, version=version), options, ui=wiring.place.ui)


def _deployment(
    given: Deployment | None, named: Mapping[str, Any]
) -> tuple[Deployment, dict[str, Any]]:
    """Return the deployment with its fields given by name, and the arguments that are not its."""
    known = {item.name for item in fields(Deployment)}
    own = {name: value for name, value in named.items() if name in known}
    others = {name: value for name, value in named.items() if name not in known}
    return replace(given or Deployment(), **own), others


def _register(credential_classes: Sequence[type[CredentialBase]]) -> None:
    for credential_class in credential_classes:
        CredentialFactory.register_credential(credential_class)


def _default_blobs(manager: KnowledgeBaseManagerBase | None) -> BlobStoreBase | None:
    return None if manager is None else LocalBlobStore("./blobs")


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
