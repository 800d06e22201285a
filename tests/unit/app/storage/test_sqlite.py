"""What is special to the SQLite file."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agentscope.app.records import DocumentStatus
from agentscope.app.storage.sql.session import Session
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.errors import ConfigurationError, InvalidInputError, StorageError
from agentscope.testing.storage import World


def world(path: Path) -> World:
    """Return a storage on the file, on real time."""
    return World(SQLiteStorage(path), lambda step: None)


async def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    """Records, counters and events live in the file, which only its owner may read."""
    path = tmp_path / "new folder" / "rag.db"
    first = world(path)
    async with first.storage:
        base = await first.knowledge_base()
        document = await first.ready(base)
    assert path.stat().st_mode & 0o777 == 0o600
    second = world(path)
    async with second.storage:
        assert await second.storage.documents.get("u", base.id, document.id) == document
        await second.check_totals()
        await second.check_events("u")


async def test_a_damaged_file_is_a_plain_error(tmp_path: Path) -> None:
    """It is told apart from an outage: retrying does not help."""
    path = tmp_path / "rag.db"
    path.write_bytes(b"this is no database " * 500)
    with pytest.raises(StorageError) as caught:
        async with world(path).storage:
            pass
    assert "damaged" in caught.value.message
    assert not caught.value.retryable
    assert str(tmp_path) not in caught.value.message


async def test_a_file_damaged_inside_is_a_plain_error(tmp_path: Path) -> None:
    """Also when it opens and a page in the middle is wrong."""
    path = tmp_path / "rag.db"
    first = world(path)
    async with first.storage:
        base = await first.knowledge_base()
        for _ in range(30):
            await first.upload(base, filename="x" * 500)
    content = bytearray(path.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 200] = os.urandom(200)
    path.write_bytes(content)
    second = world(path)
    with pytest.raises(StorageError) as caught:
        async with second.storage:
            await second.everything()
            await second.upload(base)
    assert "damaged" in caught.value.message


async def test_a_path_that_cannot_be_opened_is_a_plain_error(tmp_path: Path) -> None:
    """A folder is no file."""
    with pytest.raises(StorageError) as caught:
        async with world(tmp_path).storage:
            pass
    assert "cannot be opened" in caught.value.message


async def test_a_locked_file_is_a_plain_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process that holds the file is named; afterwards work goes on."""
    monkeypatch.setattr("agentscope.app.storage.sql.sqlite.BUSY_TIMEOUT_SECONDS", 0.05)
    path = tmp_path / "rag.db"
    mine = world(path)
    async with mine.storage:
        base = await mine.knowledge_base()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError) as caught:
            await mine.upload(base)
        assert "Another process" in caught.value.message
        assert caught.value.retryable
        assert await mine.storage.knowledge_bases.get("u", base.id) is not None
        other.execute("ROLLBACK")
        other.close()
        await mine.upload(base)


async def test_a_full_disk_is_a_plain_error(tmp_path: Path) -> None:
    """Nothing of the refused write stays; smaller work goes on once there is room."""
    mine = world(tmp_path / "rag.db")
    async with mine.storage:
        base = await mine.knowledge_base()
        database = mine.storage.documents._database  # type: ignore[attr-defined]

        def limit(pages: int) -> Callable[[Session], object]:
            return lambda session: session.rows(f"PRAGMA max_page_count = {pages}")

        await database.write(limit(1))
        with pytest.raises(StorageError) as caught:
            for _ in range(200):
                await mine.upload(base, filename="x" * 5000)
        assert "full" in caught.value.message
        await mine.check_totals()
        await database.write(limit(1_000_000))
        await mine.upload(base)
        await mine.check_totals()
        await mine.check_events("u")


async def test_the_database_itself_refuses_to_strand_a_document(tmp_path: Path) -> None:
    """The constraint holds even against a fault of this program."""
    mine = world(tmp_path / "rag.db")
    async with mine.storage:
        base = await mine.knowledge_base()
        await mine.upload(base)
        database = mine.storage.documents._database  # type: ignore[attr-defined]
        with pytest.raises(StorageError):
            await database.write(lambda session: session.rows("UPDATE documents SET due_at = NULL"))
        assert len(await mine.claim()) == 1


async def test_text_that_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    """Half a character in an id is the caller's mistake; in a name it is kept."""
    mine = world(tmp_path / "rag.db")
    async with mine.storage:
        base = await mine.knowledge_base()
        with pytest.raises(InvalidInputError):
            await mine.begin(base, id="\ud800")
        document = await mine.upload(base, filename="a\ud800\x00.txt")
        assert document.filename == "a\ud800\x00.txt"


async def test_data_of_a_newer_version_is_not_touched(tmp_path: Path) -> None:
    """Two steps ahead is more than a rolling upgrade makes."""
    path = tmp_path / "rag.db"
    async with world(path).storage:
        pass
    other = sqlite3.connect(path)
    other.execute("INSERT INTO schema_steps VALUES (99, 0)")
    other.commit()
    other.close()
    with pytest.raises(ConfigurationError):
        async with world(path).storage:
            pass


