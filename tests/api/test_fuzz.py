"""Requests made up from the OpenAPI document: whatever comes, no answer is a 500."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agentscope.app.auth.api_keys import ApiKeyIdentity, ApiKeys, NewApiKey
from agentscope.app.auth.permissions import Capability
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.testing.rest import DIMENSIONS, RestService, memory_app

EXAMPLES = 4
MODEL = {
    "type": "local_credential",
    "credential_id": "local",
    "model": "fake-embedding",
    "dimensions": DIMENSIONS,
}
Callers = list[dict[str, str]]


@schemathesis.serializer("application/x-tar")
def archive(ctx: Any, value: Any) -> bytes:
    """Send what was made up in place of an archive as it is."""
    del ctx
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RestService, Callers]]:
    """A service that asks for keys, and callers with all kinds of them, the best one first."""
    storage = InMemoryStorage()
    app = memory_app(
        tmp_path_factory.mktemp("keyed"), storage=storage, identity=ApiKeyIdentity(storage)
    )
    with RestService(app) as running:
        keys = ApiKeys(storage)

        def make(capability: Capability, bases: frozenset[str] | None = None) -> dict[str, str]:
            wanted = NewApiKey("k", capability, bases)
            _, text = running.run(keys.create("fuzz", wanted))
            return {"Authorization": f"Bearer {text}"}

        callers = [make(capability) for capability in reversed(Capability)]
        callers.append(make(Capability.ADMIN, frozenset({"0" * 32})))
        yield running, [*callers, {"Authorization": "Bearer rag_x_y"}, {}]


def test_no_made_up_request_breaks_the_service(service: RestService) -> None:
    """Every operation, valid and invalid inputs; statuses are documented ones."""
    _all_operations(service, [{"X-User-ID": "fuzz"}])


def test_no_made_up_request_of_any_key_breaks_the_service(
    keyed: tuple[RestService, Callers],
) -> None:
    """As before, by callers who may all, little or nothing."""
    _all_operations(*keyed)


def _all_operations(service: RestService, callers: Callers) -> None:
    schema = schemathesis.openapi.from_dict(dict(service.check.document))
    known = _known(service, callers[0])
    for result in schema.get_all_operations():
        operation: Any = result.ok()  # type: ignore[union-attr]  # our document is valid
        if operation.path.startswith("/operator") or operation.path.endswith("/events"):
            continue  # an audit is slow and an event stream endless; both have tests of their own
        _fuzz(service, operation, known, callers)


def _known(service: RestService, caller: Mapping[str, str]) -> dict[str, str]:
    body = {"name": "known", "embedding_model_config": MODEL}
    made = service.json(
        "POST", "/knowledge_bases/", status=201, user=None, headers=caller, json=body
    )
    kb = made["knowledge_base_id"]
    path, files = f"/knowledge_bases/{kb}/documents", {"file": ("a.txt", b"words", "text/plain")}
    sent = service.json("POST", path, status=201, user=None, headers=caller, files=files)
    return {"knowledge_base_id": kb, "document_id": sent["document_id"]}


def _fuzz(service: RestService, operation: Any, known: dict[str, str], callers: Callers) -> None:
    @given(case=operation.as_strategy(), use_known=st.booleans(), caller=st.sampled_from(callers))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def one(case: Any, use_known: bool, caller: dict[str, str]) -> None:
        if use_known and operation.method.lower() != "delete":
            case.path_parameters = {
                name: known.get(name, value) for name, value in (case.path_parameters or {}).items()
            }
        answer = _send(service, case, caller)
        if answer is not None:
            assert answer.status_code < 500, f"{operation.label}: {answer.text[:300]}"

    one()


def _send(service: RestService, case: Any, caller: Mapping[str, str]) -> httpx.Response | None:
    sent = case.as_transport_kwargs(base_url="http://service")
    headers = {
        name: value
        for name, value in (sent.get("headers") or {}).items()
        if value.isascii() and value.isprintable()
    }
    headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
    headers.update(caller)
    options = {
        name: sent[name]
        for name in ("params", "json", "files", "data")
        if sent.get(name) is not None
    }
    if options.get("files"):
        options["files"] = _written(options["files"])
    if isinstance(options.get("data"), bytes | str):
        options["content"] = options.pop("data")
    try:
        return service.call(sent["method"], sent["url"], user=None, headers=headers, **options)
    except (httpx.InvalidURL, UnicodeEncodeError, TypeError, ValueError, asyncio.InvalidStateError):
        return None  # this client cannot send it


def _written(value: Any) -> Any:
    """Write numbers and the like out: this client would fail at them in the middle of the body."""
    if isinstance(value, dict):
        return {name: _written(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_written(part) for part in value)
    return value if value is None or isinstance(value, bytes | str) else str(value)
