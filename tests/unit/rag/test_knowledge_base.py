"""The knowledge base handle over the store in memory."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any

import pytest

from agentscope.embedding.base import EmbeddingInput, EmbeddingResponse
from agentscope.errors import (
    BadFilterError,
    EmbeddingCountError,
    EmbeddingError,
    EmbeddingModelChangedError,
    InvalidInputError,
    LeaseLostError,
    RerankError,
    VectorStoreError,
)
from agentscope.message.blocks import Base64Source, DataBlock, TextBlock
from agentscope.rag import insertion
from agentscope.rag.document import Chunk, Point, Run, SearchMode
from agentscope.rag.federation import search_many
from agentscope.rag.insertion import InsertProgress
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel

COLLECTION = "kb_test"


class Records:
    """Says which run is active, as the service does from its records."""

    def __init__(self, active: dict[str, str]) -> None:
        self.active = active
        self.asked: list[set[str]] = []

    async def active_runs(self, document_ids: Collection[str]) -> Mapping[str, str]:
        self.asked.append(set(document_ids))
        return {key: self.active[key] for key in document_ids if key in self.active}


def make_chunks(*texts: str, **metadata: Any) -> list[Chunk]:
    """Return text chunks of one document."""
    return [
        Chunk(
            content=TextBlock(text=text),
            source="notes.txt",
            chunk_index=index,
            total_chunks=len(texts),
            metadata=dict(metadata),
        )
        for index, text in enumerate(texts)
    ]


def make_knowledge_base(**options: Any) -> KnowledgeBase:
    """Return a handle over a fresh store."""
    model = options.pop("model", None) or FakeEmbeddingModel(256)
    store = options.pop("store", None) or InMemoryVectorStore()
    return KnowledgeBase("notes", "", model, store, COLLECTION, **options)


def picture() -> Chunk:
    """Return a chunk of data."""
    block = DataBlock(source=Base64Source(data="aGk=", media_type="image/png"))
    return Chunk(content=block, source="p.png", chunk_index=0, total_chunks=1)


async def test_a_stored_document_is_found_listed_and_deleted() -> None:
    """The whole life of a document in library mode."""
    base = make_knowledge_base()
    identifier = await base.insert_document(make_chunks("cats purr", "dogs bark at night"))
    await base.insert_document(make_chunks("tax law"), "d2", {"year": 2024})
    hits = await base.search("barking dogs", top_k=2)
    assert (hits[0].document_id, hits[0].chunk.chunk_index) == (identifier, 1)
    assert hits[0].vector is not None and hits[0].vector.rank == 1
    assert hits[0].keyword is not None and hits[0].keyword.rank == 1
    assert hits[0].highlights == [(0, 4), (5, 9)]
    assert [item.chunk_count for item in await base.list_documents()].count(2) == 1
    assert len(await base.list_chunks(identifier, offset=1)) == 1
    await base.delete_document(identifier)
    assert [item.document_id for item in await base.list_documents()] == ["d2"]


async def test_searching_before_anything_was_stored_finds_nothing() -> None:
    """The collection is created on first use and asked for once."""
    base = make_knowledge_base()
    assert await base.search(["anything"]) == []
    assert await base.vector_store.has_collection(COLLECTION)


async def test_metadata_precedence_is_document_then_chunk_then_filter() -> None:
    """The handle's filter wins over the chunk's metadata, which wins over the document's."""
    base = make_knowledge_base(metadata_filter={"tenant": "t1"})
    chunks = make_chunks("alpha", page=1, tenant="forged")
    await base.insert_document(chunks, "d1", {"page": 9, "author": "Li", "tenant": "no"})
    (chunk,) = await base.list_chunks("d1")
    assert chunk.metadata == {"page": 1, "author": "Li", "tenant": "t1"}


