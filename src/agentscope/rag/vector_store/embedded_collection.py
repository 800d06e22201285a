"""One open collection: rows that are the truth, and an index that makes large ones fast.

Small collections and narrow filters are scored exactly over the rows. Once a collection has
`INDEX_FROM_VALUES` vector values, a nearest-neighbour index is built beside it and proposes
candidates, which are then scored exactly too, so a score never depends on the way it was found.

Everything here blocks. The caller sees to it that one thread reads and one writes at a time.
"""

import logging
import shutil
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pydantic

from agentscope.errors import VectorStoreError
from agentscope.optional import require
from agentscope.rag.document import Chunk, Point, StoredRun, StoreHit, Vector
from agentscope.rag.terms import query_terms
from agentscope.rag.vector_store.embedded_index import IndexBrokenError, VectorIndex
from agentscope.rag.vector_store.embedded_rows import DAMAGED, DATABASE, Rows
from agentscope.rag.vector_store.filter import Filter
from agentscope.rag.vector_store.filter_sql import Sql, compile_filter
from agentscope.rag.vector_store.points import best_first, check_vector

INDEX_FROM_VALUES = 2_000_000
"""Rows times dimensions from which scanning all vectors takes longer than about 10 ms."""
REBUILD_SHARE = 0.3
"""Share of changed rows from which a new index pays."""
EXACT_ROWS = 5_000
"""Rows that pass a filter up to which they are simply all scored."""
MAX_PROPOSED = 20_000
SCORE_DIGITS = 6
"""Equal vectors must have equal scores; float32 sums differ in the last digits."""

_INDEX_PREFIX = "index-"

logger = logging.getLogger(__name__)


