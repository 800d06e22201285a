"""Filters of other products in our filter language; what it cannot say is refused, not ignored."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentscope.app.api.schemas.external import MetadataCondition, MetadataConditions
from agentscope.errors import BadFilterError

Clause = dict[str, Any]
MAX_DEPTH = 8
_LAST = "\U0010ffff"


def _values(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


_CONDITIONS: Mapping[str, Callable[[str, Any], Clause]] = {
    "is": lambda field, value: {field: value},
    "=": lambda field, value: {field: value},
    "is not": lambda field, value: {field: {"$ne": value}},
    "≠": lambda field, value: {field: {"$ne": value}},
    "in": lambda field, value: {field: {"$in": _values(value)}},
    "not in": lambda field, value: {field: {"$nin": _values(value)}},
    "empty": lambda field, _: {field: {"$exists": False}},
    "not empty": lambda field, _: {field: {"$exists": True}},
    ">": lambda field, value: {field: {"$gt": value}},
    "<": lambda field, value: {field: {"$lt": value}},
    "≥": lambda field, value: {field: {"$gte": value}},
    "≤": lambda field, value: {field: {"$lte": value}},
    "after": lambda field, value: {field: {"$gt": value}},
    "before": lambda field, value: {field: {"$lt": value}},
    "start with": lambda field, value: {field: {"$gte": value, "$lt": f"{value}{_LAST}"}},
}
"""Dify's operators. Dates are compared as text, so they must be written as in ISO 8601."""

_COMPARISONS = {
    "eq": None,
    "ne": "$ne",
    "gt": "$gt",
    "gte": "$gte",
    "lt": "$lt",
    "lte": "$lte",
    "in": "$in",
    "nin": "$nin",
}


def from_conditions(given: MetadataConditions | None) -> Clause | None:
    """Return the filter of Dify's `metadata_condition`.

    Raises:
        BadFilterError: an operator that has no equal here.
    """
    if given is None or not given.conditions:
        return None
    clauses = [_condition(condition) for condition in given.conditions]
    return {f"${given.logical_operator}": clauses}


def _condition(condition: MetadataCondition) -> Clause:
    name = condition.comparison_operator
    make = _CONDITIONS.get(name)
    if make is None:
        known = ", ".join(_CONDITIONS)
        raise BadFilterError(f"The operator '{name[:20]}' is not supported. Supported: {known}.")
    if condition.value is None and name not in ("empty", "not empty"):
        raise BadFilterError(f"The operator '{name}' needs a value.")
    fields = condition.name if isinstance(condition.name, list) else [condition.name]
    clauses = [make(field, condition.value) for field in fields]
    return clauses[0] if len(clauses) == 1 else {"$and": clauses}


def from_comparison(given: Mapping[str, Any] | None, depth: int = 0) -> Clause | None:
    """Return the filter of an OpenAI vector store search.

    Raises:
        BadFilterError: it is none.
    """
    if given is None:
        return None
    if depth > MAX_DEPTH:
        raise BadFilterError(f"A filter may be nested at most {MAX_DEPTH} deep.")
    kind = str(given.get("type", ""))
    if kind in ("and", "or"):
        return {f"${kind}": [_nested(part, depth) for part in _parts(given)]}
    key, value = given.get("key"), given.get("value")
    if kind not in _COMPARISONS or not isinstance(key, str) or value is None:
        raise BadFilterError(
            "A filter is {type, key, value} with a type of "
            f"{', '.join(_COMPARISONS)}, or {{type, filters}} with and or or."
        )
    operator = _COMPARISONS[kind]
    return {key: value if operator is None else {operator: value}}


def _parts(given: Mapping[str, Any]) -> Sequence[Any]:
    parts = given.get("filters")
    if not isinstance(parts, list) or not parts:
        raise BadFilterError("A filter of type and or or takes a list of filters.")
    return parts


def _nested(part: Any, depth: int) -> Clause:
    if not isinstance(part, Mapping):
        raise BadFilterError("A filter must be a JSON object.")
    made = from_comparison(part, depth + 1)
    assert made is not None, "only no filter gives none"
    return made
