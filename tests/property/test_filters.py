"""Filters of any shape and content answer alike on every engine, whatever stands in them."""

import atexit
import contextlib
import functools
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentscope.errors import BadFilterError
from agentscope.rag.document import Point, Run
from agentscope.rag.vector_store.embedded_collection import OpenCollection
from agentscope.rag.vector_store.embedded_rows import DATABASE, create_rows
from agentscope.rag.vector_store.facets import facets, field_token, number_name, value_token
from agentscope.rag.vector_store.filter import (
    And,
    Equals,
    Exists,
    Filter,
    In,
    Not,
    Or,
    Range,
    matches,
    parse_filter,
)
from agentscope.rag.vector_store.filter_sql import compile_filter
from agentscope.rag.vector_store.points import filter_fields
from agentscope.testing.vector_store_data import HOSTILE, make_point

texts = st.one_of(
    st.sampled_from([*HOSTILE, "a", "b", "", "1", "true", "null", "[]", '{"a": 1}', "$.a", "?"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
)
numbers = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, -0.0, 1e300, 2**53 + 1, -(2**62)]),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
)
scalars = st.one_of(texts, numbers, st.booleans())
fields = st.one_of(
    st.sampled_from(["a", "b", "c d", "$.a", "a.b", 'q"uote', "it's", "document_id", "run_id"]),
    st.sampled_from(["chunk_index", "epoch"]),
    texts.filter(bool),
)
values = st.one_of(scalars, st.none(), st.lists(scalars, max_size=3))
metadata = st.dictionaries(fields, values, max_size=4)


def ranges(field: str) -> st.SearchStrategy[Filter]:
    """Return ranges over one type."""

    def build(kind: st.SearchStrategy[Any]) -> st.SearchStrategy[Filter]:
        bound = st.one_of(st.none(), kind)
        return st.builds(Range, st.just(field), bound, bound, bound, bound).filter(
            lambda item: any(limit is not None for limit in (item.gt, item.gte, item.lt, item.lte))
        )

    return st.one_of(build(texts), build(numbers))


leaves: st.SearchStrategy[Filter] = st.one_of(
    st.builds(Equals, fields, scalars),
    st.builds(In, fields, st.lists(scalars, max_size=4).map(tuple)),
    st.builds(Exists, fields),
    fields.flatmap(ranges),
)
filters: st.SearchStrategy[Filter] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)


@functools.cache
def shared_collection() -> OpenCollection:
    """Return one collection for all examples."""
    directory = Path(tempfile.mkdtemp())
    create_rows(directory, 2)
    collection = OpenCollection(directory)
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    atexit.register(collection.close)
    return collection


def make_points(rows: Sequence[dict[str, Any]]) -> list[Point]:
    """Return one point per metadata."""
    return [
        make_point(f"d{n}", n, [1.0, float(n)], run=Run(f"r{n % 2}", n % 3), metadata=row)
        for n, row in enumerate(rows)
    ]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(metadata, min_size=1, max_size=6), filters)
def test_sql_answers_like_the_reference(rows: list[dict[str, Any]], where: Filter) -> None:
    """The compiled expression passes exactly the points that the reference passes."""
    points = make_points(rows)
    collection = shared_collection()
    collection.remove(And(()))
    collection.upsert(points)
    with collection.rows.snapshot():
        found = {hit.document_id for hit in collection.nearest([1.0, 0.0], 99, where)}
    assert found == {p.document_id for p in points if matches(where, filter_fields(p))}


@settings(max_examples=60, deadline=None)
@given(filters)
def test_no_value_or_name_becomes_part_of_a_statement(where: Filter) -> None:
    """The text of the expression depends on the shape of the filter alone."""
    text, parameters = compile_filter(where)
    assert text.count("?") == len(parameters)
    for name in HOSTILE:
        assert name not in text or name in ("%", "_", "*")


@given(st.lists(metadata, max_size=3), st.lists(st.tuples(fields, scalars), max_size=4))
def test_facets_say_what_equality_says(
    rows: list[dict[str, Any]], asked: list[tuple[str, Any]]
) -> None:
    """A token is there exactly if the field has the value, by type."""
    for row in rows:
        tokens = set(facets(row))
        for field, value in asked:
            assert (value_token(field, value) in tokens) == matches(Equals(field, value), row)
            assert (field_token(field) in tokens) == matches(Exists(field), row)
            assert number_name(field).isalnum()


@given(st.recursive(values, lambda v: st.dictionaries(st.text(max_size=8), v, max_size=3)))
def test_parsing_gives_a_filter_or_a_plain_error(value: Any) -> None:
    """Whatever JSON a client sends."""
    if not isinstance(value, dict):
        with pytest.raises(BadFilterError):
            parse_filter(value)
        return
    with contextlib.suppress(BadFilterError):
        assert isinstance(parse_filter(value), Equals | In | Range | Exists | And | Or | Not)


def test_bounds_of_the_language() -> None:
    """Depth, clauses, list lengths and odd values are refused in plain words."""
    deep: dict[str, Any] = {"a": 1}
    for _ in range(20):
        deep = {"$not": deep}
    bad: list[dict[str, Any]] = [
        deep,
        {"$and": [{"a": 1}] * 300},
        {"a": list(range(10_001))},
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": None},
        {"a": {"b": 1}},
        {"a": {}},
        {"a": {"$gt": True}},
        {"a": {"$gt": 1, "$lt": "b"}},
        {"a": {"$in": "abc"}},
        {"a": {"$exists": 1}},
        {"$or": {"a": 1}},
        {"$where": "1"},
        {"": 1},
        {"a" * 201: 1},
        {"a": "\0"},
        {"a": "\ud800"},
    ]
    for value in bad:
        with pytest.raises(BadFilterError):
            parse_filter(value)


def test_a_hostile_filter_cannot_change_the_rows(tmp_path: Path) -> None:
    """After every hostile filter everything is still there."""
    create_rows(tmp_path, 2)
    with contextlib.closing(OpenCollection(tmp_path)) as collection:
        collection.upsert(make_points([{"v": value} for value in HOSTILE]))
        for value in HOSTILE:
            with collection.rows.snapshot():
                assert len(collection.nearest([1.0, 0.0], 99, Not(Equals("v", value)))) == (
                    len(HOSTILE) - 1
                )
    connection = sqlite3.connect(tmp_path / DATABASE)
    assert connection.execute("SELECT count(*) FROM points").fetchone() == (len(HOSTILE),)
    connection.close()
