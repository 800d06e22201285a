"""The metadata filter: one small language that every vector store answers the same way.

A filter names a field of the hit. Fields are looked up in the chunk's metadata, where upload
metadata, document fields (`filename`, `media_type`, `size_bytes`) and chunk fields (`page`,
`slide`, `sheet`, `heading_path`, ...) stand side by side; `document_id`, `run_id`, `epoch`,
`chunk_index` and `kb_id` are the point's own. A missing field equals nothing; a list field matches
when any member does. Comparison is by type: text with text, number with number, truth with truth.
"""

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentscope.errors import BadFilterError

Scalar = str | int | float | bool

MAX_DEPTH = 8
MAX_CLAUSES = 256
MAX_VALUES = 10_000
MAX_FIELD_CHARS = 200

_BOUNDS = ("$gt", "$gte", "$lt", "$lte")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Equals:
    """The field is `value`."""

    field: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class In:
    """The field is one of `values`."""

    field: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The field lies between the bounds, all numbers or all text; None leaves a side open.

    Text is ordered by code point.
    """

    field: str
    gt: float | str | None = None
    gte: float | str | None = None
    lt: float | str | None = None
    lte: float | str | None = None


@dataclass(frozen=True, slots=True)
class Exists:
    """The field is there and not null."""

    field: str


@dataclass(frozen=True, slots=True)
class And:
    """All clauses hold; no clause is true."""

    clauses: "tuple[Filter, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """At least one clause holds; no clause is false."""

    clauses: "tuple[Filter, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    """The clause does not hold."""

    clause: "Filter"


Filter = Equals | In | Range | Exists | And | Or | Not


def parse_filter(value: Mapping[str, Any]) -> Filter:
    """Return the filter that the JSON object `value` describes.

    `{"author": "Li"}` equality · `{"year": {"$in": [2024, 2025]}}` · `{"year": {"$gte": 2020,
    "$lt": 2025}}` · `{"tag": {"$exists": true}}` · `{"tag": {"$ne": "x"}}` · `{"tag": {"$nin":
    ["x"]}}` · `{"$and": [..]}`, `{"$or": [..]}`, `{"$not": {..}}`. Several keys are and-ed.

    Raises:
        BadFilterError: unknown operator, wrong type, or over the bounds of this module.
    """
    budget = [MAX_CLAUSES]
    return _object(value, 0, budget)


def _object(value: Any, depth: int, budget: list[int]) -> Filter:
    if not isinstance(value, Mapping):
        raise BadFilterError("A filter must be a JSON object.")
    if depth > MAX_DEPTH:
        raise BadFilterError(f"A filter may be nested at most {MAX_DEPTH} deep.")
    clauses = tuple(_entry(str(key), item, depth, budget) for key, item in value.items())
    return clauses[0] if len(clauses) == 1 else And(clauses)


def _entry(key: str, item: Any, depth: int, budget: list[int]) -> Filter:
    budget[0] -= 1
    if budget[0] < 0:
        raise BadFilterError(f"A filter may have at most {MAX_CLAUSES} clauses.")
    if key in ("$and", "$or"):
        if not isinstance(item, list):
            raise BadFilterError(f"{key} takes a list of filters.")
        clauses = tuple(_object(clause, depth + 1, budget) for clause in item)
        return And(clauses) if key == "$and" else Or(clauses)
    if key == "$not":
        return Not(_object(item, depth + 1, budget))
    if key.startswith("$"):
        raise BadFilterError(f"Unknown filter operator '{key[:40]}'.")
    if not key or len(key) > MAX_FIELD_CHARS or _UNSTORABLE.search(key):
        raise BadFilterError(
            f"A field name has 1 to {MAX_FIELD_CHARS} characters, none of them NUL."
        )
    if isinstance(item, Mapping):
        return _operators(key, item)
    if isinstance(item, list):
        return In(key, _values(item))
    return Equals(key, _scalar(item))


def _operators(field: str, item: Mapping[Any, Any]) -> Filter:
    clauses = [
        _operator(field, str(name), operand)
        for name, operand in item.items()
        if name not in _BOUNDS
    ]
    bounds: dict[str, Any] = {
        name[1:]: _bound(operand) for name, operand in item.items() if name in _BOUNDS
    }
    if len({isinstance(bound, str) for bound in bounds.values()}) > 1:
        raise BadFilterError("The bounds of a range must be of one type.")
    if bounds:
        clauses.append(Range(field, **bounds))
    if not clauses:
        raise BadFilterError(f"The filter for '{field[:40]}' is empty.")
    return clauses[0] if len(clauses) == 1 else And(tuple(clauses))


def _operator(field: str, name: str, operand: Any) -> Filter:
    match name:
        case "$eq":
            return Equals(field, _scalar(operand))
        case "$ne":
            return Not(Equals(field, _scalar(operand)))
        case "$in":
            return In(field, _values(operand))
        case "$nin":
            return Not(In(field, _values(operand)))
        case "$exists" if isinstance(operand, bool):
            return Exists(field) if operand else Not(Exists(field))
        case "$exists":
            raise BadFilterError("$exists takes true or false.")
    raise BadFilterError(f"Unknown filter operator '{name[:40]}'.")


def _scalar(value: Any) -> Scalar:
    if isinstance(value, bool) or (isinstance(value, str) and not _UNSTORABLE.search(value)):
        return value
    if isinstance(value, int | float) and abs(value) < 2**63:  # also refuses nan and infinity
        return value
    raise BadFilterError(
        "A filter value must be text without NUL characters, a finite number, true or false."
    )


def _bound(value: Any) -> float | str:
    checked = _scalar(value)
    if isinstance(checked, bool):
        raise BadFilterError("A range takes numbers or text.")
    return checked


def _values(value: Any) -> tuple[Scalar, ...]:
    if not isinstance(value, list) or len(value) > MAX_VALUES:
        raise BadFilterError(f"A list of values with at most {MAX_VALUES} members is expected.")
    return tuple(_scalar(item) for item in value)


def matches(clause: Filter, fields: Mapping[str, Any]) -> bool:
    """Say whether `fields` satisfies `clause`; the reference that every store is tested against."""
    match clause:
        case Equals(field, value):
            return any(_same(item, value) for item in _members(fields.get(field)))
        case In(field, values):
            return any(
                _same(item, value) for item in _members(fields.get(field)) for value in values
            )
        case Range():
            return any(_within(item, clause) for item in _members(fields.get(clause.field)))
        case Exists(field):
            return fields.get(field) is not None
        case And(clauses):
            return all(matches(item, fields) for item in clauses)
        case Or(clauses):
            return any(matches(item, fields) for item in clauses)
        case Not(inner):
            return not matches(inner, fields)


def _members(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _same(left: Any, right: Scalar) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return isinstance(left, bool) and isinstance(right, bool) and left == right
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and isinstance(right, str) and left == right
    return isinstance(left, int | float) and left == right


def _within(value: Any, bounds: Range) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    for limit, compare in (
        (bounds.gt, operator.gt),
        (bounds.gte, operator.ge),
        (bounds.lt, operator.lt),
        (bounds.lte, operator.le),
    ):
        if limit is None:
            continue
        if isinstance(value, str) != isinstance(limit, str) or not compare(value, limit):
            return False
    return True
