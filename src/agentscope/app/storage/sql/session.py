"""One transaction's view of a database, whichever it is."""

import abc
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from agentscope.app.storage.codec import from_micros, to_micros
from agentscope.app.storage.sql.dialect import Dialect
from agentscope.app.storage.sql.migrations import OLDEST_READER, STEPS
from agentscope.errors import ConfigurationError

Result = TypeVar("Result")
Row = tuple[Any, ...]
Execute = Callable[[str, Mapping[str, Any]], list[Row]]


class Session:
    """Runs statements inside one transaction; `now` is store time.

    `durable` says whether the commit must survive loss of power. All do, unless whoever writes
    knows that losing it costs work only.
    """

    def __init__(self, dialect: Dialect, execute: Execute, now: Callable[[], datetime]) -> None:
        self.dialect = dialect
        self.now = now
        self.durable = True
        self._execute = execute

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """Run the statement and return its rows, if it has any."""
        return self._execute(self.dialect.render(statement), parameters)

    def row(self, statement: str, **parameters: Any) -> Row | None:
        """Run the statement and return its first row."""
        rows = self.rows(statement, **parameters)
        return rows[0] if rows else None


class Database(abc.ABC):
    """Runs whole transactions, written as plain functions, away from the event loop."""

    dialect: Dialect

    @abc.abstractmethod
    async def write(self, work: Callable[[Session], Result]) -> Result:
        """Run `work` in one transaction; it may run more than once, errors roll back."""

    @abc.abstractmethod
    async def read(self, work: Callable[[Session], Result]) -> Result:
        """Run `work` on one consistent view; it must not write."""


def migrate(session: Session) -> None:
    """Bring the schema to this version; the caller holds a lock that only one process can hold.

    Data of a newer version is taken if that version says so: during a rolling upgrade it migrates
    first, and programs of the old one start and stop beside it.

    Raises:
        ConfigurationError: the data was written by a version that this one cannot work beside.
    """
    session.rows(
        "CREATE TABLE IF NOT EXISTS schema_steps "
        "(number INTEGER PRIMARY KEY, applied_at BIGINT NOT NULL)"
    )
    session.rows(
        "CREATE TABLE IF NOT EXISTS schema_readers "
        "(number INTEGER PRIMARY KEY, oldest_reader INTEGER NOT NULL)"
    )
    done = {number for (number,) in session.rows("SELECT number FROM schema_steps")}
    _check_readable(session, max(done, default=0))
    for number, statements in STEPS:
        if number in done:
            continue
        for statement in statements(session.dialect):
            session.rows(statement)
        session.rows(
            "INSERT INTO schema_steps (number, applied_at) VALUES (:number, :at)",
            number=number,
            at=to_micros(session.now()),
        )
        session.rows(
            "INSERT INTO schema_readers (number, oldest_reader) VALUES (:number, :oldest)",
            number=number,
            oldest=OLDEST_READER,
        )


def _check_readable(session: Session, last: int) -> None:
    newest = STEPS[-1][0]
    if last <= newest:
        return
    row = session.row("SELECT oldest_reader FROM schema_readers WHERE number = :last", last=last)
    if row is None or row[0] > newest:
        raise ConfigurationError("The data was written by a newer version; upgrade this program.")


def moment(micros: int | None) -> datetime | None:
    """Return the time of a nullable time column."""
    return None if micros is None else from_micros(micros)
