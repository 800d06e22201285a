"""Clients written for the documented API keep working: the recorded answers, shape by shape."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from agentscope.testing.rest import RestService

SHARED = Path(os.environ.get("RAG_SHARED", Path(__file__).parents[3] / "shared"))
SAMPLES = SHARED / "reference" / "samples"
TEXT = b"# Leave\nAnnual leave is 25 days.\n\n# Sick\nCall your manager."

if not SAMPLES.is_dir():
    if os.environ.get("CI"):
        raise RuntimeError("the recorded answers are missing; set RAG_SHARED")
    pytest.skip(
        "the recorded answers are not here; set RAG_SHARED to check them", allow_module_level=True
    )


def sample(name: str) -> Any:
    return json.loads((SAMPLES / f"{name}.json").read_text())


def assert_shape(recorded: Any, ours: Any, place: str = "$") -> None:
    """Everything recorded is there with the same JSON type; more is allowed."""
    if recorded is None or ours is None:
        return
    if isinstance(recorded, dict):
        assert isinstance(ours, dict), place
        assert set(recorded) <= set(ours), f"{place}: {set(recorded) - set(ours)} missing"
        for key, value in recorded.items():
            assert_shape(value, ours[key], f"{place}.{key}")
    elif isinstance(recorded, list):
        assert isinstance(ours, list), place
        for value in ours[:1]:
            for wanted in recorded[:1]:
                assert_shape(wanted, value, f"{place}[]")
    elif isinstance(recorded, bool) or isinstance(ours, bool):
        assert type(recorded) is type(ours), place
    elif isinstance(recorded, int | float):
        assert isinstance(ours, int | float), place
    else:
        assert isinstance(ours, str), f"{place}: {ours!r}"


def test_the_knowledge_pages_see_the_recorded_shapes(service: RestService, user: str) -> None:
    """Credential, models, knowledge base, upload, states, chunks, search and token in a row."""
    made = sample("credential_create")
    created = service.json("POST", "/credential/", status=201, user=user, json=made["request"])
    assert_shape(made["response"], created)
    assert_shape(sample("credential_list"), service.json("GET", "/credential/", user=user))
    models = service.json("GET", "/knowledge_bases/embedding_models", user=user)
    assert models["providers"].pop(0)["credential"]["data"]["type"] == "local_credential"
    assert_shape(sample("kb_embedding_models"), models)
    request = sample("kb_create")["request"]
    request["embedding_model_config"]["credential_id"] = created["credential_id"]
    answer = service.json("POST", "/knowledge_bases/", status=201, user=user, json=request)
    assert_shape(sample("kb_create")["response"], answer)
    kb = answer["knowledge_base_id"]
    assert re.fullmatch(r"[0-9a-f]{32}", kb)
    listed = service.json("GET", "/knowledge_bases/", user=user, params={"id": kb})
    assert_shape(sample("kb_list_id_filter"), listed)
    assert listed["knowledge_bases"][0]["credential_name"] == "Openai"
    patched = service.json("PATCH", f"/knowledge_bases/{kb}", user=user, json={"description": "x"})
    assert_shape(sample("kb_patch"), patched)


def test_documents_have_the_recorded_shapes(service: RestService, user: str) -> None:
    """Upload, list, states, chunks, search hits and download tokens."""
    kb = service.knowledge_base(user=user)
    sent = service.upload(kb, "leave.md", TEXT, user=user, media_type="text/markdown")
    assert sent.status_code == 201
    recorded = sample("document_upload")
    assert_shape(recorded["response"], sent.json())
    assert sent.json()["status"] == "pending"
    document = sent.json()["document_id"]
    service.settled(kb, document, user=user)
    path = f"/knowledge_bases/{kb}/documents"
    assert_shape(sample("documents_list"), service.json("GET", path, user=user))
    states = service.json("GET", f"{path}/status", user=user, params={"ids": document})
    assert_shape(sample("document_status"), states)
    chunks = service.json("GET", f"{path}/{document}/chunks", user=user)
    assert_shape(sample("document_chunks"), chunks)
    search = sample("search")
    hits = service.json("POST", f"/knowledge_bases/{kb}/search", user=user, json=search["request"])
    assert_shape(search["response"], hits)
    token = service.json("POST", f"{path}/{document}/download_token", user=user)
    assert_shape(sample("download_token"), token)
    assert token["token"].count(".") == 2


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("chunkers", "/knowledge_bases/chunkers"),
        ("middleware_parameters_schema", "/knowledge_bases/middleware/parameters_schema"),
        ("supported_content_types", "/knowledge_bases/supported_content_types"),
        ("credential_schemas", "/credential/schemas"),
        ("embedding_model_list", "/embedding-model/?provider=openai_credential"),
        ("health", "/health"),
    ],
)
def test_what_does_not_depend_on_data_has_the_recorded_shape(
    service: RestService, name: str, path: str
) -> None:
    """Capabilities, forms and health."""
    assert_shape(sample(name), service.json("GET", path))


def test_the_forms_are_the_recorded_ones(service: RestService) -> None:
    """The same provider types in the same order, and the same middleware settings."""
    ours = service.json("GET", "/credential/schemas")["schemas"]
    recorded = sample("credential_schemas")["schemas"]
    types = [schema["properties"]["type"]["const"] for schema in recorded]
    assert [schema["properties"]["type"]["const"] for schema in ours][: len(types)] == types
    for one, other in zip(recorded, ours, strict=False):
        assert set(one["properties"]) <= set(other["properties"])
        assert one.get("required", []) == other.get("required", [])
    parameters = service.json("GET", "/knowledge_bases/middleware/parameters_schema")
    assert parameters == sample("middleware_parameters_schema")


def test_every_recorded_operation_is_offered(service: RestService) -> None:
    """Paths, methods, path and query parameters and success codes of both recorded releases."""
    ours = service.check.document["paths"]
    for name in ("openapi_2.0.11_kb_subset", "openapi_2.0.3_kb_subset"):
        for path, operations in sample(name)["paths"].items():
            for method, recorded in operations.items():
                offered = ours[path][method]
                names = {(p["in"], p["name"]) for p in offered.get("parameters", ())}
                wanted = {(p["in"], p["name"]) for p in recorded.get("parameters", ())}
                if path == "/health":  # ours asks for no user: load balancers have none
                    wanted = set()
                assert wanted <= names, f"{method} {path}: {wanted - names} missing"
                good = {status for status in recorded["responses"] if status.startswith("2")}
                assert good <= set(offered["responses"]), f"{method} {path}"


def _recorded_errors() -> list[dict[str, Any]]:
    """Return those whose recording holds the whole request; the others have tests of their own."""
    incomplete = ("list bad", "dims 0", "bad chunker", "bad chunker params", "get single")
    plain = [entry for entry in sample("errors") if "{kb}" not in entry.get("request", "{kb}")]
    return [entry for entry in plain if entry["status"] >= 400 and entry["case"] not in incomplete]


EMBEDDING = {
    "type": "openai_credential",
    "credential_id": "0" * 32,
    "model": "text-embedding-3-small",
    "dimensions": 256,
}
BODIES: dict[str, Any] = {
    "bad body": {"json": {"foo": 1}},
    "missing name": {"json": {"embedding_model_config": EMBEDDING}},
    "patch 404": {"json": {"data": {"type": "openai_credential"}, "name": "x"}},
}


@pytest.mark.parametrize("entry", _recorded_errors(), ids=lambda entry: entry["case"])
def test_recorded_refusals_keep_status_and_form(service: RestService, entry: Any) -> None:
    """`detail` stays a sentence where it was one, and a list of problems where it was a list."""
    method, path = entry["request"].split(" ", 1)
    options = BODIES.get(entry["case"], {})
    user: str | None = "alice"
    if entry["case"] in ("no header", "header absent"):
        user = "" if entry["case"] == "no header" else None
    answer = service.call(method, path, user=user, **options)
    assert answer.status_code == entry["status"]
    assert type(answer.json()["detail"]) is type(entry["body"]["detail"])
    assert_shape(entry["body"], answer.json())
    assert answer.json()["code"]