async def test_two_handles_share_a_collection_by_their_filters() -> None:
    """Each sees, lists and deletes its own chunks only."""
    store, model = InMemoryVectorStore(), FakeEmbeddingModel(64)
    one = make_knowledge_base(store=store, model=model, metadata_filter={"tenant": "t1"})
    two = make_knowledge_base(store=store, model=model, metadata_filter={"tenant": "t2"})
    await one.insert_document(make_chunks("shared words"), "d1")
    await two.insert_document(make_chunks("shared words"), "d2")
    assert [hit.document_id for hit in await one.search("shared words")] == ["d1"]
    assert [item.document_id for item in await two.list_documents()] == ["d2"]
    await one.delete_document("d2")
    assert [hit.document_id for hit in await two.search("shared words")] == ["d2"]
    assert await one.search("words", metadata_filter={"tenant": "t2"}) == []


async def test_no_chunks_give_an_id_and_write_nothing() -> None:
    """An empty document is not an error here."""
    base = make_knowledge_base()
    assert await base.insert_document([], "d9") == "d9"
    assert len(await base.insert_document([])) == 32
    assert not await base.vector_store.has_collection(COLLECTION)


async def test_data_is_dropped_counted_and_never_sent_to_a_text_model() -> None:
    """The text that remains is numbered densely."""
    model = FakeEmbeddingModel(64)
    base = make_knowledge_base(model=model)
    seen: list[InsertProgress] = []
    first, last = make_chunks("before", "after")
    identifier = await base.insert_document([first, picture(), last], on_progress=seen.append)
    assert [chunk.chunk_index for chunk in await base.list_chunks(identifier)] == [0, 1]
    assert seen[-1] == InsertProgress(stored=2, dropped=1)
    assert model.calls == [["before", "after"]]


async def test_a_multimodal_model_is_given_pictures() -> None:
    """Text and data go to the model in order, and a picture can be the query."""

    class Multimodal(FakeEmbeddingModel):
        supports_multimodal = True

        async def __call__(
            self, inputs: Sequence[EmbeddingInput], **kwargs: Any
        ) -> EmbeddingResponse:
            return await super().__call__(
                [item if isinstance(item, str | TextBlock) else "picture" for item in inputs]
            )

    base = make_knowledge_base(model=Multimodal(64))
    await base.insert_document([*make_chunks("text"), picture()], "d1")
    hits = await base.search([picture().content], top_k=1)
    assert hits[0].chunk.content.type == "data"
    text_only = make_knowledge_base()
    assert await text_only.search([picture().content]) == []


async def test_batches_are_bounded_in_count_bytes_and_concurrency() -> None:
    """At most 64 chunks or 1 MiB a call, four calls at a time, whatever the source."""
    model = FakeEmbeddingModel(8)
    base = make_knowledge_base(model=model)

    async def stream() -> AsyncIterator[Chunk]:
        for index in range(300):
            yield make_chunks(*[f"word{index}"])[0]
        for _ in range(3):
            yield make_chunks("字" * 200_000)[0]

    seen: list[int] = []

    async def progress(value: InsertProgress) -> None:
        seen.append(value.stored)

    await base.insert_document(stream(), "d1", on_progress=progress)
    assert max(len(call) for call in model.calls) == 64
    assert max(sum(len(text.encode()) for text in call) for call in model.calls) < 1_100_000
    assert model.running_max == 4
    assert seen == sorted(seen)
    assert seen[-1] == 303
    assert (await base.list_documents())[0].chunk_count == 303


async def test_the_first_failure_cancels_the_other_batches_and_waits_for_them() -> None:
    """When the call ends, nothing of it is running any more."""
    model = FakeEmbeddingModel(8).hang(match="hang").fail_with(EmbeddingError("no"), match="fail")
    base = make_knowledge_base(model=model)
    texts = [*["hang"] * 64, *["ok"] * 64, *["fail"] * 64, *["later"] * 640]
    with pytest.raises(EmbeddingError, match="no"):
        await base.insert_document(make_chunks(*texts), "d1")
    assert model.running == 0


