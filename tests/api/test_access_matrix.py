"""Every route against every kind of caller: who may, who may not, and that nobody else writes.

The rows stand here by hand: a route without one fails, so whoever adds a route says who it is for.
"""

import base64
import hashlib
import hmac
import json
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import pytest
from joserfc import jwk, jwt

from agentscope.app.auth.api_keys import ApiKeyIdentity, ApiKeys, NewApiKey
from agentscope.app.auth.permissions import Capability
from agentscope.app.auth.tokens import IdentityChain, TokenIdentity
from agentscope.app.mcp import tools
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.clock import SystemClock
from agentscope.errors import ToolError
from agentscope.testing.rest import DIMENSIONS, RestService, memory_app

ISSUER, AUDIENCE = "https://id.example", "rag"
MARK = f"mark{uuid.uuid4().hex[:8]}"
KB = "/knowledge_bases/{knowledge_base_id}"
DOCUMENT = f"{KB}/documents/{{document_id}}"

# Who reaches it: `public`: anybody; `asks`: anybody who shows no bad proof; `operator`: the
# operator's key only; `self`: each user's own things; `read`: also those with whom it is shared;
# `edit`: of those, editors; `owner`: the owner. The second word is what a key must be capable of.
ROWS: dict[str, tuple[str, str]] = {
    "GET /health": ("public", ""),
    "GET /health/live": ("public", ""),
    "GET /identity": ("asks", ""),
    "GET /metrics": ("operator", ""),
    "GET /operator/overview": ("operator", ""),
    "POST /operator/pause": ("operator", ""),
    "POST /operator/resume": ("operator", ""),
    "POST /operator/retry": ("operator", ""),
    "POST /operator/rotate_secrets": ("operator", ""),
    "GET /limits": ("self", "read"),
    "POST /knowledge_bases/import": ("self", "write"),
    f"GET {KB}/export": ("read", "read"),
    "GET /credential/schemas": ("public", ""),
    "GET /embedding-model/": ("public", ""),
    "GET /credential/": ("self", "admin"),
    "POST /credential/": ("self", "admin"),
    "POST /credential/test": ("self", "admin"),
    "POST /credential/{credential_id}/test": ("self", "admin"),
    "PATCH /credential/{credential_id}": ("self", "admin"),
    "DELETE /credential/{credential_id}": ("self", "admin"),
    "GET /agent/": ("self", "read"),
    "GET /audit_log": ("self", "admin"),
    "POST /api_keys/": ("self", "admin"),
    "GET /api_keys/": ("self", "admin"),
    "POST /api_keys/{api_key_id}/rotate": ("self", "admin"),
    "DELETE /api_keys/{api_key_id}": ("self", "admin"),
    "POST /operator/api_keys": ("operator", ""),
    "POST /operator/audit": ("operator", ""),
    "GET /knowledge_bases/embedding_models": ("self", "read"),
    "GET /knowledge_bases/chunkers": ("self", "read"),
    "GET /knowledge_bases/middleware/parameters_schema": ("self", "read"),
    "GET /knowledge_bases/supported_content_types": ("self", "read"),
    "POST /knowledge_bases/chunkers/preview": ("self", "read"),
    "POST /knowledge_bases/": ("self", "write"),
    "GET /knowledge_bases/": ("self", "read"),
    f"GET {KB}": ("read", "read"),
    f"PATCH {KB}": ("edit", "write"),
    f"DELETE {KB}": ("edit", "write"),
    f"GET {KB}/migration": ("read", "read"),
    f"POST {KB}/migration": ("edit", "write"),
    f"DELETE {KB}/migration": ("edit", "write"),
    f"GET {KB}/shares": ("owner", "admin"),
    f"PUT {KB}/shares/{{user_id}}": ("owner", "admin"),
    f"DELETE {KB}/shares/{{user_id}}": ("owner", "admin"),
    "GET /events": ("self", "read"),
    f"GET {KB}/events": ("read", "read"),
    "POST /webhooks/": ("self", "admin"),
    "GET /webhooks/": ("self", "admin"),
    "GET /webhooks/{webhook_id}": ("self", "admin"),
    "PATCH /webhooks/{webhook_id}": ("self", "admin"),
    "DELETE /webhooks/{webhook_id}": ("self", "admin"),
    "POST /webhooks/{webhook_id}/replay": ("self", "admin"),
    f"POST {KB}/search": ("read", "read"),
    "POST /knowledge_bases/search": ("read", "read"),
    "POST /integrations/dify/retrieval": ("read", "read"),
    "GET /v1/vector_stores/{knowledge_base_id}": ("read", "read"),
    "POST /v1/vector_stores/{knowledge_base_id}/search": ("read", "read"),
    f"GET {KB}/documents": ("read", "read"),
    f"POST {KB}/documents": ("edit", "write"),
    f"GET {KB}/documents/status": ("read", "read"),
    f"POST {KB}/documents/reindex": ("edit", "write"),
    f"DELETE {DOCUMENT}": ("edit", "write"),
    f"GET {DOCUMENT}": ("read", "read"),
    f"GET {DOCUMENT}/info": ("read", "read"),
    f"POST {DOCUMENT}/reindex": ("edit", "write"),
    f"GET {DOCUMENT}/chunks": ("read", "read"),
    f"POST {DOCUMENT}/chunks/preview": ("read", "read"),
    f"POST {DOCUMENT}/download_token": ("read", "read"),
}
BODIES: dict[str, dict[str, Any]] = {
    f"PATCH {KB}": {"json": {"name": "intruder"}},
    f"PUT {KB}/shares/{{user_id}}": {"json": {"permission": "edit"}},
    f"POST {KB}/migration": {"json": {}},
    f"GET {KB}/events": {"params": {"after": 0, "seconds": 0}},
    "GET /events": {"params": {"after": 0, "seconds": 0}},
    f"POST {KB}/search": {"json": {"query": "secret"}},
    "POST /knowledge_bases/search": {"json": {"query": "secret", "knowledge_base_ids": ["KB"]}},
    "POST /integrations/dify/retrieval": {
        "json": {
            "knowledge_id": "KB", "query": "secret",
            "retrieval_setting": {"top_k": 1, "score_threshold": 0},
        }
    },
    "POST /v1/vector_stores/{knowledge_base_id}/search": {"json": {"query": "secret"}},
    f"POST {KB}/documents": {"files": {"file": ("intruder.txt", b"intruder", "text/plain")}},
    f"GET {KB}/documents/status": {"params": {"ids": "DOC"}},
    f"POST {DOCUMENT}/chunks/preview": {"json": {}},
    "POST /knowledge_bases/chunkers/preview": {"json": {"text": "words"}},
    "POST /knowledge_bases/": {
        "json": {
            "name": "intruder",
            "embedding_model_config": {
                "type": "local_credential", "credential_id": "local", "model": "m",
                "dimensions": DIMENSIONS,
            },
        }
    },
    "POST /credential/": {"json": {"data": {"type": "openai_credential", "api_key": "x"}}},
    "POST /credential/test": {"json": {"data": {"type": "openai_credential", "api_key": "x"}}},
    "PATCH /credential/{credential_id}": {
        "json": {"data": {"type": "openai_credential", "api_key": "x"}}
    },
    "POST /api_keys/": {"json": {"name": "intruder"}},
    "POST /operator/api_keys": {"json": {"user_id": "owner", "name": "intruder"}},
    "POST /webhooks/": {"json": {"url": "http://127.0.0.1:9/intruder"}},
    "PATCH /webhooks/{webhook_id}": {"json": {"url": "http://127.0.0.1:9/intruder"}},
    "POST /webhooks/{webhook_id}/replay": {"json": {"after": 0}},
}  # fmt: skip
QUERY_NEEDED = {"GET /embedding-model/": {"params": {"provider": "openai_credential"}}}


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


