"""Whatever is wrong with a request, the answer is JSON with a sentence and a stable code."""

import inspect
from typing import Any

import pytest

from agentscope import errors
from agentscope.app.api.errors import STATUS_OF, status_of
from agentscope.testing.rest import RestService

CONFIG = {
    "type": "local_credential",
    "credential_id": "local",
    "model": "fake-embedding",
    "dimensions": 64,
}


def assert_problem(answer: Any, status: int, code: str | None = None) -> Any:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert answer.headers["content-type"] == "application/json"
    assert isinstance(body["detail"], str) or all("msg" in item for item in body["detail"])
    assert body["code"]
    if code is not None:
        assert body["code"] == code
    return body["detail"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"name": ""}, 422),
        ({"name": "  \t "}, 422),
        ({"name": "n" * 201}, 422),
        ({"name": "a\x00b"}, 422),
        ({"name": None}, 422),
        ({"embedding_model_config": {**CONFIG, "dimensions": 0}}, 422),
        ({"embedding_model_config": {**CONFIG, "dimensions": 10**9}}, 422),
        ({"embedding_model_config": {**CONFIG, "credential_id": "nobody"}}, 404),
        ({"embedding_model_config": {**CONFIG, "type": "nope_credential"}}, 400),
        ({"embedding_model_config": {**CONFIG, "type": "anthropic_credential"}}, 400),
        ({"embedding_model_config": {**CONFIG, "type": "openai_credential"}}, 422),
        ({"chunker_config": {"type": "zzz", "parameters": {}}}, 422),
        ({"chunker_config": {"type": "approx_token", "parameters": {"chunk_size": 0}}}, 422),
        ({"search_mode": "guess"}, 422),
    ],
)  # fmt: skip
def test_a_knowledge_base_that_cannot_be_is_refused(
    service: RestService, user: str, changes: dict[str, Any], status: int
) -> None:
    """Names, models, dimensions and chunkers are checked before anything is written."""
    body = {"name": "ok", "embedding_model_config": CONFIG, **changes}
    assert_problem(service.call("POST", "/knowledge_bases/", user=user, json=body), status)
    assert service.json("GET", "/knowledge_bases/", user=user)["total"] == 0


