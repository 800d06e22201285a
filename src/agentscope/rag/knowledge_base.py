"""The handle of one knowledge base: what an application, the service and an agent all use."""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from agentscope import tracing
from agentscope.embedding.base import EmbeddingInput, EmbeddingModelBase
from agentscope.errors import (
    EmbeddingCountError,
    EmbeddingModelChangedError,
    InvalidInputError,
)
from agentscope.identity import new_id
from agentscope.message.blocks import DataBlock, TextBlock
from agentscope.rag.concurrency import together
from agentscope.rag.document import (
    Chunk,
    DocumentSummary,
    Run,
    SearchHit,
    SearchMode,
    Vector,
)
from agentscope.rag.highlight import highlight_terms, highlights
from agentscope.rag.insertion import Chunks, Insertion, ProgressCallback, carried_points
from agentscope.rag.reranking import MAX_RERANKED, Reranker, rerank
from agentscope.rag.search import Query, Searcher, standing
from agentscope.rag.vector_store.base import RunVectorStore, VectorStoreBase, equality_filter
from agentscope.rag.vector_store.filter import And, Equals, Filter, Range, parse_filter
from agentscope.rag.vector_store.legacy import as_run_store
from agentscope.rag.vector_store.points import chunk_text
from agentscope.rag.visibility import Visibility

MAX_QUERIES = 32
MAX_TOP_K = 1000
MAX_NEIGHBOURS = 20

logger = logging.getLogger(__name__)