class Moved(SystemClock):
    """A clock that the test moves."""

    ahead = timedelta()

    def now(self) -> Any:
        return super().now() + self.ahead


@dataclass
class Scene:
    """One owner with things, those with whom they are shared, and everybody who is turned away."""

    service: RestService
    ids: dict[str, str] = field(default_factory=dict)
    good: dict[str, dict[str, str]] = field(default_factory=dict)  # headers by role
    bad: dict[str, dict[str, str]] = field(default_factory=dict)

    def ask(self, row: str, headers: Mapping[str, str]) -> httpx.Response:
        """Call the route of a row with the owner's ids."""
        method, path = row.split(" ", 1)
        for name, value in {**self.ids, "user_id": "friend"}.items():
            path = path.replace(f"{{{name}}}", value)
        options = _filled(BODIES.get(row) or QUERY_NEEDED.get(row) or {}, self.ids)
        return self.service.call(method, path, user=None, headers=headers, **options)

    def seen(self) -> list[str]:
        """Return all that the owner sees; a change would show in it."""
        kb = self.ids["knowledge_base_id"]
        paths = [
            "/knowledge_bases/", "/credential/", "/webhooks/", "/api_keys/",
            f"/knowledge_bases/{kb}/documents", f"/knowledge_bases/{kb}/shares",
        ]  # fmt: skip
        answers = [
            self.service.call("GET", path, user=None, headers=self.good["owner"]) for path in paths
        ]
        assert {answer.status_code for answer in answers} == {200}
        return [re.sub(r'"last_used_at":[^,}]*', "", answer.text) for answer in answers]


