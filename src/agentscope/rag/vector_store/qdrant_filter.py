"""Compiles a metadata filter into a Qdrant filter.

A filter that Qdrant cannot express is widened, never narrowed: the caller checks the hits again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentscope.rag.vector_store.facets import field_token, number_name, value_token
from agentscope.rag.vector_store.filter import (
    And,
    Equals,
    Exists,
    Filter,
    In,
    Not,
    Or,
    Range,
    Scalar,
)

FACETS = "facets"
NUMBERS = "numbers"
TEXT_FIELDS = frozenset({"document_id", "run_id", "kb_id"})
NUMBER_FIELDS = frozenset({"epoch", "chunk_index"})
_NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A condition, None for no condition, and whether it says all that was asked."""

    condition: Any
    is_exact: bool


class QdrantFilters:
    """Builds conditions with the models of the installed client."""

    def __init__(self, models: Any) -> None:
        self._models = models

    def compile(self, where: Filter | None) -> tuple[Any, bool]:
        """Return a Qdrant filter, or None, and whether it is exact."""
        if where is None:
            return None, True
        compiled = self._clause(where)
        if compiled.condition is None:
            return None, compiled.is_exact
        return self._models.Filter(must=[compiled.condition]), compiled.is_exact

    def _clause(self, where: Filter) -> Compiled:
        match where:
            case Equals(field, value):
                return self._one_of(field, (value,))
            case In(field, values):
                return self._one_of(field, values)
            case Exists(field):
                return self._exists(field)
            case Range():
                return self._range(where)
            case And(clauses):
                return self._all(clauses)
            case Or(clauses):
                return self._any(clauses)
            case Not(clause):
                inner = self._clause(clause)
                if inner.condition is None or not inner.is_exact:
                    return self._never() if inner.is_exact else Compiled(None, is_exact=False)
                return Compiled(self._models.Filter(must_not=[inner.condition]), is_exact=True)

    def _all(self, clauses: Sequence[Filter]) -> Compiled:
        parts = [self._clause(clause) for clause in clauses]
        conditions = [part.condition for part in parts if part.condition is not None]
        is_exact = all(part.is_exact for part in parts)
        if not conditions:
            return Compiled(None, is_exact)
        return Compiled(self._models.Filter(must=conditions), is_exact)

    def _any(self, clauses: Sequence[Filter]) -> Compiled:
        parts = [self._clause(clause) for clause in clauses]
        if not parts:
            return self._never()
        for part in parts:
            if part.condition is None:
                return Compiled(None, part.is_exact)
        conditions = [part.condition for part in parts]
        return Compiled(
            self._models.Filter(should=conditions), all(part.is_exact for part in parts)
        )

    def _one_of(self, field: str, values: Sequence[Scalar]) -> Compiled:
        if field in TEXT_FIELDS:
            return self._match(field, [value for value in values if isinstance(value, str)])
        if field in NUMBER_FIELDS:
            whole = [
                int(value)
                for value in values
                if not isinstance(value, str | bool) and value == int(value)
            ]
            return self._match(field, whole)
        return self._match(FACETS, [value_token(field, value) for value in values])

    def _match(self, key: str, values: Sequence[str | int]) -> Compiled:
        if not values:
            return self._never()
        match = self._models.MatchAny(any=list(values))
        return Compiled(self._models.FieldCondition(key=key, match=match), is_exact=True)

    def _exists(self, field: str) -> Compiled:
        if field == "kb_id":
            condition = self._models.IsEmptyCondition(is_empty=self._models.PayloadField(key=field))
            return Compiled(self._models.Filter(must_not=[condition]), is_exact=True)
        if field in TEXT_FIELDS or field in NUMBER_FIELDS:
            return Compiled(None, is_exact=True)
        return self._match(FACETS, [field_token(field)])

    def _range(self, bounds: Range) -> Compiled:
        limits = {"gt": bounds.gt, "gte": bounds.gte, "lt": bounds.lt, "lte": bounds.lte}
        given = {name: limit for name, limit in limits.items() if limit is not None}
        if not given or any(isinstance(limit, str) for limit in given.values()):
            if bounds.field in NUMBER_FIELDS and given:
                return self._never()
            return Compiled(self._exists(bounds.field).condition, is_exact=False)
        if bounds.field in TEXT_FIELDS:
            return self._never()
        is_own = bounds.field in NUMBER_FIELDS
        key = bounds.field if is_own else f"{NUMBERS}.{number_name(bounds.field)}"
        range_ = self._models.Range(**given)
        return Compiled(self._models.FieldCondition(key=key, range=range_), is_exact=True)

    def _never(self) -> Compiled:
        match = self._models.MatchAny(any=[_NOTHING])
        return Compiled(self._models.FieldCondition(key=FACETS, match=match), is_exact=True)
