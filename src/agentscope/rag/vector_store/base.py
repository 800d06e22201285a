"""The vector store contract.

`VectorStoreBase` is the documented contract; a store written against it works through an adapter.
`RunVectorStore` is what the service needs and every store of this package offers: points live in
the namespace of a run, so that a run can be counted, shown or removed without touching another.

Rules for both: higher scores are better, whatever the distance; `metadata_filter` is never
ignored; writes have been applied when the call returns; writing into a collection that does not
exist fails and never creates one; a store is entered before use and closed on exit.
"""

import abc
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from agentscope.rag.document import (
    Chunk,
    DocumentSummary,
    Point,
    StoredRun,
    StoreHit,
    Vector,
    VectorRecord,
    VectorSearchResult,
)
from agentscope.rag.vector_store.filter import And, Equals, Filter, Or, parse_filter


class VectorStoreBase(abc.ABC):
    """Keeps chunks with their vectors in named collections."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Release what the store holds; calling it twice is harmless."""
        return

    @abc.abstractmethod
    async def create_collection(self, name: str, dimensions: int) -> None:
        """Create the collection; nothing happens if it exists with these dimensions.

        Raises:
            DimensionMismatchError: it exists with other dimensions.
        """

    @abc.abstractmethod
    async def delete_collection(self, name: str) -> None:
        """Remove the collection with all its points; nothing happens if it is not there."""

    @abc.abstractmethod
    async def has_collection(self, name: str) -> bool:
        """Say whether the collection exists."""

    @abc.abstractmethod
    async def insert(self, collection: str, records: list[VectorRecord]) -> None:
        """Store `records`; a record with the same document and chunk index is replaced."""

    @abc.abstractmethod
    async def delete(
        self,
        collection: str,
        document_id: str,
        metadata_filter: dict[str, Any] | None = None,
    ) -> None:
        """Remove the document's records, or those of them that pass the filter."""

    @abc.abstractmethod
    async def search(
        self,
        collection: str,
        query_vector: Vector,
        top_k: int = 5,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[VectorSearchResult]:
        """Return the `top_k` nearest records, best first."""

    @abc.abstractmethod
    async def list_documents(
        self, collection: str, metadata_filter: dict[str, Any] | None = None
    ) -> list[DocumentSummary]:
        """Return one summary per document, ordered by document id."""

    async def list_chunks(
        self,
        collection: str,
        document_id: str,
        *,
        offset: int = 0,
        limit: int = 30,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[Chunk]:
        """Return chunks of the document by ascending index.

        Raises:
            NotImplementedError: this store cannot list chunks.
        """
        raise NotImplementedError("This vector store cannot list chunks.")


class RunVectorStore(VectorStoreBase):
    """A vector store whose points belong to runs.

    Every method raises `CollectionNotFoundError` for a collection that is not there (deletions
    of points excepted: they do nothing) and `VectorStoreError` when the store fails.
    """

    max_batch_points: int = 256
    max_batch_bytes: int = 8 * 1024 * 1024
    supports_keyword: bool = True
    supports_delete_where: bool = True

    @abc.abstractmethod
    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        """Store `points`, replacing those of the same document, run and chunk index.

        Any number of points: the store splits them by `max_batch_points` and `max_batch_bytes`.
        Durable when the call returns. Idempotent.

        Raises:
            DimensionMismatchError: a vector is not as long as the collection's.
        """

    @abc.abstractmethod
    async def search_vector(
        self, collection: str, vector: Vector, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        """Return the `top_k` nearest points of any run, best first.

        For the default distance, scores are cosine similarity in [-1, 1]. Equal scores are
        ordered by document id, then chunk index, so a repeated search gives the same page.
        """

    @abc.abstractmethod
    async def search_keyword(
        self, collection: str, text: str, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        """Return the `top_k` points whose text shares most terms with `text`, best first.

        Terms are those of `agentscope.rag.terms`; `text` is never query syntax. Scores are > 0,
        comparable within one answer only (BM25). No shared term gives no hit.
        """

    @abc.abstractmethod
    async def count(self, collection: str, document_id: str, run_id: str) -> int:
        """Return how many points the run has, in every part of the store that a search reads."""

    @abc.abstractmethod
    async def run_chunks(
        self, collection: str, document_id: str, run_id: str, *, offset: int = 0, limit: int = 30
    ) -> list[Chunk]:
        """Return chunks of the run by ascending index; `offset` counts chunks."""

    @abc.abstractmethod
    async def delete_document(self, collection: str, document_id: str) -> None:
        """Remove all points of the document, of every run."""

    @abc.abstractmethod
    async def delete_run(self, collection: str, document_id: str, run_id: str) -> None:
        """Remove the points of one run."""

    @abc.abstractmethod
    async def delete_stale(
        self, collection: str, document_id: str, *, below_epoch: int, keep_run_id: str | None
    ) -> None:
        """Remove the document's points with `epoch < below_epoch` whose run is not `keep_run_id`.

        Both conditions hold for each removed point: without the epoch bound a late call would
        remove a newer run.
        """

    @abc.abstractmethod
    async def delete_where(self, collection: str, where: Filter) -> None:
        """Remove every point that passes the filter, of any document and run."""

    @abc.abstractmethod
    def stored_runs(self, collection: str) -> AsyncIterator[StoredRun]:
        """Yield every run in the collection, in any order; memory stays bounded."""

    @abc.abstractmethod
    async def list_collections(self) -> list[str]:
        """Return the names of all collections, sorted."""

    async def score_points(
        self, collection: str, vector: Vector, hits: Sequence[StoreHit]
    ) -> list[StoreHit]:
        """Return `hits` with their vector similarity; those that are gone are left out."""
        named = Or(
            tuple(
                And(
                    (
                        Equals("document_id", hit.document_id),
                        Equals("run_id", hit.run_id),
                        Equals("chunk_index", hit.chunk.chunk_index),
                    )
                )
                for hit in hits
            )
        )
        return await self.search_vector(collection, vector, top_k=len(hits) or 1, where=named)

    async def ping(self) -> None:
        """Return if the store answers.

        Raises:
            VectorStoreError: it does not.
        """
        await self.list_collections()


class VectorReader(abc.ABC):
    """A store that gives vectors back as well: an export needs it to take them along."""

    async def run_vectors(
        self, collection: str, document_id: str, run_id: str, *, offset: int = 0, limit: int = 30
    ) -> list[Vector]:
        """Return vectors of the run in the order of `RunVectorStore.run_chunks`.

        Their length may have been normalised; under the default distance that changes no score.

        Raises:
            CollectionNotFoundError: there is no such collection.
        """
        return await self._run_vectors(collection, document_id, run_id, offset, limit)

    @abc.abstractmethod
    async def _run_vectors(
        self, collection: str, document_id: str, run_id: str, offset: int, limit: int
    ) -> list[Vector]:
        """Do what `run_vectors` promises."""


def equality_filter(metadata_filter: Mapping[str, Any] | None) -> Filter | None:
    """Return the filter for the documented `metadata_filter` argument, or None."""
    return parse_filter(metadata_filter) if metadata_filter else None
