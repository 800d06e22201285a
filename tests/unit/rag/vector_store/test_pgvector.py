"""What is special to the PostgreSQL store: its graph, its estimates, its rows."""

import contextlib
import random
from collections.abc import AsyncIterator

import pytest

from agentscope.errors import CollectionNotFoundError, InvalidInputError
from agentscope.rag.document import Point
from agentscope.rag.vector_store.filter import And, Equals, Filter, In, Not, Range
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.pgvector_filter import compile_filter
from agentscope.rag.vector_store.pgvector_keywords import Frequencies
from agentscope.rag.vector_store.pgvector_rows import MAX_TERMS, encoded, query_terms
from agentscope.testing.servers import shared_postgres
from agentscope.testing.vector_store_data import make_point, places, random_points, unit

COLLECTION = "kb_pgvector"
GRAPHS = """
SELECT indisvalid FROM pg_index JOIN pg_class ON oid = indexrelid
WHERE indrelid = %s::regclass AND relname = %s
"""


@contextlib.asynccontextmanager
async def opened(
    *, exact_rows: int, dimensions: int = 8, keep: bool = False
) -> AsyncIterator[PgVectorStore]:
    """Give a store with one empty collection, removed afterwards unless it is to be kept."""
    async with PgVectorStore(
        shared_postgres().url, max_connections=2, exact_rows=exact_rows
    ) as store:
        await store.delete_collection(COLLECTION)
        await store.create_collection(COLLECTION, dimensions)
        yield store
        if not keep:
            await store.delete_collection(COLLECTION)


async def graphs(store: PgVectorStore) -> list[bool]:
    """Return for each graph of the collection whether it is in use."""
    table = (await store._table(COLLECTION)).name
    rows = await store._connections.fetch(GRAPHS, [table, f"{table}_graph"])
    return [valid for (valid,) in rows]


@pytest.mark.server
async def test_a_graph_is_built_once_there_are_enough_rows() -> None:
    """Small collections pay nothing for it; the answers stay those of the exact comparison."""
    points = random_points(7, 400)
    async with opened(exact_rows=100) as store:
        await store.upsert(COLLECTION, points[:100])
        await store.wait_for_indexes()
        assert await graphs(store) == []
        exact = await store.search_vector(COLLECTION, unit(1, 1), top_k=5)
        await store.upsert(COLLECTION, points[100:])
        await store.wait_for_indexes()
        assert await graphs(store) == [True]
        everything = await store.search_vector(COLLECTION, unit(1, 1), top_k=5)
        assert len(everything) == 5
        assert everything[0].score >= exact[0].score
        same = await store.search_vector(COLLECTION, points[7].vector, top_k=1)
        assert places(same) == [(points[7].document_id, points[7].chunk.chunk_index)]


@pytest.mark.server
async def test_a_small_tenant_of_a_large_collection_is_found_whole() -> None:
    """However far its points lie from the question, beyond what the graph would visit."""
    crowd = [
        Point(p.vector, f"crowd{n}", p.run, p.chunk, "crowd")
        for n, p in enumerate(random_points(3, 400, chunks=1))
    ]
    own = [make_point(f"own{n}", 0, unit(-1, n), knowledge_base_id="own") for n in range(5)]
    async with opened(exact_rows=50) as store:
        await store.upsert(COLLECTION, [*crowd, *own])
        await store.wait_for_indexes()
        assert await graphs(store) == [True]
        hits = await store.search_vector(
            COLLECTION, unit(1), top_k=10, where=Equals("kb_id", "own")
        )
        assert {hit.document_id for hit in hits} == {f"own{n}" for n in range(5)}


@pytest.mark.server
async def test_a_build_that_was_cut_short_is_begun_anew() -> None:
    """What a killed build leaves is marked as unusable; the next writes replace it."""
    points = random_points(7, 300)
    async with opened(exact_rows=50, keep=True) as store:
        await store.upsert(COLLECTION, points[:200])
        await store.wait_for_indexes()
        table = (await store._table(COLLECTION)).name
        async with store._connections.one() as connection:
            await connection.execute(
                "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass",
                [f"{table}_graph"],
            )
    async with PgVectorStore(shared_postgres().url, max_connections=2, exact_rows=50) as store:
        assert await graphs(store) == [False]
        hits = await store.search_vector(COLLECTION, points[3].vector, top_k=1)
        assert places(hits) == [(points[3].document_id, points[3].chunk.chunk_index)]
        await store.upsert(COLLECTION, points[200:])
        await store.wait_for_indexes()
        assert await graphs(store) == [True]
        await store.delete_collection(COLLECTION)


@pytest.mark.server
async def test_a_collection_that_goes_while_its_graph_is_due_harms_nobody() -> None:
    """The build is given up; the store works on."""
    async with opened(exact_rows=10) as store:
        await store.upsert(COLLECTION, random_points(7, 40))
        await store.delete_collection(COLLECTION)
        await store.wait_for_indexes()
        with pytest.raises(CollectionNotFoundError):
            await store.upsert(COLLECTION, random_points(7, 1))
        assert not await store.has_collection(COLLECTION)


