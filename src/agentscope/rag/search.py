"""One query against one collection: both legs, the visibility check, fusion.

Nothing here embeds or renders; `KnowledgeBase` does that around it.
"""

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from agentscope import observe, tracing
from agentscope.rag.concurrency import together
from agentscope.rag.document import Chunk, LegScore, SearchHit, SearchMode, StoreHit, Vector
from agentscope.rag.fusion import fuse
from agentscope.rag.terms import document_terms, query_terms
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.filter import And, Equals, Filter, Not
from agentscope.rag.vector_store.points import chunk_text
from agentscope.rag.visibility import Visibility

MIN_CANDIDATES = 100
MAX_CANDIDATES = 1000
CANDIDATES_PER_HIT = 3
MAX_REFILLS = 5

Key = tuple[str, int]
"""Document and chunk index: one run of a document is visible at most, so this names a hit."""

Leg = Callable[[int, Filter | None], Awaitable[list[StoreHit]]]


@dataclass(frozen=True, slots=True)
class Query:
    """What one query looks for; `vector` is None in keyword mode, `text` empty without text."""

    text: str
    vector: Vector | None
    mode: SearchMode
    top_k: int
    where: Filter | None = None
    score_threshold: float | None = None

    @property
    def candidates(self) -> int:
        """Return how many candidates each leg contributes."""
        wanted = max(MIN_CANDIDATES, CANDIDATES_PER_HIT * self.top_k)
        return max(self.top_k, min(MAX_CANDIDATES, wanted))


@dataclass(slots=True)
class _Runs:
    """Asks once about each document; shared by both legs of a query."""

    visibility: Visibility | None
    known: dict[str, str | None] = field(default_factory=dict)

    async def visible(
        self, hits: Sequence[StoreHit]
    ) -> tuple[list[StoreHit], set[tuple[str, str]]]:
        """Return the hits of active runs, and the (document, run) pairs of the others."""
        if self.visibility is None:
            return list(hits), set()
        unknown = {hit.document_id for hit in hits} - self.known.keys()
        if unknown:
            active = await self.visibility.active_runs(unknown)
            self.known.update({document_id: active.get(document_id) for document_id in unknown})
        kept = [hit for hit in hits if self.known[hit.document_id] == hit.run_id]
        stale = {
            (hit.document_id, hit.run_id)
            for hit in hits
            if self.known[hit.document_id] != hit.run_id
        }
        return kept, stale


def standing(hit: SearchHit) -> tuple[float, float, str, int]:
    """Return the sort key of a hit: best first, and the same page for a repeated search.

    Among equal scores the one that holds the words comes first: many texts may be equally near in
    meaning, and the only one with the identifier that was asked for must not drown among them.
    """
    words = hit.keyword.rank if hit.keyword else math.inf
    return (-hit.score, words, hit.document_id, hit.chunk.chunk_index)


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches one collection of one store."""

    store: RunVectorStore
    collection: str
    knowledge_base_id: str = ""
    visibility: Visibility | None = None

    async def search(self, query: Query) -> list[SearchHit]:
        """Return every candidate that passes, best first; the caller cuts the list."""
        runs = _Runs(self.visibility)
        found, words = await together(
            [partial(self._vector_leg, query, runs), partial(self._keyword_leg, query, runs)]
        )
        if query.vector is not None and words:
            found = [*found, *await self._similarities(query.vector, found, words)]
        hits = _Ranking(found, words, self.knowledge_base_id).hits(query)
        return sorted(hits, key=standing)

    async def _vector_leg(self, query: Query, runs: _Runs) -> list[StoreHit]:
        vector = query.vector
        if vector is None:
            return []

        async def leg(top_k: int, where: Filter | None) -> list[StoreHit]:
            return await self.store.search_vector(self.collection, vector, top_k=top_k, where=where)

        with observe.timed(observe.LEG_SECONDS.labels("vector")), tracing.span("vector leg"):
            return await _visible_hits(leg, query, runs)

    async def _keyword_leg(self, query: Query, runs: _Runs) -> list[StoreHit]:
        if query.mode is SearchMode.VECTOR or not self.store.supports_keyword or not query.text:
            return []

        async def leg(top_k: int, where: Filter | None) -> list[StoreHit]:
            return await self.store.search_keyword(
                self.collection, query.text, top_k=top_k, where=where
            )

        with observe.timed(observe.LEG_SECONDS.labels("keyword")), tracing.span("keyword leg"):
            return await _visible_hits(leg, query, runs)

    async def _similarities(
        self, vector: Vector, found: Sequence[StoreHit], words: Sequence[StoreHit]
    ) -> list[StoreHit]:
        """Return the keyword leg's own hits with their vector similarity."""
        known = {_key(hit) for hit in found}
        missing = [hit for hit in words if _key(hit) not in known]
        if not missing:
            return []
        return await self.store.score_points(self.collection, vector, missing)


