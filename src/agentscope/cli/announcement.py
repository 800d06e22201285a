"""What processes over shared back ends tell about themselves, so that `doctor` can compare them.

An entry of the registry per process; it runs out by itself when the process is gone.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agentscope.app.storage.base import StorageBase
from agentscope.cli.place import Place
from agentscope.clock import SystemClock
from agentscope.errors import AgentScopeError
from agentscope.identity import new_id
from agentscope.installation import installed_version
from agentscope.stopping import stopped

if TYPE_CHECKING:
    from fastapi import FastAPI

logger = logging.getLogger(__name__)

PREFIX = "process/"
TTL = timedelta(seconds=60)
EVERY_SECONDS = 20.0


@asynccontextmanager
async def announcing(
    storage: StorageBase, place: Place, *, role: str, indexes: bool
) -> AsyncIterator[None]:
    """Tell about this process while the context is open."""
    key = f"{PREFIX}{new_id()}"
    about = {
        "role": role,
        "indexes": indexes,
        "version": installed_version(),
        "host": socket.gethostname(),
        **place.shown(),
    }
    await _tell(storage, key, about)
    task = asyncio.create_task(_tell_often(storage, key, about))
    try:
        yield
    finally:
        await stopped([task])
        try:
            await storage.registry.delete(key)
        except AgentScopeError as exc:
            logger.debug("announcement_not_removed", extra={"error_code": exc.code})


async def _tell(storage: StorageBase, key: str, about: Mapping[str, Any]) -> None:
    try:
        skew = (SystemClock().now() - await storage.now()).total_seconds()
        await storage.registry.put(key, {**about, "skew_seconds": round(skew, 3)}, ttl=TTL)
    except AgentScopeError as exc:
        logger.warning("announcement_not_told", extra={"error_code": exc.code})


async def _tell_often(storage: StorageBase, key: str, about: Mapping[str, Any]) -> None:
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        await _tell(storage, key, about)


def announced(app: "FastAPI", storage: StorageBase, place: Place, *, indexes: bool) -> "FastAPI":
    """Return the application, which from now on tells about itself while it runs."""
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: Any) -> AsyncIterator[Any]:
        async with (
            inner(running) as state,
            announcing(storage, place, role="service", indexes=indexes),
        ):
            yield state

    app.router.lifespan_context = lifespan
    return app
