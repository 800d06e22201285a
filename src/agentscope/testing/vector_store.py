"""The contract suite of `RunVectorStore`: what every vector store must do, the same way.

Bind it to a store in a test module:

    class TestMyStore(VectorStoreSuite):
        def open_store(self):
            return MyStore()          # an async context manager

The suite needs a runner for `async def` tests.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from agentscope.errors import (
    CollectionNotFoundError,
    DimensionMismatchError,
    InvalidInputError,
)
from agentscope.message.blocks import Base64Source, DataBlock, TextBlock
from agentscope.rag.document import Chunk, Point, Run, StoredRun, StoreHit, VectorRecord
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.filter import (
    And,
    Equals,
    Exists,
    Filter,
    In,
    Not,
    Or,
    Range,
    matches,
    parse_filter,
)
from agentscope.rag.vector_store.points import filter_fields

COLLECTION = "kb_suite"
DIMENSIONS = 8
HOSTILE = (
    "x' OR '1'='1",
    'x" OR "1"="1',
    "') or true --",
    "a\\' or document_id != \\'",
    "%",
    "_",
    "*",
    "line\nbreak",
    "tab\there",
    "back\\slash",
    "汉字'引号",
    "🦜",
    "a" * 300,
)


def make_point(
    document_id: str,
    index: int,
    vector: Sequence[float],
    *,
    run: Run | None = None,
    text: str = "",
    metadata: dict[str, Any] | None = None,
    knowledge_base_id: str = "",
) -> Point:
    """Return a point with a text chunk."""
    chunk = Chunk(
        content=TextBlock(text=text or f"text of {document_id} number {index}"),
        source=f"{document_id}.txt",
        chunk_index=index,
        total_chunks=index + 1,
        metadata=metadata or {},
    )
    return Point(list(vector), document_id, run or Run("r1", 1), chunk, knowledge_base_id)


def unit(*values: float) -> list[float]:
    """Return a vector of the suite's length that starts with `values`."""
    return [*values, *([0.0] * (DIMENSIONS - len(values)))]


def random_points(
    seed: int, count: int, *, dimensions: int = DIMENSIONS, chunks: int = 5
) -> list[Point]:
    """Return `count` points with random vectors and metadata; the same seed gives the same."""
    source = random.Random(seed)
    words = ["alpha", "beta", "gamma", "delta", "检索", "排序", "知识"]
    points = []
    for number in range(count):
        metadata: dict[str, Any] = {
            "year": source.randrange(2015, 2027),
            "score": source.choice([0.5, 1, 1.5, 2]),
            "author": source.choice(["Li", "Wang", "O'Brien", 'quote"d']),
            "public": source.choice([True, False]),
            "tags": source.sample(["a", "b", "c", "d"], source.randrange(0, 4)),
        }
        if source.random() < 0.3:
            del metadata["author"]
        points.append(
            make_point(
                f"d{number // chunks:04d}",
                number % chunks,
                [source.gauss(0, 1) for _ in range(dimensions)],
                text=" ".join(source.choices(words, k=6)),
                metadata=metadata,
            )
        )
    return points


def places(hits: Sequence[StoreHit]) -> list[tuple[str, int]]:
    """Return where the hits stand, in order."""
    return [(hit.document_id, hit.chunk.chunk_index) for hit in hits]


FILTERS: tuple[dict[str, Any], ...] = (
    {"author": "Li"},
    {"author": "O'Brien"},
    {"author": 'quote"d'},
    {"author": {"$ne": "Li"}},
    {"author": {"$exists": True}},
    {"author": {"$exists": False}},
    {"author": {"$in": ["Li", "Wang", "nobody"]}},
    {"author": {"$nin": ["Li", "Wang"]}},
    {"author": {"$gte": "M"}},
    {"author": {"$gt": "L", "$lt": "P"}},
    {"year": 2020},
    {"year": "2020"},
    {"year": {"$gte": 2018, "$lt": 2022}},
    {"year": {"$gt": 2025.5}},
    {"score": 1},
    {"score": {"$in": [1.0, 2]}},
    {"score": {"$lte": 1}},
    {"public": True},
    {"public": 1},
    {"public": {"$ne": True}},
    {"tags": "a"},
    {"tags": {"$in": ["c", "d"]}},
    {"tags": {"$nin": ["a"]}},
    {"tags": []},
    {"missing": "x"},
    {"missing": {"$ne": "x"}},
    {"document_id": "d0003"},
    {"document_id": {"$in": ["d0001", "d0004", "other"]}},
    {"chunk_index": {"$lt": 2}},
    {"run_id": "r1"},
    {"run_id": {"$ne": "r1"}},
    {"document_id": {"$ne": "d0002"}, "author": "Wang"},
    {"$or": [{"author": "Li"}, {"year": {"$lt": 2017}}]},
    {"$and": [{"tags": "a"}, {"$not": {"tags": "b"}}]},
    {"$not": {"$or": [{"public": True}, {"author": {"$gte": "O"}}]}},
    {"$not": {"$and": [{"public": True}, {"year": {"$gte": 2020}}]}},
    {"$or": []},
    {"$and": []},
)


