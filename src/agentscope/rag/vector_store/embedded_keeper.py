"""Keeps the nearest-neighbour index of a collection in step with its rows.

The rows are the truth. The index is told of every change after the rows have it, with a journal
in between; an index that fails, lost something or lags is dropped and built anew, while searches
go on over the rows. Only the writing thread changes the index; the reading one may distrust it.
"""

import logging
import shutil
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agentscope.rag.vector_store.embedded_index import IndexBrokenError, VectorIndex
from agentscope.rag.vector_store.embedded_rows import Rows

REBUILD_SHARE = 0.5
REBUILD_VALUES = 2_000_000
"""A new index pays when this share and this many values are not part of the graph."""

_PREFIX = "index-"
_APPLY_ROWS = 1000

logger = logging.getLogger(__name__)


class IndexKeeper:
    """The index of one open collection, or its absence."""

    def __init__(
        self,
        directory: Path,
        rows: Rows,
        matrix: Callable[[Sequence[bytes]], Any],
        *,
        from_values: int,
    ) -> None:
        self._directory = directory
        self._rows = rows
        self._matrix = matrix
        self._from_values = from_values
        self._index: VectorIndex | None = None
        self._is_trusted = True
        self._is_building = False
        self._size = rows.size()
        self._changed = 0
        self._open()

    @property
    def is_usable(self) -> bool:
        """Say whether `nearest` may be asked."""
        return self._index is not None and self._is_trusted

    @property
    def is_journalled(self) -> bool:
        """Say whether changes of the rows have to be written to the journal."""
        return self._is_building or self._index is not None

    @property
    def is_wanted(self) -> bool:
        """Say whether building an index would pay."""
        values = self._rows.dimensions
        if self._is_building or self._size * values < self._from_values:
            return False
        if not self.is_usable:
            return True
        is_much = self._changed * values > REBUILD_VALUES
        return is_much and self._changed > REBUILD_SHARE * self._size

    def nearest(self, query: Any, wanted: int) -> list[int] | None:
        """Return candidate ids, or None if there is no index to trust."""
        index = self._index
        if index is None or not self._is_trusted:
            return None
        try:
            return index.nearest(query, wanted)
        except IndexBrokenError as exc:
            logger.warning("vector_index_failed", extra={"reason": str(exc)})
            self._is_trusted = False
            return None

    def apply(self, new: Sequence[int], matrix: Any, gone: Sequence[int]) -> None:
        """Tell the index what the rows already hold: new vectors, and ids that are gone."""
        self._size += len(new) - len(gone)
        index = self._index
        if index is None or not (new or gone):
            return
        try:
            index.remove(gone)
            if new:
                index.add(new, matrix)
        except IndexBrokenError as exc:
            self._drop(str(exc))
            return
        self._changed += len(new) + len(gone)
        if not self._is_building:  # a build under way reads the journal when it ends
            self._rows.forget([*new, *gone])

    def check(self) -> None:
        """Drop an index that lost vectors: what is counted must be found."""
        index = self._index
        if index is None:
            return
        try:
            if index.size != self._size:
                self._drop("another number of vectors than rows")
        except IndexBrokenError as exc:
            self._drop(str(exc))

    def begin(self) -> Path:
        """Journal every change from now on; return the directory to build in."""
        if not self.is_usable:
            self._drop("it is to be built anew")
        self._is_building = True
        return self._directory / f"{_PREFIX}{uuid.uuid4().hex}"

    def adopt(self, path: Path) -> None:
        """Bring a built index up to date and use it; the old one goes.

        Raises:
            IndexBrokenError: the built index cannot be used; nothing has changed.
        """
        self._is_building = False
        index = VectorIndex.open(path)
        try:
            self._catch_up(index)
        except BaseException:
            index.close()
            raise
        old = self._rows.index_name
        self._rows.set_index(path.name)
        self.close()
        self._index, self._is_trusted, self._changed = index, True, 0
        self._remove(old)

    def give_up(self, path: Path) -> None:
        """Go on as before after a build that failed or was stopped."""
        self._is_building = False
        shutil.rmtree(path, ignore_errors=True)
        if self._index is None:
            self._rows.set_index("")

    def close(self) -> None:
        """Release the index; calling it twice is harmless."""
        index, self._index = self._index, None
        if index is None:
            return
        try:
            index.close()
        except IndexBrokenError as exc:
            logger.warning("vector_index_not_closed", extra={"reason": str(exc)})

    def _open(self) -> None:
        name = self._rows.index_name
        for entry in self._directory.glob(f"{_PREFIX}*"):
            if entry.name != name:
                shutil.rmtree(entry, ignore_errors=True)
        if not name:
            return
        try:
            self._index = VectorIndex.open(self._directory / name)
            self._catch_up(self._index)
            self._changed = max(self._changed, self._index.outside_graph)
        except IndexBrokenError as exc:
            self._drop(str(exc))
        self.check()

    def _catch_up(self, index: VectorIndex) -> None:
        added, gone = self._rows.unapplied()
        for start in range(0, len(added), _APPLY_ROWS):
            part = added[start : start + _APPLY_ROWS]
            index.add([row[0] for row in part], self._matrix([row[1] for row in part]))
        index.remove(gone)
        self._changed += len(added) + len(gone)
        self._rows.forget([*(row[0] for row in added), *gone])

    def _drop(self, reason: str) -> None:
        name = self._rows.index_name
        if name:
            logger.warning("vector_index_dropped", extra={"reason": reason})
        self.close()
        self._is_trusted = True
        self._rows.set_index("")
        self._remove(name)

    def _remove(self, name: str) -> None:
        if name:
            shutil.rmtree(self._directory / name, ignore_errors=True)
