"""The rows of one embedded collection: one SQLite file that holds everything.

`points` has what filters read, `vectors` and `chunks` the bulk, `words` the full-text index over
the terms of `agentscope.rag.terms`. One transaction per batch, synchronous=FULL: what was
committed survives the loss of power.

`journal` lists the ids of rows that changed since the nearest-neighbour index was told last; it
is written in the transaction of the change, so a crash between the two is made good on opening.
"""

import json
import logging
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic_core import to_json

from agentscope.errors import VectorStoreError
from agentscope.rag.document import Chunk, Point
from agentscope.rag.terms import TERMS_VERSION, document_terms
from agentscope.rag.vector_store.filter_sql import Parameter, Sql
from agentscope.rag.vector_store.points import chunk_text

FORMAT = 1
DATABASE = "collection.sqlite"
DAMAGED = (
    "The stored vectors of this knowledge base are damaged. Remove them and index its documents "
    "again: the original files are kept."
)
OTHER_FORMAT = (
    "The stored vectors of this knowledge base were written by another version. Index its "
    "documents again, or go back to that version."
)

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE points (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    chunk_index INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    kb_id TEXT,
    metadata TEXT NOT NULL,
    UNIQUE (document_id, run_id, chunk_index)
);
CREATE INDEX points_kb_id ON points (kb_id) WHERE kb_id IS NOT NULL;
CREATE TABLE vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE chunks (id INTEGER PRIMARY KEY, chunk BLOB NOT NULL);
CREATE TABLE journal (id INTEGER PRIMARY KEY);
"""
_WORDS = """
CREATE VIRTUAL TABLE words USING fts5(
    terms, content = '', tokenize = "ascii tokenchars '-._'"
)
"""

logger = logging.getLogger(__name__)


def terms_stamp() -> str:
    """Return what the full-text index depends on besides the texts."""
    return f"{TERMS_VERSION}/{unicodedata.unidata_version}"


@contextmanager
def translated() -> Iterator[None]:
    """Turn errors of the database into sentences."""
    try:
        yield
    except sqlite3.OperationalError as exc:
        if "no such table" in str(exc):
            raise VectorStoreError(DAMAGED, retryable=False) from exc
        logger.warning("embedded_store_failed", extra={"reason": str(exc)})
        raise VectorStoreError("The vector data could not be read or written.") from exc
    except sqlite3.DatabaseError as exc:
        logger.exception("embedded_store_damaged", extra={"reason": str(exc)})
        raise VectorStoreError(DAMAGED, retryable=False) from exc


def create_rows(directory: Path, dimensions: int) -> None:
    """Write the file of an empty collection."""
    with translated():
        connection = sqlite3.connect(directory / DATABASE, isolation_level=None)
        try:
            connection.execute("PRAGMA page_size = 8192")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(f"BEGIN; {_SCHEMA} {_WORDS}; COMMIT;")
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [
                    ("format", str(FORMAT)),
                    ("dimensions", str(dimensions)),
                    ("terms", terms_stamp()),
                ],
            )
        finally:
            connection.close()


class Rows:
    """One connection for writing and one for reading; each is used by one thread at a time."""

    def __init__(self, directory: Path) -> None:
        path = directory / DATABASE
        if not path.is_file():
            raise VectorStoreError(DAMAGED, retryable=False)
        with translated():
            self._writer = _connect(path)
            try:
                self._check()
                self._reader = _connect(path)
                self._reader.execute("PRAGMA query_only = 1")
            except BaseException:
                self._writer.close()
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let every read inside see the same state."""
        self._reader.execute("BEGIN")
        try:
            yield
        finally:
            self._reader.execute("COMMIT")

    def _check(self) -> None:
        meta = dict(self._writer.execute("SELECT key, value FROM meta"))
        if meta.get("format") != str(FORMAT):
            raise VectorStoreError(OTHER_FORMAT, retryable=False)
        self.dimensions = int(meta["dimensions"])
        self.index_name = meta.get("index", "")
        if meta.get("terms") != terms_stamp():
            self._cut_terms_again()

    def _cut_terms_again(self) -> None:
        """Rebuild the full-text index: the rules by which terms are cut have changed."""
        logger.info("full_text_index_rebuilt")
        with self.transaction() as write:
            write("DROP TABLE words", ())
            write(_WORDS, ())
            last = 0
            while rows := self._writer.execute(
                "SELECT id, chunk FROM chunks WHERE id > ? ORDER BY id LIMIT 500", (last,)
            ).fetchall():
                last = rows[-1][0]
                for number, chunk in rows:
                    write("INSERT INTO words (rowid, terms) VALUES (?, ?)", (number, _terms(chunk)))
            write("UPDATE meta SET value = ? WHERE key = 'terms'", (terms_stamp(),))

    def close(self) -> None:
        """Close both connections; the last one folds the write-ahead log into the file."""
        self._reader.close()
        self._writer.close()

    @contextmanager
    def transaction(
        self,
    ) -> Iterator[Callable[[str, Sequence[Parameter | bytes | None]], sqlite3.Cursor]]:
        """Give a function that executes a statement within one transaction."""
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            yield self._writer.execute
            self._writer.execute("COMMIT")
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise

    def read(self, text: str, parameters: Sequence[Parameter]) -> sqlite3.Cursor:
        """Execute a query on the reading connection."""
        return self._reader.execute(text, parameters)

    def set_index(self, name: str) -> None:
        """Remember which directory holds the index; empty for none. The journal starts anew."""
        with self.transaction() as write:
            write("INSERT OR REPLACE INTO meta VALUES ('index', ?)", (name,))
            if not name:
                write("DELETE FROM journal", ())
        self.index_name = name

    def put(
        self, points: Sequence[Point], vectors: Sequence[bytes], *, journalled: bool
    ) -> tuple[list[int], list[int]]:
        """Store points; return the ids of the new rows and of the rows they replaced."""
        new: list[int] = []
        replaced: list[int] = []
        with self.transaction() as write:
            for point, vector in zip(points, vectors, strict=True):
                replaced += self._remove_same(write, point)
                new.append(_insert(write, point, vector))
            if journalled:
                _journal(write, [*new, *replaced])
        return new, replaced

    def _remove_same(self, write: Callable[..., sqlite3.Cursor], point: Point) -> list[int]:
        found = write(
            "SELECT id FROM points WHERE document_id = ? AND run_id = ? AND chunk_index = ?",
            (point.document_id, point.run.run_id, point.chunk.chunk_index),
        ).fetchall()
        ids = [row[0] for row in found]
        _remove(write, ids)
        return ids

    def remove(self, where: Sql, *, journalled: bool) -> list[int]:
        """Remove the points that pass, everywhere, and return their ids."""
        text, parameters = where
        with self.transaction() as write:
            found = write(f"SELECT id FROM points AS p WHERE {text}", parameters)  # noqa: S608 -- compiled, parameters bound
            ids = [row[0] for row in found]
            _remove(write, ids)
            if journalled:
                _journal(write, ids)
        return ids

    def unapplied(self) -> tuple[list[tuple[int, bytes]], list[int]]:
        """Return what the index may not know yet: rows to add, and ids to remove."""
        added = self._writer.execute(
            "SELECT id, vector FROM vectors WHERE id IN (SELECT id FROM journal)"
        ).fetchall()
        gone = self._writer.execute(
            "SELECT id FROM journal WHERE id NOT IN (SELECT id FROM vectors)"
        ).fetchall()
        return added, [row[0] for row in gone]

    def forget(self, ids: Sequence[int]) -> None:
        """Take ids out of the journal: the index knows them."""
        with self.transaction() as write:
            write(
                "DELETE FROM journal WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            )

    def size(self) -> int:
        """Return the number of points."""
        return int(self._writer.execute("SELECT count(*) FROM points").fetchone()[0])

    def count(self, document_id: str, run_id: str) -> int:
        """Return the number of points of a run."""
        (count,) = self._writer.execute(
            "SELECT count(*) FROM points WHERE document_id = ? AND run_id = ?",
            (document_id, run_id),
        ).fetchone()
        return int(count)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=30, isolation_level=None, check_same_thread=False, cached_statements=64
    )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -500")
    return connection