def _filled(value: Any, ids: Mapping[str, str]) -> Any:
    names = {"KB": ids["knowledge_base_id"], "DOC": ids["document_id"]}
    if isinstance(value, dict):
        return {key: _filled(item, ids) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, ids) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def _part(value: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def _by_secret(secret: bytes, claims: Mapping[str, Any]) -> str:
    """Return a token that takes the public key for a shared secret."""
    signed = f"{_part({'alg': 'HS256', 'kid': 'k'})}.{_part(claims)}"
    digest = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def _tokens(key: Any) -> tuple[str, dict[str, str]]:
    """Return a good token of the owner, and bad ones."""
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "owner", "exp": now + 3600}
    other = jwk.RSAKey.generate_key(2048, {"kid": "k"})

    def signed(given: dict[str, Any], with_key: Any = key) -> str:
        return jwt.encode({"alg": "RS256", "kid": "k"}, given, with_key)

    good = signed(claims)
    head, body, signature = good.split(".")
    return good, {
        "forged token": signed(claims, other),
        "expired token": signed({**claims, "exp": now - 3600}),
        "token for another audience": signed({**claims, "aud": "other"}),
        "token of another issuer": signed({**claims, "iss": "https://evil.example"}),
        "token without an end": signed({k: v for k, v in claims.items() if k != "exp"}),
        "token signed with the public key": _by_secret(key.as_pem(private=False), claims),
        "token without a signature": f"{head}.{body}.",
        "token of no algorithm": f"{_part({'alg': 'none'})}.{body}.{signature}",
        "token with a cut signature": f"{head}.{body}.{signature[:-4]}",
    }


