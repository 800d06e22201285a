"""Which terms of a query decide, for the keyword leg of the PostgreSQL vector store."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentscope.rag.vector_store.sparse import MAX_WEIGHT

KEYWORD_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How many of `total` rows have each term of a query; both may be estimates."""

    total: float
    rows: Mapping[int, float]

    def idf(self) -> dict[int, float]:
        """Return the idf of each term that some row has."""
        return {term: self._idf(found) for term, found in self.rows.items() if found}

    def stages(self, top_k: int) -> Iterator[tuple[list[int], float]]:
        """Yield terms to look for, with the best score a row without any of them can have.

        First the rarest terms that `top_k` rows have; when their answer is not proven to be the
        best one, those that some thousand rows have. Terms that are everywhere tell rows apart too
        little to read the whole table for them.
        """
        known = sorted((found, term) for term, found in self.rows.items() if found)
        last = 0
        for enough in (top_k, KEYWORD_ROWS + 20 * top_k):
            reached, chosen = 0.0, 0
            while chosen < len(known) and reached < enough:
                reached += known[chosen][0]
                chosen += 1
            if chosen > last:
                others = sum(self._idf(found) * MAX_WEIGHT for found, _ in known[chosen:])
                yield [term for _, term in known[:chosen]], others
            last = chosen

    def _idf(self, found: float) -> float:
        return math.log(1 + (max(self.total, found) - found + 0.5) / (found + 0.5))
