"""Faults of the reference implementation that need a real server, process or thread to show."""

import asyncio
import io
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest

from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.records import DocumentQuery, DocumentStatus, Page
from agentscope.app.redis_connection import RedisConnection
from agentscope.app.storage.redis.store import RedisStorage
from agentscope.app.storage.verbs import purge_passed, tombstone
from agentscope.identity import new_id
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.testing import servers
from agentscope.testing.rest import RestService, memory_app
from agentscope.testing.storage_world import World

PATIENCE_SECONDS = 60


class DiedError(Exception):
    """The client process ended here."""


async def _life_of_a_document(world: World) -> None:
    """Upload, index, delete and purge one document."""
    base = await world.knowledge_base()
    ready = await world.ready(base, sha="a" * 64)
    await tombstone(world.storage.documents, ready.id, policy=world.policy)
    world.advance(timedelta(hours=2))
    (swept,) = await world.sweep()
    assert swept.document is not None
    await purge_passed(world.storage.documents, ready.id, claimed_at=swept.claimed_at)


async def _check_lists(world: World) -> None:
    """Records, lists, counters and events tell the same."""
    await world.check_totals()
    for base in await world.storage.knowledge_bases.all(limit=100):
        shown = [
            record.id
            for record in await world.everything()
            if record.status not in (DocumentStatus.UPLOADING, DocumentStatus.DELETING)
        ]
        page, total = await world.storage.documents.page(
            base.user_id, base.id, DocumentQuery(), Page()
        )
        assert [record.id for record in page] == shown
        assert total == len(shown)
        await world.check_events(base.user_id)


@pytest.mark.server
async def test_fault_a23_a_client_that_dies_between_two_commands_leaves_no_half_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After each number of commands: every record is in its lists, and nothing else is."""
    call, left, moved = RedisConnection.call, [10**9], [timedelta()]

    async def dying(self: RedisConnection, work: Callable[[Any], Awaitable[Any]]) -> Any:
        if left[0] == 0:
            raise DiedError
        left[0] -= 1
        return await call(self, work)

    def advance(step: timedelta) -> None:
        moved[0] += step

    monkeypatch.setattr(RedisConnection, "call", dying)
    for commands in range(1, 200):
        prefix, moved[0], left[0] = new_id(), timedelta(), commands
        async with RedisStorage(
            url=servers.shared_redis().url, key_prefix=prefix, shift=lambda: moved[0]
        ) as storage:
            world = World(storage, advance)
            try:
                await _life_of_a_document(world)
                ended = True
            except DiedError:
                ended = False
            left[0] = 10**9
            await _check_lists(world)
            if ended:
                assert await world.everything() == []
                assert commands > 8
                return
    pytest.fail("the life of a document took too many commands")


class Busy(SyncParser):
    """Burns processor time until a file with the name in its text is there."""

    supported_media_types: ClassVar[list[str]] = ["text/plain"]

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".txt"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        text = file.read_text() if isinstance(file, Path) else file.decode()
        while not os.path.exists(text):  # noqa: PTH110  # as busy as it can be
            pass
        yield Section(content=TextBlock(text="alpha"), source=filename)


def test_fault_b8_the_api_answers_while_its_own_worker_reads(tmp_path: Path) -> None:
    """The reader goes on until the API was asked: were it in the API's way, nothing would end."""
    flag = tmp_path / "asked"
    with RestService(memory_app(tmp_path, knowledge_parsers=[Busy()])) as service:
        base = service.knowledge_base()
        sent = service.upload(base, "a.txt", str(flag).encode())
        document = sent.json()["document_id"]
        path = f"/knowledge_bases/{base}/documents/status"
        for _ in range(PATIENCE_SECONDS * 20):
            item = service.json("GET", path, params={"ids": document})["items"][0]
            if item["status"] == "parsing":
                break
            service.run(asyncio.sleep(0.05))
        assert item["status"] == "parsing"
        assert service.call("GET", "/health").status_code == 200
        assert service.json("GET", f"/knowledge_bases/{base}/documents")["total"] == 1
        flag.touch()
        assert service.settled(base, document, seconds=PATIENCE_SECONDS)["status"] == "ready"


class Waiting(io.BytesIO):
    """A file that gives nothing before the event loop has moved."""

    def __init__(self, data: bytes, moved: threading.Event) -> None:
        super().__init__(data)
        self._moved = moved

    def read(self, size: int | None = -1, /) -> bytes:
        assert self._moved.wait(PATIENCE_SECONDS), (
            "the event loop stands still while a file is read"
        )
        return super().read(size)


async def test_fault_b10_no_file_is_read_on_the_event_loop(tmp_path: Path) -> None:
    """Neither the one that was sent nor the one that is stored."""
    moved = threading.Event()
    data = b"alpha" * 100_000
    async with LocalBlobStore(tmp_path) as blobs:
        storing = asyncio.create_task(blobs.write_stream("kb/a/b/1", Waiting(data, moved)))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.05, moved.set)
        uri = await storing
        assert b"".join([piece async for piece in blobs.read_range(uri, 0)]) == data
