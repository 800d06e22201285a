"""Known secrets go through the whole service; then all that it left is searched for them."""

import base64
import http.server
import io
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from agentscope import logs
from agentscope.app.auth.api_keys import ApiKeyIdentity
from agentscope.app.running import operator_key
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.credential.sealing import SecretBox
from agentscope.testing.rest import DIMENSIONS, RestService, memory_app

PROVIDER_KEY = "sk-provider-7d1f0c2b9a8e4f60-secret"
DOWNLOAD_SECRET = "download-5b0e6f0a1c2d3e4f-secret"
SECRET_KEY = "sealing-9f8e7d6c5b4a39281706-secret"
OPERATOR = operator_key(SecretBox.from_text(SECRET_KEY))


class _Gossip(http.server.BaseHTTPRequestHandler):
    """A provider that repeats the key it was sent in its errors, as some do."""

    def do_GET(self) -> None:
        key = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        body = json.dumps({"error": {"message": f"Incorrect API key: {key}.", "code": key}})
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    do_POST = do_GET  # noqa: N815 - the library's name

    def log_message(self, *values: object) -> None:
        """Say nothing."""


@contextmanager
def _gossip() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Gossip) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Run:
    """Calls the service with a key and keeps all that it said."""

    service: RestService
    said: list[tuple[str, bytes]] = field(default_factory=list)
    key: str = OPERATOR

    def __call__(self, method: str, path: str, *, told: bool = False, **options: Any) -> Any:
        """Call; `told`: the answer is the one that shows a new secret."""
        headers = {"Authorization": f"Bearer {self.key}"}
        answer = self.service.call(method, path, user=None, headers=headers, **options)
        if not told:
            self.said.append((f"{method} {path}", _whole(answer)))
        kind = answer.headers.get("content-type", "")
        return answer.json() if kind == "application/json" else answer


def _whole(answer: httpx.Response) -> bytes:
    head = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
    return head.encode() + b"\n" + answer.content


def _spellings(secret: str) -> list[bytes]:
    """Return the secret as it stands, and as encodings would write it."""
    plain = secret.encode()
    return [
        plain,
        plain.hex().encode(),
        base64.b64encode(plain).rstrip(b"=")[:-1],
        base64.urlsafe_b64encode(plain).rstrip(b"=")[:-1],
        quote(secret, safe="").encode(),
        json.dumps(secret)[1:-1].encode(),
        secret.rpartition("_")[2].encode(),  # the random part of a key
    ]


def _live(run: Run, provider: str) -> dict[str, str]:
    """Use everything that has to do with secrets, rightly and wrongly; return those made here."""
    made = run("POST", "/operator/api_keys", told=True, json=_for("admin"))
    secrets = {"first API key": made["key"]}
    run.key = made["key"]
    second = run("POST", "/api_keys/", told=True, json={"name": "second", "capability": "read"})
    rotated = run("POST", f"/api_keys/{second['id']}/rotate", told=True)
    secrets |= {"second API key": second["key"], "rotated API key": rotated["key"]}
    hook = run("POST", "/webhooks/", told=True, json={"url": f"{provider}/hook", "enabled": True})
    secrets["webhook secret"] = hook["secret"]
    data = {"type": "openai_credential", "api_key": PROVIDER_KEY, "base_url": provider}
    credential = run("POST", "/credential/", json={"data": data})["credential_id"]
    _wrong(run, credential, data)
    kb, document = _content(run)
    for path in (
        "/credential/", "/api_keys/", "/webhooks/", f"/webhooks/{hook['id']}", "/audit_log",
        "/audit_log?format=jsonl", "/events?after=0&seconds=0", "/health", "/identity", "/limits",
        "/openapi.json", "/knowledge_bases/embedding_models", f"{kb}/export", f"{kb}/documents",
        f"{kb}/documents/{document}/chunks", f"{kb}/shares",
    ):  # fmt: skip
        run("GET", path)
    key, run.key = run.key, OPERATOR
    for path in ("/metrics", "/operator/overview"):
        run("GET", path)
    run("POST", "/operator/audit")
    run.key = key
    run("DELETE", f"/api_keys/{second['id']}")
    return secrets


