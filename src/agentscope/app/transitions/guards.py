"""What must hold for every move, and the small steps that several moves share."""

from dataclasses import dataclass, replace
from datetime import datetime

from agentscope.app.records import (
    LEGAL_MOVES,
    RUNNING,
    SETTLED,
    DocumentRecord,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
)
from agentscope.errors import ConflictError, KnowledgeBaseNotFoundError, LeaseLostError


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; shown to the user."""

    stage: str
    done: int = 0
    total: int = 0
    unit: str = ""


def check_move(old: DocumentRecord, new: DocumentRecord) -> None:
    """Raise if a change breaks the table of legal moves or the constraints of the protocol."""
    if new.status is not old.status and new.status not in LEGAL_MOVES[old.status]:
        raise ConflictError(f"A document cannot go from {old.status} to {new.status}.")
    if new.epoch < old.epoch:
        raise ConflictError("The epoch of a document never falls.")
    check_stranded(new)


def check_stranded(record: DocumentRecord) -> None:
    """◆ due: raise if nobody would ever look at an unfinished record again."""
    if record.status not in SETTLED and record.due_at is None:
        raise ConflictError("An unfinished document must have a due time.")


def require_active(knowledge_base: KnowledgeBaseRecord | None) -> KnowledgeBaseRecord:
    """Return the knowledge base if it is active, else answer as if it did not exist."""
    if knowledge_base is None or knowledge_base.status is not KnowledgeBaseStatus.ACTIVE:
        raise KnowledgeBaseNotFoundError
    return knowledge_base


def require_run(
    document: DocumentRecord, knowledge_base: KnowledgeBaseRecord | None, run_id: str
) -> None:
    """◆ fence: only the holder of the run may write, and only into a live knowledge base."""
    active = knowledge_base is not None and knowledge_base.status is KnowledgeBaseStatus.ACTIVE
    if document.run_id != run_id or document.status not in RUNNING or not active:
        raise LeaseLostError


def unleased(document: DocumentRecord) -> DocumentRecord:
    return replace(document, lease_owner=None, lease_expires_at=None)


def latest(first: datetime | None, second: datetime) -> datetime:
    return second if first is None else max(first, second)


def with_progress(document: DocumentRecord, progress: Progress | None) -> DocumentRecord:
    if progress is None:
        return document
    return replace(
        document,
        progress_stage=progress.stage,
        progress_done=progress.done,
        progress_total=progress.total,
        progress_unit=progress.unit,
    )
