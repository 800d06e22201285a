"""Uploading: names, types, fields, duplicates, limits; and nothing left of what failed."""

import asyncio
import hashlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.testing.rest import RestService, memory_app

BOUNDARY = "the-boundary"


def form(*parts: tuple[str, bytes]) -> bytes:
    """Return a form made by hand; each part is its disposition and its content."""
    pieces = [
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + body + b"\r\n"
        for head, body in parts
    ]
    return b"".join(pieces) + f"--{BOUNDARY}--\r\n".encode()


def post_form(service: RestService, kb: str, content: Any, user: str) -> httpx.Response:
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    path = f"/knowledge_bases/{kb}/documents"
    return service.call("POST", path, user=user, content=content, headers=headers)


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("报告 2026 (终).txt", "报告 2026 (终).txt"),
        ('a"b.txt', 'a"b.txt'),
        ("\U0001f4c4\u202egnp.txt", "\U0001f4c4\u202egnp.txt"),
        ("..%2Fx.txt", "..%2Fx.txt"),
        ("con.txt", "con.txt"),
        (".txt", ".txt"),
        ("../../../../tmp/evil.txt", "evil.txt"),
        ("C:\\folder\\old.txt", "old.txt"),
        ("é" * 127 + ".txt"[:1], "é" * 127 + "."),
        ("n" * 251 + ".txt", "n" * 251 + ".txt"),
        ("noextension", "noextension"),
        ("<img onerror=alert(1)>.txt", "<img onerror=alert(1)>.txt"),
    ],
)
def test_a_name_is_kept_as_it_is(service: RestService, user: str, sent: str, shown: str) -> None:
    """Only the last component of a path is kept; nothing else changes."""
    kb = service.knowledge_base(user=user)
    answer = service.upload(kb, sent, b"some words", user=user)
    assert answer.status_code == 201, answer.text
    assert answer.json()["filename"] == shown


@pytest.mark.parametrize("head", ["n" * 256 + ".txt", "../..", "a\x01b.txt", "  "])
def test_a_name_that_cannot_be_is_refused(service: RestService, user: str, head: str) -> None:
    """Too long, nothing but a path, control characters, blank."""
    kb = service.knowledge_base(user=user)
    sent = form((f'name="file"; filename="{head}"', b"words"))
    answer = post_form(service, kb, sent, user)
    assert answer.status_code == 422
    assert service.json("GET", f"/knowledge_bases/{kb}/documents", user=user)["total"] == 0


def test_a_file_without_a_name_gets_one(service: RestService, user: str) -> None:
    """As documented."""
    kb = service.knowledge_base(user=user)
    answer = post_form(service, kb, form(('name="file"', b"words")), user)
    assert answer.json()["filename"] == "uploaded_file"


def test_the_extended_name_wins(service: RestService, user: str) -> None:
    """`filename*` is what some clients send for names beyond ASCII."""
    kb = service.knowledge_base(user=user)
    head = 'name="file"; filename="x.txt"; filename*=UTF-8\'\'%E6%8A%A5%E5%91%8A.txt'
    assert post_form(service, kb, form((head, b"words")), user).json()["filename"] == "报告.txt"


@pytest.mark.parametrize("first", ["file", "fields"])
def test_the_order_of_the_fields_does_not_matter(
    service: RestService, user: str, first: str
) -> None:
    """The type is decided when the whole form is there."""
    kb = service.knowledge_base(user=user)
    file = ('name="file"; filename="a.bin"', "Größe words".encode("latin-1"))
    fields = [
        ('name="content_type"', b"text/plain"),
        ('name="encoding"', b"latin-1"),
        ('name="metadata"', json.dumps({"author": "Li", "year": 2026}).encode()),
    ]
    parts = [file, *fields] if first == "file" else [*fields, file]
    sent = post_form(service, kb, form(*parts), user)
    document = sent.json()["document_id"]
    assert service.settled(kb, document, user=user)["status"] == "ready"
    info = service.json("GET", f"/knowledge_bases/{kb}/documents/{document}/info", user=user)
    assert (info["content_type"], info["encoding"]) == ("text/plain", "latin-1")
    assert info["metadata"] == {"author": "Li", "year": 2026}
    wanted = {"query": "words", "metadata_filter": {"year": {"$gte": 2026}, "author": "Li"}}
    found = service.json("POST", f"/knowledge_bases/{kb}/search", user=user, json=wanted)
    assert "Größe" in found["results"][0]["chunk"]["content"]["text"]


