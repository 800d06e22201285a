"""What every store does with points: their filter fields, their order, their batches."""

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

from agentscope.errors import DimensionMismatchError, InvalidInputError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Point, StoreHit, Vector

_POINT_NAMESPACE = UUID("7ff3d4e2-8a0b-5c7e-9d55-0e5d3a0c41b7")


def point_id(document_id: str, run_id: str, chunk_index: int) -> UUID:
    """Return the id of a point: the same chunk of the same run always has the same id."""
    return uuid5(_POINT_NAMESPACE, f"{document_id}\0{run_id}\0{chunk_index}")


def chunk_text(chunk: Chunk) -> str:
    """Return the text of the chunk; other content has none."""
    return chunk.content.text if isinstance(chunk.content, TextBlock) else ""


def own_fields(point: Point) -> dict[str, Any]:
    """Return the filter fields that belong to the point itself."""
    fields: dict[str, Any] = {
        "document_id": point.document_id,
        "run_id": point.run.run_id,
        "epoch": point.run.epoch,
        "chunk_index": point.chunk.chunk_index,
    }
    if point.knowledge_base_id:
        fields["kb_id"] = point.knowledge_base_id
    return fields


def filter_fields(point: Point) -> Mapping[str, Any]:
    """Return every field a filter may name; the point's own ones win."""
    return {**point.chunk.metadata, **own_fields(point)}


def check_vector(vector: Vector, dimensions: int) -> None:
    """Refuse a vector that the collection cannot hold.

    Raises:
        DimensionMismatchError: it has another length.
        InvalidInputError: a value is not finite.
    """
    if len(vector) != dimensions:
        raise DimensionMismatchError(
            f"The vector has {len(vector)} dimensions, the collection {dimensions}."
        )
    if not math.isfinite(sum(vector)):
        raise InvalidInputError("A vector may hold finite numbers only.")


def best_first(hit: StoreHit) -> tuple[float, str, int, str]:
    """Return the sort key that puts the best hit first and breaks ties the same way always."""
    return (-hit.score, hit.document_id, hit.chunk.chunk_index, hit.run_id)


def batches(
    points: Sequence[Point], *, max_points: int, max_bytes: int
) -> Iterator[Sequence[Point]]:
    """Yield `points` in runs of at most `max_points` and about `max_bytes` encoded bytes."""
    start = size = 0
    for index, point in enumerate(points):
        weight = encoded_bytes(point)
        if index > start and (index - start >= max_points or size + weight > max_bytes):
            yield points[start:index]
            start, size = index, 0
        size += weight
    if start < len(points):
        yield points[start:]


def encoded_bytes(point: Point) -> int:
    """Return an upper estimate of the point's size as JSON."""
    content = point.chunk.content
    if isinstance(content, TextBlock):
        # Four bytes a character cover UTF-8, six cover an escape; terms add about as much again.
        payload = 8 * len(content.text)
    else:
        payload = len(getattr(content.source, "data", "")) + 1024
    return payload + 22 * len(point.vector) + 8 * len(repr(point.chunk.metadata)) + 1024


def dot(left: Vector, right: Vector) -> float:
    """Return the scalar product."""
    return math.fsum(map(operator.mul, left, right))
