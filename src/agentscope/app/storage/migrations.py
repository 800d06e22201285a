"""The moves of a migration as calls, like `verbs` for documents; and how workers hear of one.

The knowledge base record is the truth; an entry in the registry per migration is a hint that lets
workers find it with one small read. A sweeper writes a hint again that was lost.
"""

import contextlib
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from agentscope.app.generations import MigrationFailure
from agentscope.app.records import KnowledgeBaseRecord, Policy
from agentscope.app.storage.base import KnowledgeBaseStorage, RegistryStorage, StorageBase
from agentscope.app.transitions import migration as moves
from agentscope.errors import KnowledgeBaseNotFoundError, LeaseLostError

HINT = "migrations/"
HINTS_READ = 1000


async def announce(registry: RegistryStorage, knowledge_base_id: str) -> None:
    """Let workers know that a knowledge base migrates."""
    await registry.put(f"{HINT}{knowledge_base_id}", {})


async def forget(registry: RegistryStorage, knowledge_base_id: str) -> None:
    """Take the hint back: there is nothing for workers to do."""
    await registry.delete(f"{HINT}{knowledge_base_id}")


async def announced(registry: RegistryStorage) -> list[str]:
    """Return the ids of knowledge bases that migrate, or did until lately."""
    return [name.removeprefix(HINT) for name in await registry.list(HINT, limit=HINTS_READ)]


async def expire_leases(storage: StorageBase) -> None:
    """End the lease of every migration; only for a caller that knows that all holders are dead."""
    for knowledge_base_id in await announced(storage.registry):
        with contextlib.suppress(KnowledgeBaseNotFoundError):
            await storage.knowledge_bases.apply(knowledge_base_id, moves.expire)


async def claim(
    knowledge_bases: KnowledgeBaseStorage,
    knowledge_base_id: str,
    *,
    owner: str,
    run_id: str,
    policy: Policy,
) -> KnowledgeBaseRecord | None:
    """Take the migration if it is due; None: another worker has it, or there is none."""
    change = partial(moves.claim, owner=owner, run_id=run_id, policy=policy)
    try:
        record = await knowledge_bases.apply(knowledge_base_id, change)
    except KnowledgeBaseNotFoundError:
        return None
    if record is None or record.migration is None or record.migration.run_id != run_id:
        return None
    return record


class MigrationWriter:
    """All that the holder of a migration may write; each call raises `LeaseLostError` if it lost.

    A knowledge base that is gone means lost, too.
    """

    def __init__(
        self, knowledge_bases: KnowledgeBaseStorage, record: KnowledgeBaseRecord, policy: Policy
    ) -> None:
        assert record.migration is not None, "it was claimed"
        self._knowledge_bases = knowledge_bases
        self._id = record.id
        self._run_id = str(record.migration.run_id)
        self._policy = policy

    async def _apply(self, change: Callable[..., KnowledgeBaseRecord]) -> KnowledgeBaseRecord:
        try:
            record = await self._knowledge_bases.apply(
                self._id, partial(change, run_id=self._run_id)
            )
        except KnowledgeBaseNotFoundError as exc:
            raise LeaseLostError from exc
        assert record is not None, "a migration never removes its record"
        return record

    async def renew(self, place: moves.MigrationPlace) -> None:
        """Extend the lease and keep the place."""
        await self._apply(partial(moves.renew, place=place, policy=self._policy))

    async def close(self) -> KnowledgeBaseRecord:
        """Ask for every later run in both generations."""
        return await self._apply(partial(moves.close, policy=self._policy))

    async def swap(self) -> KnowledgeBaseRecord:
        """Make the next generation the active one."""
        return await self._apply(partial(moves.swap, policy=self._policy))

    async def release(self) -> None:
        """Hand back unharmed."""
        await self._apply(moves.hand_back)

    async def failed(
        self, failure: MigrationFailure, *, delay: timedelta, final: bool, counted: bool
    ) -> None:
        """Hand back to be tried again after `delay`, or stop for good."""
        change = partial(
            moves.hand_back, delay=delay, failure=failure, final=final, counted=counted
        )
        await self._apply(change)
