"""Exact scores: float32 vectors of unit length, compared by scalar product."""

from collections.abc import Sequence
from typing import Any

from agentscope.optional import require
from agentscope.rag.document import Vector

SCORE_DIGITS = 6
"""Equal vectors must have equal scores; float32 sums differ in the last digits."""


class VectorMath:
    """What numpy does for one collection; loaded with the first collection."""

    def __init__(self, dimensions: int) -> None:
        self._numpy: Any = require("numpy", package="numpy", extra="all")
        self.dimensions = dimensions

    def matrix(self, values: Sequence[bytes]) -> Any:
        """Return stored vectors as an array of shape (len(values), dimensions)."""
        matrix = self._numpy.frombuffer(b"".join(values), dtype=self._numpy.float32)
        return matrix.reshape(len(values), self.dimensions)

    def normalised(self, vectors: Sequence[Vector]) -> Any:
        """Return vectors of unit length as they are stored; the zero vector stays zero."""
        numpy = self._numpy
        matrix = numpy.asarray(vectors, dtype=numpy.float64).reshape(-1, self.dimensions)
        norms = numpy.linalg.norm(matrix, axis=1, keepdims=True)
        return (matrix / numpy.where(norms > 0, norms, 1.0)).astype(numpy.float32)

    def scores(self, values: Sequence[bytes], query: Any) -> Any:
        """Return the similarity of each stored vector to `query`."""
        scores = (self.matrix(values) @ query).astype(self._numpy.float64)
        return self._numpy.round(scores, SCORE_DIGITS)

    def best(self, ids: Sequence[int], scores: Sequence[Any], top_k: int) -> dict[int, float]:
        """Return the `top_k` best ids with their scores, and every id that ties with the last."""
        numpy = self._numpy
        if not ids:
            return {}
        every = numpy.concatenate(scores)
        if len(ids) > top_k:
            least = numpy.partition(every, len(ids) - top_k)[len(ids) - top_k]
            chosen = numpy.flatnonzero(every >= least)
        else:
            chosen = range(len(ids))
        return {ids[place]: float(every[place]) for place in chosen}
