"""What storage keeps: knowledge bases, documents, credentials, events; and the legal moves.

Records are frozen; a change is a new record made by `agentscope.app.transitions`. Times are aware
UTC and come from the storage (its own clock), never from a caller.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NewType, Self

from agentscope.app.generations import ChunkerConfig as ChunkerConfig  # noqa: PLC0414
from agentscope.app.generations import EmbeddingModelConfig as EmbeddingModelConfig  # noqa: PLC0414
from agentscope.app.generations import Migration, RetiredCollection

UserId = NewType("UserId", str)
KnowledgeBaseId = NewType("KnowledgeBaseId", str)
DocumentId = NewType("DocumentId", str)
CredentialId = NewType("CredentialId", str)


class DocumentStatus(enum.StrEnum):
    """Where a document is; `uploading` and `deleting` are never shown to a user."""

    UPLOADING = "uploading"  # intent recorded, bytes arriving
    PENDING = "pending"  # stored, waiting for a worker
    PARSING = "parsing"  # a run reads and cuts it
    CHUNKING = "chunking"  # the parser returned
    INDEXING = "indexing"  # chunks are embedded and written
    READY = "ready"  # published
    ERROR = "error"  # the last run failed for good
    DELETING = "deleting"  # tombstone; invisible, being purged


RUNNING = frozenset({DocumentStatus.PARSING, DocumentStatus.CHUNKING, DocumentStatus.INDEXING})
CLAIMABLE = RUNNING | {DocumentStatus.PENDING}
VISIBLE = CLAIMABLE | {DocumentStatus.READY, DocumentStatus.ERROR}
SETTLED = frozenset({DocumentStatus.READY, DocumentStatus.ERROR})

LEGAL_MOVES: Mapping[DocumentStatus, frozenset[DocumentStatus]] = {
    DocumentStatus.UPLOADING: frozenset(
        # An import takes its document as a run of its own in the step that accepts it.
        {DocumentStatus.PENDING, DocumentStatus.PARSING, DocumentStatus.DELETING}
    ),
    DocumentStatus.PENDING: frozenset(
        {DocumentStatus.PARSING, DocumentStatus.ERROR, DocumentStatus.DELETING}
    ),
    DocumentStatus.PARSING: frozenset(
        {
            DocumentStatus.PARSING,
            DocumentStatus.CHUNKING,
            DocumentStatus.INDEXING,
            DocumentStatus.READY,
            DocumentStatus.PENDING,
            DocumentStatus.ERROR,
            DocumentStatus.DELETING,
        }
    ),
    DocumentStatus.CHUNKING: frozenset(
        {
            DocumentStatus.PARSING,
            DocumentStatus.CHUNKING,
            DocumentStatus.INDEXING,
            DocumentStatus.READY,
            DocumentStatus.PENDING,
            DocumentStatus.ERROR,
            DocumentStatus.DELETING,
        }
    ),
    DocumentStatus.INDEXING: frozenset(
        {
            DocumentStatus.PARSING,
            DocumentStatus.INDEXING,
            DocumentStatus.READY,
            DocumentStatus.PENDING,
            DocumentStatus.ERROR,
            DocumentStatus.DELETING,
        }
    ),
    DocumentStatus.READY: frozenset({DocumentStatus.PENDING, DocumentStatus.DELETING}),
    DocumentStatus.ERROR: frozenset({DocumentStatus.PENDING, DocumentStatus.DELETING}),
    DocumentStatus.DELETING: frozenset(),
}


class KnowledgeBaseStatus(enum.StrEnum):
    """Where a knowledge base is; only `active` ones are shown."""

    CREATING = "creating"  # intent recorded, the collection is being made
    ACTIVE = "active"
    DELETING = "deleting"  # tombstone; its documents and collection are being purged


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeBaseRecord:
    """One knowledge base."""

    id: str
    user_id: str
    name: str
    description: str = ""
    embedding_model_config: EmbeddingModelConfig
    chunker_config: ChunkerConfig | None = None
    collection_name: str  # of the active generation; never reused
    generation: int = 1  # raised by a model migration
    last_generation: int = 0  # the highest ever begun, if above `generation`
    migration: Migration | None = None  # to the next generation
    retired: tuple[RetiredCollection, ...] = ()  # of earlier generations, still to be removed
    search_mode: str = "hybrid"
    fingerprint: Mapping[str, Any] = field(default_factory=dict)  # of the embedding model
    status: KnowledgeBaseStatus = KnowledgeBaseStatus.CREATING
    due_at: datetime | None = None  # when the sweeper must look at it
    purge_after: datetime | None = None  # deletion only: not before this may the record go
    deleted_at: datetime | None = None
    newer: Mapping[str, Any] = field(default_factory=dict)  # what only a newer version knows
    created_at: datetime
    updated_at: datetime
    version: int = 0  # raised by every write; used by optimistic back ends

    @property
    def data(self) -> Self:
        """The record itself: earlier clients read the fields through `record.data`."""
        return self


@dataclass(frozen=True, slots=True)
class DocumentFailure:
    """Why a run did not end in `ready`; `message` is one plain sentence."""

    code: str
    message: str
    stage: str = ""
    retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """One document. Field meanings: the table in docs/explanation/indexing-protocol.md."""

    id: str
    user_id: str
    knowledge_base_id: str
    filename: str
    size: int = 0  # while uploading: the bytes set aside for it
    content_type: str | None = None  # as routed at upload
    encoding: str | None = None  # override given by the uploader
    blob_uri: str = ""
    blob_version: int = 1
    content_sha256: str | None = None
    duplicate_of: str | None = None
    replaces: tuple[str, ...] = ()  # older versions, which go once this one is searchable
    metadata: Mapping[str, Any] = field(default_factory=dict)  # given at upload, for filters
    status: DocumentStatus = DocumentStatus.UPLOADING
    epoch: int = 0  # fencing number; raised by claim, delete and quarantine; never falls
    run_id: str | None = None  # identity of the current lease
    active_run_id: str | None = None  # the run that search may show
    active_epoch: int = 0
    chunk_count: int = 0  # of the active run
    lease_owner: str | None = None
    lease_expires_at: datetime | None = None
    max_lease_at: datetime | None = None  # latest deadline ever granted
    due_at: datetime | None = None  # when somebody must look at the record
    attempt: int = 0  # runs started since it was queued
    crashes: int = 0  # leases that ended without a report
    unforeseen: int = 0  # runs since it was queued that failed in a way nobody foresaw
    alone: bool = False  # after a worker death: run it with nothing beside it
    failure: DocumentFailure | None = None
    progress_stage: str = ""
    progress_done: int = 0
    progress_total: int = 0
    progress_unit: str = ""
    warnings: tuple[str, ...] = ()  # of the last finished run
    report: Mapping[str, Any] = field(default_factory=dict)  # coverage, encoding, language, times
    trace: str = ""  # W3C trace parent of the request that asked for indexing
    purge_after: datetime | None = None
    deleted_at: datetime | None = None
    newer: Mapping[str, Any] = field(default_factory=dict)  # what only a newer version knows
    created_at: datetime
    updated_at: datetime
    version: int = 0

    @property
    def searchable(self) -> bool:
        """Whether a search may show the document now."""
        return self.active_run_id is not None and self.status is not DocumentStatus.DELETING

    @property
    def error(self) -> str | None:
        """The plain sentence that tells why the last run failed."""
        return self.failure.message if self.failure else None

    @property
    def processing_node(self) -> str | None:
        """The documented name of `lease_owner`."""
        return self.lease_owner

    @property
    def data(self) -> Self:
        """The record itself: earlier clients read the fields through `record.data`."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialRecord:
    """One credential; `data` holds the payload with its secret fields sealed."""

    id: str
    user_id: str
    data: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of the outbox; written in the transaction of the change it tells of."""

    sequence: int  # per user, from 1, without gaps
    user_id: str
    knowledge_base_id: str
    document_id: str | None
    type: str  # document.pending, document.ready, ..., knowledge_base.created, ...
    at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counts:
    """Totals of one knowledge base or one user; visible documents only."""

    documents: int = 0
    chunks: int = 0  # of active runs
    size_bytes: int = 0
    by_status: Mapping[str, int] = field(default_factory=dict)  # the six visible states, all keys


@dataclass(frozen=True, slots=True)
class Usage:
    """What a user holds, as quotas count it: with what is being made and uploaded now."""

    knowledge_bases: int = 0
    documents: int = 0
    stored_bytes: int = 0  # of originals, with what uploads have set aside
    pending: int = 0  # documents that are uploaded or waiting or with a worker


@dataclass(frozen=True, slots=True)
class Claim:
    """A document given to a worker: it may write under `run_id` until its lease ends."""

    document: DocumentRecord
    knowledge_base: KnowledgeBaseRecord
    run_id: str
    ttl: timedelta


@dataclass(frozen=True, slots=True)
class MaintenanceClaim:
    """A document or knowledge base given to a sweeper; `claimed_at` is store time."""

    claimed_at: datetime
    document: DocumentRecord | None = None
    knowledge_base: KnowledgeBaseRecord | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Which slice of a list to return."""

    number: int = 1  # from 1
    size: int = 30
    order_by: str = "created_at"  # created_at | updated_at; documents also name | size | chunks
    descending: bool = True


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """Which documents of a knowledge base to list; None leaves a side open."""

    id: str | None = None
    filename_contains: str | None = None  # case-insensitive
    statuses: frozenset[DocumentStatus] | None = None
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Timings:
    """Durations of the indexing protocol; see its table of defaults."""

    lease_ttl: timedelta = timedelta(seconds=90)
    heartbeat: timedelta = timedelta(seconds=45)
    margin: timedelta = timedelta(seconds=10)
    request_timeout: timedelta = timedelta(seconds=30)
    upload_ttl: timedelta = timedelta(seconds=60)
    poll_interval: timedelta = timedelta(seconds=2)
    sweep_interval: timedelta = timedelta(seconds=5)
    drain_timeout: timedelta = timedelta(seconds=20)
    parse_timeout: timedelta = timedelta(minutes=10)
    grace_extra: timedelta = timedelta(seconds=60)

    def __post_init__(self) -> None:
        if self.lease_ttl < 2 * self.heartbeat:
            raise ValueError("The lease must last at least two heartbeats.")
        if self.lease_ttl < 3 * self.margin:
            raise ValueError("The lease must last at least three margins.")

    @property
    def grace(self) -> timedelta:
        """How long after the last lease a paused worker may still write."""
        return self.lease_ttl + self.request_timeout + self.grace_extra