async def _visible_hits(leg: Leg, query: Query, runs: _Runs) -> list[StoreHit]:
    """Return visible candidates; ask again without the stale runs while they crowd others out."""
    wanted = query.candidates
    enough = max(query.top_k, wanted // 2)
    stale: set[tuple[str, str]] = set()
    for _ in range(MAX_REFILLS + 1):
        page = await leg(wanted, _without(query.where, stale))
        kept, seen = await runs.visible(page)
        if not seen or len(page) < wanted or len(kept) >= enough:
            return kept
        stale |= seen
    return kept


def _without(where: Filter | None, stale: Iterable[tuple[str, str]]) -> Filter | None:
    excluded = tuple(
        Not(And((Equals("document_id", document_id), Equals("run_id", run_id))))
        for document_id, run_id in sorted(stale)
    )
    if not excluded:
        return where
    return And(excluded if where is None else (where, *excluded))


def _key(hit: StoreHit) -> Key:
    return (hit.document_id, hit.chunk.chunk_index)


class _Ranking:
    """The legs of one query, put together."""

    def __init__(
        self, found: Sequence[StoreHit], words: Sequence[StoreHit], knowledge_base_id: str
    ) -> None:
        self.knowledge_base_id = knowledge_base_id
        self.chunks: dict[Key, Chunk] = {_key(hit): hit.chunk for hit in (*words, *found)}
        self.vector = _leg_scores(found)
        self.keyword = _leg_scores(words)

    def hits(self, query: Query) -> list[SearchHit]:
        """Return the hits with their scores, in no order."""
        return [
            SearchHit.model_construct(
                score=score,
                document_id=key[0],
                chunk=self.chunks[key],
                knowledge_base_id=self.knowledge_base_id,
                vector=self.vector.get(key),
                keyword=self.keyword.get(key),
                rerank=None,
                highlights=[],
                before=[],
                after=[],
            )
            for key, score in self._scores(query).items()
            if self._passes(key, query.score_threshold)
        ]

    def _scores(self, query: Query) -> dict[Key, float]:
        meaning = {key: leg.score for key, leg in self.vector.items()}
        words = {key: leg.score for key, leg in self.keyword.items()}
        if query.mode is SearchMode.VECTOR:
            return meaning
        if query.vector is None:
            return words
        shared = {key: score for key, score in words.items() if key in meaning}
        return fuse(meaning, shared, coverage=self._coverage(query.text, shared))

    def _coverage(self, text: str, words: dict[Key, float]) -> float:
        asked = query_terms(text)
        if not asked or not words:
            return 0.0
        best = max(words, key=lambda key: (words[key], key))
        present = set(document_terms(chunk_text(self.chunks[best])))
        return sum(term in present for term in asked) / len(asked)

    def _passes(self, key: Key, threshold: float | None) -> bool:
        leg = self.vector.get(key)
        return threshold is None or leg is None or leg.score >= threshold


def _leg_scores(hits: Sequence[StoreHit]) -> dict[Key, LegScore]:
    ordered = sorted(hits, key=lambda hit: (-hit.score, hit.document_id, hit.chunk.chunk_index))
    return {
        _key(hit): LegScore.model_construct(score=hit.score, rank=rank)
        for rank, hit in enumerate(ordered, start=1)
    }
