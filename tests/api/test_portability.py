"""A knowledge base leaves as one file and comes back as it was."""

import json
import uuid

import pytest

from agentscope.testing.archives import (
    changed,
    content_of,
    entries,
    exported,
    found_by,
    imported,
    names,
    sent,
)
from agentscope.testing.rest import RestService

TEXTS = {
    "leave.txt": "Annual leave is 25 days. " * 8,
    "travel.txt": "Trips are booked a week ahead by the office.",
    "fire.txt": "In case of fire use the stairs, never the lift.\n\n" * 60,
}


@pytest.fixture(scope="module")
def source(service: RestService) -> tuple[str, str]:
    """Return a user and a knowledge base with a few documents."""
    user = f"source-{uuid.uuid4().hex[:8]}"
    kb = service.knowledge_base(user=user, name="House rules", description="What we agreed on.")
    metadata = json.dumps({"year": 2024, "tags": ["a", "b"]})
    for name, text in TEXTS.items():
        service.ready(kb, name, text.encode(), user=user, metadata=metadata)
    return user, kb


def test_what_was_exported_comes_back_for_another_user(
    service: RestService, source: tuple[str, str], user: str
) -> None:
    """Settings, originals, chunks and search results are the same; ids are not."""
    owner, kb = source
    made = imported(service, user, exported(service, owner, kb))
    other = made["knowledge_base_id"]
    assert made["documents"] == {"carried": 3, "queued": 0, "present": 0}
    assert made["vectors_carried"] and not made["continued"] and made["notes"] == []
    view = service.json("GET", f"/knowledge_bases/{other}", user=user)
    assert (view["name"], view["description"]) == ("House rules", "What we agreed on.")
    for mode in ("vector", "keyword", "hybrid"):
        for query in ("annual leave", "fire stairs", "booked"):
            found = found_by(service, user, other, query, mode)
            assert found == found_by(service, owner, kb, query, mode)
            assert found
    assert content_of(service, user, other) == content_of(service, owner, kb)


def test_a_second_import_of_the_same_archive_changes_nothing(
    service: RestService, source: tuple[str, str], user: str
) -> None:
    """What is there is left; a copy has to be asked for."""
    archive = exported(service, *source)
    first = imported(service, user, archive)
    again = imported(service, user, archive)
    assert again["knowledge_base_id"] == first["knowledge_base_id"]
    assert again["documents"] == {"carried": 0, "queued": 0, "present": 3}
    assert again["continued"]
    copy = imported(service, user, archive, copy_again=True, name="A copy")
    assert copy["knowledge_base_id"] != first["knowledge_base_id"]
    assert names(service, user) == ["A copy", "House rules"]


def test_an_import_that_was_cut_short_goes_on(
    service: RestService, source: tuple[str, str], user: str
) -> None:
    """Documents that came through are whole; the rest follows with the second try."""
    archive = exported(service, *source)
    cut = archive.index(b"documents/00000003/original")
    answer = sent(service, user, archive[: cut + 520])
    assert (answer.status_code, answer.json()["code"]) == (422, "archive_incomplete")
    (listed,) = service.json("GET", "/knowledge_bases/", user=user)["knowledge_bases"]
    path = f"/knowledge_bases/{listed['id']}/documents"
    before = service.json("GET", path, user=user)["documents"]
    assert [view["status"] for view in before] == ["ready", "ready"]
    made = imported(service, user, archive)
    assert made["knowledge_base_id"] == listed["id"]
    assert made["continued"]
    assert made["documents"] == {"carried": 1, "queued": 0, "present": 2}
    assert content_of(service, user, listed["id"]) == content_of(service, *source)


def test_a_document_cut_in_its_chunks_is_indexed_from_its_original(
    service: RestService, source: tuple[str, str], user: str
) -> None:
    """It was accepted with its file, so it is finished like any other."""
    archive = exported(service, *source)
    cut = archive.index(b"documents/00000001/vectors-00000")
    answer = sent(service, user, archive[: cut + 100])
    assert answer.json()["code"] == "archive_incomplete"
    listed = service.json("GET", "/knowledge_bases/", user=user)["knowledge_bases"]
    assert listed == []  # nothing was finished, so nothing is worth going on with


