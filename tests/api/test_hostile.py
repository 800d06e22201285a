"""Ten thousand hostile names, ids and headers: no surprise, no file outside, no forged log line.

Everything comes from one seeded generator and goes straight to the application as raw bytes, so
that no client library tidies it up on the way.
"""

import asyncio
import io
import json
import logging
import random
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from agentscope import logs
from agentscope.app.api.disposition import content_disposition, disposition_parameters
from agentscope.app.rag.service.names import clean_filename
from agentscope.errors import InvalidInputError
from agentscope.rag.parser.text import TextParser
from agentscope.testing.rest import RestService, memory_app

SEED = 20_260_101
NAMES, IDS, HEADERS, UPLOADS = 6_000, 2_000, 1_600, 400
USER = b"hostile"
PIECES = (
    "../", "..\\", "....//", "/", "\\", "//", "~/", "/etc/passwd", "C:\\Windows\\", "file://", ".",
    "..", "%2e%2e%2f", "%00", "\x00", "\r\n", "\n", "\r", "\r\nSet-Cookie: a=b", "\r\n\r\n<html>",
    '"', "'", '\\"', "; filename=evil.exe", '"; filename="evil.html', "filename*=UTF-8''x", "%22",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "${jndi:ldap://x/}", "{{7*7}}",
    "' OR '1'='1", "; DROP TABLE documents;--", "$(id)", "`id`", "| cat", "\x1b[31m", "\x7f",
    "\x85", "\u2028", "\u202e", "\ufeff", "\u200b", "\ud800", "e\u0301", "\U0001f4a3", "报告", "é",
    "ß", "\xff",
    "CON", "NUL.txt", "aux", "a" * 300, " ", "\t", ".htaccess", "-rf", "*", "?", "|", ":", "%s%n",
    '{"event":"forged","level":"INFO"}', "2026-01-01 00:00:00 INFO root forged",
)  # fmt: skip
LETTERS = string.ascii_letters + string.digits + "-_."


def made_up(rng: random.Random) -> str:
    """Return one hostile text."""
    parts = []
    for _ in range(rng.randint(1, 5)):
        kind = rng.random()
        if kind < 0.6:
            parts.append(rng.choice(PIECES))
        elif kind < 0.85:
            parts.append("".join(rng.choices(LETTERS, k=rng.randint(1, 12))))
        else:
            parts.append(chr(rng.choice((rng.randrange(0x110000), rng.randrange(0x100)))))
    return "".join(parts)


def raw(text: str) -> bytes:
    """Return the text as bytes that no encoder would make."""
    return text.encode("utf-8", "surrogatepass")


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: bytes) -> str:
        """Return one header."""
        return dict(self.headers).get(name, b"").decode("latin-1")


async def ask(
    app: Any,
    method: str,
    path: str,
    *,
    query: bytes = b"",
    headers: Sequence[tuple[bytes, bytes]] = (),
    body: bytes = b"",
    user: bytes = USER,
) -> Answer:
    """Call the application as a web server would, with whatever bytes."""
    answer, sent, never = Answer(), False, asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            await never.wait()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status, answer.headers = message["status"], list(message["headers"])
        else:
            answer.body += message.get("body", b"")

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "path": path, "raw_path": raw(path), "query_string": query, "root_path": "",
        "scheme": "http", "client": ("127.0.0.1", 1), "server": ("service", 80), "state": {},
        "headers": [(b"host", b"service"), (b"x-user-id", user), *headers],
    }  # fmt: skip
    await app(scope, receive, send)
    return answer


class Lines:
    """Every log line of the process, in both formats."""

    def __init__(self) -> None:
        self.json, self.text = io.StringIO(), io.StringIO()
        self._handlers = [logging.StreamHandler(self.json), logging.StreamHandler(self.text)]
        self._handlers[0].setFormatter(logs.JsonFormatter())
        self._handlers[1].setFormatter(logs.FieldFormatter("%(levelname)s %(name)s %(message)s"))
        self.records = 0
        self._handlers[0].addFilter(self._count)

    def _count(self, record: logging.LogRecord) -> bool:
        self.records += 1
        return True

    def __enter__(self) -> "Lines":
        self._level = logging.getLogger().level
        logging.getLogger().setLevel(logging.DEBUG)
        for handler in self._handlers:
            logging.getLogger().addHandler(handler)
        return self

    def __exit__(self, *exc: object) -> None:
        logging.getLogger().setLevel(self._level)
        for handler in self._handlers:
            logging.getLogger().removeHandler(handler)

    def check(self) -> None:
        """Assert that each record is one line, and none was made up by a caller."""
        as_json = self.json.getvalue().splitlines()
        assert len(as_json) == self.records
        for line in as_json:
            assert json.loads(line)["event"] != "forged"
        begin = re.compile(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) [\w.]+ ")
        text = self.text.getvalue()
        assert "\x1b" not in text
        for line in text.split("\n")[:-1]:
            assert begin.match(line) or line.startswith("  "), line[:300]
            assert not line.startswith("2026-01-01")