def _for(capability: str) -> dict[str, str]:
    return {"user_id": "owner", "name": "first", "capability": capability}


def _wrong(run: Run, credential: str, data: dict[str, Any]) -> None:
    """Provoke every refusal that had the secret in its hands."""
    run("POST", f"/credential/{credential}/test")
    run("POST", "/credential/test", json={"data": data})
    for fault in ({"base_url": ["x"]}, {"type": "no_such"}, {"api_key": {"a": PROVIDER_KEY}}):
        run("POST", "/credential/", json={"data": {**data, **fault}})
        run("PATCH", f"/credential/{credential}", json={"data": {**data, **fault}})
    run("PATCH", f"/credential/{credential}", json={"data": {**data, "name": "Renamed"}})
    far = {**data, "base_url": "http://169.254.169.254/v1"}
    run("POST", "/credential/test", json={"data": far})
    key, run.key = run.key, run.key + "0"
    run("GET", "/knowledge_bases/")
    run.key = key


def _content(run: Run) -> tuple[str, str]:
    model = {
        "type": "local_credential", "credential_id": "local", "model": "fake-embedding",
        "dimensions": DIMENSIONS,
    }  # fmt: skip
    body = {"name": "Handbook", "embedding_model_config": model}
    kb = f"/knowledge_bases/{run('POST', '/knowledge_bases/', json=body)['knowledge_base_id']}"
    files = {"file": ("a.txt", b"words to find", "text/plain")}
    document = str(run("POST", f"{kb}/documents", files=files)["document_id"])
    token = run("POST", f"{kb}/documents/{document}/download_token", told=True)["token"]
    run("GET", f"{kb}/documents/{document}?token={token}")
    run("GET", f"{kb}/documents/{document}?token={token}x")
    run("PUT", f"{kb}/shares/friend", json={})
    run("POST", f"{kb}/search", json={"query": "words"})
    return kb, document


def _left(run: Run, folder: Path, lines: str) -> Iterator[tuple[str, bytes]]:
    """Yield all that the service said, wrote and kept."""
    yield from run.said
    yield "the log", lines.encode()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes()


def test_no_secret_is_left_anywhere_in_clear(tmp_path: Path) -> None:
    """Answers, events, logs in both formats, database files, blobs and exports."""
    text, as_json = io.StringIO(), io.StringIO()
    handlers = [logging.StreamHandler(text), logging.StreamHandler(as_json)]
    handlers[0].setFormatter(logs.FieldFormatter("%(levelname)s %(name)s %(message)s"))
    handlers[1].setFormatter(logs.JsonFormatter())
    root, level = logging.getLogger(), logging.getLogger().level
    storage = SQLiteStorage(tmp_path / "data" / "rag.db")
    app = memory_app(
        tmp_path / "data",
        storage=storage,
        identity=ApiKeyIdentity(storage),
        secret_key=SECRET_KEY,
        download_secret=DOWNLOAD_SECRET,
    )
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with _gossip() as provider, RestService(app) as service:
            run = Run(service)
            secrets = _live(run, provider)
            # While it runs: the write-ahead log is part of what is searched.
            found = _found(run, tmp_path / "data", text.getvalue() + as_json.getvalue(), secrets)
        found += _found(run, tmp_path / "data", text.getvalue() + as_json.getvalue(), secrets)
    finally:
        root.setLevel(level)
        for handler in handlers:
            root.removeHandler(handler)
    assert found == []


def _found(run: Run, folder: Path, lines: str, made: dict[str, str]) -> list[tuple[str, str]]:
    known = {
        "provider key": PROVIDER_KEY,
        "download secret": DOWNLOAD_SECRET,
        "sealing key": SECRET_KEY,
        "operator key": OPERATOR,
        **made,
    }
    left = list(_left(run, folder, lines))
    assert len(left) > 40
    assert any(".db" in name and len(data) > 4096 for name, data in left)
    return [
        (secret, place)
        for secret, value in known.items()
        for place, data in left
        if any(spelling in data for spelling in _spellings(value))
    ]