def _keys(service: RestService, keys: ApiKeys, scene: Scene) -> None:
    """Make the keys of everybody."""

    def make(
        user: str, capability: Capability = Capability.ADMIN, **fields: Any
    ) -> tuple[str, str]:
        key, text = service.run(keys.create(user, NewApiKey("k", capability, **fields)))
        return key.id, text

    owner_id, owner = make("owner")
    scene.ids["api_key_id"] = owner_id
    scene.good["owner"] = bearer(owner)
    for name in ("reader", "editor", "stranger"):
        scene.good[name] = bearer(make(name)[1])
    for capability in (Capability.READ, Capability.WRITE):
        scene.good[f"owner's {capability} key"] = bearer(make("owner", capability)[1])
    narrow = make("owner", knowledge_bases=frozenset({"0" * 32}))[1]
    scene.good["owner's key for another knowledge base"] = bearer(narrow)
    revoked_id, revoked = make("owner")
    service.run(keys.revoke("owner", revoked_id))
    rotated_id, rotated = make("owner")
    service.run(keys.rotate("owner", rotated_id))
    expired = make("owner", lifetime=timedelta(seconds=1))[1]
    scene.bad |= {
        "nothing": {},
        "the header": {"X-User-ID": "owner"},
        "revoked key": bearer(revoked),
        "rotated key": bearer(rotated),
        "expired key": bearer(expired),
        "cut key": bearer(owner[:-1]),
        "basic": {"Authorization": "Basic b3duZXI6"},
    }


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A service that takes API keys and tokens."""
    clock = Moved()
    storage = InMemoryStorage(clock=clock)
    key = jwk.RSAKey.generate_key(2048, {"kid": "k"})
    tokens = TokenIdentity(
        issuer=ISSUER, audience=AUDIENCE, jwks={"keys": [key.as_dict(private=False)]}
    )
    app = memory_app(
        tmp_path_factory.mktemp("matrix"),
        storage=storage,
        identity=IdentityChain(ApiKeyIdentity(storage), tokens),
    )
    with RestService(app) as service:
        built = Scene(service)
        good, bad = _tokens(key)
        _keys(service, ApiKeys(storage), built)
        clock.ahead = timedelta(seconds=2)
        built.bad |= {name: bearer(text) for name, text in bad.items()}
        _things(built)
        answer = service.call("GET", "/agent/", user=None, headers=bearer(good))
        assert answer.status_code == 200
        yield built


def _things(scene: Scene) -> None:
    """Give the owner one thing of each kind, shared with a reader and an editor."""

    def call(method: str, path: str, status: int, **options: Any) -> Any:
        owner = scene.good["owner"]
        return scene.service.json(method, path, status=status, user=None, headers=owner, **options)

    config = BODIES["POST /knowledge_bases/"]["json"]["embedding_model_config"]
    body = {"name": MARK, "embedding_model_config": config}
    kb = call("POST", "/knowledge_bases/", 201, json=body)["knowledge_base_id"]
    files = {"file": (f"{MARK}.txt", f"The secret is {MARK}.".encode(), "text/plain")}
    document = call("POST", f"/knowledge_bases/{kb}/documents", 201, files=files)["document_id"]
    data = {"type": "openai_credential", "api_key": f"{MARK}-key", "name": MARK}
    credential = call("POST", "/credential/", 201, json={"data": data})["credential_id"]
    hook = {"url": f"http://127.0.0.1:9/{MARK}", "enabled": False}
    scene.ids |= {
        "knowledge_base_id": kb,
        "document_id": document,
        "credential_id": credential,
        "webhook_id": call("POST", "/webhooks/", 201, json=hook)["id"],
    }
    for name, permission in (("reader", "read"), ("editor", "edit")):
        path = f"/knowledge_bases/{kb}/shares/{name}"
        call("PUT", path, 200, json={"permission": permission})
    deadline = time.monotonic() + 60
    path = f"/knowledge_bases/{kb}/documents/status"
    while call("GET", path, 200, params={"ids": document})["items"][0]["status"] != "ready":
        assert time.monotonic() < deadline


def _known() -> list[str]:
    return sorted(ROWS)


def test_every_route_has_a_row(scene: Scene) -> None:
    """And every row a route."""
    paths = scene.service.check.document["paths"]
    routes = {
        f"{method.upper()} {path}" for path, operations in paths.items() for method in operations
    }
    assert routes - set(ROWS) == set(), "say in ROWS who may call these"
    assert set(ROWS) - routes == set()


@pytest.mark.parametrize("row", _known())
def test_who_proves_nothing_gets_nothing(scene: Scene, row: str) -> None:
    """The same answer for every kind of bad proof, without a word about what is behind it."""
    reach, _ = ROWS[row]
    answers = {name: scene.ask(row, headers) for name, headers in scene.bad.items()}
    if reach == "public":
        assert {answer.status_code for answer in answers.values()} == {200}
        return
    if reach == "asks":
        for name in ("nothing", "the header", "basic"):
            assert answers.pop(name).status_code == 200
    for name, answer in answers.items():
        assert answer.status_code == 401, f"{name}: {answer.status_code} {answer.text[:200]}"
        assert set(answer.json()) == {"detail", "code"}, name
        assert answer.json()["code"] == "unauthenticated"
        assert MARK not in answer.text
    told = {name: answer.json()["detail"] for name, answer in answers.items()}
    assert len({told[name] for name in told if "token" in name}) == 1
    assert len({told[name] for name in told if "key" in name and "token" not in name}) == 1


@pytest.mark.parametrize("row", _known())
def test_others_reach_what_is_shared_with_them_and_no_more(scene: Scene, row: str) -> None:
    """A stranger's answer is that for something that does not exist."""
    reach, _ = ROWS[row]
    stranger = scene.ask(row, scene.good["stranger"])
    if reach == "operator":
        assert stranger.status_code == 401
    elif reach in ("read", "edit", "owner"):
        empty = row.endswith("/documents/status") and stranger.status_code == 200
        assert stranger.status_code == 404 or empty
        assert _anonymous(scene, stranger) == _anonymous(scene, _unknown(scene, row))
        reader = scene.ask(row, scene.good["reader"])
        assert reader.status_code == (200 if reach == "read" else 403), reader.text
    elif "{" in row:
        assert stranger.status_code == 404
        assert _anonymous(scene, stranger) == _anonymous(scene, _unknown(scene, row))
        assert scene.ask(row, scene.good["editor"]).status_code == 404
    assert MARK not in stranger.text
    if reach == "owner":
        assert scene.ask(row, scene.good["editor"]).status_code == 403


