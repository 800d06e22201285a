"""A knowledge base from an archive: made for the caller, document by document, with fresh ids.

Each document is complete or absent at any moment. An import that was cut short is gone on with by
sending the same archive again; one whose archive turns out to be false leaves nothing.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field

from agentscope.app.rag.archive.layout import Manifest, Skipped
from agentscope.app.rag.archive.reader import ArchiveReader
from agentscope.app.rag.knowledge_base_manager.models import same_vectors
from agentscope.app.rag.service.cleanup import settled
from agentscope.app.rag.service.create_knowledge_base import (
    NewKnowledgeBase,
    create_knowledge_base,
)
from agentscope.app.rag.service.credentials import is_local
from agentscope.app.rag.service.import_document import (
    ImportTarget,
    Outcome,
    import_document,
)
from agentscope.app.rag.service.import_ticket import ImportTicket
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import (
    ChunkerConfig,
    EmbeddingModelConfig,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
)
from agentscope.credential.local import LOCAL_CREDENTIAL_ID, LocalCredential
from agentscope.embedding.base import ModelFingerprint
from agentscope.errors import (
    ArchiveIncompleteError,
    CredentialNotFoundError,
    InvalidInputError,
    NotReadyError,
)
from agentscope.identity import new_id

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What the caller wants otherwise than the archive says."""

    name: str | None = None
    credential_id: str | None = None
    model: str | None = None
    dimensions: int | None = None
    copy: bool = False
    """Do not go on with an earlier import of the same archive; make another knowledge base."""


@dataclass(slots=True, kw_only=True)
class ImportResult:
    """What an import did."""

    record: KnowledgeBaseRecord
    continued: bool
    carried: int = 0
    queued: int = 0
    present: int = 0
    vectors_carried: bool = True
    notes: list[str] = field(default_factory=list)
    not_exported: list[Skipped] = field(default_factory=list)

    def count(self, outcome: Outcome) -> None:
        """Add a document."""
        setattr(self, outcome.value, getattr(self, outcome.value) + 1)

    @property
    def documents(self) -> int:
        """How many documents of the archive are there now."""
        return self.carried + self.queued + self.present


async def import_knowledge_base(
    service: KnowledgeBaseService,
    user_id: str,
    pieces: AsyncIterator[bytes],
    options: ImportOptions,
) -> ImportResult:
    """Bring an archive in for this user; `pieces` are its bytes as they arrive.

    Raises:
        ArchiveInvalidError, ArchiveVersionError, TooLargeError, InvalidInputError: it is not
            acceptable; a knowledge base that was made for it is deleted again.
        ArchiveIncompleteError: it ended too early; what is there stays, sending it again goes on.
        ImportRunningError: the same archive is being imported by this user.
        CredentialNotFoundError: there is no credential for its embedding model.
        QuotaExceededError: what is there stays, sending it again goes on.
    """
    limits = service.limits
    reader = ArchiveReader(
        pieces, max_bytes=limits.archive_bytes, max_documents=limits.archive_documents
    )
    manifest = await reader.manifest()
    archive_id = new_id() if options.copy else manifest.archive_id
    ticket = await ImportTicket.taken(service.storage, user_id, archive_id)
    run = _Import(service, user_id, manifest, options, ticket)
    try:
        result = await run.bring_in(reader)
    except BaseException as exc:
        await settled(run.give_up(exc))
        raise
    await ticket.let_go()
    fields = {"carried": result.carried, "queued": result.queued, "present": result.present}
    logger.info("knowledge_base_imported", extra={"knowledge_base_id": result.record.id, **fields})
    return result


