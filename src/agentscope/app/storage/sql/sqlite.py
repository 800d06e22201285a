"""Storage in one SQLite file, for one process: the embedded default."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.sql.dialect import SQLITE
from agentscope.app.storage.sql.documents import SQLDocuments
from agentscope.app.storage.sql.knowledge_bases import SQLKnowledgeBases
from agentscope.app.storage.sql.ledger import SQLCredentials, SQLEvents, SQLRegistry
from agentscope.app.storage.sql.session import Database, Row, Session, migrate
from agentscope.app.storage.sql.shares import SQLShares
from agentscope.app.storage.sql.threads import CLOSED, Job, ThreadConnections, WriterThread
from agentscope.clock import Clock, SystemClock
from agentscope.errors import AgentScopeError, InvalidInputError, StorageError

Result = TypeVar("Result")

MAX_BATCH = 64
BUSY_TIMEOUT_SECONDS = 5.0
UNSTORABLE = "The text holds characters that cannot be stored."

_SENTENCES = {
    sqlite3.SQLITE_BUSY: ("Another process is using the database; try again.", True),
    sqlite3.SQLITE_LOCKED: ("Another process is using the database; try again.", True),
    sqlite3.SQLITE_FULL: ("The disk that holds the database is full.", True),
    sqlite3.SQLITE_IOERR: ("The disk that holds the database does not work as expected.", True),
    sqlite3.SQLITE_CANTOPEN: ("The database file cannot be opened.", False),
    sqlite3.SQLITE_READONLY: ("The database file cannot be written.", False),
    sqlite3.SQLITE_CORRUPT: ("The database file is damaged; restore it from a backup.", False),
    sqlite3.SQLITE_NOTADB: ("The database file is damaged; restore it from a backup.", False),
}


def translated(error: Exception) -> Exception:
    """Return the error to raise for one of the driver's; its text goes to the log only."""
    if isinstance(error, AgentScopeError):
        return error
    if isinstance(error, UnicodeEncodeError):
        return InvalidInputError(UNSTORABLE)
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        sentence, retryable = _SENTENCES.get(code, (None, False))
        return StorageError(
            sentence, provider="sqlite", retryable=retryable, context={"reason": str(error)}
        )
    if isinstance(error, OSError):
        return StorageError(
            "The disk that holds the database does not work as expected.",
            provider="sqlite",
            context={"reason": str(error)},
        )
    return error


