"""Other products ask in their own words and get answers in them."""

import uuid
from typing import Any

import pytest

from agentscope.testing.rest import RestService

RETRIEVAL = "/integrations/dify/retrieval"


@pytest.fixture(name="kb")
def two_documents(service: RestService, user: str) -> str:
    """Two documents with metadata that tell them apart."""
    kb = service.knowledge_base(user=user)
    service.ready(kb, "old.txt", b"Annual leave is 20 days.", user=user, metadata='{"year": 2019}')
    service.ready(
        kb, "new.txt", b"Annual leave is 25 days.", user=user, metadata='{"year": 2025, "t": "b"}'
    )
    return kb


def ask_dify(service: RestService, user: str, kb: str, **more: Any) -> list[dict[str, Any]]:
    body = {
        "knowledge_id": kb,
        "query": "annual leave",
        "retrieval_setting": {"top_k": 5, "score_threshold": 0.0},
        **more,
    }
    records: list[dict[str, Any]] = service.json("POST", RETRIEVAL, user=user, json=body)["records"]
    return records


def test_dify_gets_its_records(service: RestService, user: str, kb: str) -> None:
    """Content, score, title, and metadata that is never null."""
    records = ask_dify(service, user, kb)
    assert {record["title"] for record in records} == {"old.txt", "new.txt"}
    assert all("Annual leave" in record["content"] for record in records)
    assert all(0 <= record["score"] <= 1 and record["metadata"] for record in records)
    limited = ask_dify(service, user, kb, retrieval_setting={"top_k": 1, "score_threshold": 0})
    assert limited == records[:1]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"name": "year", "comparison_operator": "≥", "value": 2020}, {"new.txt"}),
        ({"name": "year", "comparison_operator": "=", "value": 2019}, {"old.txt"}),
        ({"name": "year", "comparison_operator": "is not", "value": 2019}, {"new.txt"}),
        ({"name": "year", "comparison_operator": "in", "value": [2019, 7]}, {"old.txt"}),
        ({"name": "t", "comparison_operator": "empty"}, {"old.txt"}),
        ({"name": ["t"], "comparison_operator": "not empty"}, {"new.txt"}),
        (
            {"name": "filename", "comparison_operator": "start with", "value": "ne"},
            {"new.txt"},
        ),
    ],
)  # fmt: skip
def test_dify_filters_by_metadata(
    service: RestService, user: str, kb: str, condition: Any, found: set[str]
) -> None:
    """Each operator that has an equal here."""
    records = ask_dify(service, user, kb, metadata_condition={"conditions": [condition]})
    assert {record["title"] for record in records} == found


def test_dify_joins_conditions(service: RestService, user: str, kb: str) -> None:
    """With and by default."""
    conditions = [
        {"name": "year", "comparison_operator": "=", "value": 2019},
        {"name": "t", "comparison_operator": "is", "value": "b"},
    ]
    assert ask_dify(service, user, kb, metadata_condition={"conditions": conditions}) == []
    either = {"logical_operator": "or", "conditions": conditions}
    assert len(ask_dify(service, user, kb, metadata_condition=either)) == 2


@pytest.mark.parametrize(
    "condition",
    [
        {"name": "t", "comparison_operator": "contains", "value": "b"},
        {"name": "t", "comparison_operator": "is"},
    ],
)
def test_what_cannot_be_filtered_is_refused(
    service: RestService, user: str, kb: str, condition: Any
) -> None:
    """An ignored condition would show what nobody asked for."""
    body = {
        "knowledge_id": kb, "query": "leave", "metadata_condition": {"conditions": [condition]},
    }  # fmt: skip
    refused = service.call("POST", RETRIEVAL, user=user, json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_filter")


def test_a_vector_store_is_read_and_searched(service: RestService, user: str, kb: str) -> None:
    """The shapes of OpenAI's clients; several queries are one question in other words."""
    view = service.json("GET", f"/v1/vector_stores/{kb}", user=user)
    assert (view["object"], view["status"]) == ("vector_store", "completed")
    assert view["file_counts"]["completed"] == view["file_counts"]["total"] == 2
    body = {"query": ["annual leave", "holiday"], "max_num_results": 1}
    page = service.json("POST", f"/v1/vector_stores/{kb}/search", user=user, json=body)
    assert page["object"] == "vector_store.search_results.page"
    assert page["search_query"] == body["query"]
    (result,) = page["data"]
    assert result["filename"] in ("old.txt", "new.txt")
    assert result["content"][0]["type"] == "text"
    assert result["attributes"]["year"] in (2019, 2025)
    assert (page["has_more"], page["next_page"]) == (False, None)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"type": "eq", "key": "year", "value": 2019}, {"old.txt"}),
        ({"type": "nin", "key": "year", "value": [2019]}, {"new.txt"}),
        (
            {"type": "or", "filters": [
                {"type": "lt", "key": "year", "value": 2020},
                {"type": "ne", "key": "t", "value": "x"},
            ]},
            {"old.txt", "new.txt"},
        ),
    ],
)  # fmt: skip
def test_a_vector_store_search_filters(
    service: RestService, user: str, kb: str, filters: Any, found: set[str]
) -> None:
    """Comparisons and their combinations."""
    body = {"query": "annual leave", "filters": filters}
    page = service.json("POST", f"/v1/vector_stores/{kb}/search", user=user, json=body)
    assert {result["filename"] for result in page["data"]} == found


@pytest.mark.parametrize(
    "filters",
    [{"type": "like", "key": "a", "value": "b"}, {"type": "and", "filters": []}, {"type": "eq"}],
)
def test_a_vector_store_filter_that_is_none_is_refused(
    service: RestService, user: str, kb: str, filters: Any
) -> None:
    """With the sentence that says how one looks."""
    body = {"query": "annual leave", "filters": filters}
    refused = service.call("POST", f"/v1/vector_stores/{kb}/search", user=user, json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_filter")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (RETRIEVAL, lambda kb: {"query": "leave", "knowledge_id": kb}),
        ("/knowledge_bases/search", lambda kb: {"query": "leave", "knowledge_base_ids": [kb]}),
    ],
)
def test_a_foreign_id_in_the_body_is_an_unknown_id(
    service: RestService, kb: str, path: str, body: Any
) -> None:
    """As it is in a path."""
    foreign = service.call("POST", path, user="intruder", json=body(kb))
    nobody = uuid.uuid4().hex
    unknown = service.call("POST", path, user="intruder", json=body(nobody))
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.text.replace(kb, "") == unknown.text.replace(nobody, "")
