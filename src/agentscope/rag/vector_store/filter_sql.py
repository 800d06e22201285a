"""Compiles a metadata filter into one SQLite expression with bound parameters.

Field names and values are always parameters, never part of the text. The expression reads the
columns of a row of `points` under the alias `p`.
"""

import json
from collections.abc import Sequence

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

Parameter = str | int | float
Sql = tuple[str, list[Parameter]]

_TEXT_COLUMNS = frozenset({"document_id", "run_id", "kb_id"})
_NUMBER_COLUMNS = frozenset({"epoch", "chunk_index"})
_NEVER: Sql = ("0", [])


def compile_filter(where: Filter | None) -> Sql:
    """Return the expression and its parameters; no filter is always true."""
    match where:
        case None:
            return ("1", [])
        case And(clauses):
            return _joined([compile_filter(clause) for clause in clauses], "AND", "1")
        case Or(clauses):
            return _joined([compile_filter(clause) for clause in clauses], "OR", "0")
        case Not(clause):
            text, parameters = compile_filter(clause)
            return (f"NOT {text}", parameters)
        case Equals(field, value):
            return _one_of(field, (value,))
        case In(field, values):
            return _one_of(field, values)
        case Exists(field):
            return _exists(field)
        case Range():
            return _range(where)


def _joined(parts: Sequence[Sql], word: str, empty: str) -> Sql:
    """Join in a balanced tree: SQLite refuses expressions more than 1,000 deep."""
    if not parts:
        return (empty, [])
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    left, left_parameters = _joined(parts[:middle], word, empty)
    right, right_parameters = _joined(parts[middle:], word, empty)
    return (f"({left} {word} {right})", [*left_parameters, *right_parameters])


def _one_of(field: str, values: Sequence[Scalar]) -> Sql:
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if _is_number(value)]
    if field in _TEXT_COLUMNS:
        return _column_in(field, texts)
    if field in _NUMBER_COLUMNS:
        return _column_in(field, numbers)
    parts: list[Sql] = []
    if texts:
        test, parameters = _listed("{0}.value", texts)
        parts.append((f"({{0}}.type = 'text' AND {test})", parameters))
    if numbers:
        test, parameters = _listed("{0}.value", numbers)
        parts.append((f"({{0}}.type IN ('integer', 'real') AND {test})", parameters))
    for truth in (True, False):
        if any(value is truth for value in values):
            parts.append((f"{{0}}.type = '{'true' if truth else 'false'}'", []))
    return _member(field, _joined(parts, "OR", "0")) if parts else _NEVER


def _column_in(column: str, values: Sequence[Scalar]) -> Sql:
    if not values:
        return _NEVER
    text, parameters = _listed(f"p.{column}", values)
    return (
        (f"({text} AND p.{column} IS NOT NULL)", parameters)
        if column == "kb_id"
        else (
            text,
            parameters,
        )
    )


def _listed(operand: str, values: Sequence[Scalar]) -> Sql:
    if len(values) == 1:
        return (f"{operand} IS ?", [values[0]])
    # One JSON parameter: a filter may list more values than a statement may have parameters.
    members = json.dumps(list(values), ensure_ascii=False)
    return (f"{operand} IN (SELECT value FROM json_each(?))", [members])  # noqa: S608 -- our own words


def _exists(field: str) -> Sql:
    if field in _TEXT_COLUMNS or field in _NUMBER_COLUMNS:
        return (f"p.{field} IS NOT NULL", [])
    return (
        "EXISTS (SELECT 1 FROM json_each(p.metadata) AS f WHERE f.key = ? AND f.type <> 'null')",
        [field],
    )


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
    is_text = any(isinstance(limit, str) for _, limit in limits)
    values: list[Parameter] = [limit for _, limit in limits]
    if bounds.field in _TEXT_COLUMNS or bounds.field in _NUMBER_COLUMNS:
        if limits and is_text != (bounds.field in _TEXT_COLUMNS):
            return _NEVER
        tests = " AND ".join(f"p.{bounds.field} {sign} ?" for sign, _ in limits) or "1"
        return (f"IFNULL({tests}, 0)", values)
    tests = " AND ".join(f"{{0}}.value {sign} ?" for sign, _ in limits) or "1"
    if not limits:
        kind = "{0}.type IN ('text', 'integer', 'real')"
    else:
        kind = "{0}.type = 'text'" if is_text else "{0}.type IN ('integer', 'real')"
    return _member(bounds.field, (f"({kind} AND {tests})", values))


def _member(field: str, test: Sql) -> Sql:
    """Apply `test`, which speaks of alias {0}, to the field or to each member of its list."""
    text, parameters = test
    return (
        "EXISTS (SELECT 1 FROM json_each(p.metadata) AS f WHERE f.key = ? AND ("  # noqa: S608 -- our own words
        f"{text.format('f')} OR (f.type = 'array' AND EXISTS ("
        f"SELECT 1 FROM json_each(f.value) AS m WHERE {text.format('m')}))))",
        [field, *parameters, *parameters],
    )


def _is_number(value: Scalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
