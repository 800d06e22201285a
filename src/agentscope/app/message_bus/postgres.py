"""The message bus on PostgreSQL: a table as queue, LISTEN/NOTIFY for signals.

With it one PostgreSQL is the whole back end. Through a pooler that shares sessions no signal
arrives; then the polling of the workers finds the work.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from agentscope.app.message_bus.base import MAX_QUEUE_ENTRIES, MessageBus
from agentscope.app.message_bus.inbox import SignalInbox, decoded
from agentscope.errors import BusError, InvalidInputError
from agentscope.identity import new_id
from agentscope.optional import require
from agentscope.stopping import stopped

if TYPE_CHECKING:
    from psycopg import AsyncConnection

Result = TypeVar("Result")

MAX_NOTIFY_BYTES = 7000  # the server's limit is 8,000; longer signals go through the table
KEEP_LONG_SIGNALS_SECONDS = 60
HEALTH_CHECK_SECONDS = 5.0
CONNECT_TIMEOUT_SECONDS = 5
CALL_TIMEOUT_SECONDS = 10.0
PUSHES_PER_TRIM = 100
RETRY_DELAYS_SECONDS = (0.05, 0.2, 0.5, 1.0)
SETUP_LOCK = 7_205_759_403_792_794  # any constant that no other program uses

_SETUP = (
    f"SELECT pg_advisory_xact_lock({SETUP_LOCK})",
    """CREATE TABLE IF NOT EXISTS bus_entries (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, queue TEXT NOT NULL,
        payload TEXT NOT NULL, expires_at TIMESTAMPTZ)""",
    "CREATE INDEX IF NOT EXISTS bus_entries_queue ON bus_entries (queue, id)",
    """CREATE TABLE IF NOT EXISTS bus_signals (
        id TEXT PRIMARY KEY, payload TEXT NOT NULL,
        sent_at TIMESTAMPTZ NOT NULL DEFAULT now())""",
)
_DRAIN = """
    WITH taken AS (
        DELETE FROM bus_entries WHERE id IN (
            SELECT id FROM bus_entries WHERE queue = %(key)s
            ORDER BY id LIMIT %(count)s FOR UPDATE SKIP LOCKED)
        RETURNING id, payload, expires_at)
    SELECT id, payload FROM taken WHERE expires_at IS NULL OR expires_at > now() ORDER BY id
"""
_TRIM = """
    DELETE FROM bus_entries WHERE queue = %(key)s AND id <= (
        SELECT id FROM bus_entries WHERE queue = %(key)s
        ORDER BY id DESC OFFSET %(bound)s LIMIT 1)