@pytest.mark.server
async def test_looking_at_rare_terms_first_changes_no_answer() -> None:
    """The best few are the first of all, also when common words are estimated."""
    source = random.Random(11)
    words = [f"w{n}" for n in range(400)]
    points = [
        make_point(
            f"d{n}",
            0,
            unit(1),
            text=" ".join(
                ["the", *(words[min(399, int(source.expovariate(0.02)))] for _ in range(30))]
            ),
        )
        for n in range(3000)
    ]
    async with opened(exact_rows=1_000_000) as store:
        await store.upsert(COLLECTION, points)
        for _ in range(12):
            query = " ".join(["the", *source.sample(words[:300], 3)])
            few = await store.search_keyword(COLLECTION, query, top_k=5)
            many = await store.search_keyword(COLLECTION, query, top_k=3000)
            assert [(h.document_id, h.score) for h in few] == [
                (h.document_id, h.score) for h in many[:5]
            ], query
        async with store._connections.one() as connection:
            table = await store._table(COLLECTION)
            found = await store._frequencies(connection, table, query_terms("the w3"))
        assert found.total == 3000
        assert max(found.rows.values()) == pytest.approx(3000, rel=0.1)


def test_the_rarest_terms_come_first_and_what_nobody_has_does_not_count() -> None:
    """The bound tells what a row without any of them could reach."""
    found = Frequencies(10_000, {1: 9_000, 2: 0, 3: 4, 4: 3_000})
    assert set(found.idf()) == {1, 3, 4}
    stages = list(found.stages(10))
    assert [terms for terms, _ in stages] == [[3, 4]]
    first = next(found.stages(3))
    assert first[0] == [3]
    assert first[1] == pytest.approx(2.2 * (found.idf()[4] + found.idf()[1]))
    assert list(Frequencies(0, {}).stages(5)) == []
    assert next(Frequencies(5, {7: 5}).stages(5))[1] == 0.0


def test_a_text_of_very_many_terms_keeps_the_heaviest() -> None:
    """A sparse vector has a bound, a chunk of a whole book does not."""
    text = "often " * 50 + " ".join(f"term{n}" for n in range(MAX_TERMS + 500))
    rows = encoded([make_point("d", 0, unit(1), text=text)])
    (often,) = query_terms("often")
    assert often.to_bytes(4, "big") in rows
    assert MAX_TERMS.to_bytes(4, "big") in rows


def test_a_number_that_no_vector_can_hold_is_refused() -> None:
    """It is finite for Python, but not as a 32-bit number."""
    with pytest.raises(InvalidInputError):
        encoded([make_point("d", 0, unit(1e39))])


@pytest.mark.server
async def test_texts_and_fields_of_every_kind_survive_the_binary_rows() -> None:
    """NUL in metadata, more terms than a row keeps, no term at all, more dimensions than a page."""
    odd = [
        make_point("a", 0, unit(1), text=" ".join(f"t{n}" for n in range(20_000))),
        make_point("b", 0, unit(1), text="!!!", metadata={"nul": "a\0b", "inf": float("inf")}),
    ]
    async with opened(exact_rows=10) as store:
        await store.upsert(COLLECTION, odd)
        assert len(await store.search_vector(COLLECTION, unit(1), top_k=5)) == 2
        (hit,) = await store.search_vector(
            COLLECTION, unit(1), top_k=5, where=Equals("document_id", "b")
        )
        assert hit.chunk.metadata["nul"] == "a\0b"
    async with opened(exact_rows=10, dimensions=8192) as store:
        wide = make_point("w", 0, [0.5] * 8192, text="x" * 9000)
        await store.upsert(COLLECTION, [wide])
        assert (await store.run_chunks(COLLECTION, "w", "r1"))[0] == wide.chunk


@pytest.mark.server
async def test_filters_of_runs_and_tenants_are_served_by_indexes() -> None:
    """A deletion or a tenant's search never reads the whole table."""
    fields: tuple[Filter, ...] = (
        Equals("document_id", "d0003"),
        In("document_id", ("d0003", "d0004")),
        Equals("kb_id", "kb1"),
        And((Equals("document_id", "d0003"), Not(Equals("run_id", "r2")), Range("epoch", lt=5))),
    )
    async with opened(exact_rows=10_000) as store:
        await store.upsert(COLLECTION, random_points(7, 400))
        table = (await store._table(COLLECTION)).name
        async with store._connections.transaction() as connection:
            await connection.execute("SET LOCAL enable_seqscan = off")
            for where in fields:
                condition, parameters = compile_filter(where)
                cursor = await connection.execute(
                    f"EXPLAIN DELETE FROM {table} WHERE {condition}", parameters
                )
                plan = "\n".join(line for (line,) in await cursor.fetchall())
                assert "Index Cond" in plan, plan
