"""Lets a store written to the documented contract hold runs.

The run is kept in the document id the store sees, and once more in the chunk's metadata, from
where it is read back. What the documented contract lacks is made up for: filters by fetching more
and choosing here, counting and listing by the store's own list of documents. So every store
works, if slower than one that knows runs. There is no keyword leg.
"""

from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, unquote

from agentscope.errors import VectorStoreError
from agentscope.rag.document import (
    Chunk,
    DocumentSummary,
    Point,
    Run,
    StoredRun,
    StoreHit,
    Vector,
    VectorRecord,
    VectorSearchResult,
)
from agentscope.rag.vector_store.base import RunVectorStore, VectorStoreBase
from agentscope.rag.vector_store.filter import Filter, matches
from agentscope.rag.vector_store.points import (
    batches,
    best_first,
    filter_fields,
    own_fields,
)

MAX_FETCHED = 10_000
_POINT = "_agentscope_point"


def as_run_store(store: VectorStoreBase) -> RunVectorStore:
    """Return `store` itself if it knows runs, else an adapter around it."""
    return store if isinstance(store, RunVectorStore) else LegacyRunStore(store)


class _Forwarding(RunVectorStore):
    """What the documented contract already has, with the runs hidden."""

    def __init__(self, store: VectorStoreBase) -> None:
        self.store = store

    async def __aenter__(self) -> Self:
        await self.store.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.store.__aexit__(exc_type, exc, traceback)

    async def create_collection(self, name: str, dimensions: int) -> None:
        await self.store.create_collection(name, dimensions)

    async def delete_collection(self, name: str) -> None:
        await self.store.delete_collection(name)

    async def has_collection(self, name: str) -> bool:
        return await self.store.has_collection(name)

    async def insert(self, collection: str, records: list[VectorRecord]) -> None:
        await self.store.insert(collection, records)

    async def delete(
        self,
        collection: str,
        document_id: str,
        metadata_filter: dict[str, Any] | None = None,
    ) -> None:
        """Remove every run of the document, within the filter if there is one."""
        if not metadata_filter:
            await self.delete_document(collection, document_id)
            return
        for run, name in await self._known(collection):
            if run.document_id == document_id:
                await self.store.delete(collection, name, metadata_filter=metadata_filter)

    async def search(
        self,
        collection: str,
        query_vector: Vector,
        top_k: int = 5,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[VectorSearchResult]:
        found = await self.store.search(
            collection, query_vector, top_k=top_k, metadata_filter=metadata_filter
        )
        return [
            VectorSearchResult(
                score=result.score,
                document_id=_point(result).document_id,
                chunk=_shown(result.chunk),
            )
            for result in found
        ]

    async def list_documents(
        self, collection: str, metadata_filter: dict[str, Any] | None = None
    ) -> list[DocumentSummary]:
        """Return one summary per document; the chunks of all its runs count."""
        merged: dict[str, DocumentSummary] = {}
        for summary in await self.store.list_documents(collection, metadata_filter):
            document_id = _split(summary.document_id)[0]
            known = merged.get(document_id)
            if known is not None:
                known.chunk_count += summary.chunk_count
                continue
            metadata = {key: value for key, value in summary.metadata.items() if key != _POINT}
            merged[document_id] = summary.model_copy(
                update={"document_id": document_id, "metadata": metadata}
            )
        return [merged[document_id] for document_id in sorted(merged)]

    async def list_chunks(
        self,
        collection: str,
        document_id: str,
        *,
        offset: int = 0,
        limit: int = 30,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[Chunk]:
        chunks = await self.store.list_chunks(
            collection, document_id, offset=offset, limit=limit, metadata_filter=metadata_filter
        )
        return [_shown(chunk) for chunk in chunks]

    async def _stored(self, collection: str) -> list[tuple[StoredRun, str]]:
        return [
            (StoredRun(*_split(summary.document_id), summary.chunk_count), summary.document_id)
            for summary in await self.store.list_documents(collection)
        ]

    async def _known(self, collection: str) -> list[tuple[StoredRun, str]]:
        """Return what is stored; a collection that is gone holds nothing."""
        if not await self.store.has_collection(collection):
            return []
        return await self._stored(collection)

    async def _drop(self, collection: str, names: Sequence[str]) -> None:
        for name in names:
            # Stores written for the first release have no third parameter.
            await self.store.delete(collection, name)


class LegacyRunStore(_Forwarding):
    """Adapts a documented store; document ids of a run look like `document:epoch:run`."""

    supports_keyword = False
    supports_delete_where = False

    async def list_collections(self) -> list[str]:
        """Return no names: the documented contract cannot list collections."""
        return []

    async def ping(self) -> None:
        await self.store.has_collection("agentscope_ping")

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        for batch in batches(
            points, max_points=self.max_batch_points, max_bytes=self.max_batch_bytes
        ):
            await self.store.insert(collection, [_record(point) for point in batch])

    async def search_vector(
        self, collection: str, vector: Vector, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        wanted = top_k if where is None else 4 * top_k
        while True:
            found = await self.store.search(collection, vector, top_k=wanted)
            points = [(result.score, _point(result)) for result in found]
            hits = [
                StoreHit(score, point.document_id, point.run.run_id, point.chunk)
                for score, point in points
                if where is None or matches(where, filter_fields(point))
            ]
            if len(hits) >= top_k or len(found) < wanted or wanted >= MAX_FETCHED:
                return sorted(hits, key=best_first)[:top_k]
            wanted = min(MAX_FETCHED, 4 * wanted)

    async def search_keyword(
        self, collection: str, text: str, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        """Return nothing: the documented contract has no keyword search."""
        return []

    async def count(self, collection: str, document_id: str, run_id: str) -> int:
        return sum(
            run.count
            for run, _ in await self._stored(collection)
            if run.document_id == document_id and run.run_id == run_id
        )

    async def run_chunks(
        self, collection: str, document_id: str, run_id: str, *, offset: int = 0, limit: int = 30
    ) -> list[Chunk]:
        for run, name in await self._stored(collection):
            if run.document_id == document_id and run.run_id == run_id:
                chunks = await self.store.list_chunks(collection, name, offset=offset, limit=limit)
                return [_shown(chunk) for chunk in chunks]
        return []

    async def delete_document(self, collection: str, document_id: str) -> None:
        await self._drop(
            collection,
            [name for run, name in await self._known(collection) if run.document_id == document_id],
        )

    async def delete_run(self, collection: str, document_id: str, run_id: str) -> None:
        await self._drop(
            collection,
            [
                name
                for run, name in await self._known(collection)
                if run.document_id == document_id and run.run_id == run_id
            ],
        )

    async def delete_stale(
        self, collection: str, document_id: str, *, below_epoch: int, keep_run_id: str | None
    ) -> None:
        await self._drop(
            collection,
            [
                name
                for run, name in await self._known(collection)
                if run.document_id == document_id
                and run.epoch < below_epoch
                and run.run_id != keep_run_id
            ],
        )

    async def delete_where(self, collection: str, where: Filter) -> None:
        """Refuse: the documented contract deletes whole documents only."""
        raise VectorStoreError("This vector store cannot delete by filter.", retryable=False)

    async def stored_runs(self, collection: str) -> AsyncIterator[StoredRun]:
        for run, _ in await self._stored(collection):
            yield run


def _name(document_id: str, run: Run) -> str:
    if not run.run_id:
        return document_id
    return f"{quote(document_id, safe='')}:{run.epoch}:{quote(run.run_id, safe='')}"


def _split(name: str) -> tuple[str, str, int]:
    """Return document id, run id and epoch."""
    parts = name.split(":")
    if len(parts) == 3 and parts[1].isdecimal():
        return (unquote(parts[0]), unquote(parts[2]), int(parts[1]))
    return (name, "", 0)


def _record(point: Point) -> VectorRecord:
    chunk = point.chunk
    if point.run.run_id or point.knowledge_base_id:
        metadata = {**chunk.metadata, _POINT: own_fields(point)}
        chunk = chunk.model_copy(update={"metadata": metadata})
    return VectorRecord(
        vector=point.vector, document_id=_name(point.document_id, point.run), chunk=chunk
    )


def _point(result: VectorSearchResult) -> Point:
    own = result.chunk.metadata.get(_POINT)
    if not isinstance(own, dict):
        return Point([], result.document_id, Run(), result.chunk)
    return Point(
        [],
        str(own["document_id"]),
        Run(str(own["run_id"]), int(own["epoch"])),
        _shown(result.chunk),
        str(own.get("kb_id", "")),
    )


def _shown(chunk: Chunk) -> Chunk:
    if _POINT not in chunk.metadata:
        return chunk
    metadata = {key: value for key, value in chunk.metadata.items() if key != _POINT}
    return chunk.model_copy(update={"metadata": metadata})
