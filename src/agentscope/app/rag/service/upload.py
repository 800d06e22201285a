"""Taking a file in: intent, bytes straight into the blob store, acceptance, a hint to a worker."""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentscope import observe, tracing
from agentscope.app.rag.service.hints import hint_cancel, hint_index
from agentscope.app.rag.service.names import clean_filename
from agentscope.app.rag.service.opening import open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.rag.service.same_name import OnSameName, replaced_by
from agentscope.app.records import DocumentRecord, OnDuplicate, Policy, UploadResult
from agentscope.app.storage.verbs import abandon_upload, extend_upload, reserve_upload
from agentscope.errors import (
    AgentScopeError,
    DuplicateDocumentError,
    InvalidInputError,
    KnowledgeBaseNotFoundError,
    NotReadyError,
    StorageQuotaExceededError,
    TooLargeError,
    UpstreamError,
)
from agentscope.identity import new_id
from agentscope.rag.parser.media_types import charset_of, plain_media_type
from agentscope.rag.parser.registry import HEAD_BYTES

logger = logging.getLogger(__name__)

UNANNOUNCED_BYTES = 1024 * 1024  # what a file of unknown length brings before it is judged
SET_ASIDE_STEP = 16 * 1024 * 1024
SMALLEST_STEP = 64 * 1024
FORM_BYTES = 2 * 1024 * 1024  # more than all that stands around a file in its form


@dataclass(frozen=True, slots=True)
class UploadFields:
    """What the form says about the file beside its bytes."""

    content_type: str | None = None
    encoding: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    on_duplicate: OnDuplicate = OnDuplicate.KEEP
    on_same_name: OnSameName = OnSameName.KEEP


class IncomingFile(Protocol):
    """A file as it arrives."""

    @property
    def filename(self) -> str | None:
        """The name that the client gave."""

    @property
    def declared_type(self) -> str | None:
        """The media type that the client gave."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the bytes; after the last one the rest of the form was read, too."""

    def fields(self) -> UploadFields:
        """Return the fields; complete once `chunks` ended."""


