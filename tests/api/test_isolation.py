"""Every route with somebody else's ids answers as with ids that nobody has, and changes nothing."""

import re
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.rag.parser.text import TextParser
from agentscope.testing.rest import RestService, memory_app

MARK = f"mark{uuid.uuid4().hex[:8]}"
NO_TENANT = {
    "/health",
    "/health/live",
    "/identity",
    "/metrics",
    "/credential/schemas",
    "/embedding-model/",
}
# They speak of all tenants, to the operator: see test_operator_view.
NO_TENANT |= {
    f"/operator/{name}" for name in ("overview", "pause", "resume", "retry", "rotate_secrets")
}
EMPTY_IS_FINE = {"/knowledge_bases/{knowledge_base_id}/documents/status"}
BODIES: dict[str, Any] = {
    "/knowledge_bases/search": {"json": {"query": MARK, "knowledge_base_ids": [uuid.uuid4().hex]}},
    "/integrations/dify/retrieval": {"json": {"query": MARK, "knowledge_id": uuid.uuid4().hex}},
    "/v1/vector_stores/{knowledge_base_id}/search": {"json": {"query": "anything"}},
    "/knowledge_bases/chunkers/preview": {"json": {"text": "nobody's"}},
    "/knowledge_bases/{knowledge_base_id}/documents/{document_id}/chunks/preview": {"json": {}},
    "/knowledge_bases/{knowledge_base_id}/shares/{user_id}": {"json": {"permission": "edit"}},
    "/knowledge_bases/{knowledge_base_id}/migration": {"json": {}},
    "/webhooks/{webhook_id}": {"json": {"url": "http://127.0.0.1:9/intruder"}},
    "/webhooks/{webhook_id}/replay": {"json": {"after": 0}},
    "/knowledge_bases/{knowledge_base_id}/search": {"json": {"query": MARK}},
    "/credential/{credential_id}": {
        "json": {"data": {"type": "openai_credential", "api_key": "x"}}
    },
}


@dataclass
class Owner:
    """A tenant with one thing of each kind."""

    service: RestService
    user: str
    ids: dict[str, str] = field(default_factory=dict)

    def build(self) -> None:
        call = self.service.json
        data = {"type": "openai_credential", "api_key": f"{MARK} key", "name": f"{MARK} credential"}
        self.ids["credential_id"] = call(
            "POST", "/credential/", status=201, user=self.user, json={"data": data}
        )["credential_id"]
        kb = self.service.knowledge_base(user=self.user, name=f"{MARK} base")
        content = f"The secret is {MARK}.".encode()
        document = self.service.ready(kb, f"{MARK}.txt", content, user=self.user)
        self.ids |= {"knowledge_base_id": kb, "document_id": document}

        body = {"url": f"http://127.0.0.1:9/{MARK}", "enabled": False}
        made = call("POST", "/webhooks/", status=201, user=self.user, json=body)
        self.ids["webhook_id"] = made["id"]

    def seen(self) -> list[str]:
        kb, document = self.ids["knowledge_base_id"], self.ids["document_id"]
        paths = [
            "/knowledge_bases/",
            "/credential/",
            "/webhooks/",
            f"/knowledge_bases/{kb}/documents",
            f"/knowledge_bases/{kb}/documents/{document}",
            f"/knowledge_bases/{kb}/documents/{document}/chunks",
        ]
        return [self.service.call("GET", path, user=self.user).text for path in paths]


