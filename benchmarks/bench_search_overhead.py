"""What a search costs beyond embedding the query and asking the store, at 100,000 chunks.

Run: python -m benchmarks.bench_search_overhead [--chunks 100000] [--write]
"""

import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Sequence
from typing import Any

from agentscope.embedding.base import EmbeddingInput, EmbeddingResponse
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point, Run, SearchMode
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel
from benchmarks.figures import arguments, quantile, report

DIMENSIONS, SEED, QUERIES, BATCH, DOCUMENT_CHUNKS, WORDS, VOCABULARY = 64, 7, 200, 500, 50, 60, 5000
LIMIT_MS = 5.0


class Stopwatch:
    """Adds up the time spent waiting for what is not the search itself."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._running = 0
        self._since = 0.0

    async def around(self, work: Awaitable[Any]) -> Any:
        """Await `work`; calls side by side count once."""
        if self._running == 0:
            self._since = time.perf_counter()
        self._running += 1
        try:
            return await work
        finally:
            self._running -= 1
            if self._running == 0:
                self.seconds += time.perf_counter() - self._since


class TimedModel(FakeEmbeddingModel):
    """Lets the stopwatch run while it embeds."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        super().__init__(DIMENSIONS)
        self._stopwatch = stopwatch

    async def __call__(self, inputs: Sequence[EmbeddingInput], **kwargs: Any) -> EmbeddingResponse:
        answer: EmbeddingResponse = await self._stopwatch.around(super().__call__(inputs, **kwargs))
        return answer


class TimedStore(EmbeddedVectorStore):
    """Lets the stopwatch run while it searches."""

    stopwatch = Stopwatch()

    async def search_vector(self, *given: Any, **named: Any) -> Any:
        return await self.stopwatch.around(super().search_vector(*given, **named))

    async def search_keyword(self, *given: Any, **named: Any) -> Any:
        return await self.stopwatch.around(super().search_keyword(*given, **named))

    async def score_points(self, *given: Any, **named: Any) -> Any:
        return await self.stopwatch.around(super().score_points(*given, **named))


async def fill(store: EmbeddedVectorStore, model: FakeEmbeddingModel, chunks: int) -> None:
    """Store chunks of random words."""
    randomness = random.Random(SEED)
    await store.create_collection("c", DIMENSIONS)
    points = []
    for number in range(chunks):
        text = " ".join(f"word{randomness.randrange(VOCABULARY)}" for _ in range(WORDS))
        document, index = divmod(number, DOCUMENT_CHUNKS)
        chunk = Chunk(
            content=TextBlock(text=text), source="f", chunk_index=index,
            total_chunks=DOCUMENT_CHUNKS, metadata={"page": index},
        )  # fmt: skip
        points.append(Point(model.vector(text), f"document{document:06}", Run(), chunk))
        if len(points) == BATCH:
            await store.upsert("c", points)
            points = []
    await store.upsert("c", points)


async def ask(knowledge: KnowledgeBase, stopwatch: Stopwatch, mode: SearchMode) -> dict[str, float]:
    """Return total and own milliseconds of searches, one at a time."""
    randomness = random.Random(SEED + 1)
    total, own = [], []
    for number in range(QUERIES + 10):
        words = [f"word{randomness.randrange(VOCABULARY)}" for _ in range(4)]
        stopwatch.seconds = 0.0
        begun = time.perf_counter()
        await knowledge.search(" ".join(words), 5, mode=mode)
        taken = time.perf_counter() - begun
        if number >= 10:  # the first ones warm up
            total.append(taken * 1000)
            own.append((taken - stopwatch.seconds) * 1000)
    return {
        "total_p50_ms": round(quantile(total, 0.5), 2),
        "overhead_p50_ms": round(quantile(own, 0.5), 2),
        "overhead_p99_ms": round(quantile(own, 0.99), 2),
    }


async def measured(chunks: int) -> dict[str, Any]:
    """Fill a store and search it in every mode."""
    with tempfile.TemporaryDirectory() as folder:
        async with TimedStore(folder) as store:
            model = TimedModel(store.stopwatch)
            begun = time.perf_counter()
            await fill(store, model, chunks)
            loaded = time.perf_counter() - begun
            knowledge = KnowledgeBase("n", "", model, store, "c")
            found = {str(mode): await ask(knowledge, store.stopwatch, mode) for mode in SearchMode}
    return {"load_seconds": round(loaded, 1), **found}


def main() -> None:
    """Measure and print."""
    parser = arguments(str(__doc__))
    parser.add_argument("--chunks", type=int, default=100_000)
    chunks = parser.parse_args().chunks
    found = asyncio.run(measured(chunks))
    report(
        "search_overhead",
        {"seed": SEED, "chunks": chunks, "dimensions": DIMENSIONS, "limit_ms": LIMIT_MS, **found},
        packages=("zvec",),
    )


if __name__ == "__main__":
    main()
