"""Back ends by address, so that scaling out needs no code.

| part | addresses |
|---|---|
| storage | `sqlite:///PATH`, `postgresql://...`, `redis://...`, `rediss://...` |
| bus | `memory:`, `postgresql://...`, `redis://...`, `rediss://...` |
| vectors | `embedded:///PATH`, `postgresql://...`, `qdrant+http://...`, `qdrant+https://...` |
| blobs | `file:///PATH`, `s3://BUCKET?endpoint=URL&region=NAME`, `gs://BUCKET` |
| | `az://CONTAINER?account=NAME` |

A storage on PostgreSQL or Redis is also the bus, and PostgreSQL also keeps the vectors, unless
another address is given.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from agentscope.app.message_bus.base import MessageBus
from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.message_bus.postgres import PostgresMessageBus
from agentscope.app.message_bus.redis import RedisMessageBus
from agentscope.app.rag.blob_store.azure import AzureBlobStore
from agentscope.app.rag.blob_store.base import BlobStoreBase
from agentscope.app.rag.blob_store.google import GoogleBlobStore
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.blob_store.s3 import S3BlobStore
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.redis.store import RedisStorage
from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.errors import ConfigurationError
from agentscope.rag.vector_store.base import VectorStoreBase
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore

Part = TypeVar("Part")

SERVERS = ("postgresql", "postgres", "redis", "rediss")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where each part lives; None: under the data directory, or with the storage."""

    storage: str | None = None
    bus: str | None = None
    vectors: str | None = None
    blobs: str | None = None

    @property
    def shared(self) -> bool:
        """Whether several processes may work on the storage at once."""
        return self.storage is not None and _scheme(self.storage) in SERVERS

    def completed(self) -> "Addresses":
        """Return the addresses with what follows from the storage filled in.

        Raises:
            ConfigurationError: a shared storage beside a part that only one process can use.
        """
        if not self.shared:
            return self
        assert self.storage is not None
        vectors = self.vectors
        if vectors is None and _scheme(self.storage).startswith("postgres"):
            vectors = self.storage
        if vectors is None or _scheme(vectors) == "embedded":
            raise ConfigurationError(
                "A shared storage needs a shared vector store: set AGENTSCOPE_VECTORS_URL to "
                "PostgreSQL or Qdrant."
            )
        if self.bus is not None and _scheme(self.bus) == "memory":
            raise ConfigurationError(
                "A shared storage needs a shared bus: leave AGENTSCOPE_BUS_URL out, or set it to "
                "PostgreSQL or Redis."
            )
        return Addresses(self.storage, self.bus or self.storage, vectors, self.blobs)


def without_secrets(url: str) -> str:
    """Return the address without user, password and options, for logs and comparisons."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _scheme(url: str) -> str:
    return urlsplit(url).scheme


def _path(url: str) -> Path:
    return Path(urlsplit(url).path)


def storage_at(url: str) -> StorageBase:
    """Return the storage at an address."""
    known: dict[str, Callable[[], StorageBase]] = {
        "sqlite": lambda: SQLiteStorage(_path(url)),
        "postgresql": lambda: PostgresStorage(url=url),
        "postgres": lambda: PostgresStorage(url=url),
        "redis": lambda: RedisStorage(url=url),
        "rediss": lambda: RedisStorage(url=url),
    }
    return _choose("storage", url, known)


def bus_at(url: str) -> MessageBus:
    """Return the message bus at an address."""
    known: dict[str, Callable[[], MessageBus]] = {
        "memory": InMemoryMessageBus,
        "postgresql": lambda: PostgresMessageBus(url=url),
        "postgres": lambda: PostgresMessageBus(url=url),
        "redis": lambda: RedisMessageBus(url=url),
        "rediss": lambda: RedisMessageBus(url=url),
    }
    return _choose("message bus", url, known)


def vectors_at(url: str) -> VectorStoreBase:
    """Return the vector store at an address; a `key` in the query is Qdrant's API key."""
    parts = urlsplit(url)
    key = parse_qs(parts.query).get("key", [None])[0]
    plain = url.removeprefix("qdrant+").partition("?")[0]
    known: dict[str, Callable[[], VectorStoreBase]] = {
        "embedded": lambda: EmbeddedVectorStore(_path(url)),
        "postgresql": lambda: PgVectorStore(url=url),
        "postgres": lambda: PgVectorStore(url=url),
        "qdrant+http": lambda: QdrantStore(url=plain, api_key=key),
        "qdrant+https": lambda: QdrantStore(url=plain, api_key=key),
    }
    return _choose("vector store", url, known)


def blobs_at(url: str) -> BlobStoreBase:
    """Return the blob store at an address; credentials come from the provider's usual variables."""
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    known: dict[str, Callable[[], BlobStoreBase]] = {
        "file": lambda: LocalBlobStore(_path(url)),
        "s3": lambda: S3BlobStore(
            parts.netloc, endpoint_url=query.get("endpoint"), region_name=query.get("region")
        ),
        "gs": lambda: GoogleBlobStore(parts.netloc, endpoint_url=query.get("endpoint")),
        "az": lambda: AzureBlobStore(
            parts.netloc, account_name=query.get("account"), endpoint_url=query.get("endpoint")
        ),
    }
    return _choose("blob store", url, known)


def _choose(what: str, url: str, known: dict[str, Callable[[], Part]]) -> Part:
    make = known.get(_scheme(url))
    if make is None:
        raise ConfigurationError(
            f"The address of the {what} must start with one of: {', '.join(sorted(known))}."
        )
    return make()