def _insert(write: Callable[..., sqlite3.Cursor], point: Point, vector: bytes) -> int:
    chunk = to_json(point.chunk, inf_nan_mode="null")
    metadata = to_json(point.chunk.metadata, inf_nan_mode="null").decode()
    own = point.knowledge_base_id or point.chunk.metadata.get("kb_id")
    cursor = write(
        "INSERT INTO points (document_id, run_id, chunk_index, epoch, kb_id, metadata)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            point.document_id,
            point.run.run_id,
            point.chunk.chunk_index,
            point.run.epoch,
            own if isinstance(own, str) else None,
            metadata,
        ),
    )
    number = cursor.lastrowid
    assert number is not None
    write("INSERT INTO vectors VALUES (?, ?)", (number, vector))
    write("INSERT INTO chunks VALUES (?, ?)", (number, chunk))
    terms = " ".join(document_terms(chunk_text(point.chunk)))
    write("INSERT INTO words (rowid, terms) VALUES (?, ?)", (number, terms))
    return number


def _remove(write: Callable[..., sqlite3.Cursor], ids: Sequence[int]) -> None:
    for number in ids:
        (chunk,) = write("SELECT chunk FROM chunks WHERE id = ?", (number,)).fetchone()
        # The index keeps no copy of its texts, so it has to be told what it is to forget.
        write(
            "INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)",
            (number, _terms(chunk)),
        )
        for table in ("points", "vectors", "chunks"):
            write(f"DELETE FROM {table} WHERE id = ?", (number,))  # noqa: S608 -- three constants


def _journal(write: Callable[..., sqlite3.Cursor], ids: Sequence[int]) -> None:
    write("INSERT OR IGNORE INTO journal SELECT value FROM json_each(?)", (json.dumps(list(ids)),))


def _terms(chunk: bytes) -> str:
    return " ".join(document_terms(chunk_text(Chunk.model_validate_json(chunk))))