def test_an_archive_of_another_model_is_indexed_again(
    service: RestService, source: tuple[str, str], user: str
) -> None:
    """Said clearly, and the documents become ready from their originals."""

    def other(name: str, content: bytes) -> bytes:
        if name != "manifest.json":
            return content
        manifest = json.loads(content)
        manifest["knowledge_base"]["embedding"]["fingerprint"] = {"model": "another"}
        return json.dumps(manifest).encode()

    made = imported(service, user, changed(exported(service, *source), other))
    assert not made["vectors_carried"]
    assert "indexed again" in made["notes"][0]
    assert made["documents"] == {"carried": 0, "queued": 3, "present": 0}
    kb = made["knowledge_base_id"]
    for view in service.json("GET", f"/knowledge_bases/{kb}/documents", user=user)["documents"]:
        assert service.settled(kb, view["id"], user=user)["status"] == "ready"
    expected = found_by(service, *source, "annual leave", "vector")
    assert found_by(service, user, kb, "annual leave", "vector") == expected


def test_documents_that_are_not_indexed_come_with_their_original(
    service: RestService, user: str
) -> None:
    """A failed document is exported, and tried again where it arrives."""
    kb = service.knowledge_base(user=user)
    service.ready(kb, "good.txt", b"Words that are found.", user=user)
    blank = service.upload(kb, "blank.txt", b" \n ", user=user).json()["document_id"]
    assert service.settled(kb, blank, user=user)["status"] == "error"
    made = imported(service, f"other-{user}", exported(service, user, kb))
    assert made["documents"] == {"carried": 1, "queued": 1, "present": 0}


def test_an_empty_knowledge_base_comes_back_empty(service: RestService, user: str) -> None:
    """Its settings are worth an archive."""
    kb = service.knowledge_base(user=user, name="Nothing yet", search_mode="keyword")
    made = imported(service, user, exported(service, user, kb))
    view = service.json("GET", f"/knowledge_bases/{made['knowledge_base_id']}", user=user)
    assert (view["name"], view["search_mode"]) == ("Nothing yet", "keyword")
    assert view["document_count"] == 0


def test_no_secret_and_no_owner_is_in_an_archive(service: RestService, user: str) -> None:
    """The credential stands there by type and name only; another is found or named."""
    secret = f"sk-{uuid.uuid4().hex}"
    data = {"type": "openai_credential", "api_key": secret, "name": "Company key"}

    def stored(owner: str) -> str:
        body = {"data": data}
        made = service.json("POST", "/credential/", status=201, user=owner, json=body)
        return str(made["credential_id"])

    credential = stored(user)
    config = {
        "type": "openai_credential",
        "credential_id": credential,
        "model": "text-embedding-3-small",
        "dimensions": 64,
    }
    kb = service.knowledge_base(user=user, embedding_model_config=config)
    archive = exported(service, user, kb)
    manifest = json.loads(dict(entries(archive))["manifest.json"])
    assert manifest["knowledge_base"]["embedding"]["credential_name"] == "Company key"
    for word in (secret, credential, user):
        assert word.encode() not in archive
    other = f"other-{user}"
    refused = sent(service, other, archive)
    assert (refused.status_code, refused.json()["code"]) == (404, "credential_not_found")
    assert "openai_credential" in refused.json()["detail"]
    own = stored(other)
    assert imported(service, other, archive)["vectors_carried"]
    named = imported(service, other, archive, copy_again=True, credential_id=own)
    view = service.json("GET", f"/knowledge_bases/{named['knowledge_base_id']}", user=other)
    assert view["embedding_model_config"]["credential_id"] == own


def test_an_export_names_its_file_and_is_not_kept(
    service: RestService, source: tuple[str, str]
) -> None:
    """Browsers save it; caches do not."""
    user, kb = source
    headers = service.call("GET", f"/knowledge_bases/{kb}/export", user=user).headers
    assert 'filename="House rules.kb.tar"' in headers["content-disposition"]
    assert headers["cache-control"] == "no-store"
