"""Directed stories in a simulated world: one step after the other, on virtual time."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from agentscope.app.rag.service.delete_document import delete_document
from agentscope.app.rag.service.delete_knowledge_base import delete_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.rag.service.reindex import reindex_document
from agentscope.app.rag.service.upload import UploadFields, upload
from agentscope.app.records import (
    CLAIMABLE,
    DocumentRecord,
    DocumentStatus,
    Policy,
)
from agentscope.rag.document import SearchHit, SearchMode
from agentscope.testing.clients import CONFIG
from agentscope.testing.faults import FaultRates
from agentscope.testing.simulation import SimulationLoop
from agentscope.testing.world import SIMULATED, USER, Api, World, scratch_folder, seeded_ids

T = TypeVar("T")

LONGEST_SECONDS = 6 * 3600.0


class Bytes:
    """A file as the upload verb takes it."""

    def __init__(self, filename: str, data: bytes, fields: UploadFields) -> None:
        self.filename = filename
        self.declared_type = "text/plain"
        self._data = data
        self._fields = fields

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the content in one piece."""
        yield self._data

    def fields(self) -> UploadFields:
        """Return what the form said."""
        return self._fields


class Driver:
    """Plays one client of one API process, and looks behind the scenes."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.api: Api = world.start_api()
        self._number = 0

    async def ask(self, work: Callable[[KnowledgeBaseService], Awaitable[T]]) -> T:
        """Return the answer of a request, or raise its error."""
        task = await self.world.call(self.api, work, seconds=LONGEST_SECONDS)
        assert task is not None, "the request was never answered"
        return task.result()

    async def knowledge_base(self, user: str = USER) -> str:
        """Create a knowledge base."""
        record = await self.ask(
            lambda service: service.manager.create_knowledge_base(user, "name", "", CONFIG)
        )
        return record.id

    async def upload(
        self,
        knowledge_base_id: str,
        text: str,
        *,
        user: str = USER,
        fields: UploadFields | None = None,
    ) -> str:
        """Upload a text file and return the document's id."""
        self._number += 1
        file = Bytes(f"file{self._number}.txt", text.encode(), fields or UploadFields())
        result = await self.ask(lambda service: upload(service, user, knowledge_base_id, file))
        return result.document.id

    async def delete(self, document_id: str, user: str = USER) -> None:
        """Delete a document."""
        base = self.world.storage._state.documents[document_id].knowledge_base_id
        await self.ask(lambda service: delete_document(service, user, base, document_id))

    async def delete_base(self, knowledge_base_id: str) -> None:
        """Delete a knowledge base."""
        await self.ask(lambda service: delete_knowledge_base(service, USER, knowledge_base_id))

    async def reindex(self, document_id: str) -> None:
        """Queue a document again."""
        base = self.record(document_id).knowledge_base_id
        await self.ask(lambda service: reindex_document(service, USER, base, document_id))

    async def search(self, knowledge_base_id: str, text: str, user: str = USER) -> list[SearchHit]:
        """Search by keyword."""

        async def run(service: KnowledgeBaseService) -> list[SearchHit]:
            handle = await service.manager.get_knowledge(user, knowledge_base_id)
            return await handle.search(text, top_k=100, mode=SearchMode.KEYWORD)

        return await self.ask(run)

    def find(self, document_id: str) -> DocumentRecord | None:
        """Return the record in whatever state it is."""
        return self.world.storage._state.documents.get(document_id)

    def record(self, document_id: str) -> DocumentRecord:
        """Return the record, which must be there."""
        record = self.find(document_id)
        assert record is not None, f"{document_id} is gone"
        return record

    def status(self, document_id: str) -> str:
        """Return its status, or `gone`."""
        record = self.find(document_id)
        return str(record.status) if record else "gone"

    async def until(self, condition: Callable[[], bool], seconds: float = 3600.0) -> float:
        """Wait until a condition holds; return how long it took."""
        start = self.world.loop.time()
        while not condition():
            passed = self.world.loop.time() - start
            assert passed < seconds, f"not within {seconds} s"
            await asyncio.sleep(0.05)
        return self.world.loop.time() - start

    async def until_status(self, document_id: str, *wanted: str, seconds: float = 3600.0) -> str:
        """Wait until the document has one of the statuses; return it."""
        await self.until(lambda: self.status(document_id) in wanted, seconds)
        return self.status(document_id)

    async def indexed(self, seconds: float = 3600.0) -> None:
        """Wait until no document waits or runs."""

        def done() -> bool:
            records = self.world.storage._state.documents.values()
            return not any(record.status in CLAIMABLE for record in records)

        await self.until(done, seconds)

    async def rest(self, *, suspended: bool = False) -> None:
        """Wait until nothing is due, then let the audit find nothing.

        Where a machine was suspended, garbage that nobody can see is removed first.
        """
        await self.world.quiescent(hours=6)
        if suspended:
            await self.world.remove_late_garbage()
        await self.world.check_always()
        report = await self.world.auditor().run()
        assert report.clean, report.findings[:5]
        assert not report.unfinished, report.unfinished

    def vectors(self) -> Counter[str]:
        """Return the number of stored points per document, of all runs."""
        return Counter(
            key[0]
            for collection in self.world.vectors._collections.values()
            for key in collection.entries
        )

    async def claimed(self, document_id: str) -> None:
        """Wait until a worker holds the document."""
        await self.until(lambda: self.status(document_id) == DocumentStatus.PARSING)


def story(
    tell: Callable[[World], Awaitable[None]],
    *,
    seed: int = 1,
    rates: FaultRates | None = None,
    policy: Policy = SIMULATED,
) -> World:
    """Run `tell` in a fresh world, without faults unless `rates` says so; return the world."""
    loop = SimulationLoop(seed)
    with scratch_folder() as scratch, seeded_ids(seed):
        world = World(loop, scratch, rates or FaultRates(), policy)

        async def run() -> None:
            try:
                await tell(world)
                assert not loop.failures, f"a background task broke: {loop.failures[:3]!r}"
            finally:
                await world.end()

        try:
            loop.run_until_complete(run())
        finally:
            loop.close()
    return world


def seconds(value: timedelta) -> float:
    """Return a duration in seconds."""
    return value.total_seconds()