@pytest.mark.parametrize(
    ("name", "media_type", "explicit", "routed"),
    [
        ("notes.md", "application/octet-stream", None, "text/markdown"),
        ("t.csv", "application/vnd.ms-excel", None, "text/csv"),
        ("T.TXT", "application/octet-stream", None, "text/plain"),
        ("x.unknown", "text/plain; charset=utf-8", None, "text/plain"),
        ("x.unknown", "application/octet-stream", "text/markdown", "text/markdown"),
    ],
)
def test_a_file_goes_to_the_parser_that_fits(
    service: RestService, user: str, name: str, media_type: str, explicit: str | None, routed: str
) -> None:
    """Override, then declared type, then extension."""
    kb = service.knowledge_base(user=user)
    fields = {"content_type": explicit} if explicit else {}
    sent = service.upload(kb, name, b"a,b\n1,2\n", user=user, media_type=media_type, **fields)
    assert sent.status_code == 201, sent.text
    view = service.settled(kb, sent.json()["document_id"], user=user)
    assert view["status"] == "ready"
    assert view["content_type"].split(";")[0] == routed


def test_a_type_nobody_reads_is_refused_at_once(service: RestService, user: str) -> None:
    """415 names what is supported; nothing stays behind."""
    kb = service.knowledge_base(user=user)
    answer = service.upload(kb, "x.xyz", b"\x00\x01" * 50, user=user, media_type="application/x-y")
    assert answer.status_code == 415
    assert answer.json()["code"] == "unsupported_media_type"
    assert ".txt" in answer.json()["detail"]
    assert service.json("GET", f"/knowledge_bases/{kb}/documents", user=user)["total"] == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": "{"},
        {"metadata": "[]"},
        {"metadata": '{"filename": "x"}'},
        {"metadata": '{"a": {"b": 1}}'},
        {"metadata": '{"$a": 1}'},
        {"metadata": '{"a": NaN}'},
        {"metadata": '{"a": "\\ud800"}'},
        {"encoding": "no-such-encoding"},
        {"on_duplicate": "perhaps"},
    ],
)
def test_fields_that_do_not_fit_are_refused(
    service: RestService, user: str, fields: dict[str, str]
) -> None:
    """With 422, after the bytes arrived; nothing stays behind."""
    kb = service.knowledge_base(user=user)
    answer = service.upload(kb, "a.txt", b"words", user=user, **fields)
    assert answer.status_code == 422, answer.text
    assert service.json("GET", f"/knowledge_bases/{kb}/documents", user=user)["total"] == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no form at all",
        form(),
        form(('name="other"; filename="a.txt"', b"x")),
        form(('name="file"; filename="a.txt"', b"x"))[:-10],
        form(('name="file"; filename="a"', b"x"), ('name="file"; filename="b"', b"y")),
        form(*[(f'name="f{number}"', b"x") for number in range(70)]),
        f"--{BOUNDARY}\r\n".encode() + b"X: " + b"y" * 20_000,
    ],
    ids=["empty", "noise", "no-parts", "other", "cut", "two", "many", "headers"],
)
def test_a_damaged_form_is_refused(service: RestService, user: str, content: bytes) -> None:
    """Always 422, never a document."""
    kb = service.knowledge_base(user=user)
    answer = post_form(service, kb, content, user)
    assert answer.status_code == 422, answer.text
    assert service.json("GET", f"/knowledge_bases/{kb}/documents", user=user)["total"] == 0


def test_a_missing_file_is_the_documented_problem(service: RestService, user: str) -> None:
    """Also when the body is no form."""
    kb = service.knowledge_base(user=user)
    answer = service.call("POST", f"/knowledge_bases/{kb}/documents", user=user, json={})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "file"]


