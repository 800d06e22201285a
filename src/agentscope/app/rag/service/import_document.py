"""One document of an archive: stored, and shown by the same publish step as any other run.

Whatever cuts it short, the record says what is left: an upload that expires, or a run whose
lease ends, after which a worker indexes the original.
"""

import asyncio
import contextlib
import enum
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from agentscope.app.rag.archive.reader import IncomingDocument
from agentscope.app.rag.archive.vectors import chunks_of, unpacked
from agentscope.app.rag.service import import_fields
from agentscope.app.rag.service.cleanup import settled
from agentscope.app.rag.service.hints import hint_index
from agentscope.app.rag.service.metadata import parse_metadata
from agentscope.app.rag.service.names import clean_filename
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import DocumentRecord, KnowledgeBaseRecord, OnDuplicate, Policy
from agentscope.app.storage.verbs import (
    RunWriter,
    abandon_upload,
    adopt_upload,
    extend_upload,
)
from agentscope.errors import (
    AgentScopeError,
    AlreadyExistsError,
    GenerationMissedError,
    LeaseLostError,
    NotReadyError,
    TooLargeError,
    UpstreamError,
)
from agentscope.identity import new_id
from agentscope.rag.document import Run
from agentscope.rag.knowledge_base import KnowledgeBase

TRIES = 4
"""Ids a document may get: an earlier try that was cut short may hold one for a few minutes."""
PUBLISH_TRIES = 3
PAUSE_SECONDS = 1.0
CLEANUP_SECONDS = 5.0
OWNER = "import"


class Outcome(enum.StrEnum):
    """What became of a document."""

    CARRIED = "carried"  # shown with its chunks and vectors as they were
    QUEUED = "queued"  # stored, to be indexed from its original
    PRESENT = "present"  # there already; left as it is


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTarget:
    """Where documents go."""

    service: KnowledgeBaseService
    record: KnowledgeBaseRecord
    handle: KnowledgeBase | None
    """None: the vectors of the archive are of another model and stay behind."""

    def ids_of(self, source_id: str) -> list[str]:
        """Return the ids that a document of the archive may have here, in the order of use.

        They follow from both ids, so a second try knows what the first one brought in.
        """
        names = (f"{self.record.id}\0{source_id}\0{number}" for number in range(TRIES))
        return [hashlib.sha256(name.encode()).hexdigest()[:32] for name in names]


async def import_document(target: ImportTarget, incoming: IncomingDocument) -> Outcome:
    """Bring one document in, or leave it if it is there; reads `incoming` to its end.

    Raises:
        ArchiveInvalidError, TooLargeError, InvalidInputError: it is not acceptable.
        QuotaExceededError: it goes beyond the quota of the user.
    """
    record, documents = target.record, target.service.storage.documents
    ids = target.ids_of(incoming.document.id)
    if await documents.get_many(record.user_id, record.id, ids):
        await incoming.finish()
        return Outcome.PRESENT
    policy = await target.service.plans.policy(record.user_id, target.service.policy)
    return await _DocumentImport(target, incoming, policy).run(ids)


class _DocumentImport:
    def __init__(self, target: ImportTarget, incoming: IncomingDocument, policy: Policy) -> None:
        self._target = target
        self._policy = policy  # with the quotas of the owner
        self._service = target.service
        self._storage = target.service.storage
        self._incoming = incoming
        self._sent_at = 0.0

    async def run(self, ids: list[str]) -> Outcome:
        document = await self._begin(ids)
        try:
            stored = await self._stored(document)
            handle = self._target.handle
            if handle is None or not self._incoming.document.chunks:
                await self._incoming.finish()
                return await self._queue(document, stored)
            run_id = new_id()
            claimed = await adopt_upload(
                self._storage.documents,
                document.id,
                stored=stored,
                duplicate_of=await self._twin(),
                owner=OWNER,
                run_id=run_id,
                policy=self._policy,
            )
        except BaseException:
            await settled(abandon_upload(self._storage.documents, document.id, policy=self._policy))
            self._service.wake_maintenance()
            raise
        return await _CarriedRun(self._target, self._incoming, handle, claimed, run_id).run()

    async def _begin(self, ids: list[str]) -> DocumentRecord:
        given, record = self._incoming.document, self._target.record
        limits = self._service.limits
        if given.size > limits.upload_bytes:
            raise TooLargeError(f"A file is larger than the limit of {limits.upload_bytes} bytes.")
        filename = clean_filename(given.filename, max_chars=limits.filename_chars)
        parse_metadata(json.dumps(given.metadata), limits)
        for document_id in ids:
            uri = self._service.blobs.uri(_key(record, document_id))
            fields = {"id": document_id, "filename": filename, "blob_uri": uri}
            self._sent_at = _now()
            try:
                return await self._storage.documents.begin_upload(
                    record.user_id,
                    record.id,
                    {**fields, "size": given.size},
                    policy=self._policy,
                )
            except AlreadyExistsError:
                continue
        raise NotReadyError("What an earlier import left is being removed; try again in minutes.")

    async def _stored(self, document: DocumentRecord) -> dict[str, Any]:
        """Store the original and return what is known about the document."""
        given = self._incoming.document
        key = _key(self._target.record, document.id)
        uri = await self._service.blobs.write(key, self._alive(document))
        digest = self._incoming.original_digest
        return {
            "size": given.size,
            "content_sha256": digest,
            "content_type": import_fields.media_type(given.content_type),
            "encoding": import_fields.encoding(given.encoding),
            "metadata": parse_metadata(json.dumps(given.metadata), self._service.limits),
            "blob_uri": uri,
        }

    async def _alive(self, document: DocumentRecord) -> AsyncIterator[bytes]:
        """Pass the bytes on and keep the upload alive; its name is given before it may expire."""
        async for piece in self._incoming.original():
            if _now() - self._sent_at > self._lifetime() / 3:
                sent_at = _now()
                await extend_upload(self._storage.documents, document.id, policy=self._policy)
                self._sent_at = sent_at
            yield piece
        if _now() - self._sent_at >= self._lifetime():
            raise NotReadyError("The import took too long and was given up.")

    def _lifetime(self) -> float:
        return self._policy.timings.upload_ttl.total_seconds()

    async def _twin(self) -> str | None:
        """Return the document that this one was noted to be a copy of, if it is here as well."""
        source = self._incoming.document.duplicate_of
        if source is None:
            return None
        record = self._target.record
        known = await self._storage.documents.get_many(
            record.user_id, record.id, self._target.ids_of(source)
        )
        return next(iter(known), None)

    async def _queue(self, document: DocumentRecord, stored: dict[str, Any]) -> Outcome:
        result = await self._storage.documents.commit_upload(
            document.id,
            stored=stored,
            on_duplicate=OnDuplicate.KEEP,
            policy=self._policy,
        )
        await hint_index(self._service.message_bus, result.document)
        return Outcome.QUEUED


