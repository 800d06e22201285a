"""A client of event streams that is cut off again and again, and resumes like a browser does."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

CONNECT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Frame:
    """One event; `id` is the place that a client sends back."""

    id: int
    kind: str
    data: Mapping[str, Any]
    received: datetime


@dataclass(slots=True)
class StreamListener:
    """Listens to `path` from the first event that is kept, through any number of cuts."""

    host: str
    port: int
    path: str
    user: str
    cut_share: float = 0.0  # of the events after which the connection is cut
    rng: random.Random = field(default_factory=random.Random)
    frames: list[Frame] = field(default_factory=list)
    connected: asyncio.Event = field(default_factory=asyncio.Event)
    cuts: int = 0
    place: int = 0

    async def run(self, wanted: int) -> None:
        """Return when `wanted` events were heard."""
        while len(self.frames) < wanted:
            async with aclosing(self._connection()) as connection:
                async for frame in connection:
                    self.frames.append(frame)
                    if len(self.frames) >= wanted:
                        return
                    if self.rng.random() < self.cut_share:
                        self.cuts += 1
                        break

    @property
    def whole(self) -> bool:
        """Whether the sequence has no gap and no repetition."""
        ids = [frame.id for frame in self.frames]
        return ids == list(range(1, len(ids) + 1))

    async def _connection(self) -> AsyncGenerator[Frame, None]:
        async with asyncio.timeout(CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(self.host, self.port)
            # Version 1.0: the answer comes as it is, not in chunks.
            writer.write(
                f"GET {self.path} HTTP/1.0\r\nHost: {self.host}\r\nX-User-ID: {self.user}\r\n"
                f"Last-Event-ID: {self.place}\r\n\r\n".encode()
            )
            status = await reader.readline()
        try:
            if b" 200 " not in status:
                raise AssertionError(f"the stream was refused: {status!r}")
            while (await reader.readline()).strip():
                continue
            self.connected.set()
            async for frame in self._read(reader):
                yield frame
        finally:
            writer.transport.abort()  # what is under way is lost, like with a dead network

    async def _read(self, reader: asyncio.StreamReader) -> AsyncGenerator[Frame, None]:
        kind, data = "message", ""
        while line := (await reader.readline()).decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "id":
                self.place = int(value)
            elif name == "event":
                kind = value
            elif name == "data":
                data = value
            elif not name and data:
                yield Frame(self.place, kind, json.loads(data), datetime.now(UTC))
                kind, data = "message", ""
