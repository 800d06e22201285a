"""Binds the vector store suite to every store."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from tests.contract.qdrant_edge_client import engine_store
from tests.contract.qdrant_server import qdrant_url

from agentscope.rag.document import Point
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.embedded_build import build
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing.servers import shared_postgres
from agentscope.testing.vector_store import VectorStoreSuite


class TestInMemoryVectorStore(VectorStoreSuite):
    """The exact store in memory."""

    def open_store(self) -> AbstractAsyncContextManager[RunVectorStore]:
        """Return a fresh store."""
        return InMemoryVectorStore()


class TestEmbeddedVectorStore(VectorStoreSuite):
    """The embedded store, exact over its rows."""

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[RunVectorStore]:
        """Give a fresh store in a directory of its own."""
        with tempfile.TemporaryDirectory() as directory:
            async with EmbeddedVectorStore(directory) as store:
                yield store


class IndexedStore(EmbeddedVectorStore):
    """Has an index from the first point on, and waits for it after every write."""

    def __init__(self, path: str) -> None:
        super().__init__(path, index_from_values=1)

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        await super().upsert(collection, points)
        await self.wait_for_indexes()

    async def _build(self, database: Path, target: Path) -> bool:
        await asyncio.to_thread(build, database, target)
        return True


class TestEmbeddedVectorStoreWithIndex(VectorStoreSuite):
    """The embedded store when its nearest-neighbour index proposes the candidates."""

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[RunVectorStore]:
        """Give a fresh store in a directory of its own."""
        with tempfile.TemporaryDirectory() as directory:
            async with IndexedStore(directory) as store:
                yield store


class TestQdrantStoreLocal(VectorStoreSuite):
    """Qdrant through the client's local mode."""

    def open_store(self) -> AbstractAsyncContextManager[RunVectorStore]:
        """Return a fresh store."""
        return QdrantStore(location=":memory:")


class TestQdrantStoreServer(VectorStoreSuite):
    """Qdrant over HTTP: the server `QDRANT_URL` names, else a stand-in."""

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[RunVectorStore]:
        """Give a store of an empty server."""
        async with QdrantStore(url=qdrant_url()) as store:
            for name in await store.list_collections():
                await store.delete_collection(name)
            yield store


class TestQdrantStoreEngine(VectorStoreSuite):
    """Qdrant's own engine, in this process."""

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[RunVectorStore]:
        """Give a store in a folder of its own."""
        async with engine_store() as store:
            yield store


@pytest.mark.server
class TestPgVectorStore(VectorStoreSuite):
    """PostgreSQL with pgvector, the real server."""

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[RunVectorStore]:
        """Give a store without collections."""
        async with PgVectorStore(shared_postgres().url, max_connections=4) as store:
            for name in await store.list_collections():
                await store.delete_collection(name)
            yield store


class GraphStore(PgVectorStore):
    """Has a graph from the first row on, and waits for it after every write."""

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        await super().upsert(collection, points)
        await self.wait_for_indexes()


@pytest.mark.server
class TestPgVectorStoreWithGraph(VectorStoreSuite):
    """The same when every search goes through the graph."""

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[RunVectorStore]:
        """Give a store without collections."""
        async with GraphStore(shared_postgres().url, max_connections=4, exact_rows=0) as store:
            for name in await store.list_collections():
                await store.delete_collection(name)
            yield store
