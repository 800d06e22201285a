"""Field reports about what is stored: nothing left behind, nothing too large, nothing half."""

from collections.abc import Sequence

from agentscope.errors import VectorStoreError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel

REQUEST_BYTES = 32 * 1024 * 1024
CHUNKS, DIMENSIONS = 3_000, 1_536


class SmallRequests(InMemoryVectorStore):
    """Refuses what a server would refuse, by the size of its JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        texts = sum(len(point.chunk.model_dump_json()) for point in points)
        size = texts + len(points) * DIMENSIONS * 20  # a float takes about 20 characters
        self.largest = max(self.largest, size)
        if size > REQUEST_BYTES:
            raise VectorStoreError("The request is too large.")
        await super().upsert(collection, points)


async def test_field_report_40_a_large_document_goes_in_small_requests() -> None:
    """3,000 chunks of 1,536 dimensions fit a server that takes 32 MiB at a time."""
    async with SmallRequests() as store:
        knowledge = KnowledgeBase("n", "", Wide(), store, "c")
        await knowledge.insert_document(
            [
                Chunk(
                    content=TextBlock(text=f"chunk {n}"),
                    source="f",
                    chunk_index=n,
                    total_chunks=CHUNKS,
                )
                for n in range(CHUNKS)
            ],
            "large",
        )
        [summary] = await knowledge.list_documents()
        assert summary.chunk_count == CHUNKS
        assert store.largest < REQUEST_BYTES


class Wide(FakeEmbeddingModel):
    """Has many dimensions at little cost."""

    def __init__(self) -> None:
        super().__init__(DIMENSIONS)
        self._vector = [1.0] + [0.0] * (DIMENSIONS - 1)

    def vector(self, text: str) -> list[float]:
        return self._vector