class _Meter:
    """Counts and hashes what passes, keeps the upload alive, and stops it at limit and quota.

    `sent_at` is the loop time before the request that began the upload was sent: from it counts
    how long the storage keeps the upload. `policy` is that of the owner.
    """

    def __init__(
        self,
        service: KnowledgeBaseService,
        document: DocumentRecord,
        sent_at: float,
        policy: Policy,
    ) -> None:
        self._service = service
        self._document = document
        self._sent_at = sent_at
        self.policy = policy
        self._set_aside = max(document.size, UNANNOUNCED_BYTES)
        self._step = SET_ASIDE_STEP
        self._hash = hashlib.sha256()
        self.size = 0
        self.head = b""

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    async def through(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        limit = self._service.limits.upload_bytes
        async for chunk in chunks:
            self.size += len(chunk)
            if self.size > limit:
                raise _too_large(self._service)
            if len(self.head) < HEAD_BYTES:
                self.head += chunk[: HEAD_BYTES - len(self.head)]
            self._hash.update(chunk)
            await self._make_room()
            await self._keep_alive()
            yield chunk
        # ◆ upload_deadline: the blob gets its name only after this; were the upload given up
        # meanwhile and purged for good, nobody would ever remove the blob.
        if self._age() >= self._lifetime():
            raise NotReadyError("The upload took too long and was given up.")

    async def _make_room(self) -> None:
        """Set bytes aside for a file of unknown length: in steps, smaller ones near the quota."""
        while self.policy.limits.stored_bytes_per_user and self.size > self._set_aside:
            sent_at = asyncio.get_running_loop().time()
            documents, wanted = self._service.storage.documents, self.size + self._step
            try:
                await reserve_upload(documents, self._document.id, size=wanted, policy=self.policy)
            except StorageQuotaExceededError:
                if self._step == 0:
                    raise
                self._step = self._step // 2 if self._step > SMALLEST_STEP else 0
            else:
                self._set_aside, self._sent_at = wanted, sent_at

    def _age(self) -> float:
        return asyncio.get_running_loop().time() - self._sent_at

    def _lifetime(self) -> float:
        return self._service.policy.timings.upload_ttl.total_seconds()

    async def _keep_alive(self) -> None:
        if self._age() <= self._lifetime() / 3:
            return
        sent_at = asyncio.get_running_loop().time()
        documents, policy = self._service.storage.documents, self._service.policy
        try:
            await extend_upload(documents, self._document.id, policy=policy)
            self._sent_at = sent_at
        except UpstreamError as exc:
            if self._age() >= self._lifetime():
                raise
            # Tried again with the next bytes: one failed call ends no upload.
            fields = {"document_id": self._document.id, "error_code": exc.code}
            logger.warning("upload_not_extended", extra=fields)


async def upload(
    service: KnowledgeBaseService,
    viewer_id: str,
    knowledge_base_id: str,
    file: IncomingFile,
    *,
    expected_bytes: int | None = None,
) -> UploadResult:
    """Store the file and queue it for indexing; whatever fails or is cancelled leaves nothing.

    What is expected (at most; None: nobody knows) is set aside before the first byte, so that of
    parallel uploads those fail at once for which there is no room.

    Raises:
        KnowledgeBaseNotFoundError, PermissionDeniedError: it cannot be changed by this viewer.
        TooLargeError, UnsupportedMediaTypeError, InvalidInputError: the file is not taken.
        QuotaExceededError: too much waits already, or the owner has no room for it.
        DuplicateDocumentError, DuplicateNameError: it is there, and that is to be refused.
        NotReadyError: the upload took too long.
    """
    if expected_bytes is not None and expected_bytes > service.limits.upload_bytes + FORM_BYTES:
        raise _too_large(service)
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id, edit=True)
    owner, kb = opened.record.user_id, opened.record.id
    filename = clean_filename(file.filename, max_chars=service.limits.filename_chars)
    policy = await service.plans.policy(owner, service.policy)
    document_id = new_id()
    key = f"kb/{kb}/{document_id}/1"
    intent: dict[str, Any] = {
        "id": document_id,
        "filename": filename,
        "blob_uri": service.blobs.uri(key),
        "trace": tracing.traceparent(),
    }
    sent_at = asyncio.get_running_loop().time()
    if policy.limits.stored_bytes_per_user:
        intent["size"] = _announced(service, expected_bytes)
    with _told_to(viewer_id, owner):
        # ◆ intent: the record comes before the first byte, so no crash leaves a blob unknown.
        document = await service.storage.documents.begin_upload(owner, kb, intent, policy=policy)
        meter = _Meter(service, document, sent_at, policy)
        try:
            result = await _receive(service, document, key, file, meter)
        except BaseException as exc:
            _note_refusal(document, meter, exc)
            await _give_up(service, document, exc)
            raise
    observe.UPLOADS.labels("stored" if result.stored else "duplicate").inc()
    if result.stored:
        observe.UPLOAD_BYTES.inc(result.document.size)
        observe.DOCUMENT_BYTES.observe(result.document.size)
    fields = {"knowledge_base_id": kb, "document_id": result.document.id, "size": meter.size}
    logger.info("document_stored" if result.stored else "document_skipped", extra=fields)
    await _after(service, result)
    return result


def _too_large(service: KnowledgeBaseService) -> TooLargeError:
    limit = service.limits.upload_bytes
    return TooLargeError(f"The file is larger than the limit of {limit} bytes.")


def _announced(service: KnowledgeBaseService, expected_bytes: int | None) -> int:
    return min(expected_bytes or 0, service.limits.upload_bytes)


@contextlib.contextmanager
def _told_to(viewer_id: str, owner: str) -> Iterator[None]:
    """Keep the figures of an owner from those who upload into a shared knowledge base."""
    try:
        yield
    except StorageQuotaExceededError as exc:
        if viewer_id == owner:
            raise
        raise StorageQuotaExceededError(
            "The owner of the knowledge base has no room for this.",
            details={"quota": exc.details.get("quota")},
        ) from exc


