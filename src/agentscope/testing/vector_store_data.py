"""Points and filters that the vector store suite, and tests beside it, work on."""

import math
import random
from collections.abc import Sequence
from typing import Any

from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point, Run, StoreHit

COLLECTION = "kb_suite"
DIMENSIONS = 8
HOSTILE = (
    "x' OR '1'='1",
    'x" OR "1"="1',
    "') or true --",
    "a\\' or document_id != \\'",
    "%",
    "_",
    "*",
    "line\nbreak",
    "tab\there",
    "back\\slash",
    "汉字'引号",
    "🦜",
    "a" * 300,
)


def make_point(
    document_id: str,
    index: int,
    vector: Sequence[float],
    *,
    run: Run | None = None,
    text: str = "",
    metadata: dict[str, Any] | None = None,
    knowledge_base_id: str = "",
) -> Point:
    """Return a point with a text chunk."""
    chunk = Chunk(
        content=TextBlock(text=text or f"text of {document_id} number {index}"),
        source=f"{document_id}.txt",
        chunk_index=index,
        total_chunks=index + 1,
        metadata=metadata or {},
    )
    return Point(list(vector), document_id, run or Run("r1", 1), chunk, knowledge_base_id)


def unit(*values: float) -> list[float]:
    """Return a vector of the suite's length that starts with `values`."""
    return [*values, *([0.0] * (DIMENSIONS - len(values)))]


def direction(vector: Sequence[float]) -> list[float]:
    """Return the vector with length one, rounded as single precision allows."""
    length = math.sqrt(sum(value * value for value in vector))
    return [round(value / length, 5) for value in vector]


def random_points(
    seed: int, count: int, *, dimensions: int = DIMENSIONS, chunks: int = 5
) -> list[Point]:
    """Return `count` points with random vectors and metadata; the same seed gives the same."""
    source = random.Random(seed)
    words = ["alpha", "beta", "gamma", "delta", "检索", "排序", "知识"]
    points = []
    for number in range(count):
        metadata: dict[str, Any] = {
            "year": source.randrange(2015, 2027),
            "score": source.choice([0.5, 1, 1.5, 2]),
            "author": source.choice(["Li", "Wang", "O'Brien", 'quote"d']),
            "public": source.choice([True, False]),
            "tags": source.sample(["a", "b", "c", "d"], source.randrange(0, 4)),
        }
        if source.random() < 0.3:
            del metadata["author"]
        points.append(
            make_point(
                f"d{number // chunks:04d}",
                number % chunks,
                [source.gauss(0, 1) for _ in range(dimensions)],
                text=" ".join(source.choices(words, k=6)),
                metadata=metadata,
            )
        )
    return points


def places(hits: Sequence[StoreHit]) -> list[tuple[str, int]]:
    """Return where the hits stand, in order."""
    return [(hit.document_id, hit.chunk.chunk_index) for hit in hits]


FILTERS: tuple[dict[str, Any], ...] = (
    {"author": "Li"},
    {"author": "O'Brien"},
    {"author": 'quote"d'},
    {"author": {"$ne": "Li"}},
    {"author": {"$exists": True}},
    {"author": {"$exists": False}},
    {"author": {"$in": ["Li", "Wang", "nobody"]}},
    {"author": {"$nin": ["Li", "Wang"]}},
    {"author": {"$gte": "M"}},
    {"author": {"$gt": "L", "$lt": "P"}},
    {"year": 2020},
    {"year": "2020"},
    {"year": {"$gte": 2018, "$lt": 2022}},
    {"year": {"$gt": 2025.5}},
    {"score": 1},
    {"score": {"$in": [1.0, 2]}},
    {"score": {"$lte": 1}},
    {"public": True},
    {"public": 1},
    {"public": {"$ne": True}},
    {"tags": "a"},
    {"tags": {"$in": ["c", "d"]}},
    {"tags": {"$nin": ["a"]}},
    {"tags": []},
    {"missing": "x"},
    {"missing": {"$ne": "x"}},
    {"document_id": "d0003"},
    {"document_id": {"$in": ["d0001", "d0004", "other"]}},
    {"chunk_index": {"$lt": 2}},
    {"run_id": "r1"},
    {"run_id": {"$ne": "r1"}},
    {"document_id": {"$ne": "d0002"}, "author": "Wang"},
    {"$or": [{"author": "Li"}, {"year": {"$lt": 2017}}]},
    {"$and": [{"tags": "a"}, {"$not": {"tags": "b"}}]},
    {"$not": {"$or": [{"public": True}, {"author": {"$gte": "O"}}]}},
    {"$not": {"$and": [{"public": True}, {"year": {"$gte": 2020}}]}},
    {"$or": []},
    {"$and": []},
)
