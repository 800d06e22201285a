"""Compiles a metadata filter into one PostgreSQL expression with bound parameters.

Names and values are always parameters. No part of the expression is ever null, so negation means
what it says.
"""

from collections.abc import Sequence
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

Sql = tuple[str, list[Any]]

_TEXT_COLUMNS = frozenset({"document_id", "run_id", "kb_id"})
_NUMBER_COLUMNS = frozenset({"epoch", "chunk_index"})
_NULLABLE_COLUMNS = frozenset({"kb_id"})
_NEVER: Sql = ("FALSE", [])


def compile_filter(where: Filter | None) -> Sql:
    """Return the expression and its parameters; no filter is always true."""
    match where:
        case None:
            return ("TRUE", [])
        case And(clauses):
            return _joined([compile_filter(clause) for clause in clauses], " AND ", "TRUE")
        case Or(clauses):
            return _joined([compile_filter(clause) for clause in clauses], " OR ", "FALSE")
        case Not(clause):
            text, parameters = compile_filter(clause)
            return (f"(NOT {text})", parameters)
        case Equals(field, value):
            return _one_of(field, (value,))
        case In(field, values):
            return _one_of(field, values)
        case Exists(field):
            return _exists(field)
        case Range():
            return _range(where)


def _joined(parts: Sequence[Sql], word: str, empty: str) -> Sql:
    if not parts:
        return (empty, [])
    text = word.join(part[0] for part in parts)
    return (f"({text})", [value for part in parts for value in part[1]])


def _one_of(field: str, values: Sequence[Scalar]) -> Sql:
    if field in _TEXT_COLUMNS:
        texts = [value for value in values if isinstance(value, str)]
        return (f"({_present(field)}{field} = ANY(%s::text[]))", [texts]) if texts else _NEVER
    if field in _NUMBER_COLUMNS:
        numbers = [float(value) for value in values if not isinstance(value, str | bool)]
        return (f"({field} = ANY(%s::float8[]))", [numbers]) if numbers else _NEVER
    if not values:
        return _NEVER
    return ("(facets && %s::text[])", [[value_token(field, value) for value in values]])


def _present(field: str) -> str:
    """Return what keeps a comparison from being null in a form that indexes can serve."""
    return f"{field} IS NOT NULL AND " if field in _NULLABLE_COLUMNS else ""


def _exists(field: str) -> Sql:
    if field in _TEXT_COLUMNS or field in _NUMBER_COLUMNS:
        return (f"({field} IS NOT NULL)", [])
    return ("(facets && %s::text[])", [[field_token(field)]])


def _range(bounds: Range) -> Sql:
    limits = [
        (sign, limit)
        for sign, limit in (
            (">", bounds.gt),
            (">=", bounds.gte),
            ("<", bounds.lt),
            ("<=", bounds.lte),
        )
        if limit is not None
    ]
    values = [limit for _, limit in limits]
    is_text = any(isinstance(limit, str) for limit in values)
    if bounds.field in _TEXT_COLUMNS or bounds.field in _NUMBER_COLUMNS:
        if is_text != (bounds.field in _TEXT_COLUMNS):
            return _NEVER if limits else _exists(bounds.field)
        tests = _tests(bounds.field, limits, is_text=is_text)
        return (f"({_present(bounds.field)}{tests})", values)
    if not limits:
        return _NEVER
    if is_text:
        tests = _tests("(e #>> '{}')", limits, is_text=True)
        return (
            "(EXISTS (SELECT 1 FROM jsonb_array_elements("  # noqa: S608 -- our own words
            "CASE jsonb_typeof(metadata -> %s) WHEN 'array' THEN metadata -> %s"
            " ELSE jsonb_build_array(metadata -> %s) END) AS e"
            f" WHERE jsonb_typeof(e) = 'string' AND {tests}))",
            [bounds.field, bounds.field, bounds.field, *values],
        )
    tests = _tests("n::text::float8", limits, is_text=False)
    return (
        f"(EXISTS (SELECT 1 FROM jsonb_array_elements(numbers -> %s) AS n WHERE {tests}))",  # noqa: S608 -- our own words
        [number_name(bounds.field), *values],
    )


def _tests(operand: str, limits: Sequence[tuple[str, Any]], *, is_text: bool) -> str:
    if is_text:  # by code point, whatever the collation of the database
        return " AND ".join(f'{operand} COLLATE "C" {sign} %s::text' for sign, _ in limits)
    return " AND ".join(f"{operand} {sign} %s::float8" for sign, _ in limits)
