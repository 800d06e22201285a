"""Credentials: secrets go in and never come out again."""

import json
from typing import Any

import pytest

from agentscope.credential.base import MASK
from agentscope.testing.rest import RestService

SECRET = "sk-very-secret-0123456789"


def create(service: RestService, user: str, **fields: Any) -> str:
    data = {"type": "openai_credential", "api_key": SECRET, **fields}
    made = service.json("POST", "/credential/", status=201, user=user, json={"data": data})
    return str(made["credential_id"])


def test_no_answer_holds_the_secret(service: RestService, user: str) -> None:
    """Not in the list, not after a change, not among the models, not in a refusal."""
    key = create(service, user)
    patch = {"data": {"type": "openai_credential", "name": "Renamed"}}
    bad = {"data": {"type": "openai_credential", "api_key": SECRET, "base_url": ["x"]}}
    answers = [
        service.call("GET", "/credential/", user=user),
        service.call("PATCH", f"/credential/{key}", user=user, json=patch),
        service.call("GET", "/knowledge_bases/embedding_models", user=user),
        service.call("POST", "/credential/", user=user, json=bad),
        service.call("PATCH", f"/credential/{key}", user=user, json=bad),
    ]
    assert all(SECRET not in answer.text for answer in answers)
    assert [answer.status_code for answer in answers] == [200, 200, 200, 422, 422]
    assert answers[1].json()["data"]["api_key"] == MASK


def test_a_masked_or_absent_secret_is_kept(service: RestService, user: str) -> None:
    """The round trip of an edit form that never saw the secret."""
    key = create(service, user, base_url="http://127.0.0.1:9/v1")
    shown = service.json("GET", "/credential/", user=user)["credentials"][0]["data"]
    edited = {"data": {**shown, "name": "Edited"}}
    view = service.json("PATCH", f"/credential/{key}", user=user, json=edited)
    assert (view["data"]["name"], view["data"]["base_url"]) == ("Edited", "http://127.0.0.1:9/v1")
    assert view["data"]["id"] == key
    again = {"data": {"type": "openai_credential"}}
    assert service.json("PATCH", f"/credential/{key}", user=user, json=again)["data"]["api_key"]


def test_names_are_given_and_numbered(service: RestService, user: str) -> None:
    """An empty name becomes the provider's word."""
    for _ in range(2):
        create(service, user)
    names = [
        entry["data"]["name"]
        for entry in service.json("GET", "/credential/", user=user)["credentials"]
    ]
    assert names == ["Openai", "Openai (2)"]


@pytest.mark.parametrize(
    "data",
    [{}, {"type": "nope"}, {"type": "openai_credential"}, {"type": 5}, {"id": "a/b", "type": "x"}],
)
def test_a_payload_that_does_not_fit_is_a_422(
    service: RestService, user: str, data: dict[str, Any]
) -> None:
    """In the shape of a request that is not well-formed."""
    answer = service.call("POST", "/credential/", user=user, json={"data": data})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"][:2] == ["body", "data"]


def test_the_built_in_credential_cannot_be_changed(service: RestService, user: str) -> None:
    """It is offered, but not listed, and nobody can take its place."""
    offered = service.json("GET", "/knowledge_bases/embedding_models", user=user)["providers"]
    key = offered[0]["credential"]["id"]
    assert offered[0]["credential"]["data"]["type"] == "local_credential"
    assert not offered[0]["credential"]["editable"]
    assert service.json("GET", "/credential/", user=user)["total"] == 0
    body = {"data": {"type": "openai_credential", "api_key": "x"}}
    for name in ("local", key):
        path = f"/credential/{name}"
        assert service.call("PATCH", path, user=user, json=body).status_code == 403
        assert service.call("DELETE", path, user=user).status_code == 403
    other = service.call("DELETE", f"/credential/{key}", user=f"{user}-other")
    assert other.status_code == 404  # an id of one user is unknown to another
    config = {"type": "local_credential", "credential_id": key, "model": "m", "dimensions": 64}
    kb = service.knowledge_base(user=user, embedding_model_config=config)
    view = service.json("GET", f"/knowledge_bases/{kb}", user=user)
    assert view["embedding_model_config"]["credential_id"] == "local"
    taken = {"data": {"id": "local", "type": "openai_credential", "api_key": "x"}}
    assert service.call("POST", "/credential/", user=user, json=taken).status_code == 409


def test_a_credential_in_use_is_shown_and_protected_on_request(
    service: RestService, user: str
) -> None:
    """Deleting is allowed as documented; a client may ask for care."""
    key = create(service, user)
    config = {
        "type": "openai_credential",
        "credential_id": key,
        "model": "text-embedding-3-small",
        "dimensions": 64,
    }
    kb = service.knowledge_base(user=user, embedding_model_config=config)
    listed = service.json("GET", "/credential/", user=user)["credentials"][0]
    assert listed["used_by"] == [{"id": kb, "name": "Handbook"}]
    careful = service.call("DELETE", f"/credential/{key}?only_if_unused=true", user=user)
    assert careful.status_code == 409
    document = service.ready(kb, "a.txt", b"alpha words", user=user)
    assert service.call("DELETE", f"/credential/{key}", user=user).status_code == 204
    view = service.json("GET", f"/knowledge_bases/{kb}", user=user)
    assert view["credential_name"] is None
    search = service.call("POST", f"/knowledge_bases/{kb}/search", user=user, json={"query": "a"})
    wanted = f"Credential '{key}' for knowledge base '{kb}' not found."
    assert (search.status_code, search.json()["detail"]) == (404, wanted)
    path = f"/knowledge_bases/{kb}/documents/{document}"
    assert service.json("GET", f"{path}/chunks", user=user)["total"] == 1
    assert service.call("DELETE", path, user=user).status_code == 204


def test_one_id_can_belong_to_one_user_only(service: RestService, user: str) -> None:
    """Chosen ids collide, whoever has them."""
    create(service, user, id=f"chosen-{user}")
    body = {"data": {"type": "openai_credential", "api_key": "x", "id": f"chosen-{user}"}}
    assert service.call("POST", "/credential/", user=user, json=body).status_code == 409
    other = service.call("POST", "/credential/", user=f"{user}-2", json=body)
    assert other.status_code == 409
    assert SECRET not in other.text


def test_a_credential_can_be_tried(service: RestService, user: str) -> None:
    """Before and after it is stored; a server that does not answer is told, never a 500."""
    dead = {"type": "openai_credential", "api_key": SECRET, "base_url": "http://127.0.0.1:9/v1"}
    tried = service.json("POST", "/credential/test", user=user, json={"data": dead})
    assert tried["ok"] is False
    assert tried["detail"]
    key = create(service, user, base_url="http://127.0.0.1:9/v1")
    again = service.json("POST", f"/credential/{key}/test", user=user)
    assert again["ok"] is False
    assert SECRET not in json.dumps([tried, again])
    other = service.call("POST", f"/credential/{key}/test", user=f"{user}-2")
    assert other.status_code == 404
    bad = service.call("POST", "/credential/test", user=user, json={"data": {"type": "nope"}})
    assert bad.status_code == 422
    metadata = {**dead, "base_url": "http://169.254.169.254/v1"}
    refused = service.json("POST", "/credential/test", user=user, json={"data": metadata})
    assert refused["ok"] is False