def test_unknown_chunkers_and_bad_parameters_say_so(service: RestService, user: str) -> None:
    """The documented sentences."""

    def refusal(chunker: dict[str, Any]) -> str:
        body = {"name": "ok", "embedding_model_config": CONFIG, "chunker_config": chunker}
        answer = service.call("POST", "/knowledge_bases/", user=user, json=body)
        return str(assert_problem(answer, 422))

    assert refusal({"type": "zzz"}) == "Unknown chunker type: 'zzz', available: ['approx_token']"
    bad = {"type": "approx_token", "parameters": {"chunk_size": 10, "overlap": 20}}
    assert refusal(bad).startswith("Invalid chunker parameters: ")


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{{{", 422),
        (b"", 422),
        (b"[]", 422),
        (b'{"query": 5}', 422),
        (b'{"query": ""}', 422),
        (b'{"query": "   "}', 422),
        (b'{"query": "\\ud800"}', 422),
        (b'{"query": "ok", "top_k": 0}', 422),
        (b'{"query": "ok", "top_k": 51}', 422),
        (b'{"query": "ok", "top_k": 1e400}', 422),
        (b'{"query": "ok", "score_threshold": NaN}', 422),
        (b'{"query": "ok", "metadata_filter": {"$bad": 1}}', 422),
        (b'{"query": "ok", "metadata_filter": {"a": NaN}}', 422),
        (b'{"query": "ok", "mode": "guess"}', 422),
        (b'{"query": "\xff"}', 400),
        (b'{"query": ' + b"[" * 100_000, 400),
        (b'{"query": "' + b"w" * 20_001 + b'"}', 422),
        (b'{"query": "' + b"w" * 2_000_000 + b'"}', 413),
    ],
    ids=lambda value: repr(value[:40]) if isinstance(value, bytes) else str(value),
)
def test_a_search_that_makes_no_sense_is_refused(
    service: RestService, user: str, content: bytes, status: int
) -> None:
    """Broken JSON, odd characters, numbers out of bounds and bodies that are too large."""
    kb = service.knowledge_base(user=user)
    headers = {"Content-Type": "application/json"}
    path = f"/knowledge_bases/{kb}/search"
    answer = service.call("POST", path, user=user, content=content, headers=headers)
    assert_problem(answer, status)
    assert len(answer.content) < 4_000


def test_a_nul_in_a_query_is_a_blank(service: RestService, user: str) -> None:
    """No back end ever sees it."""
    kb = service.knowledge_base(user=user)
    service.ready(kb, "a.txt", b"alpha beta", user=user)
    body = {"query": "alpha\x00beta"}
    found = service.json("POST", f"/knowledge_bases/{kb}/search", user=user, json=body)
    assert found["total"] == 1


@pytest.mark.parametrize(
    "query",
    [
        "page=0", "page=-1", "page=x", "page_size=0", "page_size=129", "orderby=id;drop",
        "page=1000000000000000000",
    ],
)  # fmt: skip
def test_lists_refuse_pages_that_cannot_be(service: RestService, user: str, query: str) -> None:
    """The same for both lists, in the documented shape."""
    kb = service.knowledge_base(user=user)
    for path in ("/knowledge_bases/", f"/knowledge_bases/{kb}/documents"):
        answer = service.call("GET", f"{path}?{query}", user=user)
        detail = assert_problem(answer, 422, "invalid_input")
        assert detail[0]["loc"] == ["query", query.split("=", maxsplit=1)[0]]


def test_states_are_refused_without_ids_and_beyond_the_limit(
    service: RestService, user: str
) -> None:
    """`ids` is required; 10,000 of them are the most."""
    kb = service.knowledge_base(user=user)
    path = f"/knowledge_bases/{kb}/documents/status"
    missing = assert_problem(service.call("GET", path, user=user), 422)
    assert missing[0]["loc"] == ["query", "ids"]
    assert service.json("GET", f"{path}?ids=", user=user) == {"items": []}
    many = ",".join(f"{number:x}" for number in range(10_001))
    assert_problem(service.call("GET", f"{path}?ids={many}", user=user), 422)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/knowledge_bases/nope/documents/x/y/z", 404),
        ("PUT", "/knowledge_bases/", 405),
        ("DELETE", "/health", 405),
        ("GET", "/knowledge_bases/..%2f..%2fetc/documents", 404),
        ("GET", "/knowledge_bases/a%00b/documents", 404),
        ("GET", "/knowledge_bases/%ff/documents", 404),
        ("GET", "/knowledge_bases/nope", 404),
        ("DELETE", "/knowledge_bases/nope", 404),
        ("PATCH", "/credential/none", 422),
        ("DELETE", "/credential/none", 404),
    ],
)
def test_unknown_paths_methods_and_ids_are_json(
    service: RestService, method: str, path: str, status: int
) -> None:
    """No plain text anywhere."""
    assert_problem(service.call(method, path), status)


def test_the_identity_header_is_asked_for_as_documented(service: RestService) -> None:
    """Absent: malformed. Empty: unauthenticated. Odd: refused. Twice: refused."""
    path = "/knowledge_bases/"
    detail = assert_problem(service.call("GET", path, user=None), 422)
    assert detail[0]["loc"] == ["header", "x-user-id"]
    empty = assert_problem(service.call("GET", path, user=""), 401, "unauthenticated")
    assert empty == "X-User-ID header is required."
    assert_problem(service.call("GET", path, user="u" * 257), 422)
    assert_problem(service.call("GET", path, user="a\x01b"), 422)
    assert service.json("GET", path, user="u" * 256)["total"] == 0


def test_health_and_forms_need_no_identity(service: RestService) -> None:
    """As documented."""
    for path in ("/health", "/credential/schemas", "/embedding-model/?provider=openai_credential"):
        assert service.call("GET", path, user=None).status_code == 200
    assert_problem(service.call("GET", "/embedding-model/?provider=nope", user=None), 404)


def _all_errors() -> list[type[errors.AgentScopeError]]:
    return [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.AgentScopeError)
    ]


@pytest.mark.parametrize("kind", _all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_has_a_status(kind: type[errors.AgentScopeError]) -> None:
    """By itself or by its nearest parent; and none that a client caused is a 500."""
    error = kind.__new__(kind)
    status = status_of(error)
    assert status in STATUS_OF.values()
    assert status != 500 or kind is errors.AgentScopeError