"""


class PostgresMessageBus(MessageBus):
    """Queue and signals in one database; a restart of it needs no operator.

    The bound of a queue is enforced every hundred pushes of a process.
    """

    def __init__(
        self, url: str, *, connections: int = 4, max_queue_entries: int = MAX_QUEUE_ENTRIES
    ) -> None:
        self._psycopg = require("psycopg", package="psycopg", extra="postgres")
        scheme, separator, rest = url.partition("://")
        self._url = f"{scheme.partition('+')[0]}{separator}{rest}" if separator else url
        self._free = asyncio.Semaphore(connections)
        self._idle: list[AsyncConnection[Any]] = []
        self._max_queue_entries = max_queue_entries
        self._pushes = 0
        self._ready = False
        self._closed = False
        self._inboxes: set[SignalInbox] = set()

    async def aclose(self) -> None:
        self._closed = True
        for inbox in self._inboxes:
            inbox.end()
        while self._idle:
            await self._idle.pop().close()

    async def _call(self, work: Callable[["AsyncConnection[Any]"], Awaitable[Result]]) -> Result:
        """Run `work` with a connection; a lost one is replaced and `work` run again."""
        for delay in (*RETRY_DELAYS_SECONDS, None):
            if self._closed:
                raise BusError("The connection is closed.", retryable=False)
            try:
                async with self._free, asyncio.timeout(CALL_TIMEOUT_SECONDS):
                    return await self._once(work)
            except TimeoutError as exc:
                raise BusError("The database does not answer.", provider="postgres") from exc
            except self._psycopg.OperationalError as exc:
                if delay is None:
                    raise self._translated(exc) from exc
                await asyncio.sleep(delay)
            except (self._psycopg.Error, UnicodeEncodeError) as exc:
                raise self._translated(exc) from exc
        raise AssertionError("the last try returns or raises")

    async def _once(self, work: Callable[["AsyncConnection[Any]"], Awaitable[Result]]) -> Result:
        connection = self._idle.pop() if self._idle else await self._connect()
        try:
            if not self._ready:
                async with connection.transaction():
                    for statement in _SETUP:
                        await connection.execute(statement.encode())
                self._ready = True
            result = await work(connection)
        except BaseException:
            # Also when cancelled: an answer may still be under way on this connection.
            await connection.close()
            raise
        if self._closed:
            await connection.close()
        else:
            self._idle.append(connection)
        return result

    async def _connect(self) -> "AsyncConnection[Any]":
        connection: AsyncConnection[Any] = await self._psycopg.AsyncConnection.connect(
            self._url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_SECONDS
        )
        return connection

    def _translated(self, error: BaseException) -> Exception:
        if isinstance(error, self._psycopg.DataError | UnicodeEncodeError):
            return InvalidInputError("The text holds characters that cannot be stored.")
        lost = isinstance(error, self._psycopg.OperationalError)
        return BusError(
            "The database does not answer." if lost else None,
            provider="postgres",
            retryable=lost,
            context={"reason": str(error)},
        )

    async def queue_push(
        self, key: str, payload: Mapping[str, Any], *, ttl_secs: int | None = None
    ) -> str:
        text = json.dumps(payload)
        self._pushes += 1
        trim = self._pushes % PUSHES_PER_TRIM == 0

        async def work(connection: "AsyncConnection[Any]") -> str:
            cursor = await connection.execute(
                b"INSERT INTO bus_entries (queue, payload, expires_at) VALUES (%(key)s, "
                b"%(text)s, now() + %(ttl)s::float8 * interval '1 second') RETURNING id",
                {"key": key, "text": text, "ttl": ttl_secs},
            )
            row = await cursor.fetchone()
            if trim:
                bound = {"key": key, "bound": self._max_queue_entries}
                await connection.execute(_TRIM.encode(), bound)
            assert row is not None
            return str(row[0])

        return await self._call(work)

    async def queue_drain(self, key: str, max_count: int = 100) -> list[tuple[str, dict[str, Any]]]:
        if max_count < 1:
            return []

        async def work(connection: "AsyncConnection[Any]") -> list[tuple[int, str]]:
            cursor = await connection.execute(_DRAIN.encode(), {"key": key, "count": max_count})
            return await cursor.fetchall()

        read = ((str(number), decoded(text, key)) for number, text in await self._call(work))
        return [(entry_id, payload) for entry_id, payload in read if payload is not None]

    async def queue_length(self, key: str) -> int:
        async def work(connection: "AsyncConnection[Any]") -> int:
            cursor = await connection.execute(
                b"SELECT count(*) FROM bus_entries WHERE queue = %(key)s", {"key": key}
            )
            row = await cursor.fetchone()
            return int(row[0]) if row else 0

        return await self._call(work)

    async def publish(self, key: str, payload: Mapping[str, Any]) -> None:
        text = json.dumps(payload)
        channel = channel_of(key)

        async def work(connection: "AsyncConnection[Any]") -> None:
            message = f"={text}"
            async with connection.transaction():
                if len(message) > MAX_NOTIFY_BYTES:
                    message = f"@{await self._store_long(connection, text)}"
                await connection.execute(b"SELECT pg_notify(%s, %s)", (channel, message))

        await self._call(work)

    async def _store_long(self, connection: "AsyncConnection[Any]", text: str) -> str:
        name = new_id()
        await connection.execute(
            b"DELETE FROM bus_signals WHERE sent_at < now() - %s::float8 * interval '1 second'",
            (KEEP_LONG_SIGNALS_SECONDS,),
        )
        await connection.execute(
            b"INSERT INTO bus_signals (id, payload) VALUES (%s, %s)", (name, text)
        )
        return name

    async def subscribe(
        self, key: str, *, on_ready: Callable[[], None] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        inbox = SignalInbox()
        self._inboxes.add(inbox)
        reader = asyncio.create_task(self._read(key, inbox, on_ready))
        try:
            while (signal := await inbox.next()) is not None:
                yield signal
        finally:
            self._inboxes.discard(inbox)
            await stopped([reader])

    async def _read(
        self, key: str, inbox: SignalInbox, on_ready: Callable[[], None] | None
    ) -> None:
        """Fill the inbox until the connection is lost."""
        try:
            connection = await self._connect()
            try:
                await connection.execute(f"LISTEN {channel_of(key)}".encode())
                if on_ready is not None:
                    on_ready()
                while True:
                    async for notice in connection.notifies(timeout=HEALTH_CHECK_SECONDS):
                        inbox.offer(await self._payload(notice.payload, key))
                    async with asyncio.timeout(HEALTH_CHECK_SECONDS):
                        await connection.execute(b"SELECT 1")
            finally:
                await connection.close()
        except (self._psycopg.Error, OSError) as exc:  # a timeout is one, too
            inbox.end(BusError(provider="postgres", context={"reason": str(exc)}))
        except BusError as exc:
            inbox.end(exc)

    async def _payload(self, message: str, key: str) -> dict[str, Any] | None:
        if message.startswith("="):
            return decoded(message[1:], key)
        if not message.startswith("@"):
            return decoded(message, key)

        async def work(connection: "AsyncConnection[Any]") -> str | None:
            cursor = await connection.execute(
                b"SELECT payload FROM bus_signals WHERE id = %s", (message[1:],)
            )
            row = await cursor.fetchone()
            return None if row is None else str(row[0])

        text = await self._call(work)
        return None if text is None else decoded(text, key)

    async def ping(self) -> None:
        async def work(connection: "AsyncConnection[Any]") -> None:
            await connection.execute(b"SELECT 1")

        await self._call(work)


def channel_of(key: str) -> str:
    """Return the channel of a key: channels are short lower-case words, keys are any text."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:32]
    return f"bus_{digest}"
