"""Where `serve`, `worker` and offline commands keep their data, and who may use it at once.

Embedded, one process owns the data directory. With addresses of servers, given by settings or
left there by `serve --postgres embedded`, any number of processes work side by side.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from agentscope.app.message_bus.base import MessageBus
from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.rag.blob_store.base import BlobStoreBase
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.settings import Settings
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.cli.back_ends import (
    Addresses,
    blobs_at,
    bus_at,
    storage_at,
    vectors_at,
    without_secrets,
)
from agentscope.cli.data_directory import DataDirectory
from agentscope.cli.postgres_cluster import PostgresCluster
from agentscope.errors import ConfigurationError, DataDirectoryLockedError
from agentscope.rag.vector_store.base import VectorStoreBase
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore


@dataclass(frozen=True, slots=True)
class Place:
    """A data directory, and the addresses of what is not in it."""

    directory: DataDirectory
    addresses: Addresses

    @property
    def shared(self) -> bool:
        """Whether other processes may work here at the same time."""
        return self.addresses.shared

    @property
    def sole_owner(self) -> bool:
        """Whether whatever was at work here before is surely dead."""
        return self.addresses.storage is None

    def storage(self) -> StorageBase:
        """Return the records."""
        url = self.addresses.storage
        return SQLiteStorage(self.directory.database) if url is None else storage_at(url)

    def bus(self) -> MessageBus:
        """Return the signals."""
        url = self.addresses.bus
        return InMemoryMessageBus() if url is None else bus_at(url)

    def vectors(self) -> VectorStoreBase:
        """Return the vector store."""
        url = self.addresses.vectors
        return EmbeddedVectorStore(self.directory.vectors) if url is None else vectors_at(url)

    def blobs(self) -> BlobStoreBase:
        """Return the original files."""
        url = self.addresses.blobs
        return LocalBlobStore(self.directory.blobs) if url is None else blobs_at(url)

    def shown(self) -> dict[str, str]:
        """Return each address without secrets, for comparison with those of other processes."""
        addresses = self.addresses
        return {
            "bus": without_secrets(addresses.bus or "memory:"),
            "vectors": without_secrets(addresses.vectors or self.directory.vectors.as_uri()),
            "blobs": without_secrets(addresses.blobs or self.directory.blobs.as_uri()),
        }


def addresses_of(settings: Settings) -> Addresses:
    """Return the addresses that were set, completed.

    Raises:
        ConfigurationError: they do not fit together.
    """
    return Addresses(
        settings.storage_url, settings.bus_url, settings.vectors_url, settings.blobs_url
    ).completed()


@contextmanager
def opened(settings: Settings) -> Iterator[Place]:
    """Yield the place, owned if it has to be; its PostgreSQL runs meanwhile, if it has one.

    Raises:
        DataDirectoryLockedError: another process owns it.
        ConfigurationError: the settings do not fit together or to what is there.
    """
    directory, addresses = DataDirectory(settings.data_dir), addresses_of(settings)
    cluster = PostgresCluster(directory.path)
    if addresses.storage is not None and settings.postgres:
        raise ConfigurationError("Give either AGENTSCOPE_STORAGE_URL or --postgres, not both.")
    if addresses.shared:
        with directory.shared():
            yield Place(directory, addresses)
        return
    with directory.owned():
        if addresses.storage is not None or not (settings.postgres or cluster.exists):
            yield Place(directory, addresses)
            return
        if directory.database.exists():
            raise ConfigurationError(
                f"The data directory {directory.path} keeps its records in a file already. "
                "PostgreSQL starts empty: choose another directory for it."
            )
        with cluster.running() as url:
            yield Place(directory, replace(addresses, storage=url).completed())


@contextmanager
def joined(settings: Settings) -> Iterator[Place]:
    """Yield the place like `opened`; beside a service with a PostgreSQL of its own, join it."""
    with ExitStack() as stack:
        try:
            place = stack.enter_context(opened(settings))
        except DataDirectoryLockedError:
            found = standing(settings)
            if found is None:
                raise
            place = found
        yield place


def standing(settings: Settings) -> Place | None:
    """Return the shared place as others use it now, without starting anything; else None."""
    directory, addresses = DataDirectory(settings.data_dir), addresses_of(settings)
    if not addresses.shared:
        url = PostgresCluster(directory.path).address()
        if url is None or addresses.storage is not None or directory.address() is None:
            return None
        addresses = replace(addresses, storage=url).completed()
    return Place(directory, addresses)
