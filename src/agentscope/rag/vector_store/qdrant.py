"""The Qdrant vector store: a server, or the client's own local mode for small data.

A point holds the dense vector (unnamed), a sparse vector `terms` for the keyword leg, whose idf
the server applies, and a payload: `document_id`, `chunk`, and what filters need.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Literal
from urllib.parse import unquote

from agentscope.errors import (
    CollectionNotFoundError,
    DataDirectoryLockedError,
    DimensionMismatchError,
    InvalidInputError,
)
from agentscope.optional import require
from agentscope.rag.document import Chunk, Point, StoredRun, StoreHit, Vector
from agentscope.rag.vector_store.documented import DocumentedCalls
from agentscope.rag.vector_store.filter import And, Equals, Filter, Range, matches
from agentscope.rag.vector_store.points import (
    batches,
    best_first,
    check_vector,
    filter_fields,
    point_id,
)
from agentscope.rag.vector_store.qdrant_filter import (
    FACETS,
    NUMBER_FIELDS,
    TEXT_FIELDS,
    QdrantFilters,
)
from agentscope.rag.vector_store.qdrant_points import (
    TERMS,
    dense_vector,
    encoded_name,
    point_of,
    point_structs,
    rounded_score,
    run_of,
    translated,
)
from agentscope.rag.vector_store.sparse import query_weights

Distance = Literal["Cosine", "Dot", "Euclid", "Manhattan"]

PAGE = 256
TIE_MARGIN = 16
MAX_FETCHED = 10_000
REQUEST_SECONDS = 30


class QdrantStore(DocumentedCalls):
    """Speaks to Qdrant; with no argument everything is in memory.

    Euclid and Manhattan distances are negated, so that a higher score is better on every distance.
    """

    max_batch_bytes = 2 * 1024 * 1024
    """The client makes JSON of a request on the event loop: some 30 ms for this much."""

    def __init__(
        self,
        location: str | None = None,
        url: str | None = None,
        path: str | None = None,
        api_key: str | None = None,
        distance: Distance = "Cosine",
        client_kwargs: dict[str, Any] | None = None,
    ) -> None:
        if distance not in ("Cosine", "Dot", "Euclid", "Manhattan"):
            raise InvalidInputError("The distance is one of Cosine, Dot, Euclid and Manhattan.")
        self.distance = distance
        self._where = {"location": location, "url": url, "path": path}
        if not any(self._where.values()) and not client_kwargs:
            self._where["location"] = ":memory:"
        self._is_local = bool(path) or self._where["location"] == ":memory:"
        self._api_key = api_key
        self._client_kwargs = dict(client_kwargs or {})
        self._client: Any = None
        self._models: Any = None
        self._dimensions: dict[str, int] = {}

    def get_client(self) -> Any:
        """Return the async client, made on first use."""
        if self._client is None:
            package: Any = require("qdrant_client", package="qdrant-client", extra="qdrant")
            self._models = package.models
            options = {"timeout": REQUEST_SECONDS, "check_compatibility": False}
            where = {name: value for name, value in self._where.items() if value}
            try:
                self._client = package.AsyncQdrantClient(
                    **where, api_key=self._api_key, **{**options, **self._client_kwargs}
                )
            except RuntimeError as exc:
                if "already accessed" not in str(exc):
                    raise
                raise DataDirectoryLockedError from exc
        return self._client

    async def aclose(self) -> None:
        client, self._client = self._client, None
        self._dimensions.clear()
        if client is not None:
            await client.close()

    async def create_collection(self, name: str, dimensions: int) -> None:
        if dimensions < 1:
            raise InvalidInputError("A collection needs at least one dimension.")
        if await self.has_collection(name):
            known = await self._size(name)
            if known != dimensions:
                raise DimensionMismatchError(
                    f"The collection has {known} dimensions, not {dimensions}."
                )
            return
        client, models = self.get_client(), self._models
        with translated():
            await client.create_collection(
                encoded_name(name),
                vectors_config=models.VectorParams(
                    size=dimensions, distance=models.Distance(self.distance)
                ),
                sparse_vectors_config={
                    TERMS: models.SparseVectorParams(modifier=models.Modifier.IDF)
                },
            )
            if not self._is_local:
                await self._create_payload_indexes(encoded_name(name))

    async def _create_payload_indexes(self, encoded: str) -> None:
        models = self._models
        keyword = models.PayloadSchemaType.KEYWORD
        tenant = models.KeywordIndexParams(type="keyword", is_tenant=True)
        schemas: dict[str, Any] = {field: keyword for field in (*TEXT_FIELDS, FACETS)}
        schemas |= {field: models.PayloadSchemaType.INTEGER for field in NUMBER_FIELDS}
        schemas["kb_id"] = tenant
        for field, schema in sorted(schemas.items()):
            await self.get_client().create_payload_index(
                encoded, field_name=field, field_schema=schema, wait=True
            )

    async def delete_collection(self, name: str) -> None:
        self._dimensions.pop(name, None)
        with translated(), contextlib.suppress(CollectionNotFoundError):
            await self.get_client().delete_collection(encoded_name(name))

    async def has_collection(self, name: str) -> bool:
        with translated():
            return bool(await self.get_client().collection_exists(encoded_name(name)))

    async def list_collections(self) -> list[str]:
        with translated():
            answer = await self.get_client().get_collections()
        return sorted(unquote(item.name.replace("=", "%")) for item in answer.collections)

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        dimensions = await self._size(collection)
        for point in points:
            check_vector(point.vector, dimensions)
        for batch in batches(
            points, max_points=self.max_batch_points, max_bytes=self.max_batch_bytes
        ):
            with self._calling(collection):
                await self.get_client().upsert(
                    encoded_name(collection),
                    points=await asyncio.to_thread(point_structs, self._models, batch),
                    wait=True,
                    ordering=self._models.WriteOrdering.MEDIUM,
                )

    async def search_vector(
        self, collection: str, vector: Vector, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        check_vector(vector, await self._size(collection))
        sign = -1.0 if self.distance in ("Euclid", "Manhattan") else 1.0
        hits = await self._nearest(collection, list(vector), None, top_k, where)
        return sorted(
            (StoreHit(sign * hit.score, hit.document_id, hit.run_id, hit.chunk) for hit in hits),
            key=best_first,
        )[:top_k]

    async def search_keyword(
        self, collection: str, text: str, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        await self._size(collection)
        weights = query_weights(text)
        if not weights:
            return []
        query = self._models.SparseVector(indices=list(weights), values=list(weights.values()))
        hits = await self._nearest(collection, query, TERMS, top_k, where)
        return sorted((hit for hit in hits if hit.score > 0), key=best_first)[:top_k]

    async def score_points(
        self, collection: str, vector: Vector, hits: Sequence[StoreHit]
    ) -> list[StoreHit]:
        self.get_client()
        ids = [str(point_id(h.document_id, h.run_id, h.chunk.chunk_index)) for h in hits]
        sign = -1.0 if self.distance in ("Euclid", "Manhattan") else 1.0
        with self._calling(collection):
            answer = await self.get_client().query_points(
                encoded_name(collection),
                query=list(vector),
                query_filter=self._models.Filter(must=[self._models.HasIdCondition(has_id=ids)]),
                limit=max(1, len(ids)),
                with_payload=False,
            )
        scores = {str(point.id): sign * rounded_score(point.score) for point in answer.points}
        known = [
            StoreHit(scores[number], hit.document_id, hit.run_id, hit.chunk)
            for number, hit in zip(ids, hits, strict=True)
            if number in scores
        ]
        return sorted(known, key=best_first)

    async def count(self, collection: str, document_id: str, run_id: str) -> int:
        where, _ = self._compiled(_of_run(document_id, run_id))
        with self._calling(collection):
            answer = await self.get_client().count(
                encoded_name(collection), count_filter=where, exact=True
            )
        return int(answer.count)

    async def run_chunks(
        self, collection: str, document_id: str, run_id: str, *, offset: int = 0, limit: int = 30
    ) -> list[Chunk]:
        """Return chunks by index: a run is numbered densely from 0."""
        numbered = Range("chunk_index", gte=offset, lt=offset + limit)
        where = And((_of_run(document_id, run_id), numbered))
        hits = [hit async for hit in self.scan(collection, where)]
        return [hit.chunk for hit in hits]

    async def _run_vectors(
        self, collection: str, document_id: str, run_id: str, offset: int, limit: int
    ) -> list[Vector]:
        ids = [str(point_id(document_id, run_id, offset + number)) for number in range(limit)]
        client = self.get_client()
        with self._calling(collection):
            records = await client.retrieve(
                encoded_name(collection), ids=ids, with_payload=False, with_vectors=True
            )
        found = {str(record.id): dense_vector(record.vector) for record in records}
        return [found[number] for number in ids if number in found]

    async def delete_where(self, collection: str, where: Filter) -> None:
        compiled, is_exact = self._compiled(where)
        models = self._models
        with contextlib.suppress(CollectionNotFoundError):
            if is_exact and compiled is not None:
                selector = models.FilterSelector(filter=compiled)
                with self._calling(collection):
                    await self.get_client().delete(encoded_name(collection), selector, wait=True)
                return
            ids = [
                str(point_id(hit.document_id, hit.run_id, hit.chunk.chunk_index))
                async for hit in self.scan(collection, where)
            ]
            for start in range(0, len(ids), PAGE):
                selector = models.PointIdsList(points=ids[start : start + PAGE])
                with self._calling(collection):
                    await self.get_client().delete(encoded_name(collection), selector, wait=True)

    async def stored_runs(self, collection: str) -> AsyncIterator[StoredRun]:
        """Yield the runs; what is kept meanwhile is one number per run."""
        counts: dict[tuple[str, str, int], int] = {}
        async for record in self._scroll(collection, None, sorted({*TEXT_FIELDS, *NUMBER_FIELDS})):
            run = run_of(record.payload)
            key = (str(record.payload["document_id"]), run.run_id, run.epoch)
            counts[key] = counts.get(key, 0) + 1
        for (document_id, run_id, epoch), count in sorted(counts.items()):
            yield StoredRun(document_id, run_id, epoch, count)

    async def scan(self, collection: str, where: Filter | None = None) -> AsyncIterator[StoreHit]:
        """Yield points in order: first all their places, then their content page by page."""
        compiled, _ = self._compiled(where)
        fields = ["document_id", "run_id", "chunk_index"]
        found: list[tuple[str, str, int, str]] = []
        async for record in self._scroll(collection, compiled, fields):
            payload = record.payload
            found.append(
                (
                    str(payload["document_id"]),
                    str(payload.get("run_id", "")),
                    int(payload.get("chunk_index", 0)),
                    str(record.id),
                )
            )
        found.sort()
        for start in range(0, len(found), PAGE):
            ids = [place[3] for place in found[start : start + PAGE]]
            with self._calling(collection):
                records = await self.get_client().retrieve(
                    encoded_name(collection), ids=ids, with_payload=True
                )
            by_id = {str(record.id): record for record in records}
            for number in ids:
                if number in by_id:
                    point = point_of(by_id[number].payload)
                    if where is None or matches(where, filter_fields(point)):
                        yield StoreHit(0.0, point.document_id, point.run.run_id, point.chunk)

    async def _scroll(
        self, collection: str, compiled: Any, fields: list[str]
    ) -> AsyncIterator[Any]:
        self.get_client()
        offset = None
        while True:
            with self._calling(collection):
                records, offset = await self.get_client().scroll(
                    encoded_name(collection),
                    scroll_filter=compiled,
                    limit=PAGE,
                    offset=offset,
                    with_payload=fields,
                )
            for record in records:
                yield record
            if offset is None:
                return

    async def _nearest(
        self, collection: str, query: Any, using: str | None, top_k: int, where: Filter | None
    ) -> list[StoreHit]:
        """Return at least the best `top_k` that pass, with all that tie with the last of them."""
        compiled, is_exact = self._compiled(where)
        wanted = top_k + TIE_MARGIN if is_exact else 4 * top_k + TIE_MARGIN
        while True:
            with self._calling(collection):
                answer = await self.get_client().query_points(
                    encoded_name(collection),
                    query=query,
                    using=using,
                    query_filter=compiled,
                    limit=wanted,
                    with_payload=True,
                )
            found = [(rounded_score(item.score), point_of(item.payload)) for item in answer.points]
            hits = [
                StoreHit(score, point.document_id, point.run.run_id, point.chunk)
                for score, point in found
                if where is None or matches(where, filter_fields(point))
            ]
            is_all = len(found) < wanted or wanted >= MAX_FETCHED
            if is_all or (len(hits) >= top_k and hits[top_k - 1].score != found[-1][0]):
                return hits
            wanted = min(MAX_FETCHED, 4 * wanted)

    def _compiled(self, where: Filter | None) -> tuple[Any, bool]:
        self.get_client()
        return QdrantFilters(self._models).compile(where)

    async def _size(self, collection: str) -> int:
        known = self._dimensions.get(collection)
        if known is None:
            with self._calling(collection):
                info = await self.get_client().get_collection(encoded_name(collection))
            known = int(info.config.params.vectors.size)
            self._dimensions[collection] = known
        return known

    @contextlib.contextmanager
    def _calling(self, collection: str) -> Iterator[None]:
        try:
            with translated():
                yield
        except CollectionNotFoundError:
            self._dimensions.pop(collection, None)
            raise


def _of_run(document_id: str, run_id: str) -> Filter:
    return And((Equals("document_id", document_id), Equals("run_id", run_id)))
