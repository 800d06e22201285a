"""What workers tell about themselves in the storage: that they live, and what they can read.

An API process without parsers answers `supported_content_types` from it; `doctor` and metrics
read it, too. An entry disappears by itself when its worker is gone.
"""

import asyncio
import logging
import socket
from datetime import timedelta
from typing import Any

from agentscope.app.rag.indexing.consumer import Consumer
from agentscope.app.storage.base import StorageBase
from agentscope.errors import AgentScopeError
from agentscope.installation import installed_version
from agentscope.rag.parser.registry import ParserRegistry

logger = logging.getLogger(__name__)

WORKER_PREFIX = "worker/types/"
PRESENCE_TTL = timedelta(seconds=60)
PRESENCE_SECONDS = 20.0
LEAVE_SECONDS = 1.0


class Presence:
    """Keeps the entry of one worker fresh."""

    def __init__(
        self, storage: StorageBase, node_id: str, parsers: ParserRegistry, consumer: Consumer
    ) -> None:
        self._storage = storage
        self._key = f"{WORKER_PREFIX}{node_id}"
        self._parsers = parsers
        self._consumer = consumer
        self._started_at: str | None = None

    async def run(self) -> None:
        """Say it again and again until cancelled."""
        while True:
            try:
                await self._tell()
            except Exception as exc:
                code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                logger.warning("presence_not_told", extra={"error_code": code})
            await asyncio.sleep(PRESENCE_SECONDS)

    async def _tell(self) -> None:
        health = self._consumer.health()
        now = (await self._storage.now()).isoformat()
        self._started_at = self._started_at or now
        entry: dict[str, Any] = {
            "media_types": self._parsers.supported_media_types(),
            "extensions": self._parsers.supported_extensions(),
            "state": health.state,
            "slots": health.slots,
            "running": health.running,
            "host": socket.gethostname(),
            "version": installed_version(),
            "started_at": self._started_at,
            "seen_at": now,
        }
        await self._storage.registry.put(self._key, entry, ttl=PRESENCE_TTL)

    async def leave(self) -> None:
        """Remove the entry; if that fails it runs out."""
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._storage.registry.delete(self._key)
        except Exception as exc:
            logger.debug("presence_not_removed", extra={"error": str(exc)})
