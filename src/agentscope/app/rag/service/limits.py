"""Bounds of single requests, of what a tenant may hold, and of how often it may ask."""

from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self

from agentscope.app.records import Limits

PROVEN_DEFAULTS = {
    "knowledge_bases_per_user": 1_000,
    "documents_per_user": 1_000_000,
    "stored_bytes_per_user": 100 * 1024**3,
    "requests_per_minute": 6_000,
    "searches_per_minute": 600,
}
"""Where callers prove who they are, there are several tenants, who must not crowd each other out.

Where any caller may name any user, a limit per user protects nothing: there is none by default.
"""


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """What one request may carry or ask for, and what one tenant may."""

    RATES: ClassVar = ("requests_per_minute", "searches_per_minute", "searches_at_once")

    upload_bytes: int = 2 * 1024 * 1024 * 1024
    archive_bytes: int = 256 * 1024**3
    archive_documents: int = 1_000_000
    json_body_bytes: int = 1024 * 1024
    form_field_bytes: int = 64 * 1024
    metadata_bytes: int = 16 * 1024
    metadata_keys: int = 64
    status_ids: int = 10_000
    page_size: int = 128
    top_k: int = 50
    query_chars: int = 20_000
    name_chars: int = 200
    description_chars: int = 10_000
    filename_chars: int = 255
    neighbours: int = 5
    dimensions: int = 16_384
    shared_resources: int = 1_000
    shares_per_knowledge_base: int = 1_000
    searches_at_once: int = 8  # of one tenant in one process; 0 here and below: no limit
    searches_waiting: int = 256  # of one tenant in one process, beside those that run
    # None: what `PROVEN_DEFAULTS` says, or no limit where callers are trusted.
    knowledge_bases_per_user: int | None = None
    documents_per_user: int | None = None
    stored_bytes_per_user: int | None = None
    requests_per_minute: int | None = None
    searches_per_minute: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.default is None or field.name.startswith("searches_") else 1
            if value is not None and value < least:
                raise ValueError(f"The limit {field.name} must be at least {least}.")

    def decided(self, *, trusted: bool) -> Self:
        """Return the limits with every default; `trusted`: callers may name any user."""
        open_ones = {name: 0 if trusted else value for name, value in PROVEN_DEFAULTS.items()}
        missing = {name: value for name, value in open_ones.items() if getattr(self, name) is None}
        return replace(self, **missing)


HELD = ("knowledge_bases_per_user", "documents_per_user", "stored_bytes_per_user")


def agreed(
    protocol: Limits, wanted: ServiceLimits, *, trusted: bool
) -> tuple[Limits, ServiceLimits]:
    """Return both with every default and the same quotas; those of `wanted` win."""
    given = {
        name: getattr(protocol, name)
        for name in HELD
        if getattr(wanted, name) is None and getattr(protocol, name)
    }
    decided = replace(wanted, **given).decided(trusted=trusted)
    return replace(protocol, **{name: getattr(decided, name) for name in HELD}), decided
