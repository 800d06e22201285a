"""Clients of a simulated installation: what they ask at random, and what they may never see."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from agentscope.app.rag.service.delete_document import delete_document
from agentscope.app.rag.service.delete_knowledge_base import delete_knowledge_base
from agentscope.app.rag.service.migration import begin_with, cancel_migration
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.rag.service.reindex import reindex_document
from agentscope.app.rag.service.upload import UploadFields, upload
from agentscope.app.records import EmbeddingModelConfig
from agentscope.errors import AgentScopeError
from agentscope.rag.document import SearchHit, SearchMode
from agentscope.testing.line_reader import CORRUPT, CRASH, EMPTY, POISON, SLOW
from agentscope.testing.plan import Plan
from agentscope.testing.world import USER, Api, ViolationError, World

T = TypeVar("T")

REQUEST_SECONDS = 100.0
VECTOR_SHARE = 0.5
CONFIG = EmbeddingModelConfig(
    type="simulated", credential_id="simulated", model="fake-embedding", dimensions=8
)


@dataclass(slots=True)
class ClientDocument:
    """A document as its client knows it."""

    token: str
    word: str
    lines: int
    knowledge_base_id: str
    id: str | None = None  # None: the upload was not answered
    ready_at: float | None = None
    delete_sent_at: float | None = None
    deleted_at: float | None = None  # the deletion was answered

    def text(self) -> str:
        """Return the content; the token stands in every line."""
        body = [f"{self.token} line{number}" for number in range(self.lines)]
        if self.word:
            body[0] = f"{self.word} {body[0]}"
        return "\n".join(body)


class TextFile:
    """A file on its way in, a few bytes at a time."""

    def __init__(self, document: ClientDocument, world: World) -> None:
        self.filename = f"{document.token}.txt"
        self.declared_type = "text/plain"
        self._data = document.text().encode()
        self._world = world

    async def chunks(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._data), 64):
            await asyncio.sleep(self._world.rng.uniform(0.0, 0.5))
            yield self._data[start : start + 64]

    def fields(self) -> UploadFields:
        return UploadFields()


class Clients:
    """Sends requests and remembers what was answered."""

    def __init__(self, world: World, plan: Plan) -> None:
        self._world = world
        self._plan = plan
        self._rng = world.rng
        self._number = 0
        self.knowledge_bases: list[str] = []
        self.deleted_bases: dict[str, float | None] = {}
        self.documents: list[ClientDocument] = []

    async def run(self) -> None:
        """Create knowledge bases, then do things at random."""
        while len(self.knowledge_bases) < self._plan.knowledge_bases:
            await self._create_knowledge_base()
        for _ in range(self._plan.requests):
            await asyncio.sleep(self._rng.uniform(0.0, 8.0))
            work = self._rng.choices(
                [
                    self._upload,
                    self._delete,
                    self._reindex,
                    self._search,
                    self._delete_base,
                    self._migrate,
                    self._cancel,
                ],
                weights=[10, 4, 5, 8, 0.15, self._plan.migrations, self._plan.migrations / 4],
            )[0]
            await work()

    def _live(self) -> list[str]:
        return [name for name in self.knowledge_bases if name not in self.deleted_bases]

    def _api(self) -> Api:
        self._world.restart_the_dead()
        return self._rng.choice(self._world.apis)

    async def _ask(
        self, what: str, work: Callable[[KnowledgeBaseService], Awaitable[T]]
    ) -> T | None:
        """Return the answer; None: it failed or never came, and nobody knows what happened."""
        answer = await self._world.call(self._api(), work, seconds=REQUEST_SECONDS)
        if answer is None:
            self._world.note("request", what, "no answer")
            return None
        error = answer.exception()
        if error is None:
            self._world.note("request", what, "ok")
            return answer.result()
        if isinstance(error, AgentScopeError):
            self._world.note("request", what, error.code)
            return None
        raise error

    async def _create_knowledge_base(self) -> None:
        record = await self._ask(
            "create",
            lambda service: service.manager.create_knowledge_base(USER, "name", "", CONFIG),
        )
        if record is not None:
            self.knowledge_bases.append(record.id)

    async def _upload(self) -> None:
        live = self._live()
        if not live:
            return
        self._number += 1
        word = ""
        if self._rng.random() < self._plan.misbehaving:
            word = self._rng.choice([POISON, CORRUPT, CRASH, EMPTY, SLOW])
        document = ClientDocument(
            token=f"token{self._number}x",
            word=word,
            lines=self._rng.choice([1, 5, 70, 140]),
            knowledge_base_id=self._rng.choice(live),
        )
        self.documents.append(document)
        file = TextFile(document, self._world)
        result = await self._ask(
            f"upload {document.token} {word}",
            lambda service: upload(service, USER, document.knowledge_base_id, file),
        )
        if result is not None:
            document.id = result.document.id

    def _some(self) -> ClientDocument | None:
        known = [
            document
            for document in self.documents
            if document.id is not None
            and document.delete_sent_at is None
            and document.knowledge_base_id not in self.deleted_bases
        ]
        return self._rng.choice(known) if known else None

    async def _delete(self) -> None:
        document = self._some()
        if document is None:
            return
        document.delete_sent_at = self._world.loop.time()
        done = await self._ask(
            f"delete {document.token}",
            lambda service: _answered(
                delete_document(service, USER, document.knowledge_base_id, document.id or "")
            ),
        )
        if done:
            document.deleted_at = self._world.loop.time()

    async def _reindex(self) -> None:
        document = self._some()
        if document is not None:
            await self._ask(
                f"reindex {document.token}",
                lambda service: reindex_document(
                    service, USER, document.knowledge_base_id, document.id or ""
                ),
            )

    async def _delete_base(self) -> None:
        live = self._live()
        if len(live) < 2:
            return
        name = self._rng.choice(live)
        self.deleted_bases[name] = None
        done = await self._ask(
            f"delete base {name[:6]}",
            lambda service: _answered(delete_knowledge_base(service, USER, name)),
        )
        if done:
            self.deleted_bases[name] = self._world.loop.time()

    async def _migrate(self) -> None:
        live = self._live()
        if not live:
            return
        name = self._rng.choice(live)
        model = self._rng.choice(list(self._world.others.values()))
        config = replace(CONFIG, model=model.model, dimensions=model.dimensions)

        async def begin(service: KnowledgeBaseService) -> bool:
            record = await service.storage.knowledge_bases.get(USER, name)
            if record is not None:
                await begin_with(service, record, config)
            return True

        await self._ask(f"migrate {name[:6]} to {model.model}", begin)

    async def _cancel(self) -> None:
        live = self._live()
        if live:
            name = self._rng.choice(live)
            await self._ask(
                f"cancel {name[:6]}",
                lambda service: _answered(cancel_migration(service, USER, name)),
            )

    async def _search(self) -> None:
        document = self._some()
        if document is None:
            return
        sent_at = self._world.loop.time()
        hits = await self.hits(document)
        if hits is None:
            return
        self.check(hits, document.knowledge_base_id, sent_at)
        found = any(hit.document_id == document.id for hit in hits)
        if found and document.ready_at is None:
            document.ready_at = sent_at
        if not found and document.ready_at is not None and document.delete_sent_at is None:
            raise ViolationError(f"I8: {document.token} was searchable and is not any more")

    async def hits(self, document: ClientDocument) -> list[SearchHit] | None:
        """Search for the token of a document."""

        async def search(service: KnowledgeBaseService) -> list[SearchHit]:
            handle = await service.manager.get_knowledge(USER, document.knowledge_base_id)
            if meaning:
                only = {"document_id": document.id or ""}
                return await handle.search(
                    document.token, top_k=200, mode=SearchMode.VECTOR, metadata_filter=only
                )
            return await handle.search(document.token, top_k=200, mode=SearchMode.KEYWORD)

        meaning = bool(self._plan.migrations) and self._rng.random() < VECTOR_SHARE
        return await self._ask(f"search {document.token}", search)

    def check(self, hits: list[SearchHit], knowledge_base_id: str, sent_at: float) -> None:
        """Check an answer against the history: I3, I4."""
        deleted = {
            document.id: document
            for document in self.documents
            if document.deleted_at is not None and document.deleted_at <= sent_at
        }
        base_deleted_at = self.deleted_bases.get(knowledge_base_id)
        if hits and base_deleted_at is not None and base_deleted_at <= sent_at:
            raise ViolationError("I3: a deleted knowledge base was searched")
        seen = set()
        for hit in hits:
            if hit.document_id in deleted:
                raise ViolationError(f"I3: deleted {deleted[hit.document_id].token} was found")
            place = (hit.document_id, hit.chunk.chunk_index)
            if place in seen:
                raise ViolationError(f"I4: {place} was shown twice")
            seen.add(place)


async def _answered(work: Awaitable[None]) -> bool:
    await work
    return True