@dataclass(frozen=True, slots=True)
class Limits:
    """Named bounds of the protocol."""

    max_attempts: int = 12
    max_unknown_attempts: int = 3
    max_crashes: int = 3
    pending_per_user: int = 20_000  # of this and the next three: 0 is no limit
    knowledge_bases_per_user: int = 0
    documents_per_user: int = 0
    stored_bytes_per_user: int = 0
    slots: int = 4
    small_file_bytes: int = 1024 * 1024
    embed_concurrency: int = 4


@dataclass(frozen=True, slots=True)
class Policy:
    """Durations and bounds that a transition needs; the same in every process."""

    timings: Timings = field(default_factory=Timings)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """What a worker can start now."""

    owner: str
    limit: int  # free slots; never more than can start at once
    idle: bool  # nothing runs in this worker: it may take a document that must run alone
    max_bytes: int | None = None  # only files up to this size (the reserved slot)
    skip_knowledge_bases: frozenset[str] = frozenset()  # their provider's circuit is open
    policy: Policy = field(default_factory=Policy)


@dataclass(frozen=True, slots=True)
class ClaimBatch:
    """What a worker was given."""

    claims: tuple[Claim, ...] = ()
    alone_waiting: bool = False  # a document waits for this worker to be idle


PAUSED_USER = "paused/user/"
PAUSED_KNOWLEDGE_BASE = "paused/knowledge_base/"
"""Before an id: the registry entry that keeps workers from taking documents of that owner."""
PROVIDER_RESTS = "rests/provider/"
"""Before the id of a knowledge base: the entry that tells why workers leave it alone a while."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What workers have to do for one user."""

    user_id: str
    documents: int  # that wait for a worker or are with one
    running: int  # of them with one
    due: timedelta  # until the first is due; zero or less: for so long it has waited


class OnDuplicate(enum.StrEnum):
    """What an upload does when the same content is already in the knowledge base."""

    KEEP = "keep"  # store it too and name the other in `duplicate_of`
    SKIP = "skip"  # store nothing and answer with the other
    REPLACE = "replace"  # store it and delete the other
    REJECT = "reject"  # store nothing and fail


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadResult:
    """What `commit_upload` did; `document` is the one the uploader should use from now on."""

    document: DocumentRecord
    stored: bool  # False: the bytes just sent are not kept (skip)
    replaced: DocumentRecord | None = None  # tombstoned in the same transaction


@dataclass(frozen=True, slots=True)
class DueTimes:
    """Time until the next due record of each kind; zero or less: due now; None: nothing waits."""

    index: timedelta | None = None
    maintenance: timedelta | None = None