def _unknown(scene: Scene, row: str) -> httpx.Response:
    nobody = Scene(scene.service, dict.fromkeys(scene.ids, uuid.uuid4().hex))
    return nobody.ask(row, scene.good["stranger"])


def _anonymous(scene: Scene, answer: httpx.Response) -> tuple[int, str]:
    text = answer.text
    for value in scene.ids.values():
        text = text.replace(value, "<id>")
    return answer.status_code, re.sub(r"[0-9a-f]{32}", "<id>", text)


@pytest.mark.parametrize("row", _known())
def test_a_key_does_no_more_than_it_is_for(scene: Scene, row: str) -> None:
    """Whoever its owner is: neither a greater capability nor another knowledge base."""
    reach, capability = ROWS[row]
    if reach in ("public", "asks", "operator"):
        return
    if capability in ("write", "admin"):
        assert scene.ask(row, scene.good["owner's read key"]).status_code == 403
    if capability == "admin":
        assert scene.ask(row, scene.good["owner's write key"]).status_code == 403
    narrow = scene.ask(row, scene.good["owner's key for another knowledge base"])
    if reach in ("read", "edit", "owner"):
        assert narrow.status_code == 404
    elif capability in ("write", "admin") and "webhooks/" not in row:
        assert narrow.status_code == 403
    # A new knowledge base needs the names of models, so every key of the user may read them.
    assert MARK not in narrow.text or row.endswith("/embedding_models")


def test_nothing_was_written_by_any_of_them(scene: Scene) -> None:
    """All rows again, with every caller who must not write, between two looks of the owner."""
    before = scene.seen()
    for row, (reach, capability) in ROWS.items():
        if row.startswith("GET"):
            continue
        callers = [*scene.bad.values()]
        if reach in ("edit", "owner"):
            callers += [scene.good["reader"], scene.good["stranger"]]
        if capability in ("write", "admin"):
            callers.append(scene.good["owner's read key"])
        for headers in callers:
            scene.ask(row, headers)
    assert scene.seen() == before


@pytest.mark.parametrize("tool", [tool.name for tool in tools.TOOLS])
def test_tools_of_agents_ask_for_the_same_proof(scene: Scene, tool: str) -> None:
    """With the sentences of the routes behind them."""
    known = next(each for each in tools.TOOLS if each.name == tool)
    values = {
        **scene.ids,
        "query": "secret",
        "chunk_index": 0,
        "title": "t",
        "text": "x",
        "name": "n",
    }
    arguments = {name: values[name] for name in known.required}

    async def ask(headers: Mapping[str, str]) -> str:
        transport = httpx.ASGITransport(app=scene.service.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as http:
            try:
                return str(await tools.call(tools.KnowledgeClient(http, headers), tool, arguments))
            except ToolError as exc:
                return f"refused: {exc.message}"

    for name, headers in scene.bad.items():
        answer = scene.service.run(ask(headers))
        assert answer.startswith("refused: "), name
        assert MARK not in answer
    answer = scene.service.run(ask(scene.good["stranger"]))
    assert MARK not in answer
    assert answer.startswith("refused: ") or "knowledge_base_id" not in known.required