def test_duplicates_are_kept_skipped_replaced_or_refused(service: RestService, user: str) -> None:
    """As the upload asks."""
    kb = service.knowledge_base(user=user)
    first = service.ready(kb, "a.txt", b"the same words", user=user)
    kept = service.upload(kb, "b.txt", b"the same words", user=user).json()
    assert (kept["duplicate_of"], kept["stored"]) == (first, True)
    skipped = service.upload(kb, "c.txt", b"the same words", user=user, on_duplicate="skip").json()
    assert (skipped["document_id"], skipped["stored"]) == (first, False)
    refused = service.upload(kb, "d.txt", b"the same words", user=user, on_duplicate="reject")
    assert (refused.status_code, refused.json()["code"]) == (409, "duplicate_document")
    replaced = service.upload(
        kb, "e.txt", b"the same words", user=user, on_duplicate="replace"
    ).json()
    assert replaced["stored"]
    listed = service.json("GET", f"/knowledge_bases/{kb}/documents", user=user)
    names = {document["filename"] for document in listed["documents"]}
    assert "e.txt" in names
    assert "a.txt" not in names


def test_the_content_is_hashed_and_measured(service: RestService, user: str) -> None:
    """While it streams."""
    kb = service.knowledge_base(user=user)
    content = b"0123456789 " * 50_000
    document = service.ready(kb, "long.txt", content, user=user)
    path = f"/knowledge_bases/{kb}/documents/{document}/info"
    info = service.json("GET", path, user=user)
    assert info["size"] == len(content)
    assert info["content_sha256"] == hashlib.sha256(content).hexdigest()


class Endless:
    """A body without end; counts what was taken of it."""

    def __init__(self) -> None:
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield form(('name="file"; filename="big.txt"', b""))[: -len(BOUNDARY) - 8]
        while True:
            self.taken += 65_536
            yield b"0" * 65_536


def files_in(folder: Path) -> list[Path]:
    """Return the files below `folder`, whose parts may vanish meanwhile."""
    return [Path(place) / name for place, _, names in os.walk(folder) for name in names]


def wait_until_empty(service: RestService, folder: Path) -> None:
    for _ in range(500):
        if not files_in(folder):
            return
        service.run(asyncio.sleep(0.01))
    raise AssertionError(files_in(folder))


def test_an_upload_beyond_the_limit_stops_early_and_leaves_nothing(tmp_path: Path) -> None:
    """413 as soon as the limit is passed, however long the body would be."""
    limits = ServiceLimits(upload_bytes=1_000_000)
    with RestService(memory_app(tmp_path, service_limits=limits)) as service:
        kb = service.knowledge_base()
        body = Endless()
        answer = post_form(service, kb, body, "alice")
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert body.taken < 2_000_000
        wait_until_empty(service, tmp_path / "blobs")
        assert service.json("GET", f"/knowledge_bases/{kb}/documents")["total"] == 0


def test_a_broken_off_upload_leaves_nothing(tmp_path: Path) -> None:
    """The client goes away in the middle of the file."""

    begun = form(('name="file"; filename="half.txt"', b"half"))[: -len(BOUNDARY) - 8]
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": begun, "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: Any) -> None:
        del message

    with RestService(memory_app(tmp_path)) as service:
        kb = service.knowledge_base()
        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/knowledge_bases/{kb}/documents",
            "query_string": b"",
            "headers": [
                (b"x-user-id", b"alice"),
                (b"content-type", f"multipart/form-data; boundary={BOUNDARY}".encode()),
            ],
        }
        service.run(service.app(scope, receive, send))
        assert not messages
        wait_until_empty(service, tmp_path / "blobs")
        assert service.json("GET", f"/knowledge_bases/{kb}/documents")["total"] == 0


def test_parallel_identical_uploads_leave_one_document(service: RestService, user: str) -> None:
    """With `skip`, whoever comes first wins and all are told the same id."""
    kb = service.knowledge_base(user=user)

    async def race() -> list[httpx.Response]:
        return await asyncio.gather(
            *(
                service._client.post(
                    f"/knowledge_bases/{kb}/documents",
                    headers={"X-User-ID": user},
                    files={"file": (f"{number}.txt", b"identical", "text/plain")},
                    data={"on_duplicate": "skip"},
                )
                for number in range(10)
            )
        )

    answers = service.run(race())
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["document_id"] for answer in answers}) == 1
    assert service.json("GET", f"/knowledge_bases/{kb}/documents", user=user)["total"] == 1
