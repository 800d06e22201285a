"""What every store can do with a few calls of its own.

The documented calls are told in terms of runs: they read every run and write the empty one. The
deletions of the run contract are filters.
"""

import abc
from collections.abc import AsyncIterator
from typing import Any

from agentscope.rag.document import (
    Chunk,
    DocumentSummary,
    Point,
    Run,
    StoreHit,
    Vector,
    VectorRecord,
    VectorSearchResult,
)
from agentscope.rag.vector_store.base import RunVectorStore, VectorReader, equality_filter
from agentscope.rag.vector_store.filter import And, Equals, Filter, Not, Range


class DocumentedCalls(RunVectorStore, VectorReader):
    """Implements `VectorStoreBase` and the named deletions by filters and one ordered scan."""

    @abc.abstractmethod
    def scan(self, collection: str, where: Filter | None = None) -> AsyncIterator[StoreHit]:
        """Yield the points that pass, by document id, run id and chunk index; scores are 0.

        Memory stays bounded.
        """

    async def delete_document(self, collection: str, document_id: str) -> None:
        await self.delete_where(collection, Equals("document_id", document_id))

    async def delete_run(self, collection: str, document_id: str, run_id: str) -> None:
        await self.delete_where(
            collection, And((Equals("document_id", document_id), Equals("run_id", run_id)))
        )

    async def delete_stale(
        self, collection: str, document_id: str, *, below_epoch: int, keep_run_id: str | None
    ) -> None:
        clauses: list[Filter] = [
            Equals("document_id", document_id),
            Range("epoch", lt=below_epoch),
        ]
        if keep_run_id is not None:
            clauses.append(Not(Equals("run_id", keep_run_id)))
        await self.delete_where(collection, And(tuple(clauses)))

    async def insert(self, collection: str, records: list[VectorRecord]) -> None:
        """Store `records` in the empty run."""
        await self.upsert(
            collection,
            [Point(record.vector, record.document_id, Run(), record.chunk) for record in records],
        )

    async def delete(
        self,
        collection: str,
        document_id: str,
        metadata_filter: dict[str, Any] | None = None,
    ) -> None:
        """Remove the document's records of every run that pass the filter."""
        where = equality_filter(metadata_filter)
        if where is None:
            await self.delete_document(collection, document_id)
        else:
            await self.delete_where(collection, And((Equals("document_id", document_id), where)))

    async def search(
        self,
        collection: str,
        query_vector: Vector,
        top_k: int = 5,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[VectorSearchResult]:
        """Return the `top_k` nearest records of any run, best first."""
        hits = await self.search_vector(
            collection, query_vector, top_k=top_k, where=equality_filter(metadata_filter)
        )
        return [
            VectorSearchResult(score=hit.score, document_id=hit.document_id, chunk=hit.chunk)
            for hit in hits
        ]

    async def list_documents(
        self, collection: str, metadata_filter: dict[str, Any] | None = None
    ) -> list[DocumentSummary]:
        """Return one summary per document; `metadata` is what all its chunks agree on."""
        summaries: list[DocumentSummary] = []
        async for hit in self.scan(collection, equality_filter(metadata_filter)):
            if summaries and summaries[-1].document_id == hit.document_id:
                summary = summaries[-1]
                summary.chunk_count += 1
                summary.metadata = {
                    key: value
                    for key, value in summary.metadata.items()
                    if key in hit.chunk.metadata and hit.chunk.metadata[key] == value
                }
            else:
                summaries.append(
                    DocumentSummary(
                        document_id=hit.document_id,
                        source=hit.chunk.source,
                        chunk_count=1,
                        metadata=dict(hit.chunk.metadata),
                    )
                )
        return summaries

    async def list_chunks(
        self,
        collection: str,
        document_id: str,
        *,
        offset: int = 0,
        limit: int = 30,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[Chunk]:
        """Return chunks of the document, of every run, by ascending index."""
        where: Filter = Equals("document_id", document_id)
        if metadata_filter:
            more = equality_filter(metadata_filter)
            where = And((where, more)) if more else where
        hits = [hit async for hit in self.scan(collection, where)]
        hits.sort(key=lambda hit: (hit.chunk.chunk_index, hit.run_id))
        return [hit.chunk for hit in hits[offset : offset + limit]]
