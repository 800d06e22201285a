"""Sharing by policy: a viewer works in the owner's namespace, a stranger sees nothing."""

from collections.abc import Iterator, Sequence

import pytest

from agentscope.app.access import (
    ResourceAccessPolicyBase,
    ResourceKind,
    ResourcePermission,
    ResourceRef,
)
from agentscope.app.storage import StorageBase
from agentscope.testing.rest import RestService, memory_app


class Shares(ResourceAccessPolicyBase):
    """Who may reach what; filled by the tests."""

    def __init__(self) -> None:
        self.refs: dict[str, list[ResourceRef]] = {}

    async def list_accessible(
        self, viewer_id: str, kind: ResourceKind, storage: StorageBase
    ) -> Sequence[ResourceRef]:
        return [ref for ref in self.refs.get(viewer_id, []) if ref.kind is kind]

    def share(self, viewer: str, owner: str, kb: str, permission: ResourcePermission) -> None:
        ref = ResourceRef(ResourceKind.KNOWLEDGE_BASE, owner, kb, permission)
        self.refs.setdefault(viewer, []).append(ref)


@pytest.fixture(scope="module")
def shares() -> Shares:
    """The policy of the service of this module."""
    return Shares()


@pytest.fixture(scope="module")
def shared(shares: Shares, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestService]:
    """A service with a sharing policy."""
    folder = tmp_path_factory.mktemp("shared")
    with RestService(memory_app(folder, resource_access_policy=shares)) as running:
        yield running


def test_a_reader_reads_and_changes_nothing(shared: RestService, shares: Shares) -> None:
    """List, search, browse and download work; upload, change and delete are refused."""
    kb = shared.knowledge_base(user="owner", name="Shared")
    document = shared.ready(kb, "a.txt", b"alpha words", user="owner")
    shares.share("reader", "owner", kb, ResourcePermission.READ)
    listed = shared.json("GET", "/knowledge_bases/", user="reader")
    assert [(row["id"], row["editable"]) for row in listed["knowledge_bases"]] == [(kb, False)]
    base = f"/knowledge_bases/{kb}"
    found = shared.json("POST", f"{base}/search", user="reader", json={"query": "alpha"})
    assert found["results"][0]["document_id"] == document
    assert shared.json("GET", f"{base}/documents", user="reader")["total"] == 1
    assert shared.call("GET", f"{base}/documents/{document}", user="reader").status_code == 200
    path = f"{base}/documents/{document}"
    token = shared.json("POST", f"{path}/download_token", user="reader")["token"]
    assert shared.call("GET", path, user=None, params={"token": token}).status_code == 200
    refused = [
        shared.upload(kb, "b.txt", b"words", user="reader"),
        shared.call("PATCH", base, user="reader", json={"name": "x"}),
        shared.call("DELETE", path, user="reader"),
        shared.call("POST", f"{path}/reindex", user="reader"),
        shared.call("POST", f"{base}/documents/reindex", user="reader"),
        shared.call("DELETE", base, user="reader"),
    ]
    assert {answer.status_code for answer in refused} == {403}
    assert {answer.json()["code"] for answer in refused} == {"permission_denied"}
    stranger = shared.call("GET", f"{base}/documents", user="stranger")
    assert stranger.status_code == 404


def test_an_editor_works_in_the_owners_namespace(shared: RestService, shares: Shares) -> None:
    """What an editor uploads belongs to the owner."""
    kb = shared.knowledge_base(user="owner", name="Edited")
    shares.share("editor", "owner", kb, ResourcePermission.EDIT)
    document = shared.ready(kb, "b.txt", b"beta words", user="editor")
    listed = shared.json("GET", f"/knowledge_bases/{kb}/documents", user="owner")
    assert [row["id"] for row in listed["documents"]] == [document]
    renamed = shared.json("PATCH", f"/knowledge_bases/{kb}", user="editor", json={"name": "New"})
    assert (renamed["name"], renamed["editable"]) == ("New", True)


def test_own_and_shared_are_one_list(shared: RestService, shares: Shares) -> None:
    """Sorted, filtered and paged together."""
    for number in range(3):
        shared.knowledge_base(user="both", name=f"own {number}")
    kb = shared.knowledge_base(user="owner", name="own too")
    shares.share("both", "owner", kb, ResourcePermission.READ)
    page = shared.json("GET", "/knowledge_bases/?page_size=3&name=OWN", user="both")
    rest = shared.json("GET", "/knowledge_bases/?page_size=3&page=2&name=own", user="both")
    assert (page["total"], len(page["knowledge_bases"]), len(rest["knowledge_bases"])) == (4, 3, 1)
    assert page["knowledge_bases"][0]["id"] == kb
