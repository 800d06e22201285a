"""The PostgreSQL vector store, on pgvector: one table per collection.

What few rows pass the filter of is scanned exactly. Otherwise the HNSW graph of the collection is
searched, which goes on until enough rows have passed. The keyword leg is BM25: the row keeps the
weights of its terms as a sparse vector, the query adds the idf.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from agentscope.errors import (
    CollectionNotFoundError,
    DimensionMismatchError,
    InvalidInputError,
)
from agentscope.rag.document import Chunk, Point, StoredRun, StoreHit, Vector
from agentscope.rag.vector_store.documented import DocumentedCalls
from agentscope.rag.vector_store.filter import Filter
from agentscope.rag.vector_store.pgvector_filter import compile_filter
from agentscope.rag.vector_store.pgvector_graph import Graphs
from agentscope.rag.vector_store.pgvector_keywords import Frequencies
from agentscope.rag.vector_store.pgvector_pool import Connections
from agentscope.rag.vector_store.pgvector_rows import (
    chunk_of,
    encoded,
    query_terms,
    sparse_text,
    vector_text,
)
from agentscope.rag.vector_store.pgvector_sql import (
    COPY,
    CREATION_LOCK,
    FREQUENCIES,
    INCOMING,
    KEYWORD,
    MERGE,
    ORDER,
    ROWS,
    RUN_VECTORS,
    SCAN,
    SCORE_UNIT,
    SIMILARITY,
    STORED_RUNS,
    distance,
    table_name,
    table_statements,
)
from agentscope.rag.vector_store.points import batches, best_first, check_vector, point_id

EXACT_ROWS = 10_000
MOST_KEYWORD_ROWS = 50_000
PAGE = 500
MAX_EFFORT = 1000
MOST_VISITED = 200_000
TIE_MARGIN = 64
MAX_CONNECTIONS = 8
FIRST = ("", "", -1)


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    dimensions: int


class PgVectorStore(DocumentedCalls):
    """Keeps collections in the database that `url` names; needs the extension `vector`."""

    def __init__(
        self, url: str, *, max_connections: int = MAX_CONNECTIONS, exact_rows: int = EXACT_ROWS
    ) -> None:
        """Up to `exact_rows` rows are compared one by one, more are searched through a graph."""
        self._exact_rows = exact_rows
        self._connections = Connections(url, max_connections)
        self._graphs = Graphs(self._connections, from_rows=exact_rows)
        self._tables: dict[str, _Table] = {}

    async def __aenter__(self) -> Self:
        await self._connections.opened()
        return self

    async def aclose(self) -> None:
        await self._graphs.close()
        self._tables.clear()
        await self._connections.close()

    async def wait_for_indexes(self) -> None:
        """Return when no graph is being built by this process."""
        await self._graphs.settle()

    async def create_collection(self, name: str, dimensions: int) -> None:
        if not 1 <= dimensions <= 16_000:
            raise InvalidInputError("A collection has 1 to 16000 dimensions.")
        async with self._connections.transaction() as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", [CREATION_LOCK])
            known = await self._look_up(connection, name)
            if known is not None and known.dimensions != dimensions:
                raise DimensionMismatchError(
                    f"The collection has {known.dimensions} dimensions, not {dimensions}."
                )
            if known is None:
                cursor = await connection.execute(
                    "INSERT INTO agentscope_collections (name, dimensions)"
                    " VALUES (%s, %s) RETURNING id",
                    [name, dimensions],
                )
                (number,) = await cursor.fetchone()
                for statement in table_statements(table_name(number), dimensions):
                    await connection.execute(statement)

    async def delete_collection(self, name: str) -> None:
        self._tables.pop(name, None)
        async with self._connections.transaction() as connection:
            # A graph being built holds the table; nobody else's collections wait for that.
            await connection.execute("SET LOCAL lock_timeout = '10s'")
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", [CREATION_LOCK])
            known = await self._look_up(connection, name)
            if known is not None:
                await connection.execute(f"DROP TABLE IF EXISTS {known.name}")
                await connection.execute(
                    "DELETE FROM agentscope_collections WHERE name = %s", [name]
                )

    async def has_collection(self, name: str) -> bool:
        async with self._connections.one() as connection:
            return await self._look_up(connection, name) is not None

    async def list_collections(self) -> list[str]:
        rows = await self._connections.fetch("SELECT name FROM agentscope_collections", [])
        return sorted(name for (name,) in rows)

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        table = await self._table(collection)
        for point in points:
            check_vector(point.vector, table.dimensions)
        for batch in batches(
            points, max_points=self.max_batch_points, max_bytes=self.max_batch_bytes
        ):
            rows = await asyncio.to_thread(encoded, batch)
            with self._using(collection):
                await self._write(table, rows)
            self._graphs.written(table.name, table.dimensions, len(batch))

    async def _write(self, table: _Table, rows: bytes) -> None:
        async with self._connections.transaction() as connection:
            await connection.execute(INCOMING)
            async with connection.cursor() as cursor, cursor.copy(COPY) as copy:
                await copy.write(rows)
            await connection.execute(MERGE.format(table=table.name))

    async def search_vector(
        self, collection: str, vector: Vector, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        table = await self._table(collection)
        check_vector(vector, table.dimensions)
        text = vector_text(vector)
        condition, parameters = compile_filter(where)
        with self._using(collection):
            async with self._connections.transaction() as connection:
                cursor = await connection.execute(
                    f"SELECT count(*) FROM (SELECT 1 FROM {table.name} WHERE {condition}"  # noqa: S608 -- compiled
                    " LIMIT %s) AS few",
                    [*parameters, self._exact_rows + 1],
                )
                (passing,) = await cursor.fetchone()
                if passing <= self._exact_rows:
                    source, values = f"{table.name} WHERE {condition}", [*parameters]
                else:
                    wanted = min(MAX_EFFORT, top_k + TIE_MARGIN)
                    for setting in (
                        "hnsw.iterative_scan = strict_order",
                        f"hnsw.max_scan_tuples = {MOST_VISITED:d}",
                        f"hnsw.ef_search = {wanted:d}",
                    ):
                        await connection.execute(f"SET LOCAL {setting}")
                    source = (
                        f"(SELECT * FROM {table.name} WHERE {condition}"  # noqa: S608 -- compiled
                        f" ORDER BY {distance(table.dimensions)} LIMIT %s) AS near"
                    )
                    values = [*parameters, text, max(wanted, top_k)]
                cursor = await connection.execute(
                    f"SELECT {SIMILARITY} AS score, document_id, run_id, chunk FROM {source}"  # noqa: S608 -- compiled
                    f" ORDER BY score DESC, {ORDER} LIMIT %s",
                    [text, *values, top_k],
                )
                return _hits(await cursor.fetchall())

    async def search_keyword(
        self, collection: str, text: str, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        table = await self._table(collection)
        terms = query_terms(text)
        if not terms:
            return []
        condition, parameters = compile_filter(where)
        with self._using(collection):
            async with self._connections.transaction() as connection:
                await connection.execute("SET LOCAL enable_seqscan = off")
                found = await self._frequencies(connection, table, terms)
                idf = found.idf()
                hits: list[StoreHit] = []
                statement = KEYWORD.format(
                    table=table.name, condition=condition, most=MOST_KEYWORD_ROWS
                )
                for chosen, best_of_others in found.stages(top_k):
                    cursor = await connection.execute(
                        statement, [sparse_text(idf), chosen, *parameters, top_k]
                    )
                    hits = _hits(await cursor.fetchall())
                    if len(hits) == top_k and hits[-1].score >= best_of_others:
                        break
                return hits

    async def _frequencies(self, connection: Any, table: _Table, terms: list[int]) -> Frequencies:
        cursor = await connection.execute(ROWS.format(table=table.name), [self._exact_rows + 1])
        counted, estimated = await cursor.fetchone()
        total = counted if counted <= self._exact_rows else max(counted, estimated)
        cursor = await connection.execute(FREQUENCIES.format(table=table.name), [terms])
        return Frequencies(total, dict(await cursor.fetchall()))

    async def score_points(
        self, collection: str, vector: Vector, hits: Sequence[StoreHit]
    ) -> list[StoreHit]:
        table = await self._table(collection)
        check_vector(vector, table.dimensions)
        ids = [point_id(hit.document_id, hit.run_id, hit.chunk.chunk_index) for hit in hits]
        with self._using(collection):
            rows = await self._connections.fetch(
                f"SELECT id, {SIMILARITY} FROM {table.name} WHERE id = ANY(%s)",  # noqa: S608 -- our own names
                [vector_text(vector), ids],
            )
        scores = {number: float(score) / SCORE_UNIT for number, score in rows}
        known = [
            StoreHit(scores[number], hit.document_id, hit.run_id, hit.chunk)
            for number, hit in zip(ids, hits, strict=True)
            if number in scores
        ]
        return sorted(known, key=best_first)

    async def count(self, collection: str, document_id: str, run_id: str) -> int:
        table = await self._table(collection)
        with self._using(collection):
            rows = await self._connections.fetch(
                f"SELECT count(*) FROM {table.name} WHERE document_id = %s AND run_id = %s",  # noqa: S608 -- our own names
                [document_id, run_id],
            )
        return int(rows[0][0])

    async def run_chunks(
        self, collection: str, document_id: str, run_id: str, *, offset: int = 0, limit: int = 30
    ) -> list[Chunk]:
        table = await self._table(collection)
        with self._using(collection):
            rows = await self._connections.fetch(
                f"SELECT chunk FROM {table.name} WHERE document_id = %s AND run_id = %s"  # noqa: S608 -- our own names
                " ORDER BY chunk_index LIMIT %s OFFSET %s",
                [document_id, run_id, limit, offset],
            )
        return [chunk_of(value) for (value,) in rows]

    async def _run_vectors(
        self, collection: str, document_id: str, run_id: str, offset: int, limit: int
    ) -> list[Vector]:
        table = await self._table(collection)
        statement = RUN_VECTORS.format(table=table.name)
        with self._using(collection):
            rows = await self._connections.fetch(statement, [document_id, run_id, limit, offset])
        return [list(vector) for (vector,) in rows]

    async def delete_where(self, collection: str, where: Filter) -> None:
        condition, parameters = compile_filter(where)
        with contextlib.suppress(CollectionNotFoundError):
            table = await self._table(collection)
            with self._using(collection):
                async with self._connections.one() as connection:
                    await connection.execute(
                        f"DELETE FROM {table.name} WHERE {condition}",  # noqa: S608 -- compiled
                        parameters,
                    )

    async def stored_runs(self, collection: str) -> AsyncIterator[StoredRun]:
        table = await self._table(collection)
        after = FIRST
        while True:
            with self._using(collection):
                rows = await self._connections.fetch(
                    STORED_RUNS.format(table=table.name), [after[0], after[1], *after, PAGE]
                )
            for values in rows:
                yield StoredRun(*values)
            if len(rows) < PAGE:
                return
            after = rows[-1][:3]

    async def scan(self, collection: str, where: Filter | None = None) -> AsyncIterator[StoreHit]:
        table = await self._table(collection)
        condition, parameters = compile_filter(where)
        after = FIRST
        while True:
            with self._using(collection):
                rows = await self._connections.fetch(
                    SCAN.format(table=table.name, condition=condition), [*after, *parameters, PAGE]
                )
            for document_id, run_id, _, chunk in rows:
                yield StoreHit(0.0, document_id, run_id, chunk_of(chunk))
            if len(rows) < PAGE:
                return
            after = rows[-1][:3]

    async def _table(self, name: str) -> _Table:
        known = self._tables.get(name)
        if known is None:
            async with self._connections.one() as connection:
                known = await self._look_up(connection, name)
            if known is None:
                raise CollectionNotFoundError
            self._tables[name] = known
        return known

    async def _look_up(self, connection: Any, name: str) -> _Table | None:
        cursor = await connection.execute(
            "SELECT id, dimensions FROM agentscope_collections WHERE name = %s", [name]
        )
        found = await cursor.fetchone()
        return _Table(table_name(found[0]), found[1]) if found else None

    @contextlib.contextmanager
    def _using(self, collection: str) -> Iterator[None]:
        try:
            yield
        except CollectionNotFoundError:
            self._tables.pop(collection, None)
            raise


def _hits(rows: Sequence[Any]) -> list[StoreHit]:
    return [
        StoreHit(float(score) / SCORE_UNIT, document_id, run_id, chunk_of(chunk))
        for score, document_id, run_id, chunk in rows
    ]
