"""The operator's view: queue, workers, failures, pauses and retries, over all tenants."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentscope.installation import installed_version
from agentscope.testing.rest import RestService, memory_app

PAUSED = "Indexing is paused by the operator: too many scans."


@pytest.fixture
def own(tmp_path: Path) -> Iterator[RestService]:
    """A service of which nobody else sees the queue."""
    with RestService(memory_app(tmp_path)) as running:
        yield running


def _documents(service: RestService, kb: str, user: str) -> list[dict[str, Any]]:
    found = service.json("GET", f"/knowledge_bases/{kb}/documents", user=user)
    return list(found["documents"])


def _waiting(service: RestService, kb: str, name: str, user: str) -> str:
    sent = service.upload(kb, name, b"plain words", user=user)
    assert sent.status_code == 201
    return str(sent.json()["document_id"])


def test_a_paused_tenant_uploads_and_waits_and_is_told_why(own: RestService) -> None:
    """Others go on; the documents are indexed once the pause ends."""
    held, free = own.knowledge_base(user="held"), own.knowledge_base(user="free")
    body = {"user_id": "held", "reason": " too many scans. "}
    pause = own.json("POST", "/operator/pause", json=body)
    assert (pause["kind"], pause["id"], pause["reason"]) == ("tenant", "held", "too many scans.")
    document = _waiting(own, held, "a.txt", "held")
    own.ready(free, "b.txt", b"words", user="free")

    [shown] = _documents(own, held, "held")
    assert (shown["status"], shown["paused_reason"]) == ("pending", PAUSED)
    base = own.json("GET", f"/knowledge_bases/{held}", user="held")
    assert base["paused_reason"] == PAUSED
    assert own.json("GET", f"/knowledge_bases/{free}", user="free")["paused_reason"] is None
    [shown] = _documents(own, free, "free")
    assert shown["paused_reason"] is None

    overview = own.json("GET", "/operator/overview")
    assert overview["paused"] == [pause]
    [tenant] = overview["queue"]["top"]
    assert (tenant["user_id"], tenant["documents"], tenant["running"]) == ("held", 1, 0)
    classes = {one["name"]: one["documents"] for one in overview["queue"]["classes"]}
    assert classes == {"small": 0, "large": 0, "paused": 1}

    own.json("POST", "/operator/resume", status=204, json={"user_id": "held"})
    assert own.settled(held, document, user="held")["status"] == "ready"
    assert own.json("GET", "/operator/overview")["paused"] == []


def test_a_paused_knowledge_base_waits_and_its_neighbour_does_not(own: RestService) -> None:
    """Without a reason the sentence stands alone; the info page has it, too."""
    paused, other = own.knowledge_base(), own.knowledge_base()
    own.json("POST", "/operator/pause", json={"knowledge_base_id": paused})
    document = _waiting(own, paused, "a.txt", "alice")
    own.ready(other, "b.txt", b"words")
    info = own.json("GET", f"/knowledge_bases/{paused}/documents/{document}/info")
    assert info["paused_reason"] == "Indexing is paused by the operator."
    own.json("POST", "/operator/resume", status=204, json={"knowledge_base_id": paused})
    assert own.settled(paused, document)["paused_reason"] is None


def test_a_pause_goes_with_its_knowledge_base(own: RestService) -> None:
    """What is deleted is not listed as paused for ever."""
    kb = own.knowledge_base()
    own.json("POST", "/operator/pause", json={"knowledge_base_id": kb})
    assert own.call("DELETE", f"/knowledge_bases/{kb}").status_code == 204
    deadline = time.monotonic() + 30
    while own.json("GET", "/operator/overview")["paused"]:
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)


def test_failed_documents_are_counted_by_code_and_retried_in_batches(own: RestService) -> None:
    """By code, tenant and knowledge base; each batch says where the next goes on."""
    bases = {user: own.knowledge_base(user=user) for user in ("one", "two")}
    failed: dict[str, list[str]] = {"one": [], "two": []}
    for user, count in (("one", 3), ("two", 1)):
        for number in range(count):
            sent = own.upload(bases[user], f"{number}.txt", b" \n" * (number + 1), user=user)
            failed[user].append(sent.json()["document_id"])
            own.settled(bases[user], failed[user][-1], user=user)
    failures = own.json("GET", "/operator/overview")["failures"]
    assert failures == {"total": 4, "by_code": {"no_text": 4}, "complete": True}

    # Paused, so that what is tried again does not fail again before it was looked at.
    for user in bases:
        own.json("POST", "/operator/pause", json={"user_id": user})
    nothing = own.json("POST", "/operator/retry", json={"code": "embedding_auth"})
    assert nothing == {"retried": 0, "looked_at": 4, "next": None}
    first = own.json("POST", "/operator/retry", json={"user_id": "one", "limit": 2})
    assert (first["retried"], first["next"] is None) == (2, False)
    rest = own.json("POST", "/operator/retry", json={"user_id": "one", "after": first["next"]})
    assert (rest["retried"], rest["next"]) == (1, None)
    states = [one["status"] for one in _documents(own, bases["one"], "one")]
    assert states == ["pending"] * 3
    by_base = {"knowledge_base_id": bases["two"], "code": "no_text"}
    assert own.json("POST", "/operator/retry", json=by_base)["retried"] == 1
    assert own.json("GET", "/operator/overview")["failures"]["total"] == 0


def test_workers_tell_who_they_are(own: RestService) -> None:
    """Version, host, slots and when they were last seen."""
    [worker] = own.json("GET", "/operator/overview")["workers"]
    assert worker["host"] == socket.gethostname()
    assert worker["version"] == installed_version()
    assert worker["state"] in ("starting", "ok", "degraded")
    assert worker["slots"] == 4
    assert worker["started_at"] <= worker["seen_at"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("pause", {}, 422),
        ("pause", {"user_id": "u", "knowledge_base_id": "k"}, 422),
        ("pause", {"knowledge_base_id": "nobody-has-it"}, 404),
        ("resume", {"user_id": "nobody-paused"}, 404),
        ("retry", {"limit": 0}, 422),
    ],
)
def test_what_makes_no_sense_is_refused(
    service: RestService, path: str, body: dict[str, Any], status: int
) -> None:
    """And changes nothing."""
    assert service.call("POST", f"/operator/{path}", json=body).status_code == status


def test_every_operator_route_takes_the_key(tmp_path: Path) -> None:
    """From elsewhere nobody passes without it, whoever they say they are."""
    with RestService(memory_app(tmp_path), client_address="192.0.2.7") as far:
        operations = [
            (method.upper(), path)
            for path, found in far.app.openapi()["paths"].items()
            for method in found
            if path.startswith("/operator/") and "{" not in path
        ]
        assert len(operations) >= 6
        for method, path in operations:
            assert far.call(method, path, json={}).status_code == 401, path
        key = {"Authorization": f"Bearer {far.app.state.agentscope.parts.operator_key}"}
        assert far.call("GET", "/operator/overview", headers=key).status_code == 200
        body = {"user_id": "u"}
        assert far.call("POST", "/operator/pause", headers=key, json=body).status_code == 200