class VectorStoreSuite:
    """Subclass, and return a fresh, empty store from `open_store`."""

    supports_keyword = True

    def open_store(self) -> AbstractAsyncContextManager[RunVectorStore]:
        """Return a fresh store as an async context manager."""
        raise AssertionError("The suite needs a store.")

    @contextlib.asynccontextmanager
    async def opened(self, points: Sequence[Point] = ()) -> AsyncIterator[RunVectorStore]:
        """Give a store that has the suite's collection with `points`."""
        async with self.open_store() as store:
            await store.create_collection(COLLECTION, DIMENSIONS)
            if points:
                await store.upsert(COLLECTION, points)
            yield store

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

    async def test_identical_first_and_orthogonal_last(self) -> None:
        """Scores are cosine similarity, whatever the vectors' lengths."""
        points = [
            make_point("same", 0, unit(3, 0)),
            make_point("near", 0, unit(1, 1)),
            make_point("orthogonal", 0, unit(0, 2)),
            make_point("opposite", 0, unit(-1, 0)),
        ]
        async with self.opened(points) as store:
            hits = await store.search_vector(COLLECTION, unit(2, 0), top_k=4)
            names = [hit.document_id for hit in hits]
            assert names == ["same", "near", "orthogonal", "opposite"]
            assert [hit.score for hit in hits] == pytest.approx([1, 0.70710678, 0, -1], abs=1e-4)

    async def test_equal_scores_are_ordered_by_document_and_chunk(self) -> None:
        """A repeated search gives the same page, also when ties cross its end."""
        points = [make_point(f"d{n % 7}", n // 7, unit(1)) for n in range(42)]
        random.Random(5).shuffle(points)
        expected = sorted((point.document_id, point.chunk.chunk_index) for point in points)
        async with self.opened(points) as store:
            for _ in range(2):
                assert (
                    places(await store.search_vector(COLLECTION, unit(1), top_k=10))
                    == expected[:10]
                )

    async def test_top_k_is_exact_against_brute_force(self) -> None:
        """On small data nothing better is left out."""
        points = random_points(11, 300)
        source = random.Random(12)
        async with self.opened(points) as store:
            for _ in range(5):
                query = [source.gauss(0, 1) for _ in range(DIMENSIONS)]
                hits = await store.search_vector(COLLECTION, query, top_k=10)
                assert places(hits) == _nearest(points, query, 10)

    async def test_top_k_beyond_the_data_returns_all(self) -> None:
        """An empty collection gives an empty list."""
        async with self.opened() as store:
            assert await store.search_vector(COLLECTION, unit(1), top_k=10) == []
            await store.upsert(COLLECTION, random_points(1, 7))
            assert len(await store.search_vector(COLLECTION, unit(1), top_k=1000)) == 7

    async def test_every_filter_answers_like_the_reference(self) -> None:
        """Filtered vector search equals brute force over the points that pass."""
        points = random_points(21, 120)
        query = unit(1, 0.5, -0.25)
        async with self.opened(points) as store:
            for value in FILTERS:
                where = parse_filter(value)
                passing = [point for point in points if matches(where, filter_fields(point))]
                hits = await store.search_vector(COLLECTION, query, top_k=8, where=where)
                assert places(hits) == _nearest(passing, query, 8), value

    async def test_a_filter_as_narrow_as_one_point_finds_it(self) -> None:
        """The point that passes is found although everything else is nearer."""
        points = [make_point("crowd", n, unit(1, 0.001 * n)) for n in range(400)]
        lone = make_point("lone", 0, unit(0, 0, 1), metadata={"tag": "only"})
        async with self.opened([*points, lone]) as store:
            for where in (Equals("tag", "only"), Not(Equals("document_id", "crowd"))):
                hits = await store.search_vector(COLLECTION, unit(1), top_k=3, where=where)
                assert places(hits) == [("lone", 0)]

    async def test_hostile_values_are_only_values(self) -> None:
        """No value, field name or id can widen a filter or break a statement."""
        points = [
            make_point(value, 0, unit(1), metadata={"v": value, f"k {value}"[:150]: 1})
            for value in HOSTILE
        ]
        async with self.opened(points) as store:
            for value in HOSTILE:
                for where in (
                    Equals("v", value),
                    In("v", (value,)),
                    Equals("document_id", value),
                    Exists(f"k {value}"[:150]),
                    And((Range("v", gte=value, lte=value), Not(Equals("v", "other")))),
                    Or((Equals("v", value), Equals("run_id", value))),
                ):
                    hits = await store.search_vector(COLLECTION, unit(1), top_k=50, where=where)
                    assert [hit.document_id for hit in hits] == [value], where
                assert await store.count(COLLECTION, value, "r1") == 1
            await store.delete_document(COLLECTION, HOSTILE[0])
            left = await store.search_vector(COLLECTION, unit(1), top_k=50)
            assert len(left) == len(HOSTILE) - 1

    async def test_a_long_list_of_excluded_runs_works(self) -> None:
        """Exclusion of stale runs, as the visibility check asks for it."""
        points = [make_point("d1", n, unit(1), run=Run(f"run{n:03d}", n + 1)) for n in range(150)]
        stale = tuple(
            And((Equals("document_id", "d1"), Equals("run_id", f"run{n:03d}"))) for n in range(149)
        )
        async with self.opened(points) as store:
            hits = await store.search_vector(COLLECTION, unit(1), top_k=5, where=Not(Or(stale)))
            assert [hit.run_id for hit in hits] == ["run149"]
            where = Not(In("run_id", tuple(f"run{n:03d}" for n in range(149))))
            hits = await store.search_vector(COLLECTION, unit(1), top_k=5, where=where)
            assert [hit.run_id for hit in hits] == ["run149"]

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

    async def test_keyword_search_finds_words_pairs_and_identifiers(self) -> None:
        """Chinese, Japanese, Korean, mixed text and identifiers are found among distractors."""
        if not self.supports_keyword:
            return
        wanted = {
            "检索": "混合检索与重排序",
            "検索": "知識ベース検索の仕組み",
            "지식": "한국어지식베이스검색",
            "GitHub备份": "昨晚GitHub备份失败了",
            "ERR-0xC0190034": "Setup stopped with ERR-0xC0190034 again",
            "0xc0190034": "Setup stopped with ERR-0xC0190034 again",
            "GOALS.md": "Read GOALS.md before you start",
            "goals": "Read GOALS.md before you start",
            "running shoes": "He runs in old shoes",
            "naive": "Une approche naïve",
            "序": "混合检索与重排序",
        }
        texts = sorted(set(wanted.values()))
        points = [make_point(f"t{n}", 0, unit(1), text=text) for n, text in enumerate(texts)]
        filler = [
            "天气很好适合散步",
            "the quick fox sleeps",
            "ファイルを保存する",
            "오늘은 날씨가 좋다",
        ]
        points += [make_point(f"x{n}", 0, unit(1), text=f"{filler[n % 4]} {n}") for n in range(50)]
        async with self.opened(points) as store:
            for query, text in wanted.items():
                hits = await store.search_keyword(COLLECTION, query, top_k=3)
                found = [hit.chunk.content for hit in hits]
                assert any(c.type == "text" and c.text == text for c in found), query
                assert all(hit.score > 0 for hit in hits)

    async def test_keyword_search_takes_any_text_as_plain_text(self) -> None:
        """Operators and quotes of a full-text engine mean nothing."""
        if not self.supports_keyword:
            return
        points = [make_point("d1", 0, unit(1), text="cats and dogs"), make_point("d2", 0, unit(1))]
        async with self.opened(points) as store:
            for query in (
                "NEAR(zebra, 5)",
                '"',
                "zebra OR",
                "zebra*",
                "terms:zebra",
                "-",
                "  ",
                "",
            ):
                assert await store.search_keyword(COLLECTION, query, top_k=5) == [], query
            hits = await store.search_keyword(COLLECTION, 'dogs" OR NOT (cats', top_k=5)
            assert places(hits) == [("d1", 0)]
            many = " ".join(f"w{n}" for n in range(3000)) + " dogs"
            await store.search_keyword(COLLECTION, many, top_k=5)

    async def test_keyword_search_prefers_rare_terms_and_obeys_filters(self) -> None:
        """More and rarer shared terms rank higher; the filter language is the same."""
        if not self.supports_keyword:
            return
        points = [
            make_point(f"d{n}", 0, unit(1), text="common words", metadata={"n": n, "odd": n % 2})
            for n in range(12)
        ]
        points.append(
            make_point("rare", 0, unit(1), text="common quartz words", metadata={"n": 99})
        )
        async with self.opened(points) as store:
            hits = await store.search_keyword(COLLECTION, "common quartz", top_k=3)
            assert hits[0].document_id == "rare"
            again = await store.search_keyword(COLLECTION, "common quartz", top_k=3)
            assert [(hit.document_id, hit.score) for hit in again] == [
                (hit.document_id, hit.score) for hit in hits
            ]
            where: Filter = And((Equals("odd", 1), Range("n", gte=4)))
            hits = await store.search_keyword(COLLECTION, "common", top_k=50, where=where)
            assert {hit.document_id for hit in hits} == {"d5", "d7", "d9", "d11"}

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


def _nearest(points: Sequence[Point], query: Sequence[float], top_k: int) -> list[tuple[str, int]]:
    def cosine(point: Point) -> float:
        product = sum(a * b for a, b in zip(point.vector, query, strict=True))
        norms = sum(a * a for a in point.vector) * sum(b * b for b in query)
        return product / float(norms**0.5)

    ordered = sorted(points, key=lambda p: (-cosine(p), p.document_id, p.chunk.chunk_index))
    return [(point.document_id, point.chunk.chunk_index) for point in ordered[:top_k]]
