"""What the OpenAPI document promises about refusals is one shape, and that is what is sent."""

from collections.abc import Iterator
from typing import Any

import pytest

from agentscope.testing.rest import RestService

# A service that is not ready says of which parts; clients of the documented contract read that.
OWN_SHAPE = {("GET /health", "503")}
ERROR = {"$ref": "#/components/schemas/ErrorBody"}


def _operations(service: RestService) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, operations in service.check.document["paths"].items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path}", operation


def test_every_operation_declares_the_same_refusals(service: RestService) -> None:
    """The two families for all, and nothing of another shape beside them."""
    for name, operation in _operations(service):
        responses = operation["responses"]
        for status in ("4XX", "5XX"):
            assert responses[status]["content"]["application/json"]["schema"] == ERROR, name
        for status, described in responses.items():
            schema = described.get("content", {}).get("application/json", {}).get("schema")
            if status[0] in "45" and (name, status) not in OWN_SHAPE:
                assert schema in (None, ERROR), f"{name} {status}"


def test_the_shape_has_a_detail_and_a_stable_code(service: RestService) -> None:
    """Both always."""
    shape = service.check.document["components"]["schemas"]["ErrorBody"]
    assert set(shape["required"]) == {"detail", "code"}


@pytest.mark.parametrize(
    ("method", "path", "options", "status", "code"),
    [
        ("GET", "/no/such/path", {}, 404, "not_found"),
        ("PUT", "/health", {}, 405, "method_not_allowed"),
        ("POST", "/knowledge_bases/", {"content": b"{"}, 422, "invalid_input"),
        ("POST", "/knowledge_bases/", {"json": {}}, 422, "invalid_input"),
        ("GET", "/knowledge_bases/?page=0", {}, 422, "invalid_input"),
        ("GET", f"/knowledge_bases/{'0' * 32}", {}, 404, "knowledge_base_not_found"),
        ("POST", "/knowledge_bases/", {"content": b" " * 2_000_000}, 413, "too_large"),
        ("GET", "/knowledge_bases/", {"headers": {"X-User-ID": " "}}, 401, "unauthenticated"),
    ],
)
def test_refusals_of_every_layer_have_it(
    service: RestService, method: str, path: str, options: dict[str, Any], status: int, code: str
) -> None:
    """Routing, parsing, validation, size, identity and the service itself."""
    answer = service.call(method, path, **options)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"detail", "code"}
    assert answer.json()["code"] == code
