"""The change of an embedding model: begin, lease, copy, close, swap; or cancel.

Copies keep the run id of what they copy, so a document's record says which chunks are shown in
either generation, and the move is one write to the knowledge base. What makes that write safe is
`CLOSING`: from then on a run is published only if both generations hold it, so whoever finds
every shown document in the next generation after that may swap.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from agentscope.app.generations import (
    EmbeddingModelConfig,
    Migration,
    MigrationFailure,
    MigrationPhase,
    RetiredCollection,
)
from agentscope.app.records import KnowledgeBaseRecord, KnowledgeBaseStatus, Policy
from agentscope.app.transitions.guards import require_active
from agentscope.errors import ConflictError, GenerationMissedError, LeaseLostError

LOOK_INTERVAL = timedelta(seconds=30)
"""How often a sweeper sees to it that workers know of a migration."""


@dataclass(frozen=True, slots=True)
class MigrationPlace:
    """How far the holder of a migration is: documents up to `after` are done in this phase."""

    phase: MigrationPhase
    after: str
    done: int
    total: int


def next_generation(knowledge_base: KnowledgeBaseRecord) -> int:
    """Return a number that no generation of the knowledge base ever had."""
    return max(knowledge_base.generation, knowledge_base.last_generation) + 1


def begin(
    knowledge_base: KnowledgeBaseRecord,
    now: datetime,
    *,
    config: EmbeddingModelConfig,
    fingerprint: Mapping[str, Any],
    collection_name: Callable[[int], str],
    total: int,
) -> KnowledgeBaseRecord:
    """Start a migration, or go on with one to the same model that stopped.

    Raises:
        ConflictError: one is under way.
    """
    require_active(knowledge_base)
    standing = knowledge_base.migration
    if standing is not None:
        if standing.embedding_model_config != config or (
            standing.phase is not MigrationPhase.STOPPED
        ):
            raise ConflictError("The embedding model of this knowledge base is being changed.")
        again = replace(standing, phase=MigrationPhase.COPYING, due_at=now, attempt=0, failure=None)
        return replace(knowledge_base, migration=again, due_at=now)
    generation = next_generation(knowledge_base)
    migration = Migration(
        generation=generation,
        embedding_model_config=config,
        collection_name=collection_name(generation),
        fingerprint=fingerprint,
        total=total,
        due_at=now,
        started_at=now,
    )
    return replace(knowledge_base, migration=migration, last_generation=generation, due_at=now)


def claim(
    knowledge_base: KnowledgeBaseRecord,
    now: datetime,
    *,
    owner: str,
    run_id: str,
    policy: Policy,
) -> KnowledgeBaseRecord:
    """Take a due migration; the record comes back as it is if there is nothing to take."""
    migration = knowledge_base.migration
    if knowledge_base.status is not KnowledgeBaseStatus.ACTIVE or migration is None:
        return knowledge_base
    if migration.due_at is None or migration.due_at > now:
        return knowledge_base
    held = replace(
        migration, run_id=run_id, lease_owner=owner, due_at=now + policy.timings.lease_ttl
    )
    return replace(knowledge_base, migration=held)


def _held(knowledge_base: KnowledgeBaseRecord, run_id: str) -> Migration:
    """◆ migration_fence: only the holder moves a migration, and only of a live knowledge base."""
    migration = knowledge_base.migration
    active = knowledge_base.status is KnowledgeBaseStatus.ACTIVE
    if not active or migration is None or migration.run_id != run_id:
        raise LeaseLostError
    return migration


def renew(
    knowledge_base: KnowledgeBaseRecord,
    now: datetime,
    *,
    run_id: str,
    place: MigrationPlace,
    policy: Policy,
) -> KnowledgeBaseRecord:
    """Extend the lease and keep the place, where the next holder would go on.

    ◆ late_place: a place in another phase is an old one; kept, it would let documents be skipped.
    """
    migration = replace(_held(knowledge_base, run_id), due_at=now + policy.timings.lease_ttl)
    if place.phase is migration.phase:
        moved = place.after != migration.after
        migration = replace(
            migration,
            after=place.after,
            done=place.done,
            total=place.total,
            attempt=0 if moved else migration.attempt,
            failure=None if moved else migration.failure,
        )
    return replace(knowledge_base, migration=migration)


def close(
    knowledge_base: KnowledgeBaseRecord, now: datetime, *, run_id: str, policy: Policy
) -> KnowledgeBaseRecord:
    """Ask for every later run in both generations, and look through all documents once more."""
    migration = _held(knowledge_base, run_id)
    closing = replace(
        migration,
        phase=MigrationPhase.CLOSING,
        after="",
        done=0,
        due_at=now + policy.timings.lease_ttl,
    )
    return replace(knowledge_base, migration=closing)


def swap(
    knowledge_base: KnowledgeBaseRecord, now: datetime, *, run_id: str, policy: Policy
) -> KnowledgeBaseRecord:
    """Make the next generation the active one; the old collection goes when nobody reads it."""
    migration = _held(knowledge_base, run_id)
    if migration.phase is not MigrationPhase.CLOSING:  # ◆ closing
        raise ConflictError("A migration is closed before it is swapped.")
    retired = RetiredCollection(knowledge_base.collection_name, _readers_gone(now, policy))
    return replace(
        knowledge_base,
        embedding_model_config=migration.embedding_model_config,
        collection_name=migration.collection_name,
        fingerprint=migration.fingerprint,
        generation=migration.generation,
        migration=None,
        retired=(*knowledge_base.retired, retired),
        due_at=retired.drop_after,
    )


def _readers_gone(now: datetime, policy: Policy) -> datetime:
    """Return when no search reads a collection any more, and no run that began before writes."""
    return now + policy.timings.lease_ttl + policy.timings.grace


def hand_back(
    knowledge_base: KnowledgeBaseRecord,
    now: datetime,
    *,
    run_id: str,
    delay: timedelta = timedelta(0),
    failure: MigrationFailure | None = None,
    final: bool = False,
    counted: bool = True,
) -> KnowledgeBaseRecord:
    """End the lease: unharmed (drain), after a failure to be tried again, or for good (`final`).

    A failure also ends `CLOSING`: uploads must not wait for a model that does not answer. One
    that is not `counted` brings the end no nearer.
    """
    migration = _held(knowledge_base, run_id)
    freed = replace(migration, run_id=None, lease_owner=None, due_at=now + delay)
    if failure is not None:
        freed = replace(
            freed,
            phase=MigrationPhase.STOPPED if final else MigrationPhase.COPYING,
            after="" if migration.phase is MigrationPhase.CLOSING else migration.after,
            done=0 if migration.phase is MigrationPhase.CLOSING else migration.done,
            attempt=migration.attempt + int(counted),
            failure=failure,
            due_at=None if final else freed.due_at,
        )
    return replace(knowledge_base, migration=freed)


def expire(knowledge_base: KnowledgeBaseRecord, now: datetime) -> KnowledgeBaseRecord:
    """End the lease of a holder that is known to be dead."""
    migration = knowledge_base.migration
    if migration is None or migration.run_id is None:
        return knowledge_base
    return replace(
        knowledge_base,
        migration=replace(migration, run_id=None, lease_owner=None, due_at=now),
    )


def cancel(
    knowledge_base: KnowledgeBaseRecord, now: datetime, *, policy: Policy
) -> KnowledgeBaseRecord:
    """Give the next generation up; nothing happens if there is none."""
    require_active(knowledge_base)
    migration = knowledge_base.migration
    if migration is None:
        return knowledge_base
    given_up = RetiredCollection(migration.collection_name, _readers_gone(now, policy))
    return replace(
        knowledge_base,
        migration=None,
        retired=(*knowledge_base.retired, given_up),
        due_at=given_up.drop_after,
    )


def looked_after(
    knowledge_base: KnowledgeBaseRecord, now: datetime, *, dropped: Collection[str]
) -> KnowledgeBaseRecord:
    """Record a sweeper's pass over a live knowledge base, and when the next one is due."""
    if knowledge_base.status is not KnowledgeBaseStatus.ACTIVE:
        return knowledge_base
    left = tuple(item for item in knowledge_base.retired if item.name not in dropped)
    dues = [item.drop_after for item in left]
    migration = knowledge_base.migration
    if migration is not None and migration.phase is not MigrationPhase.STOPPED:
        dues.append(now + LOOK_INTERVAL)
    return replace(knowledge_base, retired=left, due_at=min(dues, default=None))


def generations_of_a_run(knowledge_base: KnowledgeBaseRecord) -> frozenset[int]:
    """Return the generations that must hold a run before it is published."""
    migration = knowledge_base.migration
    if migration is not None and migration.phase is MigrationPhase.CLOSING:
        return frozenset({knowledge_base.generation, migration.generation})
    return frozenset({knowledge_base.generation})


def require_generations(knowledge_base: KnowledgeBaseRecord | None, held: Collection[int]) -> None:
    """◆ generations: refuse a run that searches would miss, now or after a swap.

    Raises:
        GenerationMissedError: it is not in every generation that must hold it.
    """
    if not generations_of_a_run(require_active(knowledge_base)) <= set(held):
        raise GenerationMissedError
