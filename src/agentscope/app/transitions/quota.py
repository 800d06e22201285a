"""What a user may hold: judged in the transaction of the change that would go beyond it.

A quota stops growth only: whoever is above it, because it was lowered, keeps what there is.
"""

from agentscope.app.records import Limits, Usage
from agentscope.errors import QuotaExceededError, StorageQuotaExceededError

KNOWLEDGE_BASES = "knowledge_bases"
DOCUMENTS = "documents"
STORED_BYTES = "stored_bytes"
PENDING = "pending"
QUOTAS = (PENDING, DOCUMENTS, KNOWLEDGE_BASES, STORED_BYTES)

_SENTENCES = {
    KNOWLEDGE_BASES: "The quota of {limit} knowledge bases is used up. Delete one you do not need, "
    "or ask whoever runs the service for more.",
    DOCUMENTS: "The quota of {limit} documents is used up. Delete documents you do not need, "
    "or ask whoever runs the service for more.",
    STORED_BYTES: "This does not fit: {used} of the {limit} bytes that you may store are in use. "
    "Delete documents you do not need, or ask whoever runs the service for more.",
}


def limit_of(limits: Limits, quota: str) -> int:
    """Return the limit of a quota; 0: there is none."""
    found: int = getattr(limits, f"{quota}_per_user")
    return found


def exceeded(usage: Usage, limits: Limits, *, adds: Usage) -> QuotaExceededError | None:
    """Return the error if `usage` does not leave room for what `adds` would add."""
    for quota in QUOTAS:
        added, used, limit = getattr(adds, quota), getattr(usage, quota), limit_of(limits, quota)
        if added > 0 and limit and used + added > limit:
            return refusal(quota, limit=limit, used=used)
    return None


def exceeded_by(after: Usage, limits: Limits, *, added: Usage) -> QuotaExceededError | None:
    """Return the error if `added`, which `after` counts already, was too much."""
    before = Usage(
        *(getattr(after, name) - getattr(added, name) for name in Usage.__dataclass_fields__)
    )
    return exceeded(before, limits, adds=added)


def refusal(quota: str, *, limit: int, used: int) -> QuotaExceededError:
    """Return the error of a quota that is used up."""
    details = {"quota": quota, "limit": limit, "used": used}
    if quota == PENDING:
        return QuotaExceededError("Too many documents are waiting to be indexed.", details=details)
    return StorageQuotaExceededError(
        _SENTENCES[quota].format(limit=limit, used=used), details=details
    )
