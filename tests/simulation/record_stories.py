"""Guards of the record itself: it comes first and goes last, and no run brings it back."""

from collections.abc import Callable
from typing import Any

import pytest

from agentscope.app.rag.service.upload import UploadFields, upload
from agentscope.app.records import DocumentRecord, DocumentStatus, UploadResult
from agentscope.app.storage.memory.documents import InMemoryDocuments
from agentscope.app.storage.verbs import RunWriter
from agentscope.errors import LeaseLostError
from agentscope.testing.driver import Bytes, Driver, story
from agentscope.testing.world import USER, World

Patch = pytest.MonkeyPatch


def a_blob_never_comes_before_its_record(patch: Patch) -> None:
    """The API dies when the bytes are stored: the record that was made before leads to them."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        base = await driver.knowledge_base()
        put, process = world.blobs.put, driver.api.process

        async def put_and_die(key: str, data: bytes) -> str:
            uri = await put(key, data)
            world.kill(process)
            return uri

        patch.setattr(world.blobs, "put", put_and_die)
        file = Bytes("a.txt", b"alpha", UploadFields())
        await world.call(driver.api, lambda service: upload(service, USER, base, file), seconds=30)
        assert len(world.blobs.blobs) == 1
        world.restart_the_dead()
        await driver.rest()
        assert not world.blobs.blobs

    story(tell)


def remove_intent(patch: Patch) -> None:
    begin, commit = InMemoryDocuments.begin_upload, InMemoryDocuments.commit_upload
    held: dict[str, DocumentRecord] = {}

    async def forgetful(self: InMemoryDocuments, *arguments: Any, **named: Any) -> DocumentRecord:
        record = await begin(self, *arguments, **named)
        held[record.id] = self._state.documents.pop(record.id)
        return record

    async def late(self: InMemoryDocuments, document_id: str, **named: Any) -> UploadResult:
        if document_id in held:
            self._state.documents[document_id] = held.pop(document_id)
        return await commit(self, document_id, **named)

    patch.setattr(InMemoryDocuments, "begin_upload", forgetful)
    patch.setattr(InMemoryDocuments, "commit_upload", late)


def a_run_brings_no_record_back(patch: Patch) -> None:
    """Its document was deleted and purged while it read; then it tells its next stage."""

    async def tell(world: World) -> None:
        driver = Driver(world)
        world.start_worker()
        name = await driver.upload(await driver.knowledge_base(), "GATE alpha")
        await world.at_gate.wait()
        run_id = driver.record(name).run_id
        assert run_id is not None
        writer = RunWriter(world.storage.documents, name, run_id, world.policy)
        await driver.delete(name)
        await driver.rest()
        with pytest.raises(LeaseLostError):
            await writer.set_stage(DocumentStatus.INDEXING)
        assert driver.status(name) == "gone"

    story(tell)


def remove_no_upsert(patch: Patch) -> None:
    apply = InMemoryDocuments.apply
    seen: dict[str, DocumentRecord] = {}

    async def upserting(
        self: InMemoryDocuments, document_id: str, change: Any, **named: Any
    ) -> DocumentRecord | None:
        record = self._state.documents.get(document_id)
        if record is not None:
            if record.run_id is not None:
                seen[document_id] = record
            return await apply(self, document_id, change, **named)
        base = self._state.knowledge_bases.get(seen[document_id].knowledge_base_id)
        self._state.documents[document_id] = change(seen[document_id], base, self._state.now())
        return self._state.documents[document_id]

    patch.setattr(InMemoryDocuments, "apply", upserting)


RECORD_GUARDS: dict[str, tuple[Callable[[Patch], None], Callable[[Patch], None]]] = {
    "intent": (a_blob_never_comes_before_its_record, remove_intent),
    "no_upsert": (a_run_brings_no_record_back, remove_no_upsert),
}
