"""How points, names and errors look on the way to and from Qdrant."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

from agentscope.errors import CollectionNotFoundError, VectorStoreError
from agentscope.optional import require
from agentscope.rag.document import Chunk, Point, Run, Vector
from agentscope.rag.vector_store.facets import facets, numbers
from agentscope.rag.vector_store.points import chunk_text, own_fields, point_id
from agentscope.rag.vector_store.qdrant_filter import FACETS, NUMBERS
from agentscope.rag.vector_store.sparse import document_weights

TERMS = "terms"
SCORE_DIGITS = 6


def point_structs(models: Any, points: Sequence[Point]) -> list[Any]:
    """Return the points as the client takes them."""
    return [point_struct(models, point) for point in points]


def point_struct(models: Any, point: Point) -> Any:
    """Return the point as the client takes it."""
    weights = document_weights(chunk_text(point.chunk))
    vector: dict[str, Any] = {"": list(point.vector)}
    if weights:
        vector[TERMS] = models.SparseVector(indices=list(weights), values=list(weights.values()))
    shared = point.chunk.metadata.get("kb_id")
    return models.PointStruct(
        id=str(point_id(point.document_id, point.run.run_id, point.chunk.chunk_index)),
        vector=vector,
        payload={
            **({"kb_id": shared} if isinstance(shared, str) else {}),
            **own_fields(point),
            "chunk": point.chunk.model_dump(mode="json"),
            FACETS: facets(point.chunk.metadata),
            NUMBERS: numbers(point.chunk.metadata),
        },
    )


def encoded_name(name: str) -> str:
    """Return a name that is safe in a path; plain names stay as they are."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
    return "".join(chr(byte) if byte in plain else f"={byte:02X}" for byte in name.encode("utf-8"))


def rounded_score(value: float) -> float:
    """Return a score whose last digits do not depend on the order of summation."""
    return round(value, SCORE_DIGITS) if math.isfinite(value) else 0.0


def run_of(payload: dict[str, Any]) -> Run:
    """Return the run of a stored point."""
    return Run(str(payload.get("run_id", "")), int(payload.get("epoch", 0)))


def dense_vector(stored: Any) -> Vector:
    """Return the unnamed vector of a stored point, which may come with the others by name."""
    return list(stored[""] if isinstance(stored, dict) else stored)


def point_of(payload: dict[str, Any]) -> Point:
    """Return the stored point without its vector."""
    return Point(
        [],
        str(payload["document_id"]),
        run_of(payload),
        Chunk.model_validate(payload["chunk"]),
        str(payload.get("kb_id", "")),
    )


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn the client's errors into ours; a missing collection has its own."""
    exceptions: Any = require(
        "qdrant_client.http.exceptions", package="qdrant-client", extra="qdrant"
    )
    try:
        yield
    except exceptions.UnexpectedResponse as exc:
        if exc.status_code == 404:
            raise CollectionNotFoundError from exc
        retryable = exc.status_code is None or exc.status_code >= 500 or exc.status_code == 429
        raise VectorStoreError(
            "The vector store refused the request.",
            retryable=retryable,
            context={"status": exc.status_code, "answer": str(exc)[:500]},
        ) from exc
    except exceptions.ResponseHandlingException as exc:
        raise VectorStoreError(context={"reason": str(exc)[:500]}) from exc
    except ValueError as exc:
        if "not found" in str(exc):  # local mode
            raise CollectionNotFoundError from exc
        raise
