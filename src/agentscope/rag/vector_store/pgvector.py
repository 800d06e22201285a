"""The PostgreSQL vector store, on pgvector: one table per collection.

Small collections are scanned exactly. Larger ones are searched through their HNSW graph, which
goes on until enough rows have passed the filter. The keyword leg is BM25: the row keeps the
weights of its terms, the query adds the idf.
"""

import contextlib
import math
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from agentscope.errors import (
    CollectionNotFoundError,
    DimensionMismatchError,
    InvalidInputError,
    VectorStoreError,
)
from agentscope.optional import require
from agentscope.rag.document import Chunk, Point, StoredRun, StoreHit, Vector
from agentscope.rag.vector_store.documented import DocumentedCalls
from agentscope.rag.vector_store.filter import Filter
from agentscope.rag.vector_store.pgvector_filter import compile_filter
from agentscope.rag.vector_store.pgvector_sql import (
    CREATION_LOCK,
    INSERT,
    ORDER,
    REGISTRY,
    RUN_VECTORS,
    SIMILARITY,
    chunk_of,
    distance,
    row,
    table_name,
    table_statements,
    vector_text,
)
from agentscope.rag.vector_store.points import batches, best_first, check_vector, point_id
from agentscope.rag.vector_store.sparse import query_weights

EXACT_ROWS = 10_000
KEYWORD_ROWS = 2_000
PAGE = 500
MAX_EFFORT = 1000
TIE_MARGIN = 64
MAX_CONNECTIONS = 8
CONNECT_SECONDS = 30
FIRST = ("", "", -1)


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    dimensions: int


