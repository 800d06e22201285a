"""A TCP proxy between the product and a server, which can slow down, cut and refuse."""

import asyncio
import contextlib

PIECE_BYTES = 65536


class Proxy:
    """Forwards connections of a free port to `target`; what `delay` says, each piece waits."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.delay = 0.0
        self.refuses = False

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """Reset every connection at once."""
        for writer in list(self._connections):
            writer.transport.abort()

    async def stop(self) -> None:
        """Listen no more and drop every connection."""
        if self._server is not None:
            self._server.close()
        self.cut()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection both ways until either side ends it."""
        task = asyncio.current_task()
        assert task is not None, "asyncio runs this"
        self._tasks.add(task)
        try:
            await self._join(reader, writer)
        finally:
            self._tasks.discard(task)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            writer.transport.abort()
            return
        try:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, inner_writer}
        self._connections |= pair
        ways = [
            asyncio.create_task(self._carry(reader, inner_writer)),
            asyncio.create_task(self._carry(inner_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            self._connections -= pair
            for end in pair:
                end.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(PIECE_BYTES):
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(piece)
                await writer.drain()
