"""The storage contract: the truth about who owns what and what state it is in.

One small contract per noun, grouped in `StorageBase`. For all of them: a call either happened as
a whole or not at all; what a call wrote is seen by every later call of every process; times are
store time; `user_id` comes first and a record of another user is answered like one that does not
exist. Driver failures are raised as `StorageError`.

A transition runs one pure function of `agentscope.app.transitions` in one transaction and writes
with it the counters of the knowledge base and the user, and an event if the visible state moved.
"""

import abc
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from agentscope.app.records import (
    ClaimBatch,
    ClaimRequest,
    Counts,
    CredentialRecord,
    DocumentQuery,
    DocumentRecord,
    DueTimes,
    Event,
    KnowledgeBaseRecord,
    Limits,
    MaintenanceClaim,
    OnDuplicate,
    Page,
    Policy,
    UploadResult,
    Usage,
    Waiting,
)
from agentscope.app.shares import ResourcePermission, ShareRecord

DocumentChange = Callable[
    [DocumentRecord, KnowledgeBaseRecord | None, datetime], DocumentRecord | None
]
KnowledgeBaseChange = Callable[[KnowledgeBaseRecord, datetime], KnowledgeBaseRecord | None]


class DocumentStorage(abc.ABC):
    """Documents; the verbs over these primitives are in `agentscope.app.storage.verbs`."""

    @abc.abstractmethod
    async def begin_upload(
        self, user_id: str, knowledge_base_id: str, fields: Mapping[str, Any], *, policy: Policy
    ) -> DocumentRecord:
        """Insert an `uploading` record; `fields` are record fields (id, filename, metadata, ...).

        Raises:
            KnowledgeBaseNotFoundError: not there, not active, or of another user.
            QuotaExceededError: beyond `policy.limits` of the user; `size` is set aside already.
            AlreadyExistsError: the id is taken.
        """

    @abc.abstractmethod
    async def commit_upload(
        self,
        document_id: str,
        *,
        stored: Mapping[str, Any],
        on_duplicate: OnDuplicate,
        policy: Policy,
    ) -> UploadResult:
        """Accept the upload, in one transaction with the search for the same content.

        `stored` holds `size`, `content_sha256`, `content_type`, `blob_uri` and what else became
        known. A duplicate is the oldest visible document of the knowledge base with that sha.
        `SKIP` abandons this upload and returns the duplicate; `REPLACE` tombstones the duplicate.

        Raises:
            KnowledgeBaseNotFoundError, DocumentNotFoundError, NotReadyError: too late.
            DuplicateDocumentError: `REJECT` and there is one; the upload is abandoned.
            QuotaExceededError: the bytes go beyond `policy.limits`; nothing was written.
        """

    @abc.abstractmethod
    async def apply(
        self, document_id: str, change: DocumentChange, *, limits: Limits | None = None
    ) -> DocumentRecord | None:
        """Run `change` on the record in one transaction and return what stands now.

        `change` gets the record, its knowledge base (None if that is gone) and the store time. It
        may run more than once. None removes the record; the same object writes nothing.

        Raises:
            DocumentNotFoundError: there is no such record.
            ConflictError: the move is not legal. Errors of `change` pass through.
            QuotaExceededError: it would make the user hold more than `limits`.
        """

    @abc.abstractmethod
    async def get(
        self, user_id: str, knowledge_base_id: str, document_id: str
    ) -> DocumentRecord | None:
        """Return the document if it is visible to this user in an active knowledge base."""

    @abc.abstractmethod
    async def get_many(
        self, user_id: str, knowledge_base_id: str, document_ids: Sequence[str]
    ) -> dict[str, DocumentRecord]:
        """Return the visible ones of the documents, by id, from one read."""

    @abc.abstractmethod
    async def page(
        self, user_id: str, knowledge_base_id: str, query: DocumentQuery, page: Page
    ) -> tuple[list[DocumentRecord], int]:
        """Return one page of visible documents and the total that the query matches.

        Equal sort keys are ordered by id. Without filters, in creation order, O(log n).
        """

    @abc.abstractmethod
    async def claim_index(self, request: ClaimRequest) -> ClaimBatch:
        """Give the worker at most `request.limit` due documents, each under a new run.

        Fair: users with due work are ordered by (running leases, last served), one document per
        user per turn; within a user by (due_at, created_at, id). A document goes to one caller
        only. `alone` documents are given only to an idle worker, one and nothing beside it.
        Users and knowledge bases with a registry entry `PAUSED_USER` or `PAUSED_KNOWLEDGE_BASE`
        and their id are passed over.
        """

    @abc.abstractmethod
    async def claim_maintenance(self, limit: int, *, policy: Policy) -> list[MaintenanceClaim]:
        """Take due `uploading`, `deleting`, `ready` and `error` records for one pass each."""

    @abc.abstractmethod
    async def of_knowledge_base(
        self, knowledge_base_id: str, *, after: str = "", limit: int = 500
    ) -> list[DocumentRecord]:
        """Return documents in any state with id > `after`, ordered by id (cascade, audit)."""

    @abc.abstractmethod
    async def due(self) -> DueTimes:
        """Return how long until index work and maintenance (documents, knowledge bases) are due."""

    @abc.abstractmethod
    async def unfinished(self) -> int:
        """Return how many documents of all users wait for a worker or are with one."""

    @abc.abstractmethod
    async def waiting(self, limit: int) -> list[Waiting]:
        """Return the users that workers have to do with, most documents first, then by id.

        Reads an entry of an index for each document or user that waits, for operators only.
        """

    @abc.abstractmethod
    async def failed(self, *, after: str = "", limit: int = 500) -> list[DocumentRecord]:
        """Return documents of all users in `error` with id > `after`, ordered by id."""

    @abc.abstractmethod
    async def expire_leases(self) -> int:
        """End every lease now; only for a caller that knows that all holders are dead."""


