"""The contract suite of `RunVectorStore`: what every vector store must do, the same way.

Bind it to a store in a test module:

    class TestMyStore(VectorStoreSuite):
        def open_store(self):
            return MyStore()          # an async context manager

The suite needs a runner for `async def` tests.
"""

import asyncio

import pytest

from agentscope.errors import (
    CollectionNotFoundError,
    DimensionMismatchError,
    InvalidInputError,
)
from agentscope.message.blocks import Base64Source, DataBlock
from agentscope.rag.document import Chunk, Point, Run, StoredRun, VectorRecord
from agentscope.rag.vector_store.base import RunVectorStore, VectorReader
from agentscope.rag.vector_store.filter import Equals
from agentscope.testing.vector_store_data import (
    COLLECTION,
    DIMENSIONS,
    direction,
    make_point,
    places,
    unit,
)
from agentscope.testing.vector_store_search import VectorSearchSuite


class VectorStoreSuite(VectorSearchSuite):
    """Subclass, and return a fresh, empty store from `open_store`."""

    async def test_creating_a_collection_twice_changes_nothing(self) -> None:
        """The second call leaves the points alone."""
        async with self.opened([make_point("d1", 0, unit(1))]) as store:
            await store.create_collection(COLLECTION, DIMENSIONS)
            assert await store.count(COLLECTION, "d1", "r1") == 1
            assert await store.has_collection(COLLECTION)
            assert await store.list_collections() == [COLLECTION]

    async def test_other_dimensions_for_a_known_collection_are_refused(self) -> None:
        """A collection never changes its dimensions."""
        async with self.opened() as store:
            with pytest.raises(DimensionMismatchError):
                await store.create_collection(COLLECTION, DIMENSIONS + 1)

    async def test_a_deleted_collection_is_gone_with_its_points(self) -> None:
        """Created anew it is empty; deleting twice is harmless."""
        async with self.opened([make_point("d1", 0, unit(1))]) as store:
            await store.delete_collection(COLLECTION)
            await store.delete_collection(COLLECTION)
            assert not await store.has_collection(COLLECTION)
            assert await store.list_collections() == []
            await store.create_collection(COLLECTION, DIMENSIONS + 4)
            assert await store.count(COLLECTION, "d1", "r1") == 0

    async def test_a_missing_collection_is_never_created_by_use(self) -> None:
        """Reads and writes say that it is missing; deletions of points do nothing."""
        async with self.open_store() as store:
            calls = [
                store.upsert("kb_none", [make_point("d1", 0, unit(1))]),
                store.search_vector("kb_none", unit(1), top_k=1),
                store.count("kb_none", "d1", "r1"),
                store.run_chunks("kb_none", "d1", "r1"),
            ]
            for call in calls:
                with pytest.raises(CollectionNotFoundError):
                    await call
            await store.delete_document("kb_none", "d1")
            await store.delete_run("kb_none", "d1", "r1")
            await store.delete_stale("kb_none", "d1", below_epoch=9, keep_run_id=None)
            assert await store.list_collections() == []

    async def test_names_with_odd_characters_name_different_collections(self) -> None:
        """Nothing in a name can leave the store or meet another collection."""
        names = ["kb_a", "kb_A", "kb a", "../kb", "kb/1", "知识库", "kb_" + "x" * 40]
        async with self.open_store() as store:
            for number, name in enumerate(names):
                await store.create_collection(name, DIMENSIONS)
                await store.upsert(name, [make_point(f"d{number}", 0, unit(1))])
            assert await store.list_collections() == sorted(names)
            for number, name in enumerate(names):
                hits = await store.search_vector(name, unit(1), top_k=5)
                assert places(hits) == [(f"d{number}", 0)]

    async def test_a_chunk_comes_back_as_it_went_in(self) -> None:
        """Text, metadata of every kind and data blocks survive the way through the store."""
        metadata = {
            "page": 3,
            "ratio": 0.25,
            "ok": True,
            "none": None,
            "heading_path": ["一", "two"],
            "nested": {"deep": [1, {"x": "y"}]},
            "odd 'key\" $.a[0]": "value",
        }
        text = make_point(
            "d1", 0, unit(1), text="Zeile\n汉字 🦜 'quoted' \"too\"", metadata=metadata
        )
        data = Chunk(
            content=DataBlock(source=Base64Source(data="aGk=", media_type="image/png")),
            source="picture.png",
            chunk_index=1,
            total_chunks=2,
        )
        picture = Point(unit(0, 1), "d1", Run("r1", 1), data)
        async with self.opened([text, picture]) as store:
            found = await store.search_vector(COLLECTION, unit(1), top_k=2)
            assert [hit.chunk for hit in found] == [text.chunk, data]
            assert await store.run_chunks(COLLECTION, "d1", "r1") == [text.chunk, data]

    async def test_vectors_are_read_back_in_the_order_of_the_chunks(self) -> None:
        """Only a store that says so can do it; lengths may differ, directions may not."""
        wanted = [unit(3, n, -1) for n in range(7)]
        points = [make_point("d1", n, vector) for n, vector in enumerate(wanted)]
        others = [make_point("d1", 0, unit(9), run=Run("r2", 2)), make_point("d2", 0, unit(9))]
        async with self.opened([*reversed(points), *others]) as store:
            if not isinstance(store, VectorReader):
                pytest.skip("this store does not give vectors back")
            found: list[list[float]] = []
            for offset in (0, 3, 6, 9):
                found += await store.run_vectors(COLLECTION, "d1", "r1", offset=offset, limit=3)
            assert [direction(vector) for vector in found] == [direction(v) for v in wanted]
            assert await store.run_vectors(COLLECTION, "d1", "r9") == []
            with pytest.raises(CollectionNotFoundError):
                await store.run_vectors("kb_none", "d1", "r1")

    async def test_upsert_replaces_within_the_run_and_is_idempotent(self) -> None:
        """The same chunk of the same run is one point; another run is another point."""
        async with self.opened() as store:
            for text in ("first", "second"):
                await store.upsert(COLLECTION, [make_point("d1", 0, unit(1), text=text)])
            await store.upsert(COLLECTION, [make_point("d1", 0, unit(1), run=Run("r2", 2))])
            assert await store.count(COLLECTION, "d1", "r1") == 1
            assert await store.count(COLLECTION, "d1", "r2") == 1
            chunks = await store.run_chunks(COLLECTION, "d1", "r1")
            assert [chunk.content.text for chunk in chunks if chunk.content.type == "text"] == [
                "second"
            ]
            hits = await store.search_vector(COLLECTION, unit(1), top_k=9)
            assert [hit.run_id for hit in hits] == ["r1", "r2"]

    async def test_a_replaced_point_is_found_by_its_new_vector_and_text_only(self) -> None:
        """No part of the store keeps the old content."""
        async with self.opened([make_point("d1", 0, unit(1), text="oldword")]) as store:
            await store.upsert(COLLECTION, [make_point("d1", 0, unit(0, 1), text="newword")])
            hits = await store.search_vector(COLLECTION, unit(0, 1), top_k=2)
            assert [round(hit.score, 4) for hit in hits] == [1.0]
            if self.supports_keyword:
                assert await store.search_keyword(COLLECTION, "oldword", top_k=5) == []
                assert len(await store.search_keyword(COLLECTION, "newword", top_k=5)) == 1

    async def test_many_points_in_one_call_are_split_and_all_stored(self) -> None:
        """A call of any size works."""
        points = [make_point("d1", n, unit(1, n / 530)) for n in range(530)]
        async with self.opened(points) as store:
            assert await store.count(COLLECTION, "d1", "r1") == 530
            page = await store.run_chunks(COLLECTION, "d1", "r1", offset=520, limit=30)
            assert [chunk.chunk_index for chunk in page] == list(range(520, 530))
            await store.delete_document(COLLECTION, "d1")
            assert await store.count(COLLECTION, "d1", "r1") == 0

    async def test_a_vector_of_another_length_writes_nothing(self) -> None:
        """Also the good points of the call stay out."""
        async with self.opened() as store:
            good, bad = make_point("d1", 0, unit(1)), make_point("d1", 1, [1.0, 2.0])
            with pytest.raises(DimensionMismatchError):
                await store.upsert(COLLECTION, [good, bad])
            assert await store.count(COLLECTION, "d1", "r1") == 0
            with pytest.raises(DimensionMismatchError):
                await store.search_vector(COLLECTION, [1.0], top_k=1)
            broken = make_point("d1", 0, unit(float("nan")))
            with pytest.raises(InvalidInputError):
                await store.upsert(COLLECTION, [broken])

    async def test_deletions_remove_what_they_name_and_nothing_else(self) -> None:
        """Document, run and stale deletion, each on top of the same data."""
        runs = [Run("r1", 1), Run("r2", 2), Run("r3", 3)]
        points = [
            make_point(name, n, unit(1), run=run, text=f"word {name}")
            for name in ("d1", "d2")
            for run in runs
            for n in range(3)
        ]
        async with self.opened(points) as store:
            await store.delete_run(COLLECTION, "d1", "r2")
            assert await self._counts(store) == {"d1": [3, 0, 3], "d2": [3, 3, 3]}
            await store.delete_stale(COLLECTION, "d2", below_epoch=3, keep_run_id="r1")
            assert await self._counts(store) == {"d1": [3, 0, 3], "d2": [3, 0, 3]}
            await store.delete_stale(COLLECTION, "d2", below_epoch=3, keep_run_id=None)
            assert await self._counts(store) == {"d1": [3, 0, 3], "d2": [0, 0, 3]}
            await store.delete_stale(COLLECTION, "d2", below_epoch=3, keep_run_id=None)
            await store.delete_document(COLLECTION, "d1")
            assert await self._counts(store) == {"d1": [0, 0, 0], "d2": [0, 0, 3]}
            hits = await store.search_vector(COLLECTION, unit(1), top_k=99)
            assert {(hit.document_id, hit.run_id) for hit in hits} == {("d2", "r3")}

    async def _counts(self, store: RunVectorStore) -> dict[str, list[int]]:
        return {
            name: [await store.count(COLLECTION, name, run) for run in ("r1", "r2", "r3")]
            for name in ("d1", "d2")
        }

    async def test_delete_where_removes_one_knowledge_base_of_a_shared_collection(self) -> None:
        """The other tenants' points stay."""
        points = [
            make_point(f"{kb}-d", n, unit(1), knowledge_base_id=kb)
            for kb in ("kb1", "kb2")
            for n in range(4)
        ]
        async with self.opened(points) as store:
            mine = await store.search_vector(
                COLLECTION, unit(1), top_k=9, where=Equals("kb_id", "kb1")
            )
            assert {hit.document_id for hit in mine} == {"kb1-d"}
            await store.delete_where(COLLECTION, Equals("kb_id", "kb1"))
            assert await store.count(COLLECTION, "kb1-d", "r1") == 0
            assert await store.count(COLLECTION, "kb2-d", "r1") == 4
            await store.delete_where("kb_none", Equals("kb_id", "kb1"))

    async def test_stored_runs_tell_everything_an_audit_needs(self) -> None:
        """Every run with its epoch and its number of points."""
        points = [
            make_point("d1", 0, unit(1), run=Run("r1", 1)),
            make_point("d1", 1, unit(1), run=Run("r1", 1)),
            make_point("d1", 0, unit(1), run=Run("r2", 7)),
            make_point("d2", 0, unit(1), run=Run()),
        ]
        async with self.opened(points) as store:
            runs = [run async for run in store.stored_runs(COLLECTION)]
            assert sorted(runs, key=lambda run: (run.document_id, run.run_id)) == [
                StoredRun("d1", "r1", 1, 2),
                StoredRun("d1", "r2", 7, 1),
                StoredRun("d2", "", 0, 1),
            ]

    async def test_documented_calls_write_search_list_and_delete(self) -> None:
        """The documented contract works on every store of this package."""
        records = [
            VectorRecord(vector=p.vector, document_id=p.document_id, chunk=p.chunk)
            for p in [
                make_point("d1", 0, unit(1), metadata={"lang": "zh", "page": 1}),
                make_point("d1", 1, unit(1, 1), metadata={"lang": "zh", "page": 2}),
                make_point("d2", 0, unit(0, 1), metadata={"lang": "en"}),
            ]
        ]
        async with self.opened() as store:
            await store.insert(COLLECTION, records)
            await store.insert(COLLECTION, records[:1])
            found = await store.search(COLLECTION, unit(1), 5, {"lang": "zh"})
            assert [(hit.document_id, hit.chunk.chunk_index) for hit in found] == [
                ("d1", 0),
                ("d1", 1),
            ]
            documents = await store.list_documents(COLLECTION)
            assert [(d.document_id, d.source, d.chunk_count) for d in documents] == [
                ("d1", "d1.txt", 2),
                ("d2", "d2.txt", 1),
            ]
            assert documents[0].metadata == {"lang": "zh"}
            only = await store.list_documents(COLLECTION, {"lang": "en"})
            assert [document.document_id for document in only] == ["d2"]
            chunks = await store.list_chunks(COLLECTION, "d1", offset=1, limit=5)
            assert [chunk.chunk_index for chunk in chunks] == [1]
            await store.delete(COLLECTION, "d1", {"page": 2})
            assert len(await store.list_chunks(COLLECTION, "d1")) == 1
            await store.delete(COLLECTION, "d1")
            assert [d.document_id for d in await store.list_documents(COLLECTION)] == ["d2"]

    async def test_parallel_writers_and_readers_disturb_nobody(self) -> None:
        """Every writer's points are complete afterwards."""
        async with self.opened() as store:

            async def write(number: int) -> None:
                points = [make_point(f"w{number}", n, unit(1, n)) for n in range(20)]
                for start in range(0, 20, 5):
                    await store.upsert(COLLECTION, points[start : start + 5])
                    await store.search_vector(COLLECTION, unit(1), top_k=3)
                if number % 2:
                    await store.delete_document(COLLECTION, f"w{number}")

            await asyncio.gather(*(write(number) for number in range(8)))
            counts = [await store.count(COLLECTION, f"w{n}", "r1") for n in range(8)]
            assert counts == [20, 0] * 4

    async def test_ping_answers(self) -> None:
        """A store in use says that it works."""
        async with self.open_store() as store:
            await store.ping()