async def test_cancelling_an_insertion_leaves_no_batch_behind() -> None:
    """A cancelled caller takes its batches along."""
    model = FakeEmbeddingModel(8).hang()
    base = make_knowledge_base(model=model)
    task = asyncio.create_task(base.insert_document(make_chunks(*["text"] * 200), "d1"))
    await model.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.running == 0


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write again at once."""
    monkeypatch.setattr(insertion, "PAUSES_SECONDS", (0.0, 0.0))


class Failing(InMemoryVectorStore):
    """Fails some writes: some before, some after they were applied."""

    def __init__(self, *failures: Exception) -> None:
        super().__init__()
        self.failures = list(failures)
        self.writes = 0

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        self.writes += 1
        if self.writes % 2 == 0 or not self.failures:
            await super().upsert(collection, points)
        if self.failures:
            raise self.failures.pop()


async def test_a_batch_is_written_again_without_embedding_it_again(no_pauses: None) -> None:
    """Twice; the third failure is told."""
    store, model = Failing(VectorStoreError(), VectorStoreError()), FakeEmbeddingModel(8)
    base = make_knowledge_base(store=store, model=model)
    checks: list[int] = []
    await base.insert_document(
        make_chunks("a", "b"), "d1", before_write=lambda: checks.append(store.writes)
    )
    assert (store.writes, checks, model.embedded) == (3, [0, 1, 2], 2)
    assert (await base.list_documents())[0].chunk_count == 2
    store.failures = [VectorStoreError("no")] * 3
    with pytest.raises(VectorStoreError, match="no"):
        await base.insert_document(make_chunks("c"), "d2")


async def test_a_write_that_may_not_happen_is_not_tried_again(no_pauses: None) -> None:
    """What will not pass is told at once, and a lost lease stops between two tries."""
    store = Failing(VectorStoreError(retryable=False))
    base = make_knowledge_base(store=store)
    with pytest.raises(VectorStoreError):
        await base.insert_document(make_chunks("a"), "d1")
    assert store.writes == 1

    def lost() -> None:
        if store.writes == 2:
            raise LeaseLostError

    store.failures = [VectorStoreError()]
    with pytest.raises(LeaseLostError):
        await base.insert_document(make_chunks("a"), "d1", before_write=lost)
    assert store.writes == 2


async def test_another_number_of_vectors_is_an_error() -> None:
    """Documented as RuntimeError; nothing is stored."""

    class Short(FakeEmbeddingModel):
        async def __call__(
            self, inputs: Sequence[EmbeddingInput], **kwargs: Any
        ) -> EmbeddingResponse:
            return await super().__call__(inputs[1:])

    base = make_knowledge_base(model=Short(8))
    with pytest.raises(RuntimeError):
        await base.insert_document(make_chunks("a", "b"), "d1")
    with pytest.raises(EmbeddingCountError):
        await base.search("a")
    assert await base.list_documents() == []


async def test_inserting_a_known_document_again_replaces_it() -> None:
    """What the new content no longer has is removed; a failure leaves the old content."""
    model = FakeEmbeddingModel(64)
    base = make_knowledge_base(model=model)
    await base.insert_document(make_chunks("one", "two", "three"), "d1")
    model.fail_with(EmbeddingError("down"))
    with pytest.raises(EmbeddingError):
        await base.insert_document(make_chunks("four"), "d1")
    assert len(await base.list_chunks("d1")) == 3
    model.heal()
    await base.insert_document(make_chunks("four"), "d1")
    texts = [chunk.content for chunk in await base.list_chunks("d1")]
    assert [content.text for content in texts if content.type == "text"] == ["four"]


async def test_odd_characters_are_stored_harmlessly() -> None:
    """NUL and lone surrogates become something storable of the same length."""
    base = make_knowledge_base()
    await base.insert_document(make_chunks("al\0pha \ud800 beta", note="x\0\udfff"), "d1")
    (chunk,) = await base.list_chunks("d1")
    assert chunk.content.type == "text"
    assert chunk.content.text == "al pha ? beta"
    assert chunk.metadata == {"note": "x ?"}


async def test_several_queries_keep_the_best_score_of_a_chunk() -> None:
    """All queries are embedded in one call; blank ones are left out."""
    model = FakeEmbeddingModel(256)
    base = make_knowledge_base(model=model, search_mode=SearchMode.VECTOR)
    await base.insert_document(make_chunks("red apples", "green pears", "blue plums"), "d1")
    model.calls.clear()
    hits = await base.search(["green pears", "  ", TextBlock(text="red apples")], top_k=2)
    assert model.calls == [["green pears", "red apples"]]
    assert [(hit.chunk.chunk_index, round(hit.score, 4)) for hit in hits] == [(0, 1.0), (1, 1.0)]
    assert await base.search(["", " "]) == []


async def test_the_threshold_is_inclusive_and_about_vector_similarity() -> None:
    """In hybrid mode too, also for hits that the keyword leg found."""
    base = make_knowledge_base()
    await base.insert_document(make_chunks("red apples", "red " + "noise " * 30), "d1")
    exact = await base.search("red apples", score_threshold=0.999999)
    assert [hit.chunk.chunk_index for hit in exact] == [0]
    everything = await base.search("red apples", score_threshold=-1)
    assert len(everything) == 2
    assert all(0 <= hit.score <= 1 for hit in everything)
    assert len(await base.search("red", mode=SearchMode.KEYWORD, score_threshold=9)) == 2


async def test_a_keyword_search_needs_no_model() -> None:
    """The model is not called."""
    model = FakeEmbeddingModel(8)
    base = make_knowledge_base(model=model)
    await base.insert_document(make_chunks("混合检索与重排序", "天气很好"), "d1")
    model.fail_with(EmbeddingError("down"))
    hits = await base.search("检索", mode=SearchMode.KEYWORD)
    assert [(hit.chunk.chunk_index, hit.highlights) for hit in hits] == [(0, [(2, 4)])]
    assert hits[0].vector is None


async def test_a_changed_model_leaves_the_keyword_leg() -> None:
    """Hybrid search degrades, vector search refuses."""
    model = FakeEmbeddingModel(8)
    base = make_knowledge_base(model=model)
    await base.insert_document(make_chunks("quartz crystal"), "d1")
    model.fail_with(EmbeddingModelChangedError())
    assert [hit.document_id for hit in await base.search("quartz")] == ["d1"]
    with pytest.raises(EmbeddingModelChangedError):
        await base.search("quartz", mode=SearchMode.VECTOR)


async def test_numbers_out_of_bounds_and_bad_filters_are_refused() -> None:
    """Before anything is asked."""
    base = make_knowledge_base()
    for top_k, neighbours in ((0, 0), (100_000, 0), (5, -1), (5, 99)):
        with pytest.raises(InvalidInputError):
            await base.search("x", top_k, neighbours=neighbours)
    with pytest.raises(BadFilterError):
        await base.search("x", metadata_filter={"a": {"$regex": "."}})
    with pytest.raises(InvalidInputError):
        await base.search(["x"] * 100)


async def test_neighbours_come_from_the_same_run_in_order() -> None:
    """At the edges there are fewer."""
    records = Records({"d1": "r2"})
    base = make_knowledge_base(visibility=records, knowledge_base_id="kb1")
    await base.ensure_collection()
    for run, suffix in ((Run("r1", 1), "old"), (Run("r2", 2), "new")):
        texts = [f"{word} {suffix}" for word in ("zero", "one", "two", "three", "four")]
        await base.insert_document(make_chunks(*texts), "d1", run=run)
    (hit, *_) = await base.search("one", top_k=1, neighbours=2)

    def words(chunks: Sequence[Chunk]) -> list[str]:
        return [chunk.content.text for chunk in chunks if chunk.content.type == "text"]

    assert words([*hit.before, hit.chunk, *hit.after]) == [
        "zero new",
        "one new",
        "two new",
        "three new",
    ]
    assert hit.knowledge_base_id == "kb1"


async def test_only_the_active_run_of_a_visible_document_is_shown() -> None:
    """Hits, chunk lists and document lists agree with the records."""
    records = Records({"d1": "r2"})
    base = make_knowledge_base(visibility=records)
    await base.ensure_collection()
    await base.insert_document(make_chunks("pear old", "pear more"), "d1", run=Run("r1", 1))
    await base.insert_document(make_chunks("pear new"), "d1", run=Run("r2", 2))
    await base.insert_document(make_chunks("pear gone"), "d2", run=Run("r3", 1))
    hits = await base.search("pear", top_k=10)
    texts = [hit.chunk.content.text for hit in hits if hit.chunk.content.type == "text"]
    assert texts == ["pear new"]
    assert [(item.document_id, item.chunk_count) for item in await base.list_documents()] == [
        ("d1", 1)
    ]
    assert len(await base.list_chunks("d1")) == 1
    assert await base.list_chunks("d2") == []
    assert all(len(asked) <= 2 for asked in records.asked)


@pytest.mark.parametrize("mode", list(SearchMode))
async def test_stale_runs_cannot_crowd_out_the_active_one(mode: SearchMode) -> None:
    """Hundreds of better stale points are excluded by asking again, a bounded number of times."""
    records = Records({"d1": "active"})
    base = make_knowledge_base(visibility=records, search_mode=mode)
    await base.ensure_collection()
    for number in range(3):
        stale = make_chunks(*["quartz"] * 150)
        await base.insert_document(stale, "d1", run=Run(f"stale{number}", number))
    texts = [f"quartz among other words {n}" for n in range(5)]
    await base.insert_document(make_chunks(*texts), "d1", run=Run("active", 9))
    hits = await base.search("quartz", top_k=5)
    assert sorted(hit.chunk.chunk_index for hit in hits) == [0, 1, 2, 3, 4]
    assert len(records.asked) <= 12


async def test_a_reranker_orders_the_candidates_it_is_given() -> None:
    """Its score replaces the fused one; its depth is bounded."""

    class ByLength:
        def __init__(self) -> None:
            self.read: list[int] = []

        async def score(self, query: str, texts: Sequence[str]) -> list[float]:
            self.read.append(len(texts))
            return [-float(len(text)) for text in texts]

    class Broken:
        async def score(self, query: str, texts: Sequence[str]) -> list[float]:
            return []

    reranker = ByLength()
    base = make_knowledge_base(reranker=reranker)
    await base.insert_document(make_chunks("pear pear pear", "pear tree", "pear"), "d1")
    hits = await base.search("pear", top_k=2, rerank_top_k=3)
    assert [hit.chunk.chunk_index for hit in hits] == [2, 1]
    assert hits[0].rerank is not None and hits[0].rerank.rank == 1
    assert hits[0].score == -4
    assert reranker.read == [3]
    base.reranker = Broken()
    with pytest.raises(RerankError):
        await base.search("pear")


async def test_several_knowledge_bases_are_fused_by_rank() -> None:
    """Scores of different models never meet."""
    one = make_knowledge_base(model=FakeEmbeddingModel(64), knowledge_base_id="kb1")
    two = make_knowledge_base(model=FakeEmbeddingModel(128), knowledge_base_id="kb2")
    await one.insert_document(make_chunks("red apples", "green pears"), "d1")
    await two.insert_document(make_chunks("red apples too", "blue plums"), "d1")
    hits = await search_many([one, two, one], "red apples", top_k=3)
    assert [(hit.knowledge_base_id, hit.chunk.chunk_index) for hit in hits[:2]] == [
        ("kb1", 0),
        ("kb2", 0),
    ]
    assert len(hits) == 3
    assert hits[0].score == hits[1].score > hits[2].score
