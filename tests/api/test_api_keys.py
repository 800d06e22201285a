"""API keys: a secret that names its user, and nothing else does."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentscope.app.auth.api_keys import ApiKeyIdentity
from agentscope.app.running import operator_key
from agentscope.app.storage import InMemoryStorage
from agentscope.clock import SystemClock
from agentscope.credential.sealing import SecretBox
from agentscope.testing.rest import SECRET_KEY, RestService, memory_app

OPERATOR = {"Authorization": f"Bearer {operator_key(SecretBox.from_text(SECRET_KEY))}"}


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestService]:
    """A service that wants a key from everybody."""
    storage = InMemoryStorage()
    app = memory_app(
        tmp_path_factory.mktemp("keyed"), storage=storage, identity=ApiKeyIdentity(storage)
    )
    with RestService(app) as running:
        yield running


def make(keyed: RestService, owner: str, **fields: Any) -> dict[str, Any]:
    body = {"user_id": owner, "name": "ci", **fields}
    made: dict[str, Any] = keyed.json(
        "POST", "/operator/api_keys", status=201, user=None, headers=OPERATOR, json=body
    )
    return made


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def test_a_key_is_its_user(keyed: RestService) -> None:
    """Whatever the documented header says beside it."""
    alice, bob = make(keyed, "alice"), make(keyed, "bob")
    config = {
        "type": "local_credential", "credential_id": "local", "model": "m", "dimensions": 64,
    }  # fmt: skip
    body = {"name": "Of Alice", "embedding_model_config": config}
    path = "/knowledge_bases/"
    made = keyed.json("POST", path, status=201, user="bob", headers=bearer(alice["key"]), json=body)
    seen = keyed.json("GET", path, user="alice", headers=bearer(bob["key"]))
    assert seen["total"] == 0
    seen = keyed.json("GET", path, user=None, headers=bearer(alice["key"]))
    assert seen["knowledge_bases"][0]["id"] == made["knowledge_base_id"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda key: key[:-1],
        lambda key: key[:-1] + ("A" if key[-1] != "A" else "B"),
        lambda key: "rag_" + "0" * 16 + key[20:],
        lambda key: key[:21],
        lambda key: key + "0",
    ],
)
def test_anything_else_is_refused_in_the_same_way(keyed: RestService, spoil: Any) -> None:
    """One sentence, whether the key is malformed, unknown or wrong."""
    key = make(keyed, "carol")["key"]
    answer = keyed.call("GET", "/knowledge_bases/", user="carol", headers=bearer(spoil(key)))
    assert answer.status_code == 401
    assert answer.json() == {"detail": "The API key is not valid.", "code": "unauthenticated"}


def test_nothing_at_all_is_refused(keyed: RestService) -> None:
    """The documented header identifies nobody here."""
    answer = keyed.call("GET", "/knowledge_bases/", user="alice")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    audit = keyed.call("POST", "/operator/audit", user=None)
    assert audit.status_code == 401


def test_a_revoked_or_rotated_key_opens_nothing(keyed: RestService) -> None:
    """From the moment of the answer; lists show no secret."""
    admin = make(keyed, "dave", capability="admin")
    headers = bearer(admin["key"])
    body = {"name": "second"}
    second = keyed.json("POST", "/api_keys/", status=201, user=None, headers=headers, json=body)
    listed = keyed.json("GET", "/api_keys/", user=None, headers=headers)["api_keys"]
    assert [key["name"] for key in listed] == ["ci", "second"]
    assert all("key" not in key and "digest" not in key for key in listed)

    def status(text: str) -> int:
        answer = keyed.call("GET", "/knowledge_bases/", user=None, headers=bearer(text))
        return answer.status_code

    path = f"/api_keys/{second['id']}"
    rotated = keyed.json("POST", f"{path}/rotate", user=None, headers=headers)
    assert (status(second["key"]), status(rotated["key"])) == (401, 200)
    assert keyed.call("DELETE", path, user=None, headers=headers).status_code == 204
    assert keyed.call("DELETE", path, user=None, headers=headers).status_code == 404
    assert status(rotated["key"]) == 401


def test_a_key_does_what_it_may(keyed: RestService) -> None:
    """Reading keys change nothing, writing keys touch no credentials."""
    read, write = (make(keyed, "frank", capability=name)["key"] for name in ("read", "write"))
    config = {
        "type": "local_credential", "credential_id": "local", "model": "m", "dimensions": 64,
    }  # fmt: skip
    body = {"name": "x", "embedding_model_config": config}

    def status(method: str, path: str, key: str, **options: Any) -> int:
        return keyed.call(method, path, user=None, headers=bearer(key), **options).status_code

    assert status("POST", "/knowledge_bases/", read, json=body) == 403
    assert status("POST", "/knowledge_bases/", write, json=body) == 201
    assert status("GET", "/knowledge_bases/", read) == 200
    assert status("GET", "/credential/", write) == 403
    assert status("POST", "/api_keys/", write, json={"name": "more"}) == 403


def test_a_key_reaches_its_knowledge_bases_only(keyed: RestService) -> None:
    """The others are unknown to it, though its user owns them."""
    admin = bearer(make(keyed, "grace", capability="admin")["key"])
    config = {
        "type": "local_credential", "credential_id": "local", "model": "m", "dimensions": 64,
    }  # fmt: skip
    made = [
        keyed.json(
            "POST", "/knowledge_bases/", status=201, user=None, headers=admin,
            json={"name": name, "embedding_model_config": config},
        )["knowledge_base_id"]
        for name in ("one", "two")
    ]  # fmt: skip
    limited = bearer(make(keyed, "grace", knowledge_base_ids=[made[0]])["key"])
    listed = keyed.json("GET", "/knowledge_bases/", user=None, headers=limited)
    assert [row["id"] for row in listed["knowledge_bases"]] == [made[0]]
    for base, status in zip(made, (200, 404), strict=True):
        answer = keyed.call("GET", f"/knowledge_bases/{base}/documents", user=None, headers=limited)
        assert answer.status_code == status
        raw = keyed.call("GET", f"/knowledge_bases/{base}/documents/x", user=None, headers=limited)
        assert ("Knowledge" in raw.text) is (status == 404)
    body = {"name": "three", "embedding_model_config": config}
    refused = keyed.call("POST", "/knowledge_bases/", user=None, headers=limited, json=body)
    assert refused.status_code == 403


class MovedClock(SystemClock):
    """A clock that the test moves."""

    ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


def test_an_expired_key_opens_nothing(tmp_path: Path) -> None:
    """It is good until then."""
    clock = MovedClock()
    storage = InMemoryStorage(clock=clock)
    app = memory_app(tmp_path, storage=storage, identity=ApiKeyIdentity(storage))
    with RestService(app) as running:
        key = make(running, "erin", expires_in_seconds=600)["key"]
        path = "/knowledge_bases/"
        assert running.call("GET", path, user=None, headers=bearer(key)).status_code == 200
        clock.ahead = timedelta(seconds=601)
        assert running.call("GET", path, user=None, headers=bearer(key)).status_code == 401


def test_only_the_operator_makes_keys(keyed: RestService) -> None:
    """A user's key is not enough."""
    key = make(keyed, "mallory")["key"]
    for headers in ({}, bearer(key)):
        body = {"user_id": "alice"}
        answer = keyed.call("POST", "/operator/api_keys", user=None, headers=headers, json=body)
        assert answer.status_code == 401


def test_the_document_asks_for_the_key(keyed: RestService) -> None:
    """And not for the header."""
    document = keyed.check.document
    operation = document["paths"]["/knowledge_bases/"]["get"]
    assert operation["security"] == [{"api_key": []}]
    assert all(parameter["in"] != "header" for parameter in operation["parameters"])
    assert "api_key" in document["components"]["securitySchemes"]
