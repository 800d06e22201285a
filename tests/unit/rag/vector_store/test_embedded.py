"""What is special to the embedded store: durability, locks, bounds, its index."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentscope.errors import (
    DataDirectoryLockedError,
    InvalidInputError,
    VectorStoreError,
)
from agentscope.rag.document import Point, Run
from agentscope.rag.vector_store import embedded_rows
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.embedded_build import build
from agentscope.rag.vector_store.embedded_rows import DATABASE
from agentscope.rag.vector_store.filter import Equals, Not
from agentscope.testing.vector_store_data import (
    COLLECTION,
    DIMENSIONS,
    make_point,
    places,
    random_points,
    unit,
)

CHILD = Path(__file__).with_name("embedded_child.py")


class IndexedStore(EmbeddedVectorStore):
    """Builds an index from the first point on, in a thread of this process."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, index_from_values=1)
        self.built = asyncio.Event()
        self.gate: asyncio.Event | None = None

    async def _build(self, database: Path, target: Path) -> bool:
        await asyncio.to_thread(build, database, target)
        self.built.set()
        if self.gate is not None:
            await self.gate.wait()
        return True


def index_directories(root: Path) -> list[Path]:
    """Return the index directories of all collections."""
    return sorted(root.glob("*/index-*"))


async def filled(store: EmbeddedVectorStore, points: Sequence[Point]) -> None:
    """Create the suite's collection with `points`."""
    await store.create_collection(COLLECTION, DIMENSIONS)
    await store.upsert(COLLECTION, points)


