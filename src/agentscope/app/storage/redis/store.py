"""The Redis storage as a whole."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from agentscope.app.redis_connection import RedisAddress, RedisConnection
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.redis.documents import RedisDocuments
from agentscope.app.storage.redis.knowledge_bases import RedisKnowledgeBases
from agentscope.app.storage.redis.layout import check_layout
from agentscope.app.storage.redis.ledger import RedisCredentials, RedisEvents, RedisRegistry
from agentscope.app.storage.redis.server import RedisServer
from agentscope.app.storage.redis.shares import RedisShares
from agentscope.errors import StorageError

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool, Redis

logger = logging.getLogger(__name__)


class RedisStorage(StorageBase):
    """Storage in Redis 7 or Valkey, for any number of processes; store time is the server's.

    Records are the truth, so the server needs `appendfsync always` and `noeviction`. All keys
    share one hash tag: on a cluster they live on one node. `url` wins over host, port, db and
    password; `rediss://` means TLS. A pool or client that is handed in is not closed here.
    `key_ttl` and `key_config` are accepted for compatibility and change nothing. `shift` moves
    store time; tests use it.
    """

    def __init__(  # noqa: PLR0913 - the documented signature
        self,
        host: str = "localhost",
        port: int = 6379,
        db: int = 0,
        password: str | None = None,
        connection_pool: "ConnectionPool | None" = None,
        key_ttl: int | None = None,
        key_config: Mapping[str, str] | object | None = None,
        *,
        url: str | None = None,
        key_prefix: str = "agentscope",
        client: "Redis | None" = None,
        max_connections: int = 32,
        shift: Callable[[], timedelta] | None = None,
    ) -> None:
        if key_ttl is not None or key_config is not None:
            logger.warning(
                "redis_storage_option_ignored",
                extra={"key_ttl": key_ttl, "key_config": key_config is not None},
            )
        address = RedisAddress(
            host=host,
            port=port,
            db=db,
            password=password,
            url=url,
            max_connections=max_connections,
        )
        self._connection = RedisConnection(
            address, StorageError, pool=connection_pool, client=client
        )
        server = RedisServer(self._connection, key_prefix, shift)
        self._server = server
        self.documents = RedisDocuments(server)
        self.knowledge_bases = RedisKnowledgeBases(server)
        self.credentials = RedisCredentials(server)
        self.shares = RedisShares(server)
        self.events = RedisEvents(server)
        self.registry = RedisRegistry(server)

    async def __aenter__(self) -> "RedisStorage":
        try:
            await check_layout(self._server)
        except BaseException:
            await self.aclose()
            raise
        return self

    @property
    def _client(self) -> "Redis | None":
        return self._connection.client

    @_client.setter
    def _client(self, client: "Redis | None") -> None:
        self._connection.client = client

    def get_client(self) -> "Redis":
        """Return the live client, made on first use."""
        return self._connection.get_client()

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def now(self) -> datetime:
        found = await self._server.load_one(self._server.keys.registry + ":none")
        return found[1]
