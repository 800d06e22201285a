"""What this service can read and how much it takes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from agentscope.app.rag.service.parts import KnowledgeBaseService

ADVERTISED_TYPES_PREFIX = "worker/types/"
"""Registry keys under which workers tell the types they can read; they expire with the worker."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Readable types, sorted, and the limits of single requests."""

    media_types: list[str]
    extensions: list[str]
    limits: Mapping[str, int]


async def capabilities(service: KnowledgeBaseService, user_id: str) -> Capabilities:
    """Return what can be read: by this process if it indexes or was told, else by the workers.

    The limits are those of the user; of what is counted per user, 0 is no limit.
    """
    if service.parsers is not None:
        types = service.parsers.supported_media_types()
        extensions = service.parsers.supported_extensions()
    else:
        types, extensions = _merged(await service.storage.registry.list(ADVERTISED_TYPES_PREFIX))
    policy = await service.plans.policy(user_id, service.policy)
    own = asdict(await service.plans.service_limits(user_id, service.limits))
    limits = {
        **{name: value for name, value in own.items() if value is not None},
        "pending_per_user": policy.limits.pending_per_user,
    }
    return Capabilities(types, extensions, limits)


def _merged(entries: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    types: set[str] = set()
    extensions: set[str] = set()
    for entry in entries.values():
        types.update(str(name) for name in entry.get("media_types", ()))
        extensions.update(str(name) for name in entry.get("extensions", ()))
    return sorted(types), sorted(extensions)