@dataclass
class Place:
    """A service over a folder that has neighbours."""

    service: RestService
    outside: Path
    data: Path
    kb: str

    def neighbours(self) -> list[tuple[str, bytes]]:
        """Return every file beside the data with its content."""
        return [
            (str(path.relative_to(self.outside)), path.read_bytes())
            for path in sorted(self.outside.rglob("*"))
            if path.is_file() and self.data not in path.parents
        ]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A service that keeps what it is sent; nothing is indexed."""
    outside = tmp_path_factory.mktemp("outside")
    data = outside / "a" / "b" / "data"
    data.mkdir(parents=True)
    (outside / "canary").write_text("canary")
    (outside / "a" / "canary").write_text("canary")
    app = memory_app(data, enable_index_worker=False, knowledge_parsers=[TextParser()])
    with RestService(app) as service:
        kb = service.knowledge_base(user=USER.decode())
        yield Place(service, outside, data, kb)


def test_hostile_names_are_refused_or_stay_names(place: Place) -> None:
    """No name has a folder or a control character; a download's header cannot be broken out of."""
    rng = random.Random(SEED)
    kept = 0
    for _ in range(NAMES):
        given = made_up(rng)
        sent = disposition_parameters(f'form-data; name="file"; filename="{given}"')
        for name in (given, sent.get("filename", "")):
            try:
                clean = clean_filename(name, max_chars=255)
            except InvalidInputError as exc:
                assert exc.message.isprintable()
                continue
            kept += 1
            assert not re.search(r"[/\\\x00-\x1f\x7f]", clean)
            assert clean not in ("", ".", "..")
            for kind in ("inline", "attachment"):
                _check_disposition(content_disposition(kind, clean), clean)
    assert kept > NAMES / 4


def _check_disposition(header: str, name: str) -> None:
    shape = r"(inline|attachment); filename\*=UTF-8''[\w.~%-]+(; filename=\"[ !#-$&-:<-\[\]-~]*\")?"
    assert header.isascii()
    assert re.fullmatch(shape, header), header
    encoded = header.partition("''")[2].partition(";")[0]
    assert unquote(encoded, errors="strict") == name


def _form(name: bytes, rng: random.Random) -> tuple[list[tuple[bytes, bytes]], bytes]:
    boundary = b"boundary"
    kind = rng.choice((b"text/plain", b"text/html", b"image/svg+xml", raw(made_up(rng))))
    body = (
        b"--" + boundary + b'\r\nContent-Disposition: form-data; name="file"; filename="'
        + name + b'"\r\nContent-Type: ' + kind + b"\r\n\r\n<script>alert(1)</script>\r\n--"
        + boundary + b"--\r\n"
    )  # fmt: skip
    return [(b"content-type", b"multipart/form-data; boundary=" + boundary)], body


def test_hostile_uploads_stay_in_the_data_directory(place: Place) -> None:
    """Stored or refused; what is stored comes back under its name, harmless in a browser."""
    rng = random.Random(SEED + 1)
    before = place.neighbours()
    path = f"/knowledge_bases/{place.kb}/documents"

    async def run() -> list[tuple[Answer, Answer | None]]:
        found = []
        for _ in range(UPLOADS):
            headers, body = _form(raw(made_up(rng)), rng)
            app = place.service.app
            sent = await ask(app, "POST", path, headers=headers, body=body)
            back = None
            if sent.status == 201:
                document = json.loads(sent.body)["document_id"]
                back = await ask(app, "GET", f"{path}/{document}")
            found.append((sent, back))
        return found

    with Lines() as lines:
        answers = place.service.run(run())
    lines.check()
    statuses = Counter(sent.status for sent, _ in answers)
    assert set(statuses) <= {201, 400, 415, 422}
    assert statuses[201] > UPLOADS / 20
    for sent, back in answers:
        if back is None:
            continue
        assert back.status == 200
        assert back.header(b"x-content-type-options") == "nosniff"
        disposition = back.header(b"content-disposition")
        _check_disposition(disposition, json.loads(sent.body)["filename"])
        kind = back.header(b"content-type").partition(";")[0]
        assert disposition.startswith("attachment") or kind == "text/plain"
        _check_headers(back)
    assert place.neighbours() == before
    stored = [path for path in (place.data / "blobs").rglob("*") if path.is_file()]
    assert stored
    for blob in stored:
        assert all(re.fullmatch(r"[\w.-]+", part) for part in blob.relative_to(place.data).parts)


def _check_headers(answer: Answer) -> None:
    for name, value in answer.headers:
        assert re.fullmatch(rb"[a-z0-9-]+", name.lower())
        assert not re.search(rb"[\r\n\x00]", value)
        assert name.lower() != b"set-cookie"