class KnowledgeBase:
    """Embeds, stores, searches and lists the documents of one collection.

    `metadata_filter` is written into every chunk and required of every hit, which is how several
    knowledge bases share a collection. With `visibility` only the active runs of the documents it
    names are shown; without it the handle is a library object of its own, which creates its
    collection on first use and sees every run.
    """

    def __init__(  # noqa: PLR0913 -- the documented constructor and what the service adds
        self,
        name: str,
        description: str,
        embedding_model: EmbeddingModelBase,
        vector_store: VectorStoreBase,
        collection: str,
        metadata_filter: dict[str, Any] | None = None,
        *,
        visibility: Visibility | None = None,
        search_mode: SearchMode = SearchMode.HYBRID,
        knowledge_base_id: str = "",
        reranker: Reranker | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.visibility = visibility
        self.search_mode = SearchMode(search_mode)
        self.knowledge_base_id = knowledge_base_id
        self.reranker = reranker
        self._embedding_model = embedding_model
        self._vector_store = vector_store
        self._runs: RunVectorStore = as_run_store(vector_store)
        self._collection = collection
        self._metadata_filter = dict(metadata_filter) if metadata_filter else None
        self._ensured = False

    @property
    def embedding_model(self) -> EmbeddingModelBase:
        """Return the model that embeds chunks and queries."""
        return self._embedding_model

    @property
    def vector_store(self) -> VectorStoreBase:
        """Return the store as it was given."""
        return self._vector_store

    @property
    def collection(self) -> str:
        """Return the name of the collection."""
        return self._collection

    @property
    def metadata_filter(self) -> dict[str, Any] | None:
        """Return what every chunk carries and every hit must have."""
        return self._metadata_filter

    async def ensure_collection(self) -> None:
        """Create the collection if it is missing; asks the store once in the handle's life."""
        if self._ensured:
            return
        if not await self._runs.has_collection(self._collection):
            await self._runs.create_collection(self._collection, self._embedding_model.dimensions)
        self._ensured = True

    async def search(
        self,
        queries: Sequence[EmbeddingInput] | str,
        top_k: int = 5,
        score_threshold: float | None = None,
        *,
        mode: SearchMode | None = None,
        metadata_filter: dict[str, Any] | None = None,
        neighbours: int = 0,
        rerank_top_k: int | None = None,
        reranker: Reranker | None = None,
    ) -> list[SearchHit]:
        """Return the `top_k` best chunks for any of `queries`, best first.

        A chunk found by several queries keeps its best score. `score` is cosine similarity in
        vector mode, BM25 in keyword mode, and in 0..1 in hybrid mode. `score_threshold`, inclusive,
        is about the vector similarity; keyword mode has none. `neighbours` adds that many chunks
        before and after each hit. A reranker reads the `rerank_top_k` best candidates; `reranker`
        stands in for the handle's own.

        Raises:
            InvalidInputError: a number is out of bounds.
            BadFilterError: `metadata_filter` is not a filter.
            EmbeddingModelChangedError: the model is not the one of the stored vectors; hybrid
                search goes on with the keyword leg alone.
        """
        _check_bounds(top_k, neighbours)
        asked = self._askable([queries] if isinstance(queries, str) else queries)
        if not asked:
            return []
        where = _both(equality_filter(self._metadata_filter), metadata_filter)
        mode = self._possible(SearchMode(mode or self.search_mode))
        names = {"rag.knowledge_base_id": self.knowledge_base_id, "rag.mode": str(mode)}
        with tracing.span("search", names):
            if self.visibility is None:
                await self.ensure_collection()
            vectors, mode = await self._embed(asked, mode)
            reranker = reranker or self.reranker
            wanted = _rerank_depth(top_k, rerank_top_k) if reranker else top_k
            searcher = Searcher(
                self._runs, self._collection, self.knowledge_base_id, self.visibility
            )
            answers = await together(
                [
                    partial(
                        searcher.search,
                        Query(_text(query), vector, mode, wanted, where, score_threshold),
                    )
                    for query, vector in zip(asked, vectors, strict=True)
                ]
            )
            hits = _merge(answers)[:wanted]
            texts = [text for text in map(_text, asked) if text]
            if reranker is not None and texts:
                hits = await rerank(reranker, "\n".join(texts), hits, top_k=wanted)
            return await self._shown(hits[:top_k], texts, neighbours)

    async def insert_document(
        self,
        chunks: Chunks,
        document_id: str | None = None,
        document_metadata: dict[str, Any] | None = None,
        *,
        run: Run | None = None,
        on_progress: ProgressCallback | None = None,
        before_write: Callable[[], None] | None = None,
    ) -> str:
        """Embed and store the chunks of one document; return its id.

        Metadata of the chunk overrides `document_metadata`, the handle's `metadata_filter`
        overrides both. Chunks are numbered densely from 0 as they are stored: data that a
        text-only model cannot embed is left out. Without `run` a known document is replaced, and
        what the new content no longer has is removed last. A batch that the store fails to take is
        written up to three times. What `before_write` raises before a write ends the insertion.

        Raises:
            EmbeddingError: the model failed; other batches were cancelled and have ended.
            EmbeddingCountError: the model returned another number of vectors.
        """
        is_library_call = run is None
        identifier = document_id or new_id()
        if isinstance(chunks, list) and not chunks:
            return identifier
        if is_library_call:
            await self.ensure_collection()
        insertion = Insertion(
            self._embedding_model,
            self._runs,
            self._collection,
            identifier,
            run or Run(),
            self.knowledge_base_id,
            before=document_metadata or {},
            after=self._metadata_filter or {},
            on_progress=on_progress,
            before_write=before_write,
        )
        stored = await insertion.store_all(chunks)
        if is_library_call and document_id and self._runs.supports_delete_where:
            surplus = (Equals("document_id", identifier), Range("chunk_index", gte=stored))
            await self._runs.delete_where(self._collection, And((*surplus, Equals("run_id", ""))))
        return identifier

    async def insert_embedded(
        self, chunks: Sequence[Chunk], vectors: Sequence[Vector], document_id: str, run: Run
    ) -> None:
        """Store chunks of one document whose vectors are there already, under their own numbers.

        Raises:
            DimensionMismatchError: a vector is not as long as the collection's.
        """
        points = carried_points(
            chunks,
            vectors,
            document_id,
            run,
            knowledge_base_id=self.knowledge_base_id,
            after=self._metadata_filter or {},
        )
        await self._runs.upsert(self._collection, points)

    async def delete_document(self, document_id: str) -> None:
        """Remove every chunk of the document within the handle's `metadata_filter`."""
        if self._metadata_filter:
            await self._runs.delete(
                self._collection, document_id, metadata_filter=self._metadata_filter
            )
        else:
            await self._runs.delete_document(self._collection, document_id)

    async def list_documents(self) -> list[DocumentSummary]:
        """Return one summary per visible document, ordered by id."""
        summaries = await self._runs.list_documents(self._collection, self._metadata_filter)
        if self.visibility is None:
            return summaries
        active = await self.visibility.active_runs([item.document_id for item in summaries])
        shown = [item for item in summaries if item.document_id in active]
        counts = await together(
            [
                partial(
                    self._runs.count,
                    self._collection,
                    item.document_id,
                    active[item.document_id],
                )
                for item in shown
            ]
        )
        return [
            item.model_copy(update={"chunk_count": count})
            for item, count in zip(shown, counts, strict=True)
            if count
        ]

    async def list_chunks(
        self, document_id: str, *, offset: int = 0, limit: int = 30
    ) -> list[Chunk]:
        """Return chunks of the document by ascending index; an unknown document has none."""
        if self.visibility is None:
            return await self._runs.list_chunks(
                self._collection,
                document_id,
                offset=offset,
                limit=limit,
                metadata_filter=self._metadata_filter,
            )
        run_id = (await self.visibility.active_runs([document_id])).get(document_id)
        if run_id is None:
            return []
        return await self._runs.run_chunks(
            self._collection, document_id, run_id, offset=offset, limit=limit
        )

    def _askable(self, queries: Sequence[EmbeddingInput]) -> list[EmbeddingInput]:
        if len(queries) > MAX_QUERIES:
            raise InvalidInputError(f"At most {MAX_QUERIES} queries can be asked at once.")
        return [
            query
            for query in queries
            if (isinstance(query, DataBlock) and self._embedding_model.supports_multimodal)
            or _text(query).strip()
        ]

    def _possible(self, mode: SearchMode) -> SearchMode:
        """Return the nearest mode that the store can answer."""
        if mode is SearchMode.HYBRID and not self._runs.supports_keyword:
            return SearchMode.VECTOR
        if mode is SearchMode.KEYWORD and not self._runs.supports_keyword:
            raise InvalidInputError("This vector store has no keyword search.")
        return mode

    async def _embed(
        self, asked: list[EmbeddingInput], mode: SearchMode
    ) -> tuple[Sequence[Vector | None], SearchMode]:
        if mode is SearchMode.KEYWORD:
            return [None] * len(asked), mode
        try:
            response = await self._embedding_model.embed_queries(asked)
        except EmbeddingModelChangedError:
            if mode is SearchMode.VECTOR:
                raise
            logger.warning(
                "search_without_vectors", extra={"knowledge_base_id": self.knowledge_base_id}
            )
            return [None] * len(asked), SearchMode.KEYWORD
        if len(response.embeddings) != len(asked):
            raise EmbeddingCountError
        return response.embeddings, mode

    async def _shown(
        self, hits: Sequence[SearchHit], texts: Sequence[str], neighbours: int
    ) -> list[SearchHit]:
        terms = highlight_terms(texts)
        shown = [
            hit.model_copy(update={"highlights": highlights(chunk_text(hit.chunk), terms)})
            for hit in hits
        ]
        if not neighbours:
            return shown
        return await together([partial(self._with_neighbours, hit, neighbours) for hit in shown])

    async def _with_neighbours(self, hit: SearchHit, neighbours: int) -> SearchHit:
        index = hit.chunk.chunk_index
        first = max(0, index - neighbours)
        around = await self.list_chunks(
            hit.document_id, offset=first, limit=index - first + 1 + neighbours
        )
        return hit.model_copy(
            update={
                "before": [chunk for chunk in around if chunk.chunk_index < index],
                "after": [chunk for chunk in around if chunk.chunk_index > index],
            }
        )


def _check_bounds(top_k: int, neighbours: int) -> None:
    if not 1 <= top_k <= MAX_TOP_K:
        raise InvalidInputError(f"top_k must be between 1 and {MAX_TOP_K}.")
    if not 0 <= neighbours <= MAX_NEIGHBOURS:
        raise InvalidInputError(f"neighbours must be between 0 and {MAX_NEIGHBOURS}.")


def _rerank_depth(top_k: int, rerank_top_k: int | None) -> int:
    depth = rerank_top_k if rerank_top_k is not None else max(50, 2 * top_k)
    return max(top_k, min(MAX_RERANKED, depth))


def _both(first: Filter | None, second: dict[str, Any] | None) -> Filter | None:
    if not second:
        return first
    parsed = parse_filter(second)
    return parsed if first is None else And((first, parsed))


def _text(query: EmbeddingInput) -> str:
    if isinstance(query, str):
        return query
    return query.text if isinstance(query, TextBlock) else ""


def _merge(answers: Iterable[Sequence[SearchHit]]) -> list[SearchHit]:
    best: dict[tuple[str, int], SearchHit] = {}
    for answer in answers:
        for hit in answer:
            key = (hit.document_id, hit.chunk.chunk_index)
            if key not in best or hit.score > best[key].score:
                best[key] = hit
    return sorted(best.values(), key=standing)
