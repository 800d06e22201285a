"""The nearest-neighbour index of one collection: zvec, ids and vectors only.

The index is an accelerator: everything in it can be made anew from the rows. So any failure of it
is `IndexBrokenError`, on which the caller drops the index and goes on without. Nothing of the
user's is ever part of a zvec filter: the index is asked for neighbours and nothing else.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentscope.optional import require

FIELD = "vector"
_CONNECTIONS = 16
_BUILD_EFFORT = 200
_SEARCH_EFFORT = 300

logger = logging.getLogger(__name__)


class IndexBrokenError(Exception):
    """The index cannot be used; drop it."""


class VectorIndex:
    """One open zvec collection."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @classmethod
    def create(cls, path: Path, dimensions: int) -> "VectorIndex":
        """Create an empty index in a directory that does not exist yet."""
        zvec = _zvec()
        schema = zvec.CollectionSchema(
            "collection",
            vectors=[
                zvec.VectorSchema(
                    FIELD,
                    zvec.DataType.VECTOR_FP32,
                    dimensions,
                    zvec.HnswIndexParam(
                        metric_type=zvec.MetricType.COSINE,
                        m=_CONNECTIONS,
                        ef_construction=_BUILD_EFFORT,
                    ),
                )
            ],
        )
        return cls(_guarded(zvec.create_and_open, str(path), schema))

    @classmethod
    def open(cls, path: Path) -> "VectorIndex":
        """Open an index."""
        return cls(_guarded(_zvec().open, str(path)))

    @property
    def size(self) -> int:
        """Return the number of vectors."""
        return int(_guarded(lambda: self._handle.stats.doc_count))

    @property
    def outside_graph(self) -> int:
        """Return about how many vectors are compared one by one, because the graph lacks them."""
        stats = _guarded(lambda: self._handle.stats)
        return round(int(stats.doc_count) * (1 - float(stats.index_completeness.get(FIELD, 0))))

    def add(self, ids: Sequence[int], vectors: Any) -> None:
        """Add or replace vectors, an array of shape (len(ids), dimensions)."""
        document = _zvec().Doc
        documents = [
            document(id=str(number), vectors={FIELD: vector})
            for number, vector in zip(ids, vectors, strict=True)
        ]
        for start in range(0, len(documents), 512):
            statuses = _guarded(self._handle.upsert, documents[start : start + 512])
            if not all(status.ok() for status in statuses):
                raise IndexBrokenError("a vector was not accepted")

    def remove(self, ids: Sequence[int]) -> None:
        """Remove vectors; unknown ids are ignored."""
        for start in range(0, len(ids), 1000):
            _guarded(self._handle.delete, [str(number) for number in ids[start : start + 1000]])

    def nearest(self, vector: Any, top_k: int) -> list[int]:
        """Return the ids of about the `top_k` nearest vectors, in no promised order."""
        zvec = _zvec()
        query = zvec.Query(
            FIELD, vector=vector, param=zvec.HnswQueryParam(ef=max(_SEARCH_EFFORT, top_k))
        )
        found = _guarded(self._handle.query, query, topk=top_k, output_fields=[])
        return [int(document.id) for document in found]

    def optimize(self) -> None:
        """Build the graph; takes about a minute for 100,000 vectors."""
        _guarded(self._handle.optimize)

    def close(self) -> None:
        """Release the directory."""
        _guarded(self._handle.close)


def _guarded(call: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return call(*arguments, **options)
    except Exception as exc:  # zvec raises builtins of every kind
        raise IndexBrokenError(str(exc)) from exc


_READY: list[Any] = []


def _zvec() -> Any:
    """Return the zvec module, set up once: no console log, one thread for maintenance."""
    if not _READY:
        module: Any = require("zvec", package="zvec", extra="all")
        try:
            module.init(log_level=module.LogLevel.FATAL, optimize_threads=1)
        except RuntimeError:
            logger.debug("zvec_already_initialised")
        _READY.append(module)
    return _READY[0]
