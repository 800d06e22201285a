"""The owner's own list: who is on it works in the owner's namespace, and no longer than that."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentscope.app.access import (
    DenyAllResourceAccessPolicy,
    ResourceAccessPolicyBase,
    ResourceKind,
    ResourcePermission,
    ResourceRef,
)
from agentscope.app.mcp import tools
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.storage import StorageBase
from agentscope.errors import ToolError
from agentscope.testing.rest import RestService, memory_app

SECONDS = 30


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestService]:
    """A service of its own: nobody else listens and nothing else is shared."""
    with RestService(memory_app(tmp_path_factory.mktemp("shares"))) as running:
        yield running


def give(
    service: RestService, kb: str, viewer: str, permission: str = "read", *, user: str = "owner"
) -> Any:
    path = f"/knowledge_bases/{kb}/shares/{viewer}"
    return service.json("PUT", path, user=user, json={"permission": permission})


def take(service: RestService, kb: str, viewer: str, *, user: str = "owner") -> int:
    return service.call("DELETE", f"/knowledge_bases/{kb}/shares/{viewer}", user=user).status_code


def reads(service: RestService, kb: str, document: str) -> list[tuple[str, str, dict[str, Any]]]:
    base = f"/knowledge_bases/{kb}"
    return [
        ("GET", base, {}),
        ("GET", f"{base}/documents", {}),
        ("GET", f"{base}/documents/status", {"params": {"ids": document}}),
        ("POST", f"{base}/search", {"json": {"query": "alpha"}}),
        ("GET", f"{base}/documents/{document}/chunks", {}),
        ("GET", f"{base}/documents/{document}", {}),
        ("POST", f"{base}/documents/{document}/download_token", {}),
        ("GET", f"{base}/events", {"params": {"after": 0, "seconds": 0}}),
    ]


def writes(kb: str, document: str) -> list[tuple[str, str, dict[str, Any]]]:
    base = f"/knowledge_bases/{kb}"
    return [
        ("PATCH", base, {"json": {"name": "x"}}),
        ("POST", f"{base}/documents", {"files": {"file": ("b.txt", b"words", "text/plain")}}),
        ("POST", f"{base}/documents/{document}/reindex", {}),
        ("POST", f"{base}/documents/reindex", {}),
        ("DELETE", f"{base}/documents/{document}", {}),
        ("DELETE", base, {}),
    ]


def statuses(
    service: RestService, user: str, calls: Sequence[tuple[str, str, dict[str, Any]]]
) -> set[int]:
    return {
        service.call(method, path, user=user, **options).status_code
        for method, path, options in calls
    }


def test_a_reader_reads_everything_and_changes_nothing(service: RestService) -> None:
    """Until the owner takes it back: then every verb answers as for a stranger."""
    kb = service.knowledge_base(user="owner", name="Shared")
    document = service.ready(kb, "a.txt", b"alpha words", user="owner")
    assert statuses(service, "reader", reads(service, kb, document)) == {404}
    made = give(service, kb, "reader")
    assert (made["user_id"], made["permission"]) == ("reader", "read")
    assert statuses(service, "reader", reads(service, kb, document)) == {200}
    assert statuses(service, "reader", writes(kb, document)) == {403}
    listed = service.json("GET", "/knowledge_bases/", user="reader")["knowledge_bases"]
    seen = [(row["id"], row["editable"], row["permission"]) for row in listed]
    assert seen == [(kb, False, "read")]
    assert take(service, kb, "reader") == 204
    assert statuses(service, "reader", reads(service, kb, document)) == {404}
    assert statuses(service, "reader", writes(kb, document)) == {404}
    assert service.json("GET", "/knowledge_bases/", user="reader")["total"] == 0


def test_an_editor_changes_and_shares_nothing_on(service: RestService) -> None:
    """What an editor uploads belongs to the owner; the list is the owner's alone."""
    kb = service.knowledge_base(user="owner", name="Edited")
    give(service, kb, "editor")
    give(service, kb, "editor", "edit")
    document = service.ready(kb, "b.txt", b"beta words", user="editor")
    listed = service.json("GET", f"/knowledge_bases/{kb}/documents", user="owner")
    assert [row["id"] for row in listed["documents"]] == [document]
    renamed = service.json("PATCH", f"/knowledge_bases/{kb}", user="editor", json={"name": "New"})
    assert (renamed["name"], renamed["editable"], renamed["permission"]) == ("New", True, "edit")
    shares = f"/knowledge_bases/{kb}/shares"
    refused = [
        service.call("GET", shares, user="editor"),
        service.call("PUT", f"{shares}/friend", user="editor", json={}),
        service.call("DELETE", f"{shares}/editor", user="editor"),
    ]
    assert {answer.status_code for answer in refused} == {403}
    assert service.call("DELETE", f"/knowledge_bases/{kb}", user="editor").status_code == 204
    assert service.json("GET", "/knowledge_bases/", user="editor")["total"] == 0


