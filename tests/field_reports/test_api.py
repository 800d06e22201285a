"""Public failure reports about uploads, names, routing, duplicates and tenants."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.rag.parser.installed import default_parsers
from agentscope.testing.rest import RestService, memory_app


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestService]:
    """A service with every parser that is installed."""
    folder = tmp_path_factory.mktemp("reports")
    with RestService(memory_app(folder, knowledge_parsers=default_parsers())) as running:
        yield running


@pytest.fixture
def user() -> str:
    """A user of this test only."""
    return uuid.uuid4().hex


def test_field_report_26_foreign_ids_are_unknown_on_every_kind_of_route(
    service: RestService, user: str
) -> None:
    """Knowledge base, document, chunks, token, states, retry: as with ids that nobody has."""
    kb = service.knowledge_base(user=user)
    document = service.ready(kb, "a.txt", b"words of the owner", user=user)
    routes = [
        ("GET", "/knowledge_bases/{kb}"),
        ("PATCH", "/knowledge_bases/{kb}"),
        ("GET", "/knowledge_bases/{kb}/documents"),
        ("GET", "/knowledge_bases/{kb}/documents/status?ids={doc}"),
        ("GET", "/knowledge_bases/{kb}/documents/{doc}"),
        ("GET", "/knowledge_bases/{kb}/documents/{doc}/chunks"),
        ("POST", "/knowledge_bases/{kb}/documents/{doc}/download_token"),
        ("POST", "/knowledge_bases/{kb}/documents/{doc}/reindex"),
        ("POST", "/knowledge_bases/{kb}/documents/reindex"),
        ("DELETE", "/knowledge_bases/{kb}/documents/{doc}"),
        ("DELETE", "/knowledge_bases/{kb}"),
    ]
    for method, route in routes:
        body = {"json": {"name": "taken over"}} if method == "PATCH" else {}
        foreign = service.call(method, route.format(kb=kb, doc=document), user="u2", **body)
        nobody = uuid.uuid4().hex
        unknown = service.call(method, route.format(kb=nobody, doc=nobody), user="u2", **body)
        assert foreign.status_code == unknown.status_code == 404, route
        assert foreign.text.replace(kb, nobody).replace(document, nobody) == unknown.text
    view = service.json("GET", f"/knowledge_bases/{kb}", user=user)
    assert (view["name"], view["document_count"]) == ("Handbook", 1)


def test_field_report_28_the_same_file_many_times_at_once_is_one_document(
    service: RestService, user: str
) -> None:
    """Again after deleting it, and under another name."""
    kb = service.knowledge_base(user=user)
    path = f"/knowledge_bases/{kb}/documents"

    async def race(name: str) -> list[httpx.Response]:
        async def one() -> httpx.Response:
            return await service._client.post(
                path,
                headers={"X-User-ID": user},
                files={"file": (name, b"the same bytes", "text/plain")},
                data={"on_duplicate": "skip"},
            )

        return await asyncio.gather(*(one() for _ in range(10)))

    def only_document(name: str) -> str:
        answers = service.run(race(name))
        assert {answer.status_code for answer in answers} == {201}
        (document,) = {str(answer.json()["document_id"]) for answer in answers}
        assert service.settled(kb, document, user=user)["status"] == "ready"
        assert service.json("GET", path, user=user)["total"] == 1
        return document

    first = only_document("first.txt")
    assert only_document("other.txt") == first
    assert service.call("DELETE", f"{path}/{first}", user=user).status_code == 204
    second = only_document("first.txt")
    assert second != first
    assert service.json("GET", path, user=user)["documents"][0]["status"] == "ready"


@pytest.mark.parametrize(
    "name",
    [
        "报告 2026 (终).pdf.txt",
        'a"b.txt',
        "é" * 125 + ".txt",
        "\U0001f4c4 emoji.txt",
        "rtl\u202etxt.txt",
        "..%2Fx.txt",
        "con.txt",
        "noextension",
    ],
)
def test_field_report_44_odd_names_are_kept_and_come_back(
    service: RestService, user: str, name: str
) -> None:
    """Shown exactly, downloadable under an ASCII and a UTF-8 name."""
    kb = service.knowledge_base(user=user)
    document = service.ready(kb, name, b"some words", user=user)
    path = f"/knowledge_bases/{kb}/documents/{document}"
    assert service.json("GET", f"{path}/info", user=user)["filename"] == name
    answer = service.call("GET", path, user=user)
    assert answer.status_code == 200
    header = answer.headers["content-disposition"]
    assert header.isascii()
    assert "filename*=UTF-8''" in header
    found = service.json(
        "POST", f"/knowledge_bases/{kb}/search", user=user, json={"query": "words"}
    )
    assert found["results"][0]["chunk"]["source"] == name


@pytest.mark.parametrize("name", ["a\nb.txt", "a\x00b.txt", "x" * 300 + ".txt", "../.."])
def test_field_report_44_names_that_cannot_be_are_refused(
    service: RestService, user: str, name: str
) -> None:
    """With 422, never with a path outside the store."""
    kb = service.knowledge_base(user=user)
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    body = f"--b\r\n{head}\r\n\r\nx\r\n--b--\r\n"
    answer = service.call(
        "POST",
        f"/knowledge_bases/{kb}/documents",
        user=user,
        content=body.encode(),
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("name", "content", "declared", "routed"),
    [
        ("notes.md", b"# Title\nwords", "application/octet-stream", "text/markdown"),
        ("t.csv", b"id,name\n1,words\n", "application/vnd.ms-excel", "text/csv"),
        ("a.txt", "知识库 words".encode("gbk"), "text/plain; charset=gbk", "text/plain"),
        ("A.TXT", b"words", "application/octet-stream", "text/plain"),
    ],
)
def test_field_report_45_a_file_is_routed_by_what_is_known_best(
    service: RestService, user: str, name: str, content: bytes, declared: str, routed: str
) -> None:
    """Declared type, extension in any case, charset parameter."""
    kb = service.knowledge_base(user=user)
    document = service.ready(kb, name, content, user=user, media_type=declared)
    path = f"/knowledge_bases/{kb}/documents/{document}"
    content_type = service.json("GET", f"{path}/info", user=user)["content_type"]
    assert content_type.split(";")[0] == routed
    text = json.dumps(service.json("GET", f"{path}/chunks", user=user), ensure_ascii=False)
    assert "words" in text
    assert "知识库" in text or "gbk" not in declared


def test_field_report_45_an_unknown_type_is_refused_at_the_upload(
    service: RestService, user: str
) -> None:
    """Not later, when nobody looks any more."""
    kb = service.knowledge_base(user=user)
    answer = service.upload(kb, "x.xyz", b"\x01\x02", user=user, media_type="application/x-xyz")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize("claimed", [None, "100"], ids=["chunked", "false-length"])
def test_field_report_50_an_endless_upload_ends_at_the_limit(
    tmp_path: Path, claimed: str | None
) -> None:
    """413 early, memory flat, nothing left on disk."""
    taken = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal taken
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        while True:
            taken += 1 << 20
            yield b"0" * (1 << 20)

    limit = 8 << 20
    app = memory_app(tmp_path, service_limits=ServiceLimits(upload_bytes=limit))
    with RestService(app) as running:
        kb = running.knowledge_base()
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        if claimed:
            headers["Content-Length"] = claimed
        answer = running.call(
            "POST", f"/knowledge_bases/{kb}/documents", content=body(), headers=headers
        )
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert taken < limit + (4 << 20)
        assert running.json("GET", f"/knowledge_bases/{kb}/documents")["total"] == 0
    assert not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
