"""Uploads by name: kept beside each other, refused, or the new version of what is there."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.indexing.purge import Purger
from agentscope.app.rag.indexing.worker import IndexWorker
from agentscope.app.records import MaintenanceClaim, Policy
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.rest import FakeModelsManager, RestService, memory_app


def listed(service: RestService, user: str, kb: str) -> list[str]:
    """Return the ids of the documents."""
    found = service.json("GET", f"/knowledge_bases/{kb}/documents", user=user)["documents"]
    return sorted(view["id"] for view in found)


def gone(service: RestService, user: str, kb: str, document_id: str) -> bool:
    """Say whether a document disappears within a generous time."""
    deadline = time.monotonic() + 30
    while document_id in listed(service, user, kb):
        if time.monotonic() > deadline:
            return False
    return True


def texts(service: RestService, user: str, kb: str, query: str) -> list[str]:
    """Return the texts that a keyword search finds."""
    body = {"query": query, "mode": "keyword"}
    found = service.json("POST", f"/knowledge_bases/{kb}/search", user=user, json=body)
    return sorted(hit["chunk"]["content"]["text"] for hit in found["results"])


def test_documents_of_one_name_stand_beside_each_other_by_default(
    service: RestService, user: str
) -> None:
    """A name is no identity unless the uploader says so."""
    kb = service.knowledge_base(user=user)
    first = service.ready(kb, "plan.txt", b"The first plan.", user=user)
    second = service.ready(kb, "plan.txt", b"The second plan.", user=user)
    assert listed(service, user, kb) == sorted([first, second])


def test_a_new_version_takes_the_place_of_all_of_its_name(service: RestService, user: str) -> None:
    """Other names stay, however alike they are."""
    kb = service.knowledge_base(user=user)
    old = [service.ready(kb, "plan.txt", f"Plan {n}.".encode(), user=user) for n in range(2)]
    others = [
        service.ready(kb, name, f"Plan of {name}.".encode(), user=user)
        for name in ("Plan.txt", "my plan.txt", "plan.txt.txt")
    ]
    new = service.ready(kb, "plan.txt", b"The new plan.", user=user, on_same_name="replace")
    assert all(gone(service, user, kb, document_id) for document_id in old)
    assert listed(service, user, kb) == sorted([new, *others])
    assert "Plan 0." not in texts(service, user, kb, "plan")


def test_the_old_version_stays_until_the_new_one_is_searchable(
    service: RestService, user: str
) -> None:
    """One that cannot be read takes nobody's place; deleting it changes nothing either."""
    kb = service.knowledge_base(user=user)
    old = service.ready(kb, "plan.txt", b"The plan stands.", user=user)
    sent = service.upload(kb, "plan.txt", b" \n ", user=user, on_same_name="replace")
    broken = sent.json()["document_id"]
    assert service.settled(kb, broken, user=user)["status"] == "error"
    assert listed(service, user, kb) == sorted([old, broken])
    assert texts(service, user, kb, "plan") == ["The plan stands."]
    path = f"/knowledge_bases/{kb}/documents/{broken}"
    service.json("DELETE", path, status=204, user=user)
    assert texts(service, user, kb, "plan") == ["The plan stands."]


def test_a_name_that_is_taken_can_be_refused(service: RestService, user: str) -> None:
    """Nothing is stored, and nothing is set aside."""
    kb = service.knowledge_base(user=user)
    first = service.ready(kb, "plan.txt", b"The plan.", user=user)
    refused = service.upload(kb, "plan.txt", b"Another plan.", user=user, on_same_name="reject")
    assert (refused.status_code, refused.json()["code"]) == (409, "duplicate_name")
    assert listed(service, user, kb) == [first]
    taken = service.upload(kb, "plans.txt", b"Another plan.", user=user, on_same_name="reject")
    assert taken.status_code == 201


@pytest.mark.parametrize("value", ["version", "REPLACE", "1"])
def test_an_unknown_policy_is_refused(service: RestService, user: str, value: str) -> None:
    """The answer names those there are."""
    kb = service.knowledge_base(user=user)
    answer = service.upload(kb, "plan.txt", b"The plan.", user=user, on_same_name=value)
    assert answer.status_code == 422
    assert "keep, replace, reject" in answer.json()["detail"]


def test_a_worker_that_dies_after_publishing_leaves_the_old_version_to_the_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record remembers what it replaces."""

    async def died(self: Any, document: Any) -> None:
        del self, document

    monkeypatch.setattr(IndexWorker, "_retire_replaced", died)
    storage, vectors = InMemoryStorage(), InMemoryVectorStore()
    with RestService(memory_app(tmp_path, storage=storage, vector_store=vectors)) as service:
        kb = service.knowledge_base()
        old = service.ready(kb, "plan.txt", b"The old plan.")
        new = service.ready(kb, "plan.txt", b"The new plan.", on_same_name="replace")
        assert listed(service, "alice", kb) == sorted([old, new])
        purger = Purger(
            storage=storage,
            manager=FakeModelsManager(storage, vectors),
            blobs=LocalBlobStore(tmp_path / "blobs"),
            policy=Policy(),
        )
        record = service.run(storage.documents.get("alice", kb, new))
        service.run(purger.run(MaintenanceClaim(claimed_at=datetime.now(UTC), document=record)))
        assert listed(service, "alice", kb) == [new]