@pytest.mark.kill
async def test_what_was_stored_survives_sigkill(tmp_path: Path) -> None:
    """Every upsert and deletion that returned is there; nothing is half there."""
    child = await asyncio.to_thread(
        subprocess.Popen,
        [sys.executable, str(CHILD), str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert child.stdout is not None
    lines: list[str] = []
    while len(lines) < 60:
        lines.append(child.stdout.readline().decode().strip())
    child.send_signal(signal.SIGKILL)
    rest, _ = child.communicate(timeout=30)
    lines += [line for line in rest.decode().splitlines() if line]
    deleted = {line.split()[1] for line in lines if line.startswith("deleted")}
    stored = [line.split()[1] for line in lines if line.startswith("stored")]
    async with EmbeddedVectorStore(tmp_path) as store:
        for number in stored:
            count = await store.count(COLLECTION, f"d{number}", "r1")
            is_last = number == stored[-1]
            assert count == (0 if number in deleted else 3) or (is_last and count == 0), number
        async for run in store.stored_runs(COLLECTION):
            assert run.count == 3
            found = await store.search_keyword(
                COLLECTION, "text", top_k=5, where=Equals("document_id", run.document_id)
            )
            assert len(found) == 3


async def test_data_is_there_again_after_closing(tmp_path: Path) -> None:
    """Chunks, vectors and terms."""
    async with EmbeddedVectorStore(tmp_path) as store:
        await filled(store, random_points(3, 30))
        first = await store.search_vector(COLLECTION, unit(1), top_k=7)
    async with EmbeddedVectorStore(tmp_path) as store:
        again = await store.search_vector(COLLECTION, unit(1), top_k=7)
        assert [hit.score for hit in again] == [hit.score for hit in first]
        assert await store.search_keyword(COLLECTION, "检索", top_k=3)


async def test_a_second_user_of_the_directory_is_told_so(tmp_path: Path) -> None:
    """In this process or another; the lock ends with the first."""
    script = (
        "import asyncio, sys\n"
        "from agentscope.rag.vector_store.embedded import EmbeddedVectorStore\n"
        "async def main():\n"
        "    async with EmbeddedVectorStore(sys.argv[1]): pass\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    async with EmbeddedVectorStore(tmp_path):
        with pytest.raises(DataDirectoryLockedError, match="already uses"):
            await EmbeddedVectorStore(tmp_path).list_collections()
        second = await asyncio.to_thread(
            subprocess.run, command, env=environment, capture_output=True, check=False
        )
        assert b"DataDirectoryLockedError" in second.stderr
    third = await asyncio.to_thread(
        subprocess.run, command, env=environment, capture_output=True, check=False
    )
    assert third.returncode == 0


async def test_a_closed_store_refuses_until_it_is_entered_again(tmp_path: Path) -> None:
    """Late calls cannot take the lock again by accident; closing twice is harmless."""
    store = EmbeddedVectorStore(tmp_path)
    await store.aclose()
    async with store:
        await filled(store, [make_point("d1", 0, unit(1))])
    await store.aclose()
    with pytest.raises(VectorStoreError, match="closed"):
        await store.count(COLLECTION, "d1", "r1")
    async with store:
        assert await store.count(COLLECTION, "d1", "r1") == 1


async def test_only_a_bounded_number_of_collections_stays_open(tmp_path: Path) -> None:
    """The others are opened again when they are asked for."""
    async with EmbeddedVectorStore(tmp_path, max_open=3) as store:
        for number in range(12):
            await store.create_collection(f"kb{number}", DIMENSIONS)
            await store.upsert(f"kb{number}", [make_point(f"d{number}", 0, unit(1))])
        descriptors = Path("/proc/self/fd")
        links = [entry.resolve() for entry in descriptors.iterdir() if entry.exists()]
        held = {link.parent.name for link in links if tmp_path in link.parents}
        assert len(held - {tmp_path.name}) <= 3
        hits = await asyncio.gather(
            *(store.search_vector(f"kb{n}", unit(1), top_k=1) for n in range(12))
        )
        assert [places(found) for found in hits] == [[(f"d{n}", 0)] for n in range(12)]


async def test_a_damaged_file_gives_advice_and_can_be_removed(tmp_path: Path) -> None:
    """Neither a stack trace nor a silent empty answer; the other collections work."""
    async with EmbeddedVectorStore(tmp_path) as store:
        await filled(store, random_points(1, 20))
        await store.create_collection("other", DIMENSIONS)
    database = tmp_path / COLLECTION / DATABASE
    for damage in (b"", b"junk" * 5000):
        database.write_bytes(damage)
        for extra in ("-wal", "-shm"):
            database.with_name(DATABASE + extra).unlink(missing_ok=True)
        async with EmbeddedVectorStore(tmp_path) as store:
            with pytest.raises(VectorStoreError, match="damaged") as caught:
                await store.search_vector(COLLECTION, unit(1), top_k=1)
            assert not caught.value.retryable
            assert await store.search_vector("other", unit(1), top_k=1) == []
    shutil.rmtree(tmp_path / COLLECTION)
    (tmp_path / COLLECTION).mkdir()
    async with EmbeddedVectorStore(tmp_path) as store:
        with pytest.raises(VectorStoreError, match="damaged"):
            await store.count(COLLECTION, "d1", "r1")
        await store.delete_collection(COLLECTION)
        await store.create_collection(COLLECTION, DIMENSIONS)
        assert await store.search_vector(COLLECTION, unit(1), top_k=1) == []


async def test_another_format_is_named_as_such(tmp_path: Path) -> None:
    """Data of a newer release is not touched."""
    async with EmbeddedVectorStore(tmp_path) as store:
        await filled(store, random_points(1, 5))
    connection = sqlite3.connect(tmp_path / COLLECTION / DATABASE)
    connection.execute("UPDATE meta SET value = '999' WHERE key = 'format'")
    connection.commit()
    connection.close()
    async with EmbeddedVectorStore(tmp_path) as store:
        with pytest.raises(VectorStoreError, match="another version"):
            await store.search_vector(COLLECTION, unit(1), top_k=1)


async def test_a_change_of_the_term_rules_rebuilds_the_full_text_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old data is found by the new terms, and can be deleted."""
    async with EmbeddedVectorStore(tmp_path) as store:
        await filled(store, [make_point("d1", n, unit(1), text=f"quartz {n}") for n in range(700)])
    monkeypatch.setattr(embedded_rows, "terms_stamp", lambda: "next")
    monkeypatch.setattr(embedded_rows, "document_terms", lambda text: [f"new{text[:6]}"])
    async with EmbeddedVectorStore(tmp_path) as store:
        assert await store.search_keyword(COLLECTION, "quartz", top_k=3) == []
        assert len(await store.search_keyword(COLLECTION, "newquartz", top_k=900)) == 700
        await store.delete_document(COLLECTION, "d1")
        assert await store.search_keyword(COLLECTION, "newquartz", top_k=3) == []


async def test_leftovers_of_a_crash_are_removed_at_start(tmp_path: Path) -> None:
    """Half-made and half-removed collections never appear."""
    for name in (".new-x", ".trash-x"):
        (tmp_path / name).mkdir()
    async with EmbeddedVectorStore(tmp_path) as store:
        assert await store.list_collections() == []
        assert not (tmp_path / ".new-x").exists()
        assert not (tmp_path / ".trash-x").exists()
        with pytest.raises(InvalidInputError):
            await store.create_collection("x" * 5000, DIMENSIONS)


async def test_a_cancelled_call_leaves_the_store_usable(tmp_path: Path) -> None:
    """The lane is handed on when the thread is done."""
    async with EmbeddedVectorStore(tmp_path) as store:
        await store.create_collection(COLLECTION, DIMENSIONS)
        tasks = [
            asyncio.create_task(store.upsert(COLLECTION, random_points(n, 200))) for n in range(6)
        ]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert len(await store.search_vector(COLLECTION, unit(1), top_k=999)) == 200


async def test_an_index_is_built_used_kept_in_step_and_opened_again(tmp_path: Path) -> None:
    """Searches through it equal the exact ones, after writes, deletions and a restart."""
    points = random_points(5, 400)
    async with IndexedStore(tmp_path) as store:
        await filled(store, points)
        await store.wait_for_indexes()
        assert store.built.is_set()
        assert len(index_directories(tmp_path)) == 1
        await store.delete_document(COLLECTION, "d0003")
        await store.upsert(COLLECTION, [make_point("near", 0, unit(1, 2, 3))])
        await store.upsert(COLLECTION, [make_point("near", 1, unit(3, 2, 1))])
        await store.upsert(COLLECTION, [make_point("near", 1, unit(-3, 2, 1))])
        hits = await store.search_vector(COLLECTION, unit(1, 2, 3), top_k=20)
        assert places(hits)[0] == ("near", 0)
        assert await store.count(COLLECTION, "near", "r1") == 2
    (tmp_path / COLLECTION / "index-leftover").mkdir()
    async with IndexedStore(tmp_path) as store:
        again = await store.search_vector(COLLECTION, unit(1, 2, 3), top_k=20)
        assert places(again) == places(hits)
        assert len(index_directories(tmp_path)) == 1
    async with EmbeddedVectorStore(tmp_path, index_from_values=10**9) as store:
        shutil.rmtree(index_directories(tmp_path)[0])
        exact = await store.search_vector(COLLECTION, unit(1, 2, 3), top_k=20)
        assert [(hit.document_id, hit.score) for hit in exact] == [
            (hit.document_id, hit.score) for hit in hits
        ]


async def test_writes_during_a_build_are_in_the_index_afterwards(tmp_path: Path) -> None:
    """The journal brings the new index up to date before it is used."""
    async with IndexedStore(tmp_path) as store:
        store.gate = asyncio.Event()
        await filled(store, random_points(6, 50))
        await store.built.wait()
        await store.upsert(COLLECTION, [make_point("late", 0, unit(0, 0, 1))])
        await store.delete_document(COLLECTION, "d0001")
        store.gate.set()
        await store.wait_for_indexes()
        found = await store.search_vector(COLLECTION, unit(0, 0, 1), top_k=60)
        assert places(found)[0] == ("late", 0)
        assert len(found) == 46
        assert "d0001" not in {hit.document_id for hit in found}
        await store.count(COLLECTION, "late", "r1")
        assert len(index_directories(tmp_path)) == 1


async def test_a_damaged_or_lost_index_is_built_anew_unnoticed(tmp_path: Path) -> None:
    """The rows answer meanwhile."""
    async with IndexedStore(tmp_path) as store:
        await filled(store, random_points(7, 100))
        await store.wait_for_indexes()
        expected = places(await store.search_vector(COLLECTION, unit(1), top_k=10))
    (directory,) = index_directories(tmp_path)
    for file in directory.rglob("*"):
        if file.is_file():
            file.write_bytes(b"junk")
    async with IndexedStore(tmp_path) as store:
        assert places(await store.search_vector(COLLECTION, unit(1), top_k=10)) == expected
        await store.upsert(COLLECTION, [make_point("more", 0, unit(0, 1))])
        await store.wait_for_indexes()
        assert index_directories(tmp_path) != [directory]
        assert places(await store.search_vector(COLLECTION, unit(1), top_k=10)) == expected


async def test_an_index_that_missed_the_last_writes_catches_up_on_opening(tmp_path: Path) -> None:
    """As after a crash between the rows and the index."""
    async with IndexedStore(tmp_path) as store:
        await filled(store, random_points(8, 60))
        await store.wait_for_indexes()
        slot = store._slots[COLLECTION]
        assert slot.collection is not None
        slot.collection.index.apply = lambda *_: None  # type: ignore[method-assign]
        await store.upsert(COLLECTION, [make_point("late", 0, unit(0, 0, 1))])
        await store.delete_document(COLLECTION, "d0002")
    async with IndexedStore(tmp_path) as store:
        hits = await store.search_vector(COLLECTION, unit(0, 0, 1), top_k=99)
        assert places(hits)[0] == ("late", 0)
        assert len(hits) == 56
        assert len(index_directories(tmp_path)) == 1


async def test_a_build_that_fails_or_is_stopped_changes_nothing(tmp_path: Path) -> None:
    """The store goes on without an index and closes at once."""

    class Failing(IndexedStore):
        async def _build(self, database: Path, target: Path) -> bool:
            target.mkdir()
            return False

    class Hanging(IndexedStore):
        async def _build(self, database: Path, target: Path) -> bool:
            self.built.set()
            await asyncio.Event().wait()
            return True

    for kind in (Failing, Hanging):
        store = kind(tmp_path / kind.__name__)
        async with store:
            await filled(store, random_points(9, 30))
            if kind is Failing:
                await store.wait_for_indexes()
            else:
                await store.built.wait()
            assert len(await store.search_vector(COLLECTION, unit(1), top_k=50)) == 30
        assert index_directories(tmp_path / kind.__name__) == []


async def test_the_index_is_built_by_a_child_process(tmp_path: Path) -> None:
    """The real builder, on a small collection, with narrow filters behind the index."""
    async with EmbeddedVectorStore(tmp_path, index_from_values=DIMENSIONS * 300) as store:
        points = [
            make_point(f"d{n}", 0, unit(1, n / 500), run=Run("r", 1), metadata={"n": n})
            for n in range(400)
        ]
        await filled(store, points)
        await store.wait_for_indexes()
        assert len(index_directories(tmp_path)) == 1
        where = Equals("n", 399)
        hits = await store.search_vector(COLLECTION, unit(1), top_k=3, where=where)
        assert places(hits) == [("d399", 0)]
        hits = await store.search_vector(COLLECTION, unit(1), top_k=300, where=Not(where))
        assert places(hits)[:2] == [("d0", 0), ("d1", 0)]
        assert len(hits) == 300