class KnowledgeBaseStorage(abc.ABC):
    """Knowledge bases and their counters."""

    @abc.abstractmethod
    async def create(
        self, user_id: str, fields: Mapping[str, Any], *, policy: Policy
    ) -> KnowledgeBaseRecord:
        """Insert a `creating` record that is purged unless activated within `upload_ttl`.

        Raises:
            AlreadyExistsError: the id is taken.
            QuotaExceededError: the user has as many as `policy.limits` allow, unfinished included.
        """

    @abc.abstractmethod
    async def apply(
        self, knowledge_base_id: str, change: KnowledgeBaseChange
    ) -> KnowledgeBaseRecord | None:
        """Run `change` in one transaction; like `DocumentStorage.apply`.

        Raises:
            KnowledgeBaseNotFoundError: there is no such record.
        """

    @abc.abstractmethod
    async def get(self, user_id: str, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        """Return the knowledge base if it is active and belongs to the user."""

    @abc.abstractmethod
    async def find(self, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        """Return the knowledge base of any user in any state (worker, sweeper, audit, sharing)."""

    @abc.abstractmethod
    async def page(
        self, user_id: str, page: Page, *, id: str | None = None, name_contains: str | None = None
    ) -> tuple[list[KnowledgeBaseRecord], int]:
        """Return one page of the user's active knowledge bases and the total."""

    @abc.abstractmethod
    async def counts(self, knowledge_base_ids: Sequence[str]) -> dict[str, Counts]:
        """Return the totals of each, from counters, in one read; every id is in the answer."""

    @abc.abstractmethod
    async def user_counts(self, user_id: str) -> Counts:
        """Return the totals over all knowledge bases of the user, from counters."""

    @abc.abstractmethod
    async def usage(self, user_id: str) -> Usage:
        """Return what counts against the quotas of the user, from counters."""

    @abc.abstractmethod
    async def claim_maintenance(self, limit: int, *, policy: Policy) -> list[MaintenanceClaim]:
        """Take due `creating` and `deleting` knowledge bases for one pass each."""

    @abc.abstractmethod
    async def all(self, *, after: str = "", limit: int = 500) -> list[KnowledgeBaseRecord]:
        """Return knowledge bases of all users in any state with id > `after`, ordered by id."""


class CredentialStorage(abc.ABC):
    """Credentials; secrets in `data` are sealed before they come here."""

    @abc.abstractmethod
    async def put(
        self, user_id: str, credential_id: str, data: Mapping[str, Any]
    ) -> CredentialRecord:
        """Create or replace; `created_at` is kept.

        Raises:
            AlreadyExistsError: the id belongs to another user.
        """

    @abc.abstractmethod
    async def get(self, user_id: str, credential_id: str) -> CredentialRecord | None:
        """Return the user's credential."""

    @abc.abstractmethod
    async def list(self, user_id: str) -> list[CredentialRecord]:
        """Return the user's credentials, oldest first; at most 1,000."""

    @abc.abstractmethod
    async def delete(self, user_id: str, credential_id: str) -> bool:
        """Remove it; say whether it was there."""

    @abc.abstractmethod
    def of_everybody(self) -> AsyncIterator[CredentialRecord]:
        """Yield the credentials of all users, in no order; one may come twice (operator)."""

    @abc.abstractmethod
    async def reseal(self, record: CredentialRecord, data: Mapping[str, Any]) -> bool:
        """Write the same content in another form, if it still stands as in `record`.

        Its times stay. Says whether it was written.
        """


class ShareStorage(abc.ABC):
    """Who may reach whose knowledge bases; they go with the knowledge base, in one transaction."""

    @abc.abstractmethod
    async def put(
        self,
        user_id: str,
        knowledge_base_id: str,
        viewer_id: str,
        permission: ResourcePermission,
        *,
        limit: int,
    ) -> ShareRecord:
        """Share the user's knowledge base, or change what the viewer may do; `created_at` is kept.

        Raises:
            KnowledgeBaseNotFoundError: not there, not active, or of another user.
            QuotaExceededError: it is shared with `limit` viewers already.
        """

    @abc.abstractmethod
    async def get(self, viewer_id: str, knowledge_base_id: str) -> ShareRecord | None:
        """Return what the viewer may do with the knowledge base; O(1)."""

    @abc.abstractmethod
    async def of_knowledge_base(self, user_id: str, knowledge_base_id: str) -> list[ShareRecord]:
        """Return the viewers of the user's knowledge base, ordered by viewer."""

    @abc.abstractmethod
    async def with_viewer(self, viewer_id: str, *, limit: int) -> list[ShareRecord]:
        """Return what others share with the viewer, the oldest first."""

    @abc.abstractmethod
    async def delete(self, user_id: str, knowledge_base_id: str, viewer_id: str) -> bool:
        """Take the viewer's access to the user's knowledge base; say whether there was any."""


class EventStorage(abc.ABC):
    """The outbox: what happened, per user, in order, written with the change itself."""

    @abc.abstractmethod
    async def after(
        self, user_id: str, sequence: int, *, knowledge_base_id: str | None = None, limit: int = 100
    ) -> Sequence[Event]:
        """Return events with a greater sequence, oldest first."""

    @abc.abstractmethod
    async def last(self, user_id: str) -> int:
        """Return the newest sequence of the user, 0 if there is none."""

    @abc.abstractmethod
    async def trim(self, *, older_than: timedelta, limit: int = 10_000) -> int:
        """Remove at most `limit` old events; sequences go on from where they were."""


class RegistryStorage(abc.ABC):
    """Small facts that processes share: worker presence, advertised types, the secret key's id."""

    @abc.abstractmethod
    async def put(
        self, key: str, value: Mapping[str, Any], *, ttl: timedelta | None = None
    ) -> None:
        """Store `value`; it disappears after `ttl`."""

    @abc.abstractmethod
    async def put_if_absent(self, key: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Store `value` unless the key is there; return what stands now."""

    @abc.abstractmethod
    async def replace(self, key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
        """Store `new` if `old` stands there, without a `ttl`; say whether it did."""

    @abc.abstractmethod
    async def get(self, key: str) -> Mapping[str, Any] | None:
        """Return the value, or None."""

    @abc.abstractmethod
    async def list(
        self, prefix: str, *, after: str = "", limit: int = 1000
    ) -> dict[str, Mapping[str, Any]]:
        """Return live entries whose key starts with `prefix` and is > `after`, ordered by key."""

    @abc.abstractmethod
    async def delete(self, key: str) -> None:
        """Remove the entry; nothing happens if it is not there."""


class StorageBase(abc.ABC):
    """All nouns of one back end; entered before use, closed on exit."""

    documents: DocumentStorage
    knowledge_bases: KnowledgeBaseStorage
    credentials: CredentialStorage
    shares: ShareStorage
    events: EventStorage
    registry: RegistryStorage

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        return

    @abc.abstractmethod
    async def now(self) -> datetime:
        """Return store time; also the liveness check.

        Raises:
            StorageError: the storage does not answer.
        """
