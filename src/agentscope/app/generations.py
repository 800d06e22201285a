"""What a knowledge base is made with, and the generation that is made beside the active one.

A generation is one embedding model and one collection. Changing the model copies every shown run
into the next generation, under the same run id, and then moves the knowledge base over in one
step; so a document never changes while its knowledge base migrates.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class EmbeddingModelConfig:
    """Which model a knowledge base embeds with; pinned for the life of a generation."""

    type: str  # credential type, e.g. openai_credential
    credential_id: str
    model: str
    dimensions: int
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChunkerConfig:
    """Which chunker a knowledge base cuts with."""

    type: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


class MigrationPhase(enum.StrEnum):
    """How far the change of a model is."""

    COPYING = "copying"  # shown runs are embedded again into the next generation
    CLOSING = "closing"  # what is published now is in both; the rest is caught up and counted
    STOPPED = "stopped"  # it failed for good and waits for the user; searches go on as before


@dataclass(frozen=True, slots=True)
class MigrationFailure:
    """Why the last try did not go on; `message` is one plain sentence."""

    code: str
    message: str
    retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """The next generation of a knowledge base while it is being made."""

    generation: int  # never given out before, even if cancelled
    embedding_model_config: EmbeddingModelConfig
    collection_name: str
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    phase: MigrationPhase = MigrationPhase.COPYING
    after: str = ""  # documents up to this id are done in this phase
    done: int = 0  # documents
    total: int = 0
    run_id: str | None = None  # identity of the lease
    lease_owner: str | None = None
    due_at: datetime | None = None  # when a worker may take it; leased: when the lease ends
    attempt: int = 0  # tries in a row that got nothing done
    failure: MigrationFailure | None = None
    started_at: datetime


@dataclass(frozen=True, slots=True)
class RetiredCollection:
    """A collection that searches under way may still read; its points go at `drop_after`."""

    name: str
    drop_after: datetime


__all__ = [
    "ChunkerConfig",
    "EmbeddingModelConfig",
    "Migration",
    "MigrationFailure",
    "MigrationPhase",
    "RetiredCollection",
]