async def test_calls_before_entering_and_after_closing_are_refused(tmp_path: Path) -> None:
    """Never an attribute error."""
    mine = world(tmp_path / "rag.db")
    for _ in range(2):
        with pytest.raises(StorageError):
            await mine.storage.now()
        with pytest.raises(StorageError):
            await mine.knowledge_base()
        async with mine.storage:
            await mine.storage.now()


async def test_a_cancelled_caller_harms_nobody(tmp_path: Path) -> None:
    """The others' work is done, and the books are right whatever became of the cancelled."""
    mine = world(tmp_path / "rag.db")
    async with mine.storage:
        base = await mine.knowledge_base()
        tasks = [asyncio.create_task(mine.upload(base)) for _ in range(40)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert not [one for one in results[1::2] if isinstance(one, BaseException)]
        await mine.check_totals()
        await mine.check_events("u")


async def test_what_a_user_was_told_is_flushed_and_the_rest_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Callers that wait at the same moment share one flush; work that can be redone has none."""
    flushes: list[int] = []
    flush = os.fsync

    def counted(file: int) -> None:
        flushes.append(file)
        flush(file)

    monkeypatch.setattr("agentscope.app.storage.sql.sqlite.os.fsync", counted)
    mine = world(tmp_path / "rag.db")
    async with mine.storage:
        base = await mine.knowledge_base()

        async def flushed(work: Awaitable[Any]) -> tuple[Any, int]:
            before = len(flushes)
            return await work, len(flushes) - before

        _, count = await flushed(mine.upload(base))
        assert count == 2
        claims, count = await flushed(mine.claim())
        assert count == 0
        writer = mine.writer(claims[0])
        assert (await flushed(writer.renew()))[1] == 0
        assert (await flushed(writer.set_stage(DocumentStatus.INDEXING)))[1] == 0
        assert (await flushed(writer.publish(1, warnings=(), report={})))[1] == 1
        assert (await flushed(mine.sweep()))[1] == 0
        _, count = await flushed(asyncio.gather(*(mine.upload(base) for _ in range(40))))
        assert count < 20


QUERIES = {
    "sweep": "SELECT body FROM documents WHERE queue = 0 AND due_at <= :now "
    "ORDER BY due_at, id LIMIT 50",
    "sweep of knowledge bases": "SELECT body FROM knowledge_bases WHERE due_at <= :now "
    "ORDER BY due_at, id LIMIT 50",
    "first page": "SELECT body FROM documents WHERE knowledge_base_id = :base AND visible = 1 "
    "ORDER BY created_at DESC, id DESC LIMIT 30 OFFSET 0",
    "turn": "SELECT d.body FROM documents d JOIN knowledge_bases k ON k.id = d.knowledge_base_id "
    "WHERE d.user_id = :user AND d.queue = 1 AND d.due_at <= :now AND k.status = 'active' "
    "ORDER BY d.due_at, d.created_at, d.id LIMIT 1",
    "users in turn": "SELECT user_id FROM users WHERE unfinished > 0 "
    "ORDER BY running, last_served, user_id LIMIT 1",
    "twin": "SELECT body FROM documents WHERE knowledge_base_id = :base AND sha = :sha "
    "AND visible = 1 AND id <> :id ORDER BY created_at, id LIMIT 1",
    "due": "SELECT min(due_at) FROM documents WHERE queue = 1 AND due_at IS NOT NULL",
}


@pytest.mark.parametrize("name", QUERIES)
async def test_frequent_queries_walk_an_index(tmp_path: Path, name: str) -> None:
    """Without a scan of all rows and without a sort."""
    mine = world(tmp_path / "rag.db")
    async with mine.storage:
        database = mine.storage.documents._database  # type: ignore[attr-defined]
        values: dict[str, Any] = dict.fromkeys(("now", "base", "user", "sha", "id"), 1)

        def work(session: Session) -> list[str]:
            rows = session.rows(f"EXPLAIN QUERY PLAN {QUERIES[name]}", **values)
            return [str(row[3]) for row in rows]

        plan = await database.read(work)
        assert not [step for step in plan if "TEMP B-TREE" in step]
        scans = [step for step in plan if step.startswith("SCAN") and "USING" not in step]
        assert not [step for step in scans if "CONSTANT" not in step], plan


KILLED = """
import asyncio, sys
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.testing.storage import World

async def main():
    world = World(SQLiteStorage(sys.argv[1]), lambda step: None)
    async with world.storage:
        bases = [await world.knowledge_base(f"u{number}") for number in range(3)]
        async def one(base):
            while True:
                document = await world.upload(base)
                print(base.user_id, base.id, document.id, flush=True)
        await asyncio.gather(*(one(base) for base in bases * 3))

asyncio.run(main())
"""


@pytest.mark.kill
async def test_a_killed_process_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    """After kill -9 in the middle of writes the file opens and the books are right."""
    path = tmp_path / "rag.db"

    def kill() -> list[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(40)]
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.read().splitlines(keepends=True)
        child.wait()
        child.stdout.close()
        return [line for line in lines if line.endswith("\n")]

    acknowledged = await asyncio.to_thread(kill)
    mine = world(path)
    async with mine.storage:
        for line in acknowledged:
            user_id, base_id, document_id = line.split()
            found = await mine.storage.documents.get(user_id, base_id, document_id)
            assert found is not None
        await mine.check_totals()
        for number in range(3):
            await mine.check_events(f"u{number}")