class _CarriedRun:
    """The run under which the chunks of an archive are written."""

    def __init__(
        self,
        target: ImportTarget,
        incoming: IncomingDocument,
        handle: KnowledgeBase,
        document: DocumentRecord,
        run_id: str,
    ) -> None:
        self._target = target
        self._incoming = incoming
        self._handle = handle
        self._document = document
        self._run = Run(run_id, document.epoch)
        self._policy = target.service.policy
        self._writer = RunWriter(
            target.service.storage.documents, document.id, run_id, self._policy
        )
        self._sent_at = _now()

    async def run(self) -> Outcome:
        """Write every chunk and publish; if that cannot be, leave the document to a worker."""
        try:
            count = await self._write()
        except LeaseLostError:
            await self._remove_own()
            await self._incoming.finish()
            return Outcome.QUEUED
        except BaseException:
            await settled(self._hand_back())
            raise
        end = self._incoming.end
        assert end is not None, "writing reads the end"
        if not end.complete or not await self._is_whole(count):
            await self._hand_back()
            return Outcome.QUEUED
        return await self._publish(count)

    async def _write(self) -> int:
        dimensions = self._target.record.embedding_model_config.dimensions
        count = 0
        async for lines, packed in self._incoming.batches():
            chunks = await asyncio.to_thread(chunks_of, lines, first=count)
            vectors = await asyncio.to_thread(
                unpacked, packed, count=len(chunks), dimensions=dimensions
            )
            await self._keep()
            own = [import_fields.own_chunk(chunk) for chunk in chunks]
            await self._handle.insert_embedded(own, vectors, self._document.id, self._run)
            count += len(chunks)
        return count

    async def _keep(self) -> None:
        """Renew the lease in time; nothing is written after it may have ended."""
        if _now() - self._sent_at <= self._policy.timings.lease_ttl.total_seconds() / 3:
            return
        sent_at = _now()
        await self._writer.renew()
        self._sent_at = sent_at

    async def _is_whole(self, count: int) -> bool:
        """◆ verify: a run that is not complete in the store is never published."""
        stored = await self._target.service.manager.store.count(
            self._handle.collection, self._document.id, self._run.run_id
        )
        return stored == count

    async def _publish(self, count: int) -> Outcome:
        """◆ publish: once it was sent, the run may be visible; so it is never removed here."""
        given = self._incoming.document
        report = {
            **import_fields.report(given.report),
            "imported": {"document_id": given.id, "created_at": given.created_at},
        }
        warnings = tuple(import_fields.sentences(given.warnings))
        for left in reversed(range(PUBLISH_TRIES)):
            try:
                await self._writer.publish(
                    count,
                    warnings=warnings,
                    report=report,
                    generations={self._target.record.generation},
                )
                return Outcome.CARRIED
            except LeaseLostError:
                return Outcome.CARRIED if await self._stands() else Outcome.QUEUED
            except GenerationMissedError:
                await self._hand_back()
                return Outcome.QUEUED
            except UpstreamError:
                if not left:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)
        raise AssertionError("the last try returns or raises")

    async def _stands(self) -> bool:
        """Say whether the run is the visible one after all: an answer may have been lost."""
        record = await self._target.service.storage.documents.get(
            self._document.user_id, self._document.knowledge_base_id, self._document.id
        )
        return record is not None and record.active_run_id == self._run.run_id

    async def _hand_back(self) -> None:
        """Leave the document to a worker, which indexes its original."""
        with contextlib.suppress(AgentScopeError):
            record = await self._writer.release()
            await hint_index(self._target.service.message_bus, record)
        await self._remove_own()

    async def _remove_own(self) -> None:
        """◆ own_run: remove what only this run wrote; it was never sent to be published."""
        with contextlib.suppress(AgentScopeError, TimeoutError):
            async with asyncio.timeout(CLEANUP_SECONDS):
                await self._target.service.manager.store.delete_run(
                    self._handle.collection, self._document.id, self._run.run_id
                )


def _key(record: KnowledgeBaseRecord, document_id: str) -> str:
    return f"kb/{record.id}/{document_id}/1"


def _now() -> float:
    return asyncio.get_running_loop().time()