def test_the_list_shows_whom_the_owner_chose(service: RestService, user: str) -> None:
    """Ordered by user; a name may hold slashes and more; a misspelt one is told when taking."""
    kb = service.knowledge_base(user=user)
    names = ["a%2Fb%2F", "caf%C3%A9", "oidc%3Ax%7C1", "zoe"]
    for name in names:
        give(service, kb, name, user=user)
    shares = f"/knowledge_bases/{kb}/shares"
    listed = service.json("GET", shares, user=user)
    assert [row["user_id"] for row in listed["shares"]] == ["a/b/", "café", "oidc:x|1", "zoe"]
    assert listed["total"] == 4
    own = {row["id"]: row["permission"] for row in _listed(service, user)}
    assert own[kb] == "owner"
    assert take(service, kb, "zoé", user=user) == 404
    assert take(service, kb, "a%2Fb", user=user) == 404
    assert [take(service, kb, name, user=user) for name in names] == [204] * 4
    assert service.json("GET", shares, user=user)["total"] == 0


def _listed(service: RestService, user: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.json("GET", "/knowledge_bases/", user=user)[
        "knowledge_bases"
    ]
    return found


@pytest.mark.parametrize(
    ("name", "body"),
    [("OWNER", {}), ("%20", {}), ("x" * 300, {}), ("a%01b", {}), ("z", {"permission": "own"})],
)
def test_what_is_no_other_user_is_refused(
    service: RestService, user: str, name: str, body: dict[str, Any]
) -> None:
    """One's own name, blanks, control characters, too long; unknown permissions."""
    kb = service.knowledge_base(user=user)
    path = f"/knowledge_bases/{kb}/shares/{user if name == 'OWNER' else name}"
    assert service.call("PUT", path, user=user, json=body).status_code == 422
    assert service.json("GET", f"/knowledge_bases/{kb}/shares", user=user)["total"] == 0


def test_the_log_tells_who_shared_what_with_whom(service: RestService, user: str) -> None:
    """Also who tried to without being the owner."""
    kb = service.knowledge_base(user=user)
    give(service, kb, "reader-of-log", user=user)
    service.call("PUT", f"/knowledge_bases/{kb}/shares/x", user="reader-of-log", json={})
    take(service, kb, "reader-of-log", user=user)
    entries = service.json("GET", "/audit_log", user=user)["entries"][-3:]
    path = "/knowledge_bases/{knowledge_base_id}/shares/{user_id}"
    assert [(row["actor"], row["action"], row["status"]) for row in entries] == [
        (user, f"PUT {path}", 200),
        ("reader-of-log", f"PUT {path}", 403),
        (user, f"DELETE {path}", 204),
    ]
    assert entries[0]["resources"] == {"knowledge_base_id": kb, "user_id": "reader-of-log"}


def test_a_download_token_ends_with_the_share(service: RestService) -> None:
    """It stands for the viewer, not for the document."""
    kb = service.knowledge_base(user="owner")
    document = service.ready(kb, "c.txt", b"gamma words", user="owner")
    give(service, kb, "downloader")
    path = f"/knowledge_bases/{kb}/documents/{document}"
    token = service.json("POST", f"{path}/download_token", user="downloader")["token"]
    assert service.call("GET", path, user=None, params={"token": token}).content == b"gamma words"
    take(service, kb, "downloader")
    assert service.call("GET", path, user=None, params={"token": token}).status_code == 404


def test_tools_of_agents_follow_the_list(service: RestService) -> None:
    """Listing, searching and reading while it lasts; writing only for editors."""
    kb = service.knowledge_base(user="owner", name="For agents")
    document = service.ready(kb, "d.txt", b"delta words", user="owner")

    def tool(name: str, **arguments: Any) -> Any:
        async def ask() -> Any:
            transport = httpx.ASGITransport(app=service.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as http:
                client = tools.KnowledgeClient(http, {"X-User-ID": "agent"})
                try:
                    return await tools.call(client, name, arguments)
                except ToolError as exc:
                    return exc.message

        return service.run(ask())

    unknown = tool("search_knowledge", knowledge_base_id=kb, query="delta")
    assert "not found" in unknown
    give(service, kb, "agent")
    assert [base["id"] for base in tool("list_knowledge_bases")["knowledge_bases"]] == [kb]
    [hit] = tool("search_knowledge", knowledge_base_id=kb, query="delta")["results"]
    assert hit["document_id"] == document
    refused = tool("ingest_text", knowledge_base_id=kb, title="t", text="more")
    assert "read-only" in refused
    take(service, kb, "agent")
    assert tool("search_knowledge", knowledge_base_id=kb, query="delta") == unknown
    assert tool("list_knowledge_bases")["knowledge_bases"] == []


class Stream:
    """One request whose answer is read while it is being sent."""

    def __init__(self, service: RestService, path: str, query: str, user: str) -> None:
        self._service = service
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
            "path": path, "raw_path": path.encode(), "query_string": query.encode(),
            "root_path": "", "scheme": "http", "client": ("127.0.0.1", 1), "server": ("s", 80),
            "headers": [(b"host", b"s"), (b"x-user-id", user.encode())],
        }  # fmt: skip
        never = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await never.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.body":
                await self._queue.put(message.get("body", b""))
                if not message.get("more_body"):
                    await self._queue.put(None)

        async def begin() -> asyncio.Task[None]:
            return asyncio.ensure_future(service.app(scope, receive, send))

        self._task = service.run(begin())

    def piece(self) -> bytes | None:
        """Return the next piece that is not empty, None at the end."""

        async def read() -> bytes | None:
            async with asyncio.timeout(SECONDS):
                while (piece := await self._queue.get()) == b"":
                    continue
                return piece

        found: bytes | None = self._service.run(read())
        return found


def test_a_stream_of_events_ends_with_the_share(service: RestService) -> None:
    """Nothing that happened afterwards is in it."""
    kb = service.knowledge_base(user="owner")
    give(service, kb, "listener")
    stream = Stream(service, f"/knowledge_bases/{kb}/events", "seconds=600", "listener")
    assert b"retry:" in (stream.piece() or b"")
    first = service.ready(kb, "e.txt", b"epsilon", user="owner")
    assert first.encode() in (stream.piece() or b"")
    take(service, kb, "listener")
    later = service.ready(kb, "f.txt", b"zeta", user="owner")
    rest = b""
    while (piece := stream.piece()) is not None:
        rest += piece
    assert later.encode() not in rest


def test_the_number_of_viewers_is_bounded(tmp_path: Path) -> None:
    """Those on the list can still be changed and taken off."""
    limits = ServiceLimits(shares_per_knowledge_base=2)
    with RestService(memory_app(tmp_path, service_limits=limits)) as service:
        kb = service.knowledge_base(user="owner")
        for name in ("a", "b"):
            give(service, kb, name)
        path = f"/knowledge_bases/{kb}/shares/c"
        assert service.call("PUT", path, user="owner", json={}).status_code == 429
        give(service, kb, "a", "edit")
        take(service, kb, "b")
        give(service, kb, "c")


class ByPolicy(ResourceAccessPolicyBase):
    """Shows one knowledge base to everybody, and says itself who may edit it."""

    def __init__(self) -> None:
        self.refs: list[ResourceRef] = []
        self.editors: set[str] = set()

    async def list_accessible(
        self, viewer_id: str, kind: ResourceKind, storage: StorageBase
    ) -> Sequence[ResourceRef]:
        return [ref for ref in self.refs if ref.kind is kind]

    async def can_edit(self, viewer_id: str, ref: ResourceRef, storage: StorageBase) -> bool:
        return viewer_id in self.editors


def test_the_list_stands_beside_a_policy_of_the_embedder(tmp_path: Path) -> None:
    """What either allows is allowed; each judges for itself who may edit."""
    policy = ByPolicy()
    with RestService(memory_app(tmp_path, resource_access_policy=policy)) as service:
        first, second = (service.knowledge_base(user="owner") for _ in range(2))
        edit = ResourcePermission.EDIT
        policy.refs = [ResourceRef(ResourceKind.KNOWLEDGE_BASE, "owner", first, edit)]
        assert {row["id"]: row["permission"] for row in _listed(service, "v")} == {first: "read"}
        give(service, second, "v", "edit")
        seen = {row["id"]: row["permission"] for row in _listed(service, "v")}
        assert seen == {first: "read", second: "edit"}
        give(service, first, "v", "edit")
        both = service.json("GET", f"/knowledge_bases/{first}", user="v")
        assert both["permission"] == "edit"
        take(service, first, "v")
        assert service.json("GET", f"/knowledge_bases/{first}", user="v")["permission"] == "read"
        policy.editors.add("v")
        assert service.json("GET", f"/knowledge_bases/{first}", user="v")["permission"] == "edit"


def test_sharing_can_be_switched_off(tmp_path: Path) -> None:
    """With the policy that denies everything, the list is not looked at and cannot grow."""
    policy = DenyAllResourceAccessPolicy()
    with RestService(memory_app(tmp_path, resource_access_policy=policy)) as service:
        kb = service.knowledge_base(user="owner")
        path = f"/knowledge_bases/{kb}/shares/viewer"
        answer = service.call("PUT", path, user="owner", json={})
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
        assert service.call("GET", f"/knowledge_bases/{kb}", user="viewer").status_code == 404