ROUTES = (
    ("GET", "/knowledge_bases/{}"),
    ("DELETE", "/knowledge_bases/{}"),
    ("GET", "/knowledge_bases/{}/documents"),
    ("GET", "/knowledge_bases/KB/documents/{}"),
    ("DELETE", "/knowledge_bases/KB/documents/{}"),
    ("GET", "/knowledge_bases/KB/documents/{}/chunks"),
    ("POST", "/knowledge_bases/KB/documents/{}/download_token"),
    ("GET", "/knowledge_bases/{}/documents/{}/info"),
    ("DELETE", "/knowledge_bases/KB/shares/{}"),
    ("DELETE", "/credential/{}"),
    ("GET", "/webhooks/{}"),
    ("DELETE", "/api_keys/{}"),
    ("GET", "/v1/vector_stores/{}"),
    ("GET", "/{}"),
    ("GET", "/assets/{}"),
)


def test_hostile_ids_are_unknown_ids(place: Place) -> None:
    """In every place of a path that takes one; also where no route is at all."""
    rng = random.Random(SEED + 2)
    before = place.neighbours()

    async def run() -> Counter[int]:
        statuses: Counter[int] = Counter()
        for _ in range(IDS):
            method, route = rng.choice(ROUTES)
            path = re.sub(r"\{\}", lambda _: made_up(rng), route.replace("KB", place.kb))
            if path.rstrip("/") in ("", f"/knowledge_bases/{place.kb}"):
                continue  # the generator wrote a path that exists
            answer = await ask(place.service.app, method, path)
            assert answer.status < 500, (path, answer.body[:300])
            _check_headers(answer)
            assert b"canary" not in answer.body
            statuses[answer.status] += 1
        return statuses

    with Lines() as lines:
        statuses = place.service.run(run())
    lines.check()
    assert statuses[404] > IDS / 2
    assert place.neighbours() == before


NAMED = (
    b"range", b"if-range", b"if-none-match", b"last-event-id", b"content-type", b"content-length",
    b"authorization", b"cookie", b"accept", b"accept-encoding", b"origin", b"referer", b"host",
    b"x-forwarded-for", b"x-forwarded-host", b"x-request-id", b"traceparent", b"idempotency-key",
    b"access-control-request-method", b"user-agent", b"x-user-id", b"transfer-encoding",
)  # fmt: skip
CALLS = (
    ("GET", "/knowledge_bases/", b""),
    ("GET", "/knowledge_bases/KB/documents", b""),
    ("GET", "/knowledge_bases/KB/documents/DOC", b""),
    ("GET", "/knowledge_bases/KB/events", b"after=0&seconds=0"),
    ("POST", "/knowledge_bases/KB/search", b""),
    ("POST", "/knowledge_bases/KB/documents", b""),
    ("OPTIONS", "/knowledge_bases/", b""),
    ("GET", "/health", b""),
    ("GET", "/identity", b""),
)


def test_hostile_headers_break_nothing(place: Place) -> None:
    """Whatever stands in them, also in the one that names the user; they come back nowhere."""
    rng = random.Random(SEED + 3)
    sent = place.service.upload(place.kb, "plain.txt", b"0123456789", user=USER.decode())
    document = sent.json()["document_id"]

    async def run() -> Counter[int]:
        statuses: Counter[int] = Counter()
        for number in range(HEADERS):
            method, path, query = rng.choice(CALLS)
            path = path.replace("KB", place.kb).replace("DOC", document)
            chosen = rng.sample(NAMED, k=rng.randint(1, 3))
            headers = [(name, _value(rng)) for name in chosen]
            user = raw(made_up(rng)) if number % 5 == 0 else USER
            query = query or b"q=" + raw(made_up(rng)).replace(b"#", b"")
            body = b"" if method != "POST" else raw(made_up(rng))
            answer = await ask(
                place.service.app, method, path, query=query, headers=headers, body=body, user=user
            )
            assert answer.status < 500, (path, headers, answer.body[:300])
            _check_headers(answer)
            statuses[answer.status] += 1
        return statuses

    with Lines() as lines:
        statuses = place.service.run(run())
    lines.check()
    assert statuses[200] > HEADERS / 20


def _value(rng: random.Random) -> bytes:
    """Return what a header may hold on the wire: a web server lets no line break through."""
    given = rng.choice(
        (
            raw(made_up(rng)),
            b"bytes=" + raw(made_up(rng)),
            b"bytes=%d-%d" % (rng.randrange(20), rng.randrange(10**18)),
            b"Bearer " + raw(made_up(rng)),
            str(rng.randrange(-5, 2**70)).encode(),
            b"multipart/form-data; boundary=" + raw(made_up(rng)),
        )
    )
    return given.replace(b"\r", b"").replace(b"\n", b"").replace(b"\x00", b"")
