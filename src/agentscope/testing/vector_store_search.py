"""The part of the vector store suite that is about finding."""

import contextlib
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager

import pytest

from agentscope.rag.document import Point, Run
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
from agentscope.testing.vector_store_data import (
    COLLECTION,
    DIMENSIONS,
    FILTERS,
    HOSTILE,
    make_point,
    places,
    random_points,
    unit,
)


class VectorSearchSuite:
    """Finding by vector, filter and words; `VectorStoreSuite` adds the rest."""

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


def _nearest(points: Sequence[Point], query: Sequence[float], top_k: int) -> list[tuple[str, int]]:
    def cosine(point: Point) -> float:
        product = sum(a * b for a, b in zip(point.vector, query, strict=True))
        norms = sum(a * a for a in point.vector) * sum(b * b for b in query)
        return product / float(norms**0.5)

    ordered = sorted(points, key=lambda p: (-cosine(p), p.document_id, p.chunk.chunk_index))
    return [(point.document_id, point.chunk.chunk_index) for point in ordered[:top_k]]
