"""Field reports about finding: the right order on every store, and every script by its words."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal

import pytest

from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point, Run, SearchMode, VectorRecord
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore
from agentscope.testing.embedding import FakeEmbeddingModel

STORES = ["memory", "embedded", "qdrant"]
Distance = Literal["Cosine", "Dot", "Euclid", "Manhattan"]


@asynccontextmanager
async def opened(name: str, distance: Distance = "Cosine") -> AsyncIterator[RunVectorStore]:
    """Open a fresh store."""
    async with AsyncExitStack() as stack:
        store: RunVectorStore
        if name == "memory":
            store = InMemoryVectorStore()
        elif name == "qdrant":
            store = QdrantStore(location=":memory:", distance=distance)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            store = EmbeddedVectorStore(folder)
        yield await stack.enter_async_context(store)


def chunk(text: str, number: int = 0) -> Chunk:
    return Chunk(content=TextBlock(text=text), source="f", chunk_index=number, total_chunks=1)


@pytest.mark.parametrize("distance", ["Cosine", "Dot", "Euclid", "Manhattan"])
async def test_field_report_03_nearest_first_on_every_distance(distance: Distance) -> None:
    """A distance is small for what is near; the score is high, and so is the threshold."""
    async with opened("qdrant", distance) as store:
        await store.create_collection("c", 2)
        near, far = [0.0, 1.0], ([0.0, 6.0] if distance == "Euclid" else [5.0, 1.0])
        if distance == "Dot":
            far = [1.0, 0.1]
        records = [
            VectorRecord(vector=far, document_id="far", chunk=chunk("far")),
            VectorRecord(vector=near, document_id="near", chunk=chunk("near")),
        ]
        await store.insert("c", records)
        [best] = await store.search("c", [0.0, 1.0], top_k=1)
        assert best.document_id == "near"
        first, second = await store.search("c", [0.0, 1.0], top_k=2)
        assert first.score > second.score
        knowledge = KnowledgeBase("n", "", Given([0.0, 1.0]), store, "c")
        threshold = (first.score + second.score) / 2
        hits = await knowledge.search("any", mode=SearchMode.VECTOR, score_threshold=threshold)
        assert [hit.document_id for hit in hits] == ["near"]


class Given(FakeEmbeddingModel):
    """Gives the same vector to everything."""

    def __init__(self, given: list[float]) -> None:
        super().__init__(len(given))
        self.given = given

    def vector(self, text: str) -> list[float]:
        return self.given


@pytest.mark.parametrize("name", STORES)
async def test_field_report_11_the_order_does_not_depend_on_a_library(name: str) -> None:
    """The identical vector is first with about 1, the orthogonal one last with about 0."""
    async with opened(name) as store:
        await store.create_collection("c", 3)
        vectors = {"same": [1.0, 0.0, 0.0], "near": [1.0, 0.5, 0.0], "orthogonal": [0.0, 0.0, 1.0]}
        points = [
            Point(vector, key, Run(), chunk(key)) for key, vector in reversed(vectors.items())
        ]
        await store.upsert("c", points)
        hits = await store.search_vector("c", [2.0, 0.0, 0.0], top_k=3)
        assert [hit.document_id for hit in hits] == ["same", "near", "orthogonal"]
        assert hits[0].score == pytest.approx(1.0, abs=1e-3)
        assert hits[2].score == pytest.approx(0.0, abs=1e-3)
        again = await store.search_vector("c", [2.0, 0.0, 0.0], top_k=3)
        assert [hit.score for hit in again] == [hit.score for hit in hits]


WANTED = {
    "检索": "混合检索与重排序",
    "知識ベース検索": "知識ベースを検索する方法について説明します。",
    "데이터베이스": "벡터데이터베이스에서 문서를 찾습니다.",
    "GitHub备份失败": "周一夜里GitHub的备份失败了，原因是令牌过期。",
    "GOALS.md": "The plan of the team stands in GOALS.md of the repository.",
    "ERR-0xC0190034": "The driver stopped with ERR-0xC0190034 after the update.",
    "ERR-0x19": "When the tray is open, the printer shows ERR-0x19 in red.",
    "การค้นหา": "บทความนี้อธิบายการค้นหาเอกสาร",
}
DISTRACTORS = [
    *(f"第{n}条：数据导入与备份的说明，索引会在夜里更新，请耐心等待。" for n in range(15)),
    *(f"第{n}章ではデータの読み込みとバックアップについて述べます。" for n in range(10)),
    *(f"제{n}장은 문서를 올리고 지우는 법을 다룹니다." for n in range(10)),
    *(f"Chapter {n} is about goals, errors and README.md, with ERR-0x{n}00." for n in range(15)),
]


@pytest.mark.parametrize("name", STORES)
async def test_field_report_47_words_of_every_script_are_found(name: str) -> None:
    """The keyword leg alone puts the right text among its first three, fifty others beside it."""
    async with opened(name) as store:
        knowledge = KnowledgeBase("n", "", FakeEmbeddingModel(8), store, "c")
        for number, text in enumerate([*WANTED.values(), *DISTRACTORS]):
            await knowledge.insert_document([chunk(text)], f"d{number}")
        for query, text in WANTED.items():
            hits = await knowledge.search(query, top_k=3, mode=SearchMode.KEYWORD)
            blocks = [hit.chunk.content for hit in hits]
            found = [block.text for block in blocks if isinstance(block, TextBlock)]
            assert text in found, (query, found)
            assert hits[found.index(text)].highlights, query
