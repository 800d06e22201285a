"""An exact vector store in memory: small data, tests and simulation.

No threads and no waiting: every call runs to its end in one step of the loop, so a seeded
simulation sees the same order each time.
"""

import copy
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agentscope.errors import CollectionNotFoundError, DimensionMismatchError, InvalidInputError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point, StoredRun, StoreHit, Vector
from agentscope.rag.terms import document_terms, query_terms
from agentscope.rag.vector_store.documented import DocumentedCalls
from agentscope.rag.vector_store.filter import Equals, Filter, matches
from agentscope.rag.vector_store.points import (
    best_first,
    check_vector,
    chunk_text,
    dot,
    filter_fields,
)

_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6

PointKey = tuple[str, str, int]


@dataclass(slots=True)
class _Entry:
    point: Point
    norm: float
    terms: Counter[str]
    length: int


@dataclass(slots=True)
class _Collection:
    dimensions: int
    entries: dict[PointKey, _Entry] = field(default_factory=dict)


class InMemoryVectorStore(DocumentedCalls):
    """Keeps everything in dictionaries and compares with everything."""

    def __init__(self) -> None:
        self._collections: dict[str, _Collection] = {}

    async def create_collection(self, name: str, dimensions: int) -> None:
        if dimensions < 1:
            raise InvalidInputError("A collection needs at least one dimension.")
        known = self._collections.setdefault(name, _Collection(dimensions))
        if known.dimensions != dimensions:
            raise DimensionMismatchError(
                f"The collection has {known.dimensions} dimensions, not {dimensions}."
            )

    async def delete_collection(self, name: str) -> None:
        self._collections.pop(name, None)

    async def has_collection(self, name: str) -> bool:
        return name in self._collections

    async def list_collections(self) -> list[str]:
        return sorted(self._collections)

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        target = self._get(collection)
        for point in points:
            check_vector(point.vector, target.dimensions)
        for point in points:
            terms = Counter(document_terms(chunk_text(point.chunk)))
            kept = Point(
                list(point.vector),
                point.document_id,
                point.run,
                _copied(point.chunk),
                point.knowledge_base_id,
            )
            target.entries[_key(point)] = _Entry(
                kept, math.sqrt(dot(point.vector, point.vector)), terms, terms.total()
            )

    async def search_vector(
        self, collection: str, vector: Vector, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        target = self._get(collection)
        check_vector(vector, target.dimensions)
        norm = math.sqrt(dot(vector, vector))

        def score(entry: _Entry) -> float:
            scale = norm * entry.norm
            return dot(vector, entry.point.vector) / scale if scale else 0.0

        return _ranked(((score(entry), entry) for entry in _passing(target, where)), top_k)

    async def search_keyword(
        self, collection: str, text: str, *, top_k: int, where: Filter | None = None
    ) -> list[StoreHit]:
        target = self._get(collection)
        score = _bm25(list(target.entries.values()), query_terms(text))
        scored = ((score(entry), entry) for entry in _passing(target, where))
        return _ranked(((value, entry) for value, entry in scored if value > 0), top_k)

    async def count(self, collection: str, document_id: str, run_id: str) -> int:
        return len(self._run(collection, document_id, run_id))

    async def run_chunks(
        self, collection: str, document_id: str, run_id: str, *, offset: int = 0, limit: int = 30
    ) -> list[Chunk]:
        chunks = [entry.point.chunk for entry in self._run(collection, document_id, run_id)]
        chunks.sort(key=lambda chunk: chunk.chunk_index)
        return [_copied(chunk) for chunk in chunks[offset : offset + limit]]

    async def _run_vectors(
        self, collection: str, document_id: str, run_id: str, offset: int, limit: int
    ) -> list[Vector]:
        points = [entry.point for entry in self._run(collection, document_id, run_id)]
        points.sort(key=lambda point: point.chunk.chunk_index)
        return [list(point.vector) for point in points[offset : offset + limit]]

    async def delete_where(self, collection: str, where: Filter) -> None:
        self._drop(collection, lambda point: matches(where, filter_fields(point)))

    async def stored_runs(self, collection: str) -> AsyncIterator[StoredRun]:
        counts = Counter(
            (entry.point.document_id, entry.point.run.run_id, entry.point.run.epoch)
            for entry in self._get(collection).entries.values()
        )
        for (document_id, run_id, epoch), count in sorted(counts.items()):
            yield StoredRun(document_id, run_id, epoch, count)

    async def scan(self, collection: str, where: Filter | None = None) -> AsyncIterator[StoreHit]:
        target = self._get(collection)
        for entry in sorted(_passing(target, where), key=lambda entry: _key(entry.point)):
            yield _hit(0.0, entry)

    def _get(self, collection: str) -> _Collection:
        try:
            return self._collections[collection]
        except KeyError:
            raise CollectionNotFoundError from None

    def _run(self, collection: str, document_id: str, run_id: str) -> list[_Entry]:
        return [
            entry
            for key, entry in self._get(collection).entries.items()
            if key[0] == document_id and key[1] == run_id
        ]

    def _drop(self, collection: str, condition: Callable[[Point], bool]) -> None:
        target = self._collections.get(collection)
        if target is None:
            return
        for key in [key for key, entry in target.entries.items() if condition(entry.point)]:
            del target.entries[key]


def _copied(chunk: Chunk) -> Chunk:
    """Return a chunk that shares nothing that can change; much cheaper than a deep copy."""
    content = chunk.content.model_copy(deep=not isinstance(chunk.content, TextBlock))
    metadata = copy.deepcopy(chunk.metadata) if chunk.metadata else {}
    return chunk.model_copy(update={"content": content, "metadata": metadata})


def _key(point: Point) -> PointKey:
    return (point.document_id, point.run.run_id, point.chunk.chunk_index)


def _passing(target: _Collection, where: Filter | None) -> Iterable[_Entry]:
    entries = target.entries.values()
    if where is None:
        return entries
    if isinstance(where, Equals) and where.field == "document_id":
        return (entry for entry in entries if entry.point.document_id == where.value)
    return (entry for entry in entries if matches(where, filter_fields(entry.point)))


def _hit(score: float, entry: _Entry) -> StoreHit:
    point = entry.point
    return StoreHit(score, point.document_id, point.run.run_id, _copied(point.chunk))


def _ranked(scored: Iterable[tuple[float, _Entry]], top_k: int) -> list[StoreHit]:
    ordered = sorted(scored, key=lambda pair: (-pair[0], *_order(pair[1].point)))
    return sorted((_hit(score, entry) for score, entry in ordered[:top_k]), key=best_first)


def _order(point: Point) -> tuple[str, int, str]:
    return (point.document_id, point.chunk.chunk_index, point.run.run_id)


def _bm25(entries: Sequence[_Entry], terms: Sequence[str]) -> Callable[[_Entry], float]:
    """Return the BM25 score of an entry for `terms`, k1 1.2 and b 0.75 as in SQLite's FTS5."""
    total = len(entries)
    average = sum(entry.length for entry in entries) / total if total else 0.0
    weights = {}
    for term in terms:
        found = sum(1 for entry in entries if term in entry.terms)
        weights[term] = max(_LEAST_IDF, math.log((total - found + 0.5) / (found + 0.5)))

    def score(entry: _Entry) -> float:
        value = 0.0
        for term, weight in weights.items():
            times = entry.terms.get(term, 0)
            if times:
                scale = _K1 * (1 - _B + _B * entry.length / average)
                value += weight * times * (_K1 + 1) / (times + scale)
        return value

    return score