class OpenCollection:
    """Rows and index of one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._numpy: Any = require("numpy", package="numpy", extra="embedded")
        self.rows = Rows(directory)
        self.dimensions = self.rows.dimensions
        self._index: VectorIndex | None = None
        self._is_trusted = True
        self._size = self.rows.size()
        self._changed = 0
        self._building = False
        self._open_index()

    @property
    def database(self) -> Path:
        """Return the file that an index is built from."""
        return self.directory / DATABASE

    def close(self) -> None:
        """Release files; calling it twice is harmless."""
        self._close_index()
        self.rows.close()

    def upsert(self, points: Sequence[Point]) -> None:
        """Store one batch; of points with the same key the last one counts."""
        unique = list({(p.document_id, p.run, p.chunk.chunk_index): p for p in points}.values())
        matrix = self._normalised([point.vector for point in unique])
        new, replaced = self.rows.put(
            unique, [row.tobytes() for row in matrix], journalled=self._is_journalled
        )
        self._size += len(new) - len(replaced)
        self._apply(new, matrix, replaced)

    def remove(self, where: Filter) -> None:
        """Remove the points that pass."""
        ids = self.rows.remove(compile_filter(where), journalled=self._is_journalled)
        self._size -= len(ids)
        self._apply([], None, ids)

    def nearest(self, vector: Vector, top_k: int, where: Filter | None) -> list[StoreHit]:
        """Return the nearest points that pass."""
        check_vector(vector, self.dimensions)
        query = self._normalised([vector])[0]
        sql = compile_filter(where)
        if self._index is not None and self._is_trusted:
            proposed = self._proposed(query, top_k, sql, is_filtered=where is not None)
            if proposed is not None:
                return proposed
        return self._scored(query, top_k, sql)

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
        query = self._normalised([vector])[0]
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
                scores[row[0]] = self._score([row[1]], query)[0]
        hits = [
            StoreHit(scores[number], hit.document_id, hit.run_id, hit.chunk)
            for number, hit in chunks.items()
        ]
        return sorted(hits, key=best_first)

    def count(self, document_id: str, run_id: str) -> int:
        """Return the number of points of a run that every search reads."""
        self._check_index_size()
        return self.rows.count(document_id, run_id)

    def run_chunks(self, document_id: str, run_id: str, offset: int, limit: int) -> list[Chunk]:
        """Return a page of a run's chunks."""
        found = self.rows.read(
            "SELECT chunk FROM points JOIN chunks USING (id) WHERE document_id = ? AND run_id = ?"
            " ORDER BY chunk_index LIMIT ? OFFSET ?",
            [document_id, run_id, limit, offset],
        )
        return [_chunk(row[0]) for row in found]

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

    @property
    def wants_index(self) -> bool:
        """Say whether a new index would pay."""
        if self._building:
            return False
        if self._size * self.dimensions < INDEX_FROM_VALUES:
            return False
        if self._index is None or not self._is_trusted:
            return True
        return self._changed > REBUILD_SHARE * self._size

    def begin_index(self) -> Path:
        """Journal every change from now on; return the directory to build in."""
        if self._index is None or not self._is_trusted:
            self._drop_index("it is to be built anew")
        self._building = True
        return self.directory / f"{_INDEX_PREFIX}{uuid.uuid4().hex}"

    def adopt_index(self, path: Path) -> None:
        """Bring a built index up to date and use it; the old one goes."""
        self._building = False
        index = VectorIndex.open(path)
        try:
            self._catch_up(index)
        except BaseException:
            index.close()
            raise
        old = self.rows.index_name
        self.rows.set_index(path.name)
        self._close_index()
        self._index, self._is_trusted, self._changed = index, True, 0
        if old:
            shutil.rmtree(self.directory / old, ignore_errors=True)

    def give_up_index(self, path: Path) -> None:
        """Go on as before after a build that failed or was stopped."""
        self._building = False
        shutil.rmtree(path, ignore_errors=True)
        if self._index is None:
            self.rows.set_index("")

    @property
    def _is_journalled(self) -> bool:
        return self._building or self._index is not None

    def _open_index(self) -> None:
        name = self.rows.index_name
        for entry in self.directory.glob(f"{_INDEX_PREFIX}*"):
            if entry.name != name:
                shutil.rmtree(entry, ignore_errors=True)
        if not name:
            return
        try:
            index = VectorIndex.open(self.directory / name)
            self._index = index
            self._catch_up(index)
            if index.size != self._size:
                raise IndexBrokenError("another number of vectors than rows")
        except IndexBrokenError as exc:
            self._drop_index(str(exc))

    def _catch_up(self, index: VectorIndex) -> None:
        added, gone = self.rows.unapplied()
        for start in range(0, len(added), 1000):
            part = added[start : start + 1000]
            index.add([row[0] for row in part], self._matrix([row[1] for row in part]))
        index.remove(gone)
        self._changed += len(added) + len(gone)
        if not self._building:
            self.rows.forget([*(row[0] for row in added), *gone])

    def _apply(self, new: Sequence[int], matrix: Any, gone: Sequence[int]) -> None:
        """Tell the index what the rows already hold."""
        index = self._index
        if index is None or not (new or gone):
            return
        try:
            if gone:
                index.remove(gone)
            if new:
                index.add(new, matrix)
        except IndexBrokenError as exc:
            self._drop_index(str(exc))
            return
        self._changed += len(new) + len(gone)
        if not self._building:  # a build under way reads the journal when it ends
            self.rows.forget([*new, *gone])

    def _drop_index(self, reason: str) -> None:
        name = self.rows.index_name
        if name:
            logger.warning("vector_index_dropped", extra={"reason": reason})
        self._close_index()
        self._is_trusted = True
        self.rows.set_index("")
        if name:
            shutil.rmtree(self.directory / name, ignore_errors=True)

    def _close_index(self) -> None:
        index, self._index = self._index, None
        if index is None:
            return
        try:
            index.close()
        except IndexBrokenError as exc:
            logger.warning("vector_index_not_closed", extra={"reason": str(exc)})

    def _check_index_size(self) -> None:
        """Drop an index that lost vectors: what is counted must be found."""
        index = self._index
        if index is None:
            return
        try:
            if index.size != self._size:
                self._drop_index("another number of vectors than rows")
        except IndexBrokenError as exc:
            self._drop_index(str(exc))

    def _proposed(
        self, query: Any, top_k: int, sql: Sql, *, is_filtered: bool
    ) -> list[StoreHit] | None:
        """Return the best of what the index proposes, or None if all rows must be scored."""
        wanted = max(100, 4 * top_k)
        while wanted <= MAX_PROPOSED:
            index = self._index
            if index is None:
                return None
            try:
                ids = index.nearest(query, wanted)
            except IndexBrokenError as exc:
                # This is the reading thread; the writing one replaces the index.
                logger.warning("vector_index_failed", extra={"reason": str(exc)})
                self._is_trusted = False
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
        numpy = self._numpy
        ids: list[int] = []
        scores: list[Any] = []
        for numbers, values in self._vectors(sql, among):
            ids.extend(numbers)
            scores.append(self._score(values, query))
        if not ids:
            return []
        every = numpy.concatenate(scores)
        if len(ids) > top_k:
            least = numpy.partition(every, len(ids) - top_k)[len(ids) - top_k]
            chosen = numpy.flatnonzero(every >= least)
        else:
            chosen = numpy.arange(len(ids))
        return self._hits({ids[i]: float(every[i]) for i in chosen}, top_k)

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
        while rows := cursor.fetchmany(2000):
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

    def _score(self, values: Sequence[bytes], query: Any) -> Any:
        return self._numpy.round(
            (self._matrix(values) @ query).astype(self._numpy.float64), SCORE_DIGITS
        )

    def _matrix(self, values: Sequence[bytes]) -> Any:
        matrix = self._numpy.frombuffer(b"".join(values), dtype=self._numpy.float32)
        return matrix.reshape(len(values), self.dimensions)

    def _normalised(self, vectors: Sequence[Vector]) -> Any:
        numpy = self._numpy
        matrix = numpy.asarray(vectors, dtype=numpy.float64).reshape(-1, self.dimensions)
        norms = numpy.linalg.norm(matrix, axis=1, keepdims=True)
        return (matrix / numpy.where(norms > 0, norms, 1.0)).astype(numpy.float32)


def _json(ids: Sequence[int]) -> str:
    return f"[{','.join(map(str, ids))}]"


def _chunk(value: bytes) -> Chunk:
    try:
        return Chunk.model_validate_json(value)
    except pydantic.ValidationError as exc:
        raise VectorStoreError(DAMAGED, retryable=False) from exc