def _operations() -> list[tuple[str, str]]:
    """Return all operations of the document, from an app that is never started."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        document = memory_app(Path(folder)).openapi()
    return [
        (method, path)
        for path, operations in document["paths"].items()
        for method in operations
        if path not in NO_TENANT
    ]


@pytest.fixture(scope="module")
def owner(service: RestService) -> Owner:
    """Whose things are asked for."""
    built = Owner(service, f"owner-{MARK}")
    built.build()
    return built


def ask(
    service: RestService, method: str, path: str, ids: dict[str, str], user: str | None
) -> httpx.Response:
    url = path
    for name, value in ids.items():
        url = url.replace(f"{{{name}}}", value)
    options = dict(BODIES.get(path, {}))
    if method == "patch" and path == "/knowledge_bases/{knowledge_base_id}":
        options = {"json": {"name": "intruder"}}
    if method == "post" and path.endswith("/documents"):
        options = {"files": {"file": ("intruder.txt", b"intruder", "text/plain")}}
    if path.endswith("/events"):
        options = {"params": {"after": 0, "seconds": 0}}
    if path.endswith("/status"):
        options = {"params": {"ids": ids["document_id"]}}
    return service.call(method.upper(), url, user=user, **options)


def without_ids(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, re.sub(r"[0-9a-f]{32}", "<id>", answer.text)


@pytest.mark.parametrize(("method", "path"), _operations(), ids=str)
def test_a_foreign_id_is_an_unknown_id(
    service: RestService, owner: Owner, method: str, path: str
) -> None:
    """Status, body and headers tell nothing; nothing of the owner is in the answer."""
    before = owner.seen()
    nobody = {name: uuid.uuid4().hex for name in owner.ids}
    foreign = ask(service, method, path, owner.ids, "intruder")
    unknown = ask(service, method, path, nobody, "intruder")
    assert MARK not in foreign.text
    if "{" in path:
        assert without_ids(foreign) == without_ids(unknown)
        assert foreign.status_code == 404 or path in EMPTY_IS_FINE
    assert owner.seen() == before
    anonymous = ask(service, method, path, owner.ids, None)
    assert anonymous.status_code in (401, 422) or path == "/operator/audit"
    assert MARK not in anonymous.text


@pytest.mark.parametrize(("method", "path"), _operations(), ids=str)
def test_a_foreign_document_in_the_own_knowledge_base_is_unknown(
    service: RestService, owner: Owner, method: str, path: str
) -> None:
    """The first id is the intruder's own, the second is the owner's."""
    if "{document_id}" not in path:
        assert path.count("{") < 2 or path.endswith("/shares/{user_id}")
        return
    own = service.knowledge_base(user="intruder")
    mixed = ask(service, method, path, {**owner.ids, "knowledge_base_id": own}, "intruder")
    unknown = {"knowledge_base_id": own, "document_id": uuid.uuid4().hex}
    assert without_ids(mixed) == without_ids(ask(service, method, path, unknown, "intruder"))
    assert mixed.status_code in (404, 204)
    assert MARK not in mixed.text


def test_a_foreign_id_costs_the_same_reads_as_an_unknown_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that time tells nothing either, beyond what a clock over a network can see."""
    storage, reads = InMemoryStorage(), []
    for noun in (storage.knowledge_bases, storage.documents, storage.shares):
        for name in ("get", "find", "get_many", "with_viewer", "of_knowledge_base"):
            if (call := getattr(noun, name, None)) is None:
                continue

            async def counted(*given: Any, call: Any = call, name: str = name, **more: Any) -> Any:
                reads.append(name)
                return await call(*given, **more)

            monkeypatch.setattr(noun, name, counted)
    # Nothing is indexed: a worker beside the requests would read, too.
    app = memory_app(
        tmp_path, storage=storage, enable_index_worker=False, knowledge_parsers=[TextParser()]
    )
    with RestService(app) as service:
        kb = service.knowledge_base(user="owner")
        document = service.upload(kb, "a.txt", b"words", user="owner").json()["document_id"]

        def read(base: str, path: str) -> list[str]:
            reads.clear()
            url = f"/knowledge_bases/{base}{path}"
            assert service.call("GET", url, user="intruder").status_code == 404
            return list(reads)

        for path in ("", "/documents", f"/documents/{document}", "/shares", "/export"):
            assert read(kb, path) == read("0" * 32, path) == ["get", "get"]


def test_a_foreign_credential_makes_no_knowledge_base(service: RestService, owner: Owner) -> None:
    """It is unknown, like one that never was."""
    config = {
        "type": "openai_credential",
        "credential_id": owner.ids["credential_id"],
        "model": "text-embedding-3-small",
        "dimensions": 64,
    }
    body = {"name": "borrowed", "embedding_model_config": config}
    answer = service.call("POST", "/knowledge_bases/", user="intruder", json=body)
    assert answer.status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        lambda user: user.upper(), lambda user: user + ":", lambda user: f"./{user}",
        lambda user: user[:-1] + "*", lambda user: user[:-1] + "_", lambda user: "%",
        lambda user: "x' OR '1'='1", lambda user: f"{user},intruder",
    ],
)  # fmt: skip
def test_a_user_id_that_looks_alike_is_another_user(
    service: RestService, owner: Owner, change: Any
) -> None:
    """No pattern, no separator, no other case."""
    listed = service.json("GET", "/knowledge_bases/", user=change(owner.user))
    assert listed["total"] == 0


def test_a_filter_does_not_cross_the_border(service: RestService, owner: Owner) -> None:
    """Whatever a search asks for, it stays in its knowledge base."""
    kb = service.knowledge_base(user="intruder")
    body = {
        "query": MARK,
        "top_k": 50,
        "metadata_filter": {"$or": [{"filename": f"{MARK}.txt"}, {"kb_id": {"$exists": True}}]},
        "document_ids": [owner.ids["document_id"]],
    }
    found = service.json("POST", f"/knowledge_bases/{kb}/search", user="intruder", json=body)
    assert found["results"] == []
