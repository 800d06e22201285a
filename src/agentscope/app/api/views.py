"""Records as they stand on the wire."""

from datetime import datetime
from typing import Any

from agentscope.app.generations import EmbeddingModelConfig, Migration
from agentscope.app.rag.service.credentials import CredentialDetails
from agentscope.app.rag.service.details import KnowledgeBaseDetails
from agentscope.app.records import DocumentRecord, DocumentStatus
from agentscope.app.storage.totals import VISIBLE_STATUSES


def timestamp(moment: datetime) -> str:
    """Return ISO-8601 text in UTC with microseconds and `+00:00`."""
    return moment.isoformat(timespec="microseconds")


def knowledge_base_view(details: KnowledgeBaseDetails) -> dict[str, Any]:
    """Return a knowledge base; its owner is deliberately not in it."""
    record, counts = details.record, details.counts
    model, chunker = record.embedding_model_config, record.chunker_config
    return {
        "id": record.id,
        "name": record.name,
        "description": record.description,
        "embedding_model_config": model_view(model),
        "chunker_config": chunker
        and {"type": chunker.type, "parameters": dict(chunker.parameters)},
        "created_at": timestamp(record.created_at),
        "updated_at": timestamp(record.updated_at),
        "editable": details.editable,
        "permission": _permission(details),
        "document_count": counts.documents,
        "chunk_count": counts.chunks,
        "size_bytes": counts.size_bytes,
        "credential_name": details.credential_name,
        "status_counts": {name: counts.by_status.get(name, 0) for name in VISIBLE_STATUSES},
        "search_mode": record.search_mode,
        "generation": record.generation,
        "migration": migration_view(record.migration),
        "paused_reason": details.paused_reason,
    }


def model_view(model: EmbeddingModelConfig) -> dict[str, Any]:
    """Return the choice of a model."""
    return {
        "type": model.type,
        "credential_id": model.credential_id,
        "model": model.model,
        "dimensions": model.dimensions,
        "parameters": dict(model.parameters),
    }


def migration_view(migration: Migration | None) -> dict[str, Any] | None:
    """Return the change of a model that is under way."""
    if migration is None:
        return None
    failure, due_at = migration.failure, migration.due_at
    waits = failure is not None and migration.run_id is None and due_at is not None
    return {
        "generation": migration.generation,
        "embedding_model_config": model_view(migration.embedding_model_config),
        "progress": {
            "stage": str(migration.phase),
            "done": migration.done,
            "total": max(migration.total, migration.done),
            "unit": "document",
        },
        "error": failure
        and {"code": failure.code, "message": failure.message, "retryable": failure.retryable},
        "started_at": timestamp(migration.started_at),
        "next_attempt_at": timestamp(due_at) if waits and due_at is not None else None,
    }


def _permission(details: KnowledgeBaseDetails) -> str:
    if details.owned:
        return "owner"
    return "edit" if details.editable else "read"


def document_view(record: DocumentRecord, *, paused_reason: str | None = None) -> dict[str, Any]:
    """Return a document; `error` speaks of a run that ended, `error_detail` also of one to come.

    `paused_reason` is why documents of this owner wait; it is shown with those that do.
    """
    failure = record.failure
    return {
        "id": record.id,
        "filename": record.filename,
        "size": record.size,
        "content_type": record.content_type,
        "status": str(record.status),
        "error": record.error if record.status is DocumentStatus.ERROR else None,
        "chunk_count": record.chunk_count,
        "created_at": timestamp(record.created_at),
        "updated_at": timestamp(record.updated_at),
        "error_detail": failure
        and {
            "code": failure.code,
            "message": failure.message,
            "stage": failure.stage,
            "retryable": failure.retryable,
            "attempt": record.attempt,
        },
        "progress": {
            "stage": record.progress_stage or "waiting",
            "done": record.progress_done,
            "total": record.progress_total,
            "unit": record.progress_unit,
        },
        "warnings": list(record.warnings),
        "content_sha256": record.content_sha256,
        "searchable": record.searchable,
        "duplicate_of": record.duplicate_of,
        "metadata": dict(record.metadata),
        "paused_reason": paused_reason if record.status is DocumentStatus.PENDING else None,
    }


def document_info(record: DocumentRecord, *, paused_reason: str | None = None) -> dict[str, Any]:
    """Return a document with what its last run found out."""
    waits = record.status is DocumentStatus.PENDING and record.failure is not None
    return {
        **document_view(record, paused_reason=paused_reason),
        "knowledge_base_id": record.knowledge_base_id,
        "encoding": record.encoding,
        "report": dict(record.report),
        "next_attempt_at": timestamp(record.due_at) if waits and record.due_at else None,
    }


def credential_view(details: CredentialDetails) -> dict[str, Any]:
    """Return a credential with masked secrets."""
    record = details.record
    return {
        "id": record.id,
        "updated_at": timestamp(record.updated_at),
        "created_at": timestamp(record.created_at),
        "user_id": record.user_id,
        "data": dict(details.data),
        "editable": details.editable,
        "used_by": [{"id": key, "name": name} for key, name in details.used_by],
    }
