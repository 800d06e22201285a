"""Requests made up from the OpenAPI document: whatever comes, no answer is a 500."""

import asyncio
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agentscope.testing.rest import RestService

EXAMPLES = 12


def test_no_made_up_request_breaks_the_service(service: RestService) -> None:
    """Every operation, valid and invalid inputs; statuses are documented ones."""
    schema = schemathesis.openapi.from_dict(dict(service.check.document))
    kb = service.knowledge_base(user="fuzz")
    document = service.ready(kb, "a.txt", b"words to find", user="fuzz")
    known = {"knowledge_base_id": kb, "document_id": document}
    for result in schema.get_all_operations():
        operation: Any = result.ok()  # type: ignore[union-attr]  # our document is valid
        if operation.path.startswith("/operator") or operation.path.endswith("/events"):
            continue  # an audit is slow and an event stream endless; both have tests of their own
        _fuzz(service, operation, known)


def _fuzz(service: RestService, operation: Any, known: dict[str, str]) -> None:
    @given(case=operation.as_strategy(), use_known=st.booleans())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def one(case: Any, use_known: bool) -> None:
        if use_known and operation.method.lower() != "delete":
            case.path_parameters = {
                name: known.get(name, value) for name, value in (case.path_parameters or {}).items()
            }
        answer = _send(service, case)
        if answer is not None:
            assert answer.status_code < 500, f"{operation.label}: {answer.text[:300]}"

    one()


def _send(service: RestService, case: Any) -> httpx.Response | None:
    sent = case.as_transport_kwargs(base_url="http://service")
    headers = {
        name: value
        for name, value in (sent.get("headers") or {}).items()
        if value.isascii() and value.isprintable()
    }
    headers["X-User-ID"] = "fuzz"
    options = {
        name: sent[name]
        for name in ("params", "json", "files", "data")
        if sent.get(name) is not None
    }
    if isinstance(options.get("data"), bytes | str):
        options["content"] = options.pop("data")
    try:
        return service.call(sent["method"], sent["url"], user=None, headers=headers, **options)
    except (httpx.InvalidURL, UnicodeEncodeError, TypeError, ValueError, asyncio.InvalidStateError):
        return None  # this client cannot send it