class _Import:
    def __init__(
        self,
        service: KnowledgeBaseService,
        user_id: str,
        manifest: Manifest,
        options: ImportOptions,
        ticket: ImportTicket,
    ) -> None:
        self._service = service
        self._user_id = user_id
        self._manifest = manifest
        self._options = options
        self._ticket = ticket
        self._made: KnowledgeBaseRecord | None = None
        self._notes: list[str] = []
        self._result: ImportResult | None = None

    async def bring_in(self, reader: ArchiveReader) -> ImportResult:
        record = await self._known()
        continued = record is not None
        if record is None:
            record = self._made = await self._create()
        carries = self._same_model(record)
        if not carries:
            self._notes.append(
                "The vectors of the archive are of another embedding model, so its documents are "
                "indexed again from their original files."
            )
        handle = None
        if carries:
            handle = await self._service.manager.get_knowledge(self._user_id, record.id)
        target = ImportTarget(service=self._service, record=record, handle=handle)
        self._result = result = ImportResult(
            record=record, continued=continued, vectors_carried=carries, notes=self._notes
        )
        async for incoming in reader.documents():
            result.count(await import_document(target, incoming))
            await self._ticket.hold_on()
        assert reader.end is not None, "reading all documents reads the end"
        result.not_exported = reader.end.skipped
        return result

    async def give_up(self, cause: BaseException) -> None:
        """Leave nothing of an archive that is not acceptable, else the place to go on at."""
        is_refused = isinstance(cause, InvalidInputError) and not isinstance(
            cause, ArchiveIncompleteError
        )
        is_empty = self._result is None or self._result.documents == 0
        if self._made is not None and (is_refused or is_empty):
            await self._service.manager.delete_knowledge_base(self._user_id, self._made.id)
            self._service.wake_maintenance()
        await self._ticket.let_go()

    async def _known(self) -> KnowledgeBaseRecord | None:
        """Return what an earlier try made, if it is still there."""
        if self._ticket.place is None:
            return None
        record = await self._service.storage.knowledge_bases.find(self._ticket.place)
        if record is None or record.user_id != self._user_id:
            return None
        if record.status is KnowledgeBaseStatus.CREATING:
            # The step that shows it may still be under way; making another would show both.
            raise NotReadyError("What an earlier try began is being cleared; try again in minutes.")
        return record if record.status is KnowledgeBaseStatus.ACTIVE else None

    async def _create(self) -> KnowledgeBaseRecord:
        settings = self._manifest.knowledge_base
        knowledge_base_id = new_id()
        wanted = NewKnowledgeBase(
            id=knowledge_base_id,
            name=self._options.name or settings.name,
            description=settings.description,
            embedding_model_config=await self._model(),
            chunker_config=self._chunker(),
            search_mode=settings.search_mode,
        )
        # Written down first: were it forgotten, a second try would make another one.
        await self._ticket.goes_into(knowledge_base_id)
        record = await create_knowledge_base(self._service, self._user_id, wanted)
        if record.id != knowledge_base_id:
            await self._ticket.goes_into(record.id)
        return record

    def _chunker(self) -> ChunkerConfig | None:
        given = self._manifest.knowledge_base.chunker
        if given is None:
            return None
        config = ChunkerConfig(given.type, given.parameters)
        with suppress(InvalidInputError):
            self._service.chunkers.config(config)
            return config
        self._notes.append(
            f"The chunker '{given.type}' of the archive is not available here; documents that are "
            "indexed again are cut by the default one."
        )
        return None

    async def _model(self) -> EmbeddingModelConfig:
        given, options = self._manifest.knowledge_base.embedding, self._options
        kind, credential_id = await self._credential()
        other = options.model not in (None, given.model)
        return EmbeddingModelConfig(
            type=kind,
            credential_id=credential_id,
            model=options.model or given.model,
            dimensions=options.dimensions or given.dimensions,
            parameters={} if other else given.parameters,
        )

    async def _credential(self) -> tuple[str, str]:
        """Return type and id of the credential: the one that was named, else the one that fits."""
        credentials, wanted = self._service.credentials, self._options.credential_id
        local = str(LocalCredential.model_fields["type"].default)
        given = self._manifest.knowledge_base.embedding
        if wanted is None and given.type == local and credentials.local_embedding:
            return local, LOCAL_CREDENTIAL_ID
        if wanted is not None and is_local(credentials, self._user_id, wanted):
            return local, wanted
        known = await self._service.storage.credentials.list(self._user_id)
        if wanted is not None:
            known = [record for record in known if record.id == wanted]
        else:
            known = [record for record in known if record.data.get("type") == given.type]
            named = [r for r in known if r.data.get("name") == given.credential_name]
            known = named if len(named) == 1 else known
        if len(known) != 1:
            raise CredentialNotFoundError(
                f"The archive was made with the model '{given.model[:100]}' of a credential of "
                f"type '{given.type[:100]}'. Name the credential to use instead, or store one."
            )
        return str(known[0].data.get("type")), known[0].id

    def _same_model(self, record: KnowledgeBaseRecord) -> bool:
        """Say whether the knowledge base embeds as the archive does."""
        given, own = self._manifest.knowledge_base.embedding, record.embedding_model_config
        same = (given.type, given.model, given.dimensions) == (own.type, own.model, own.dimensions)
        if not same or given.parameters != dict(own.parameters):
            return False
        if not record.fingerprint:
            return True
        stored = ModelFingerprint(
            model=str(record.fingerprint.get("model", "")),
            version=str(record.fingerprint.get("version", "")),
            sample=tuple(record.fingerprint.get("sample", ())),
        )
        try:
            return same_vectors(given.fingerprint, stored)
        except (TypeError, ValueError) as exc:
            raise InvalidInputError("The fingerprint in the archive is not one.") from exc
