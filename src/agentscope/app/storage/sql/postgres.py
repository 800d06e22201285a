"""Storage in PostgreSQL, for any number of processes."""

import asyncio
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.sql.dialect import POSTGRES
from agentscope.app.storage.sql.documents import SQLDocuments
from agentscope.app.storage.sql.knowledge_bases import SQLKnowledgeBases
from agentscope.app.storage.sql.ledger import SQLCredentials, SQLEvents, SQLRegistry
from agentscope.app.storage.sql.session import Database, Row, Session, migrate
from agentscope.app.storage.sql.shares import SQLShares
from agentscope.app.storage.sql.threads import CLOSED, ThreadConnections
from agentscope.errors import AgentScopeError, InvalidInputError, StorageError
from agentscope.optional import require

if TYPE_CHECKING:
    import psycopg

Result = TypeVar("Result")

MIGRATION_LOCK = 7_205_759_403_792_793  # any constant that no other program uses
STATEMENT_TIMEOUT_MS = 30_000
CONNECT_TIMEOUT_SECONDS = 5
RETRY_DELAYS_SECONDS = (0.05, 0.2, 0.5, 1.0)
CONFLICT_STATES = frozenset({"40001", "40P01"})  # serialization failure, deadlock


class _TryAgain(Exception):  # noqa: N818 - a signal between two functions, never shown
    """The transaction did not happen; running it once more may do."""


class PostgresDatabase(Database):
    """A few threads with one connection each; locks are taken by rows.

    A transaction that surely did not happen (connection lost before the commit, deadlock) is run
    again; one whose commit was not answered raises, as it may have happened.
    """

    dialect = POSTGRES

    def __init__(self, url: str, connections: int, shift: Callable[[], timedelta] | None) -> None:
        self._psycopg = require("psycopg", package="psycopg", extra="postgres")
        self._url = driver_url(url)
        self._connections = connections
        self._shift = shift
        self._threads: ThreadConnections[psycopg.Connection[Row]] | None = None

    async def open(self) -> None:
        """Connect and bring the schema up to date; two processes may do it at once."""
        if self._threads is not None:
            return
        self._threads = ThreadConnections(
            self._connections, self._connect, lambda connection: connection.close(), "storage"
        )

        def work(session: Session) -> None:
            session.rows("SELECT pg_advisory_xact_lock(:number)", number=MIGRATION_LOCK)
            migrate(session)

        try:
            await self.write(work)
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Wait for running transactions and close the connections."""
        threads, self._threads = self._threads, None
        if threads is not None:
            await threads.aclose()

    async def write(self, work: Callable[[Session], Result]) -> Result:
        return await self._run(work, "BEGIN")

    async def read(self, work: Callable[[Session], Result]) -> Result:
        return await self._run(work, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    async def _run(self, work: Callable[[Session], Result], begin: str) -> Result:
        threads = self._threads
        if threads is None:
            raise StorageError(CLOSED, retryable=False)

        def attempt(connection: "psycopg.Connection[Row]") -> Result:
            try:
                return self._transact(connection, work, begin)
            finally:
                if connection.closed or connection.broken:
                    threads.discard(connection)

        for delay in RETRY_DELAYS_SECONDS:
            try:
                return await threads.run(attempt)
            except _TryAgain:
                await self._wait(delay)
        try:
            return await threads.run(attempt)
        except _TryAgain as exc:
            raise self._translated(exc.__cause__) from exc.__cause__

    async def _wait(self, delay: float) -> None:
        threads = self._threads
        if threads is None:
            raise StorageError(CLOSED, retryable=False)
        await asyncio.sleep(delay * random.uniform(0.5, 1.5))  # noqa: S311 - no secret

    def _transact(
        self,
        connection: "psycopg.Connection[Row]",
        work: Callable[[Session], Result],
        begin: str,
    ) -> Result:
        try:
            connection.execute(begin.encode())
            result = work(self._session(connection))
        except AgentScopeError:
            self._roll_back(connection)
            raise
        except Exception as exc:
            self._roll_back(connection)
            if self._did_not_happen(connection, exc):
                raise _TryAgain from exc
            raise self._translated(exc) from exc
        try:
            connection.execute(b"COMMIT")
        except Exception as exc:
            self._roll_back(connection)
            if getattr(exc, "sqlstate", None) in CONFLICT_STATES:
                raise _TryAgain from exc
            raise self._translated(exc) from exc
        return result

    def _roll_back(self, connection: "psycopg.Connection[Row]") -> None:
        if connection.closed:
            return
        try:
            connection.execute(b"ROLLBACK")
        except self._psycopg.Error:
            connection.close()

    def _did_not_happen(self, connection: "psycopg.Connection[Row]", error: Exception) -> bool:
        lost = isinstance(error, self._psycopg.OperationalError) and connection.closed
        return lost or getattr(error, "sqlstate", None) in CONFLICT_STATES

    def _connect(self) -> "psycopg.Connection[Row]":
        try:
            connection: psycopg.Connection[Row] = self._psycopg.connect(
                self._url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_SECONDS
            )
            connection.execute(f"SET statement_timeout = {STATEMENT_TIMEOUT_MS}".encode())
        except self._psycopg.OperationalError as exc:
            raise _TryAgain from exc
        except self._psycopg.Error as exc:
            raise self._translated(exc) from exc
        return connection

    def _session(self, connection: "psycopg.Connection[Row]") -> Session:
        def execute(statement: str, parameters: Mapping[str, Any]) -> list[Row]:
            cursor = connection.execute(statement.encode(), parameters)
            return cursor.fetchall() if cursor.description else []

        def now() -> datetime:
            (moment,) = connection.execute(b"SELECT clock_timestamp()").fetchall()[0]
            shift = self._shift() if self._shift else timedelta()
            found: datetime = moment.astimezone(UTC) + shift
            return found

        return Session(self.dialect, execute, now)

    def _translated(self, error: BaseException | None) -> BaseException:
        if isinstance(error, AgentScopeError):
            return error
        if isinstance(error, self._psycopg.DataError | UnicodeEncodeError):
            return InvalidInputError("The text holds characters that cannot be stored.")
        if isinstance(error, self._psycopg.Error):
            lost = isinstance(error, self._psycopg.OperationalError)
            return StorageError(
                "The database does not answer." if lost else None,
                provider="postgres",
                retryable=lost,
                context={"reason": str(error), "sqlstate": getattr(error, "sqlstate", None)},
            )
        assert error is not None
        return error


def driver_url(url: str) -> str:
    """Return the address without the name of a driver (`postgresql+asyncpg://`)."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme.partition('+')[0]}{separator}{rest}" if separator else url


class PostgresStorage(StorageBase):
    """Storage in PostgreSQL; store time is the clock of the server.

    `connections` bounds what this process opens. `shift` moves store time; tests use it.
    """

    def __init__(
        self,
        url: str,
        *,
        connections: int = 8,
        shift: Callable[[], timedelta] | None = None,
    ) -> None:
        self._database = PostgresDatabase(url, connections, shift)
        self.documents = SQLDocuments(self._database)
        self.knowledge_bases = SQLKnowledgeBases(self._database)
        self.credentials = SQLCredentials(self._database)
        self.shares = SQLShares(self._database)
        self.events = SQLEvents(self._database)
        self.registry = SQLRegistry(self._database)

    async def __aenter__(self) -> "PostgresStorage":
        await self._database.open()
        return self

    async def aclose(self) -> None:
        await self._database.aclose()

    async def now(self) -> datetime:
        return await self._database.read(lambda session: session.now())
