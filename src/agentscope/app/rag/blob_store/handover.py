"""Hands the pieces of an upload to the call that sends them, one at a time.

The source is read by the task that writes, so its errors and its cancellation stay where they
belong, and the sending call always learns how the upload ended.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any


class BrokenOffError(Exception):
    """The source of an upload ended early."""


class Handover:
    """Holds at most one piece that is not taken yet."""

    def __init__(self) -> None:
        self._slot: asyncio.Queue[bytes] = asyncio.Queue(maxsize=1)
        self._broken = asyncio.Event()

    async def give(self, piece: bytes, *, to: asyncio.Future[None]) -> None:
        """Pass a piece on as soon as the one before was taken.

        Raises:
            BlobStoreError: the sending call has failed meanwhile.
        """
        putting = asyncio.ensure_future(self._slot.put(piece))
        try:
            await asyncio.wait({putting, to}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            putting.cancel()
        if to.done():
            to.result()

    async def end(self, *, to: asyncio.Future[None]) -> None:
        """Say that there are no more, and wait until all are stored."""
        await self.give(b"", to=to)
        await asyncio.shield(to)

    def break_off(self) -> None:
        """Make the sending call fail at the next piece it asks for."""
        self._broken.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield what was given, to the sending call."""
        broken = asyncio.ensure_future(self._broken.wait())
        try:
            while piece := await self._next(broken):
                yield piece
        finally:
            broken.cancel()

    async def _next(self, broken: asyncio.Future[Any]) -> bytes:
        taking = asyncio.ensure_future(self._slot.get())
        either: set[asyncio.Future[Any]] = {taking, broken}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._broken.is_set():
            taking.cancel()
            raise BrokenOffError
        return taking.result()
