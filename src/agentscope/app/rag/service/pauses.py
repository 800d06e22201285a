"""Pauses: what the operator keeps workers from taking. Uploads and searches go on meanwhile.

A pause is a registry entry; every claim looks for it, so it holds from the moment it is stored.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agentscope.app.rag.service.hints import hint_look
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import (
    PAUSED_KNOWLEDGE_BASE,
    PAUSED_USER,
    PROVIDER_RESTS,
    KnowledgeBaseRecord,
)
from agentscope.app.storage.base import StorageBase
from agentscope.errors import KnowledgeBaseNotFoundError, QuotaExceededError

logger = logging.getLogger(__name__)

PauseKind = Literal["tenant", "knowledge_base"]
PREFIXES: Mapping[PauseKind, str] = {
    "tenant": PAUSED_USER,
    "knowledge_base": PAUSED_KNOWLEDGE_BASE,
}
MAX_PAUSES = 1000  # of each kind
SENTENCE = "Indexing is paused by the operator"


@dataclass(frozen=True, slots=True)
class Pause:
    """What is paused, since when and why."""

    kind: PauseKind
    id: str
    reason: str
    at: str


async def list_pauses(storage: StorageBase) -> list[Pause]:
    """Return all pauses: tenants first, each kind by id."""
    return [
        _pause(kind, name.removeprefix(prefix), entry)
        for kind, prefix in PREFIXES.items()
        for name, entry in (await storage.registry.list(prefix, limit=MAX_PAUSES)).items()
    ]


async def pause(
    service: KnowledgeBaseService, kind: PauseKind, target_id: str, reason: str
) -> Pause:
    """Keep workers from starting documents of a tenant or knowledge base; what runs goes on.

    Raises:
        KnowledgeBaseNotFoundError: there is no such knowledge base.
        QuotaExceededError: too much is paused already.
    """
    storage, prefix = service.storage, PREFIXES[kind]
    if kind == "knowledge_base" and await storage.knowledge_bases.find(target_id) is None:
        raise KnowledgeBaseNotFoundError(f"Knowledge Base '{target_id[:200]}' not found.")
    standing = await storage.registry.list(prefix, limit=MAX_PAUSES)
    if len(standing) >= MAX_PAUSES and prefix + target_id not in standing:
        raise QuotaExceededError("Too many tenants or knowledge bases are paused.")
    entry = {"reason": reason, "at": (await storage.now()).isoformat()}
    await storage.registry.put(prefix + target_id, entry)
    logger.warning("indexing_paused", extra={"kind": kind, "target": target_id, "reason": reason})
    return _pause(kind, target_id, entry)


async def resume(service: KnowledgeBaseService, kind: PauseKind, target_id: str) -> bool:
    """End a pause; say whether there was one."""
    registry, name = service.storage.registry, PREFIXES[kind] + target_id
    if await registry.get(name) is None:
        return False
    await registry.delete(name)
    logger.warning("indexing_resumed", extra={"kind": kind, "target": target_id})
    await hint_look(service.message_bus)
    return True


async def paused_reason(storage: StorageBase, user_id: str, knowledge_base_id: str) -> str | None:
    """Return why documents wait, in one sentence for the user; None if nothing is paused."""
    names = (
        PAUSED_KNOWLEDGE_BASE + knowledge_base_id,
        PAUSED_USER + user_id,
        PROVIDER_RESTS + knowledge_base_id,
    )
    *paused, rests = await asyncio.gather(*(storage.registry.get(name) for name in names))
    sentences = [_sentence(entry) for entry in paused if entry is not None]
    if rests is not None:
        sentences.append(str(rests["reason"]))
    return sentences[0] if sentences else None


async def paused_reasons(
    storage: StorageBase, records: Iterable[KnowledgeBaseRecord]
) -> dict[str, str]:
    """Return the reasons of those knowledge bases that are paused, by id."""
    pauses = {(one.kind, one.id): one for one in await list_pauses(storage)}
    resting = await storage.registry.list(PROVIDER_RESTS, limit=MAX_PAUSES)
    found: dict[str, str] = {}
    for record in records if pauses or resting else ():
        if (rests := resting.get(PROVIDER_RESTS + record.id)) is not None:
            found[record.id] = str(rests["reason"])
        standing = pauses.get(("knowledge_base", record.id)) or pauses.get(
            ("tenant", record.user_id)
        )
        if standing is not None:
            found[record.id] = _sentence({"reason": standing.reason})
    return found


def _pause(kind: PauseKind, target_id: str, entry: Mapping[str, Any]) -> Pause:
    return Pause(kind, target_id, str(entry.get("reason", "")), str(entry.get("at", "")))


def _sentence(entry: Mapping[str, Any]) -> str:
    reason = str(entry.get("reason", "")).strip().rstrip(".")
    return f"{SENTENCE}: {reason}." if reason else f"{SENTENCE}."
