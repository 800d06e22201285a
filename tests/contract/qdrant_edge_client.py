"""Qdrant's own engine in this process, behind the calls of the client that `QdrantStore` makes.

No Qdrant server is in the package registries, but its engine is (`qdrant-edge-py`, the same Rust
core). So what the store sends (dense and sparse vectors, idf, filters) is answered for real.
"""

import importlib
import importlib.util
import shutil
import tempfile
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse

from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing.servers import missing

MEMORY = Path("/dev/shm")
HAS_ENGINE = importlib.util.find_spec("qdrant_edge") is not None
edge: Any = importlib.import_module("qdrant_edge") if HAS_ENGINE else None


def engine_store() -> QdrantStore:
    """Return a store whose calls the engine answers; its folder goes when it is closed."""
    if not HAS_ENGINE:
        missing("Qdrant's engine", "qdrant-edge-py")
    # Each index of a payload field is flushed to disk: in memory that costs nothing.
    folder = tempfile.mkdtemp(prefix="qdrant-", dir=MEMORY if MEMORY.is_dir() else None)
    store = QdrantStore(url="http://qdrant.invalid")
    store.get_client()
    store._client = EdgeClient(Path(folder))
    return store


class EdgeClient:
    """One folder with a shard per collection."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: dict[str, tuple[Any, int]] = {}

    def _shard(self, name: str) -> Any:
        if name not in self._shards:
            raise UnexpectedResponse(404, "Not Found", b"", None)  # type: ignore[arg-type]  # unread
        return self._shards[name][0]

    async def create_collection(
        self,
        name: str,
        *,
        vectors_config: models.VectorParams,
        sparse_vectors_config: dict[str, models.SparseVectorParams],
    ) -> None:
        distance = getattr(edge.Distance, vectors_config.distance.value)
        config = edge.EdgeConfig(
            vectors={"": edge.EdgeVectorParams(size=vectors_config.size, distance=distance)},
            sparse_vectors={
                key: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
                for key in sparse_vectors_config
            },
            wal_enabled=False,
        )
        path = self._folder / uuid.uuid4().hex
        self._shards[name] = (edge.EdgeShard.create(str(path), config), vectors_config.size)

    async def create_payload_index(
        self, name: str, *, field_name: str, field_schema: Any, wait: bool
    ) -> None:
        assert wait
        if isinstance(field_schema, models.KeywordIndexParams):
            schema: Any = edge.KeywordIndexParams(is_tenant=field_schema.is_tenant)
        else:
            schema = getattr(edge.PayloadSchemaType, field_schema.value.capitalize())
        self._shard(name).update(edge.UpdateOperation.create_field_index(field_name, schema))

    async def delete_collection(self, name: str) -> None:
        shard, _ = self._shards.pop(name, (None, 0))
        if shard is not None:
            shard.close()

    async def collection_exists(self, name: str) -> bool:
        return name in self._shards

    async def get_collections(self) -> Any:
        return SimpleNamespace(collections=[SimpleNamespace(name=name) for name in self._shards])

    async def get_collection(self, name: str) -> Any:
        self._shard(name)
        vectors = SimpleNamespace(size=self._shards[name][1])
        return SimpleNamespace(config=SimpleNamespace(params=SimpleNamespace(vectors=vectors)))

    async def upsert(
        self, name: str, *, points: list[models.PointStruct], wait: bool, ordering: Any
    ) -> None:
        assert wait
        assert ordering is not None
        self._shard(name).update(
            edge.UpdateOperation.upsert_points(
                [edge.Point(p.id, _vectors(p.vector), p.payload) for p in points]
            )
        )

    async def query_points(
        self,
        name: str,
        *,
        query: Any,
        using: str | None = None,
        query_filter: models.Filter | None = None,
        limit: int,
        with_payload: bool,
    ) -> Any:
        request = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(_vector(query), using=using),
            filter=_filter(query_filter),
            with_payload=with_payload,
            with_vector=False,
        )
        return SimpleNamespace(points=self._shard(name).query(request))

    async def scroll(
        self,
        name: str,
        *,
        scroll_filter: models.Filter | None,
        limit: int,
        offset: Any,
        with_payload: list[str],
    ) -> Any:
        del with_payload  # the whole payload holds what was asked for
        request = edge.ScrollRequest(
            offset=offset, limit=limit, filter=_filter(scroll_filter), with_payload=True
        )
        return self._shard(name).scroll(request)

    async def retrieve(self, name: str, *, ids: list[Any], **options: Any) -> Any:
        return self._shard(name).retrieve(
            ids, with_payload=True, with_vector=bool(options.get("with_vectors"))
        )

    async def count(self, name: str, *, count_filter: models.Filter, exact: bool) -> Any:
        request = edge.CountRequest(exact=exact, filter=_filter(count_filter))
        return SimpleNamespace(count=self._shard(name).count(request))

    async def delete(self, name: str, selector: Any, *, wait: bool) -> None:
        assert wait
        if isinstance(selector, models.FilterSelector):
            operation = edge.UpdateOperation.delete_points_by_filter(_filter(selector.filter))
        else:
            operation = edge.UpdateOperation.delete_points(list(selector.points))
        self._shard(name).update(operation)

    async def close(self) -> None:
        for shard, _ in self._shards.values():
            shard.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _vector(value: Any) -> Any:
    if isinstance(value, models.SparseVector):
        return edge.SparseVector(value.indices, value.values)
    return value


def _vectors(value: Any) -> Any:
    return {key: _vector(one) for key, one in value.items()}


def _filter(value: Any) -> Any:
    if value is None:
        return None
    clauses = {
        key: [_condition(one) for one in getattr(value, key)]
        for key in ("must", "should", "must_not")
        if getattr(value, key) is not None
    }
    return edge.Filter(**clauses)


def _condition(value: Any) -> Any:
    match value:
        case models.Filter():
            return _filter(value)
        case models.HasIdCondition():
            return edge.HasIdCondition(set(value.has_id))
        case models.IsEmptyCondition():
            return edge.IsEmptyCondition(value.is_empty.key)
        case models.FieldCondition(range=None):
            assert isinstance(value.match, models.MatchAny)
            return edge.FieldCondition(value.key, match=edge.MatchAny(value.match.any))
        case models.FieldCondition():
            limits = value.range
            assert isinstance(limits, models.Range)
            bounds = edge.RangeFloat(gte=limits.gte, gt=limits.gt, lte=limits.lte, lt=limits.lt)
            return edge.FieldCondition(value.key, range=bounds)
    raise AssertionError(value)