class SQLiteDatabase(Database):
    """One file in WAL mode: one thread writes whole transactions, a few threads read.

    What a user was told survives loss of power, not only of the process: after such a commit the
    log is flushed, as `synchronous=FULL` would. All transactions that wait at that moment share
    one commit and one flush; claims, renewals and stages need none (see `DocumentWrite.matters`).
    """

    dialect = SQLITE

    def __init__(self, path: Path, now: Callable[[], datetime], readers: int) -> None:
        self._path = path
        self._now = now
        self._readers_count = readers
        self._writer: WriterThread | None = None
        self._readers: ThreadConnections[sqlite3.Connection] | None = None
        self._connection: sqlite3.Connection | None = None
        self._log: int | None = None  # file descriptor of the write-ahead log

    async def open(self) -> None:
        """Open the file, make it if needed, and bring its schema up to date."""
        if self._writer is not None:
            return
        self._writer = WriterThread(self._run_batch, MAX_BATCH, "storage-writer")
        self._readers = ThreadConnections(
            self._readers_count, self._connect, sqlite3.Connection.close, "storage-reader"
        )
        try:
            await self._writer.run(migrate)
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Finish what was accepted and close the file."""
        writer, self._writer = self._writer, None
        readers, self._readers = self._readers, None
        if readers is not None:
            await readers.aclose()
        if writer is not None:
            await writer.aclose()
        self._close_writer()

    def _close_writer(self) -> None:
        log, self._log = self._log, None
        if log is not None:
            os.close(log)
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def write(self, work: Callable[[Session], Result]) -> Result:
        if self._writer is None:
            raise StorageError(CLOSED, retryable=False)
        return await self._writer.run(work)

    async def read(self, work: Callable[[Session], Result]) -> Result:
        if self._readers is None:
            raise StorageError(CLOSED, retryable=False)
        return await self._readers.run(lambda connection: self._read(connection, work))

    def _read(self, connection: sqlite3.Connection, work: Callable[[Session], Result]) -> Result:
        try:
            connection.execute("BEGIN")
            try:
                return work(self._session(connection))
            finally:
                connection.execute("COMMIT")
        except AgentScopeError:
            raise
        except Exception as exc:
            raise translated(exc) from exc

    def _connect(self) -> sqlite3.Connection:
        try:
            return self._opened()
        except (OSError, sqlite3.Error) as exc:
            if isinstance(exc, sqlite3.Error):
                raise translated(exc) from exc
            raise StorageError(
                "The database file cannot be opened.", provider="sqlite", retryable=False
            ) from exc

    def _opened(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Made here, because SQLite would let everybody read what users uploaded.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(
            self._path,
            timeout=BUSY_TIMEOUT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.execute("PRAGMA cache_size=-16384")
        except BaseException:
            connection.close()
            raise
        return connection

    def _session(self, connection: sqlite3.Connection) -> Session:
        def execute(statement: str, parameters: Mapping[str, Any]) -> list[Row]:
            return connection.execute(statement, parameters).fetchall()

        return Session(self.dialect, execute, self._now)

    def _run_batch(self, batch: list[Job]) -> None:
        """Run the jobs in one transaction, each in a savepoint of its own, and commit once."""
        outcomes: list[tuple[Any, Exception | None]] = []
        try:
            if self._connection is None:
                self._connection = self._connect()
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            sessions = [self._session(connection) for _ in batch]
            for session, (_, work) in zip(sessions, batch, strict=True):
                outcomes.append(self._run_job(connection, session, work))
            connection.execute("COMMIT")
            if any(session.durable for session in sessions):
                self._flush()
        except Exception as exc:
            self._roll_back()
            error = translated(exc)
            outcomes = [(None, error)] * len(batch)
        for (future, _), (result, failure) in zip(batch, outcomes, strict=True):
            if failure is None:
                future.set_result(result)
            else:
                future.set_exception(failure)

    def _run_job(
        self,
        connection: sqlite3.Connection,
        session: Session,
        work: Callable[[Session], Any],
    ) -> tuple[Any, Exception | None]:
        connection.execute("SAVEPOINT job")
        try:
            result = work(session)
        except Exception as exc:
            if not connection.in_transaction:
                raise  # the database itself gave up the whole transaction
            session.durable = False
            connection.execute("ROLLBACK TO job")
            connection.execute("RELEASE job")
            return None, translated(exc)
        connection.execute("RELEASE job")
        return result, None

    def _flush(self) -> None:
        """Make the commit survive loss of power."""
        if self._log is None:
            self._log = os.open(f"{self._path}-wal", os.O_RDWR)
        os.fsync(self._log)

    def _roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):  # closing it rolls back, too
                self._connection.execute("ROLLBACK")
        self._close_writer()


class SQLiteStorage(StorageBase):
    """Storage in one SQLite file; one process may write to it.

    Store time is the clock of this machine, read inside the transaction.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, clock: Clock | None = None, readers: int = 2
    ) -> None:
        self._clock = clock or SystemClock()
        self._database = SQLiteDatabase(Path(path), self._clock.now, readers)
        self.documents = SQLDocuments(self._database)
        self.knowledge_bases = SQLKnowledgeBases(self._database)
        self.credentials = SQLCredentials(self._database)
        self.shares = SQLShares(self._database)
        self.events = SQLEvents(self._database)
        self.registry = SQLRegistry(self._database)

    async def __aenter__(self) -> "SQLiteStorage":
        await self._database.open()
        return self

    async def aclose(self) -> None:
        await self._database.aclose()

    async def now(self) -> datetime:
        def work(session: Session) -> datetime:
            session.rows("SELECT 1")
            return session.now()

        return await self._database.read(work)
