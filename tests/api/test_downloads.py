"""Originals: headers, ranges, tokens."""

import base64
import re
import time
from typing import Any

import pytest

from agentscope.testing.rest import RestService

TEXT = b"0123456789"


@pytest.fixture
def document(service: RestService, user: str) -> tuple[str, str]:
    """A knowledge base and a document in it."""
    kb = service.knowledge_base(user=user)
    return kb, service.ready(kb, "digits.txt", TEXT, user=user)


def path_of(document: tuple[str, str]) -> str:
    return f"/knowledge_bases/{document[0]}/documents/{document[1]}"


def test_a_text_is_shown_inline_as_recorded(
    service: RestService, user: str, document: tuple[str, str]
) -> None:
    """The documented headers, exactly."""
    answer = service.call("GET", path_of(document), user=user)
    assert answer.content == TEXT
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"] == "inline; filename*=UTF-8''digits.txt"
    assert answer.headers["content-length"] == "10"
    assert answer.headers["cache-control"] == "private, max-age=60"
    assert answer.headers["x-content-type-options"] == "nosniff"
    forced = service.call("GET", path_of(document), user=user, params={"download": "true"})
    assert forced.headers["content-disposition"].startswith("attachment; ")


def test_what_a_browser_could_run_is_an_attachment(service: RestService, user: str) -> None:
    """Whatever its name says."""
    kb = service.knowledge_base(user=user)
    script = b"<html><body><p>words</p><script>alert(1)</script></body></html>"
    sent = service.upload(kb, "page.html", script, user=user, media_type="text/html")
    document = sent.json()["document_id"]
    answer = service.call("GET", f"/knowledge_bases/{kb}/documents/{document}", user=user)
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "name", ["报告.txt", 'q"uo.txt', "semi;colon.txt", "per%cent.txt", "ü.txt"]
)
def test_odd_names_have_an_ascii_fallback(service: RestService, user: str, name: str) -> None:
    """Both forms in one header, no character that could end it."""
    kb = service.knowledge_base(user=user)
    document = service.ready(kb, name, b"words", user=user)
    answer = service.call("GET", f"/knowledge_bases/{kb}/documents/{document}", user=user)
    header = answer.headers["content-disposition"]
    assert re.fullmatch(r"inline; filename\*=UTF-8''[\w%.~-]+; filename=\"[^\"\\;%]+\"", header)


@pytest.mark.parametrize(
    ("asked", "status", "content", "described"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=4-400", 206, b"456789", "bytes 4-9/10"),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=5-2", 200, TEXT, None),
        ("bytes=0-1,3-4", 200, TEXT, None),
        ("lines=1-2", 200, TEXT, None),
        ("bytes=-", 200, TEXT, None),
    ],
)
def test_ranges(
    service: RestService, user: str, document: tuple[str, str], asked: str, status: int,
    content: bytes | None, described: str | None,
) -> None:  # fmt: skip
    """Single ranges are served; everything else means the whole file."""
    answer = service.call("GET", path_of(document), user=user, headers={"Range": asked})
    assert answer.status_code == status
    if content is not None:
        assert answer.content == content
        assert answer.headers["content-length"] == str(len(content))
    assert answer.headers.get("content-range") == described


def token_of(service: RestService, user: str, document: tuple[str, str]) -> Any:
    return service.json("POST", f"{path_of(document)}/download_token", user=user)


def test_a_token_opens_its_document_without_a_header(
    service: RestService, user: str, document: tuple[str, str]
) -> None:
    """For ten minutes, and it is the only identity that counts."""
    made = token_of(service, user, document)
    assert 590 < made["expires_at"] - time.time() <= 600
    path = f"{path_of(document)}?token={made['token']}"
    assert service.call("GET", path, user=None).content == TEXT
    assert service.call("GET", path, user="somebody-else").content == TEXT
    assert service.call("GET", path_of(document), user=None).status_code == 401


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda token: "x", "Malformed download token."),
        (lambda token: token[:-1], "Malformed download token."),
        (lambda token: token[:-2] + ("AA", "BB")[token.endswith("AA")], "Invalid download token."),
        (lambda token: str(1 + (token[0] == "1")) + token[1:], "Invalid download token."),
    ],
    ids=["noise", "short", "signature", "expiry"],
)  # fmt: skip
def test_a_spoiled_token_opens_nothing(
    service: RestService, user: str, document: tuple[str, str], spoil: Any, sentence: str
) -> None:
    """With the documented sentences."""
    token = spoil(token_of(service, user, document)["token"])
    answer = service.call("GET", path_of(document), user=user, params={"token": token})
    assert (answer.status_code, answer.json()["detail"]) == (401, sentence)


def test_a_token_of_another_document_or_user_opens_nothing(
    service: RestService, user: str, document: tuple[str, str]
) -> None:
    """The signature covers user, knowledge base and document."""
    other = service.ready(document[0], "other.txt", b"other words", user=user)
    token = token_of(service, user, document)["token"]
    answer = service.call("GET", path_of((document[0], other)), params={"token": token})
    assert answer.json()["detail"] == "Invalid download token."
    forged = token.split(".")
    forged[1] = base64.urlsafe_b64encode(b"mallory").rstrip(b"=").decode()
    answer = service.call("GET", path_of(document), params={"token": ".".join(forged)})
    assert answer.json()["detail"] == "Invalid download token."


def test_a_token_dies_with_the_document(
    service: RestService, user: str, document: tuple[str, str]
) -> None:
    """Access is checked again when the token is used."""
    token = token_of(service, user, document)["token"]
    assert service.call("DELETE", path_of(document), user=user).status_code == 204
    answer = service.call("GET", path_of(document), user=None, params={"token": token})
    assert answer.status_code == 404
