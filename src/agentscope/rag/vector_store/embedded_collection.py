"""One open collection: rows that are the truth, and an index that makes large ones fast.

Small collections and narrow filters are scored exactly over the rows. Once a collection has
`INDEX_FROM_VALUES` vector values, a nearest-neighbour index is built beside it and proposes
candidates, which are then scored exactly too, so a score never depends on the way it was found.

Everything here blocks. The caller sees to it that one thread reads and one writes at a time.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pydantic

from agentscope.errors import VectorStoreError
from agentscope.rag.document import Chunk, Point, StoredRun, StoreHit, Vector
from agentscope.rag.terms import query_terms
from agentscope.rag.vector_store.embedded_keeper import IndexKeeper
from agentscope.rag.vector_store.embedded_rows import DAMAGED, DATABASE, Rows
from agentscope.rag.vector_store.embedded_scoring import VectorMath
from agentscope.rag.vector_store.filter import Filter
from agentscope.rag.vector_store.filter_sql import Sql, compile_filter
from agentscope.rag.vector_store.points import best_first, check_vector

INDEX_FROM_VALUES = 500_000
"""Rows times dimensions from which scanning all vectors takes longer than about 5 ms."""
EXACT_ROWS = 5_000
"""Rows that pass a filter up to which they are simply all scored."""
FIRST_PROPOSED = 200
MAX_PROPOSED = 20_000
_READ_ROWS = 256


class OpenCollection:
    """Rows and index of one directory."""

    def __init__(self, directory: Path, *, index_from_values: int = INDEX_FROM_VALUES) -> None:
        self.directory = directory
        self.rows = Rows(directory)
        self.vectors = VectorMath(self.rows.dimensions)
        self.index = IndexKeeper(
            directory, self.rows, self.vectors.matrix, from_values=index_from_values
        )

    @property
    def dimensions(self) -> int:
        """Return the length of every vector."""
        return self.rows.dimensions

    @property
    def database(self) -> Path:
        """Return the file that an index is built from."""
        return self.directory / DATABASE

    def close(self) -> None:
        """Release files; calling it twice is harmless."""
        self.index.close()
        self.rows.close()

    def upsert(self, points: Sequence[Point]) -> None:
        """Store one batch; of points with the same key the last one counts."""
        unique = list({(p.document_id, p.run, p.chunk.chunk_index): p for p in points}.values())
        matrix = self.vectors.normalised([point.vector for point in unique])
        new, replaced = self.rows.put(
            unique, [row.tobytes() for row in matrix], journalled=self.index.is_journalled
        )
        self.index.apply(new, matrix, replaced)

    def remove(self, where: Filter) -> None:
        """Remove the points that pass."""
        ids = self.rows.remove(compile_filter(where), journalled=self.index.is_journalled)
        self.index.apply([], None, ids)

    def nearest(self, vector: Vector, top_k: int, where: Filter | None) -> list[StoreHit]:
        """Return the nearest points that pass."""
        check_vector(vector, self.dimensions)
        query = self.vectors.normalised([vector])[0]
        sql = compile_filter(where)
        proposed = self._proposed(query, top_k, sql, is_filtered=where is not None)
        return self._scored(query, top_k, sql) if proposed is None else proposed

    def by_words(self, text: str, top_k: int, where: Filter | None) -> list[StoreHit]:
        """Return the points that share most terms."""
        terms = query_terms(text)
        if not terms:
            return []
        condition, parameters = compile_filter(where)
        match = " OR ".join(f'"{term}"' for term in terms)
        found = self.rows.read(
            "SELECT p.id, -bm25(words) AS score FROM words JOIN points AS p ON p.id = words.rowid"  # noqa: S608 -- compiled, parameters bound
            f" WHERE words MATCH ? AND {condition}"
            " ORDER BY score DESC, p.document_id, p.chunk_index, p.run_id LIMIT ?",
            [match, *parameters, top_k],
        ).fetchall()
        return self._hits(dict(found))

    def similarities(self, vector: Vector, named: Sequence[StoreHit]) -> list[StoreHit]:
        """Return the named points with their vector similarity."""
        check_vector(vector, self.dimensions)
        query = self.vectors.normalised([vector])[0]
        scores: dict[int, float] = {}
        chunks: dict[int, StoreHit] = {}
        for hit in named:
            row = self.rows.read(
                "SELECT id, vector FROM points JOIN vectors USING (id)"
                " WHERE document_id = ? AND run_id = ? AND chunk_index = ?",
                [hit.document_id, hit.run_id, hit.chunk.chunk_index],
            ).fetchone()
            if row is not None:
                chunks[row[0]] = hit
                scores[row[0]] = float(self.vectors.scores([row[1]], query)[0])
        hits = [
            StoreHit(scores[number], hit.document_id, hit.run_id, hit.chunk)
            for number, hit in chunks.items()
        ]
        return sorted(hits, key=best_first)

    def count(self, document_id: str, run_id: str) -> int:
        """Return the number of points of a run that every search reads."""
        self.index.check()
        return self.rows.count(document_id, run_id)

    def run_chunks(self, document_id: str, run_id: str, offset: int, limit: int) -> list[Chunk]:
        """Return a page of a run's chunks."""
        found = self.rows.read(
            "SELECT chunk FROM points JOIN chunks USING (id) WHERE document_id = ? AND run_id = ?"
            " ORDER BY chunk_index LIMIT ? OFFSET ?",
            [document_id, run_id, limit, offset],
        )
        return [_chunk(row[0]) for row in found]

    def run_vectors(self, document_id: str, run_id: str, offset: int, limit: int) -> list[Vector]:
        """Return a page of a run's vectors."""
        found = self.rows.read(
            "SELECT vector FROM points JOIN vectors USING (id) WHERE document_id = ? AND run_id = ?"
            " ORDER BY chunk_index LIMIT ? OFFSET ?",
            [document_id, run_id, limit, offset],
        )
        vectors: list[Vector] = self.vectors.matrix([row[0] for row in found]).tolist()
        return vectors

    def stored_runs(self, after: tuple[str, str, int], limit: int) -> list[StoredRun]:
        """Return a page of runs, by document, run and epoch."""
        found = self.rows.read(
            "SELECT document_id, run_id, epoch, count(*) FROM points"
            " WHERE (document_id, run_id) >= (?, ?)"
            " GROUP BY document_id, run_id, epoch"
            " HAVING (document_id, run_id, epoch) > (?, ?, ?) ORDER BY 1, 2, 3 LIMIT ?",
            [after[0], after[1], *after, limit],
        )
        return [StoredRun(*row) for row in found]

    def page(self, where: Filter | None, after: tuple[str, str, int], limit: int) -> list[StoreHit]:
        """Return a page of points, by document, run and chunk index."""
        condition, parameters = compile_filter(where)
        found = self.rows.read(
            "SELECT document_id, run_id, chunk FROM points AS p JOIN chunks USING (id)"  # noqa: S608 -- compiled, parameters bound
            f" WHERE (document_id, run_id, chunk_index) > (?, ?, ?) AND {condition}"
            " ORDER BY document_id, run_id, chunk_index LIMIT ?",
            [*after, *parameters, limit],
        )
        return [StoreHit(0.0, row[0], row[1], _chunk(row[2])) for row in found]

    def _proposed(
        self, query: Any, top_k: int, sql: Sql, *, is_filtered: bool
    ) -> list[StoreHit] | None:
        """Return the best of what the index proposes, or None if all rows must be scored."""
        wanted = max(FIRST_PROPOSED, 4 * top_k)
        while wanted <= MAX_PROPOSED:
            ids = self.index.nearest(query, wanted)
            if ids is None:
                return None
            hits = self._scored(query, top_k, sql, among=ids)
            if len(hits) >= top_k:
                return hits
            if not is_filtered or self._passing(sql) <= EXACT_ROWS:
                return None
            wanted *= 8
        return None

    def _passing(self, sql: Sql) -> int:
        """Return how many rows pass, counted as far as it matters."""
        text, parameters = sql
        (count,) = self.rows.read(
            f"SELECT count(*) FROM (SELECT 1 FROM points AS p WHERE {text} LIMIT ?)",  # noqa: S608 -- compiled, parameters bound
            [*parameters, EXACT_ROWS + 1],
        ).fetchone()
        return int(count)

    def _scored(
        self, query: Any, top_k: int, sql: Sql, among: Sequence[int] | None = None
    ) -> list[StoreHit]:
        ids: list[int] = []
        scores: list[Any] = []
        for numbers, values in self._vectors(sql, among):
            ids.extend(numbers)
            scores.append(self.vectors.scores(values, query))
        return self._hits(self.vectors.best(ids, scores, top_k), top_k)

    def _vectors(
        self, sql: Sql, among: Sequence[int] | None
    ) -> Iterator[tuple[list[int], list[bytes]]]:
        text, parameters = sql
        source = "points AS p JOIN vectors USING (id)"
        if among is not None:
            text = f"p.id IN (SELECT value FROM json_each(?)) AND {text}"  # noqa: S608 -- compiled
            parameters = [_json(among), *parameters]
        elif text == "1":
            source = "vectors AS p"
        cursor = self.rows.read(f"SELECT p.id, vector FROM {source} WHERE {text}", parameters)  # noqa: S608 -- compiled, parameters bound
        while rows := cursor.fetchmany(_READ_ROWS):
            yield [row[0] for row in rows], [row[1] for row in rows]

    def _hits(self, scores: dict[int, float], top_k: int | None = None) -> list[StoreHit]:
        """Return the rows with these scores, best first; only the first `top_k` are read."""
        found = self.rows.read(
            "SELECT id, document_id, run_id, chunk_index FROM points"
            " WHERE id IN (SELECT value FROM json_each(?))",
            [_json(list(scores))],
        ).fetchall()
        found.sort(key=lambda row: (-scores[row[0]], row[1], row[3], row[2]))
        del found[len(found) if top_k is None else top_k :]
        chunks = dict(
            self.rows.read(
                "SELECT id, chunk FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
                [_json([row[0] for row in found])],
            ).fetchall()
        )
        return [
            StoreHit(scores[number], document_id, run_id, _chunk(chunks[number]))
            for number, document_id, run_id, _ in found
            if number in chunks
        ]


def _json(ids: Sequence[int]) -> str:
    return f"[{','.join(map(str, ids))}]"


def _chunk(value: bytes) -> Chunk:
    try:
        return Chunk.model_validate_json(value)
    except pydantic.ValidationError as exc:
        raise VectorStoreError(DAMAGED, retryable=False) from exc