class PgVectorStore(DocumentedCalls):
    """Keeps collections in the database that `url` names; needs the extension `vector`."""

    def __init__(self, url: str, *, max_connections: int = MAX_CONNECTIONS) -> None:
        scheme, separator, rest = url.partition("://")
        self._url = f"{scheme.partition('+')[0]}{separator}{rest}"
        self._max_connections = max_connections
        self._pool: Any = None
        self._tables: dict[str, _Table] = {}

    async def __aenter__(self) -> Self:
        await self._opened()
        return self

    async def aclose(self) -> None:
        pool, self._pool = self._pool, None
        self._tables.clear()
        if pool is not None:
            await pool.close()

    async def create_collection(self, name: str, dimensions: int) -> None:
        if not 1 <= dimensions <= 16_000:
            raise InvalidInputError("A collection has 1 to 16000 dimensions.")
        async with self._connection() as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", [CREATION_LOCK])
            known = await self._look_up(connection, name)
            if known is not None and known.dimensions != dimensions:
                raise DimensionMismatchError(
                    f"The collection has {known.dimensions} dimensions, not {dimensions}."
                )
            if known is None:
                cursor = await connection.execute(
                    "INSERT INTO agentscope_vector_collections (name, dimensions)"
                    " VALUES (%s, %s) RETURNING id",
                    [name, dimensions],
                )
                (number,) = await cursor.fetchone()
                for statement in table_statements(table_name(number), dimensions):
                    await connection.execute(statement)

    async def delete_collection(self, name: str) -> None:
        self._tables.pop(name, None)
        async with self._connection() as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", [CREATION_LOCK])
            known = await self._look_up(connection, name)
            if known is not None:
                await connection.execute(f"DROP TABLE IF EXISTS {known.name}")
                await connection.execute(
                    "DELETE FROM agentscope_vector_collections WHERE name = %s", [name]
                )

    async def has_collection(self, name: str) -> bool:
        async with self._connection() as connection:
            return await self._look_up(connection, name) is not None

    async def list_collections(self) -> list[str]:
        rows = await self._fetch("SELECT name FROM agentscope_vector_collections", [])
        return sorted(name for (name,) in rows)

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        table = await self._table(collection)
        for point in points:
            check_vector(point.vector, table.dimensions)
        statement = INSERT.format(table=table.name)
        for batch in batches(
            points, max_points=self.max_batch_points, max_bytes=self.max_batch_bytes
        ):
            # Always in one order, so that two writers of the same points cannot deadlock.
            rows = sorted(map(row, batch), key=lambda values: values[0])
            with self._using(collection):
                async with self._connection() as connection, connection.transaction():
                    await connection.cursor().executemany(statement, rows)

    async def search_vector(
        self, collection: str, vector: Vector, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        table = await self._table(collection)
        check_vector(vector, table.dimensions)
        text = vector_text(vector)
        condition, parameters = compile_filter(where)
        with self._using(collection):
            async with self._connection() as connection, connection.transaction():
                cursor = await connection.execute(
                    f"SELECT count(*) FROM (SELECT 1 FROM {table.name} LIMIT %s) AS few",  # noqa: S608 -- our own names
                    [EXACT_ROWS + 1],
                )
                (size,) = await cursor.fetchone()
                if size <= EXACT_ROWS:
                    await connection.execute("SET LOCAL enable_indexscan = off")
                    source, values = table.name, [*parameters]
                else:
                    wanted = min(MAX_EFFORT, top_k + TIE_MARGIN)
                    await connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
                    await connection.execute(f"SET LOCAL hnsw.ef_search = {wanted:d}")
                    source = (
                        f"(SELECT * FROM {table.name} WHERE {condition}"  # noqa: S608 -- compiled
                        f" ORDER BY {distance(table.dimensions)} LIMIT %s) AS near"
                    )
                    values = [*parameters, text, max(wanted, top_k)]
                    condition = "TRUE"
                cursor = await connection.execute(
                    f"SELECT {SIMILARITY} AS score, document_id, run_id, chunk FROM {source}"  # noqa: S608 -- compiled
                    f" WHERE {condition} ORDER BY score DESC, {ORDER} LIMIT %s",
                    [text, *values, top_k],
                )
                return _hits(await cursor.fetchall())

    async def search_keyword(
        self, collection: str, text: str, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        table = await self._table(collection)
        terms = list(query_weights(text))
        if not terms:
            return []
        condition, parameters = compile_filter(where)
        with self._using(collection):
            idf, rare = await self._inverse_frequencies(table, terms, KEYWORD_ROWS + 20 * top_k)
            rows = await self._fetch(
                "SELECT round(sum(w.weight * q.idf)::numeric, 6) AS score, document_id, run_id,"  # noqa: S608 -- compiled
                f" min(chunk) FROM {table.name}"
                " CROSS JOIN LATERAL unnest(terms, weights) AS w(term, weight)"
                " JOIN unnest(%s::bigint[], %s::float8[]) AS q(term, idf) ON q.term = w.term"
                f" WHERE terms && %s::bigint[] AND {condition}"
                f" GROUP BY id, document_id, run_id, chunk_index"
                f" ORDER BY score DESC, {ORDER} LIMIT %s",
                [list(idf), list(idf.values()), rare, *parameters, top_k],
            )
        return [hit for hit in _hits(rows) if hit.score > 0]

    async def _inverse_frequencies(
        self, table: _Table, terms: list[int], enough: int
    ) -> tuple[dict[int, float], list[int]]:
        """Return the idf of each term, and the rarest terms that `enough` rows have together.

        Only rows with one of those are scored: terms that are everywhere tell rows apart too
        little to read the whole table for them.
        """
        rows = await self._fetch(
            f"SELECT q.term, (SELECT count(*) FROM {table.name} WHERE terms @> ARRAY[q.term]),"  # noqa: S608 -- our own names
            f" (SELECT count(*) FROM {table.name}) FROM unnest(%s::bigint[]) AS q(term)",
            [terms],
        )
        idf: dict[int, float] = {}
        rare: list[int] = []
        reached = 0
        for term, found, total in sorted(rows, key=lambda row: (row[1], row[0])):
            if not found:
                continue
            idf[term] = math.log(1 + (total - found + 0.5) / (found + 0.5))
            if reached < enough:
                rare.append(term)
                reached += found
        return idf, rare

    async def score_points(
        self, collection: str, vector: Vector, hits: Sequence[StoreHit]
    ) -> list[StoreHit]:
        table = await self._table(collection)
        check_vector(vector, table.dimensions)
        ids = [point_id(hit.document_id, hit.run_id, hit.chunk.chunk_index) for hit in hits]
        with self._using(collection):
            rows = await self._fetch(
                f"SELECT id, {SIMILARITY} FROM {table.name} WHERE id = ANY(%s)",  # noqa: S608 -- our own names
                [vector_text(vector), ids],
            )
        scores = {number: float(score) for number, score in rows}
        known = [
            StoreHit(scores[number], hit.document_id, hit.run_id, hit.chunk)
            for number, hit in zip(ids, hits, strict=True)
            if number in scores
        ]
        return sorted(known, key=best_first)

    async def count(self, collection: str, document_id: str, run_id: str) -> int:
        table = await self._table(collection)
        with self._using(collection):
            rows = await self._fetch(
                f"SELECT count(*) FROM {table.name} WHERE document_id = %s AND run_id = %s",  # noqa: S608 -- our own names
                [document_id, run_id],
            )
        return int(rows[0][0])

    async def run_chunks(
        self, collection: str, document_id: str, run_id: str, *, offset: int = 0, limit: int = 30
    ) -> list[Chunk]:
        table = await self._table(collection)
        with self._using(collection):
            rows = await self._fetch(
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
            rows = await self._fetch(statement, [document_id, run_id, limit, offset])
        return [list(vector) for (vector,) in rows]

    async def delete_where(self, collection: str, where: Filter) -> None:
        condition, parameters = compile_filter(where)
        with contextlib.suppress(CollectionNotFoundError):
            table = await self._table(collection)
            with self._using(collection):
                async with self._connection() as connection:
                    await connection.execute(
                        f"DELETE FROM {table.name} WHERE {condition}",  # noqa: S608 -- compiled
                        parameters,
                    )

    async def stored_runs(self, collection: str) -> AsyncIterator[StoredRun]:
        table = await self._table(collection)
        after = FIRST
        while True:
            with self._using(collection):
                rows = await self._fetch(
                    "SELECT document_id, run_id, epoch, count(*)"  # noqa: S608 -- our own names
                    f" FROM {table.name}"
                    ' WHERE (document_id COLLATE "C", run_id COLLATE "C") >= (%s, %s)'
                    " GROUP BY document_id, run_id, epoch"
                    ' HAVING (document_id COLLATE "C", run_id COLLATE "C", epoch) > (%s, %s, %s)'
                    ' ORDER BY document_id COLLATE "C", run_id COLLATE "C", epoch LIMIT %s',
                    [after[0], after[1], *after, PAGE],
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
                rows = await self._fetch(
                    f"SELECT document_id, run_id, chunk_index, chunk FROM {table.name}"  # noqa: S608 -- compiled
                    ' WHERE (document_id COLLATE "C", run_id COLLATE "C", chunk_index)'
                    f" > (%s, %s, %s) AND {condition}"
                    ' ORDER BY document_id COLLATE "C", run_id COLLATE "C", chunk_index LIMIT %s',
                    [*after, *parameters, PAGE],
                )
            for document_id, run_id, _, chunk in rows:
                yield StoreHit(0.0, document_id, run_id, chunk_of(chunk))
            if len(rows) < PAGE:
                return
            after = rows[-1][:3]

    async def _opened(self) -> Any:
        if self._pool is None:
            package: Any = require("psycopg_pool", package="psycopg", extra="postgres")
            pool = package.AsyncConnectionPool(
                self._url,
                min_size=1,
                max_size=self._max_connections,
                timeout=CONNECT_SECONDS,
                open=False,
                kwargs={"autocommit": True},
            )
            self._pool = pool
            try:
                with _translated():
                    await pool.open(wait=True, timeout=CONNECT_SECONDS)
                    async with pool.connection() as connection, connection.transaction():
                        await connection.execute(
                            "SELECT pg_advisory_xact_lock(%s)", [CREATION_LOCK]
                        )
                        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                        await connection.execute(REGISTRY)
            except BaseException:
                self._pool = None
                await pool.close()
                raise
        return self._pool

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        pool = await self._opened()
        with _translated():
            async with pool.connection() as connection:
                yield connection

    async def _fetch(self, statement: str, parameters: Sequence[Any]) -> list[Any]:
        async with self._connection() as connection:
            cursor = await connection.execute(statement, parameters)
            return list(await cursor.fetchall())

    async def _table(self, name: str) -> _Table:
        known = self._tables.get(name)
        if known is None:
            async with self._connection() as connection:
                known = await self._look_up(connection, name)
            if known is None:
                raise CollectionNotFoundError
            self._tables[name] = known
        return known

    async def _look_up(self, connection: Any, name: str) -> _Table | None:
        cursor = await connection.execute(
            "SELECT id, dimensions FROM agentscope_vector_collections WHERE name = %s", [name]
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
        StoreHit(float(score), document_id, run_id, chunk_of(chunk))
        for score, document_id, run_id, chunk in rows
    ]


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Turn the driver's errors into ours."""
    psycopg: Any = require("psycopg", package="psycopg", extra="postgres")
    pool: Any = require("psycopg_pool", package="psycopg", extra="postgres")
    try:
        yield
    except psycopg.errors.UndefinedTable as exc:
        raise CollectionNotFoundError from exc
    except (psycopg.errors.DataError, psycopg.errors.ProgrammingError) as exc:
        raise VectorStoreError(
            "The vector store refused the request.",
            retryable=False,
            context={"reason": str(exc)[:500]},
        ) from exc
    except (psycopg.Error, pool.PoolTimeout, pool.PoolClosed) as exc:
        raise VectorStoreError(context={"reason": str(exc)[:500]}) from exc