async def _receive(
    service: KnowledgeBaseService,
    document: DocumentRecord,
    key: str,
    file: IncomingFile,
    meter: _Meter,
) -> UploadResult:
    uri = await service.blobs.write(key, meter.through(file.chunks()))
    fields = file.fields()
    media_type, note = _routed(service, document.filename, file.declared_type, fields, meter)
    stored = {
        "replaces": await replaced_by(service.storage.documents, document, fields.on_same_name),
        "size": meter.size,
        "content_sha256": meter.sha256,
        "content_type": media_type,
        "encoding": _encoding(fields),
        "metadata": dict(fields.metadata),
        "blob_uri": uri,
        "report": {"routing_note": note} if note else {},
    }
    return await service.storage.documents.commit_upload(
        document.id, stored=stored, on_duplicate=fields.on_duplicate, policy=meter.policy
    )


def _routed(
    service: KnowledgeBaseService,
    filename: str,
    declared: str | None,
    fields: UploadFields,
    meter: _Meter,
) -> tuple[str | None, str | None]:
    """Return the type to index by, and what is odd about it.

    A declared charset stays a parameter of the type: a hint for the parser, which looks at the
    bytes first. An API that does not know the parsers keeps what it was told.
    """
    charset = _known_charset(charset_of(fields.content_type) or charset_of(declared))
    if service.parsers is None:
        given = plain_media_type(fields.content_type) or plain_media_type(declared)
        return (_with_charset(given, charset) if given else None), None
    route = service.parsers.route(
        filename, declared=declared, explicit=fields.content_type, head=meter.head
    )
    return _with_charset(route.media_type, charset), route.note


def _with_charset(media_type: str, charset: str | None) -> str:
    return f"{media_type}; charset={charset}" if charset else media_type


def _known_charset(name: str | None) -> str | None:
    """Return the charset if Python knows it; a client's library may have made it up."""
    if name is None:
        return None
    try:
        "".encode(name)
    except (LookupError, UnicodeError, ValueError):
        return None
    return name.lower()


def _encoding(fields: UploadFields) -> str | None:
    known = _known_charset(fields.encoding)
    if fields.encoding is not None and known is None:
        raise InvalidInputError(f"Unknown text encoding '{fields.encoding[:40]}'.")
    return known


def _note_refusal(document: DocumentRecord, meter: _Meter, cause: BaseException) -> None:
    observe.UPLOADS.labels("refused").inc()
    fields = {
        "knowledge_base_id": document.knowledge_base_id,
        "document_id": document.id,
        "taken_bytes": meter.size,
        "error_code": cause.code if isinstance(cause, AgentScopeError) else "broken_off",
    }
    logger.info("upload_refused", extra=fields)


async def _give_up(
    service: KnowledgeBaseService, document: DocumentRecord, cause: BaseException
) -> None:
    """Tombstone the upload at once; if even that fails, it expires and the sweeper finds it."""
    if isinstance(cause, DuplicateDocumentError):
        service.wake_maintenance()  # the storage gave it up already
        return
    if isinstance(cause, NotReadyError | KnowledgeBaseNotFoundError):
        with contextlib.suppress(AgentScopeError):
            await service.blobs.delete(document.blob_uri)
    cleanup = asyncio.ensure_future(
        abandon_upload(service.storage.documents, document.id, policy=service.policy)
    )
    try:
        await asyncio.shield(cleanup)
    except AgentScopeError as exc:
        logger.warning(
            "upload_not_given_up",
            extra={"document_id": document.id, "error_code": exc.code},
        )
    service.wake_maintenance()


async def _after(service: KnowledgeBaseService, result: UploadResult) -> None:
    if result.stored:
        await hint_index(service.message_bus, result.document)
    if result.replaced is not None:
        await hint_cancel(service.message_bus, result.replaced)
    if result.replaced is not None or not result.stored:
        service.wake_maintenance()
