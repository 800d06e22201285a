"""A key for one knowledge base learns nothing of the others: not by events, webhooks or the log."""

from pathlib import Path
from typing import Any

from agentscope.app.auth.api_keys import ApiKeyIdentity
from agentscope.app.running import operator_key
from agentscope.app.storage import InMemoryStorage
from agentscope.credential.sealing import SecretBox
from agentscope.testing.rest import DIMENSIONS, SECRET_KEY, RestService, memory_app

OPERATOR = {"Authorization": f"Bearer {operator_key(SecretBox.from_text(SECRET_KEY))}"}
MODEL = {
    "type": "local_credential",
    "credential_id": "local",
    "model": "fake-embedding",
    "dimensions": DIMENSIONS,
}
NOW = {"after": 0, "seconds": 0}
HOOK = {"url": "http://127.0.0.1:9/", "enabled": False}


def _key(service: RestService, **fields: Any) -> dict[str, str]:
    body = {"user_id": "alice", "name": "ci", "capability": "admin", **fields}
    path = "/operator/api_keys"
    made = service.json("POST", path, status=201, user=None, headers=OPERATOR, json=body)
    return {"Authorization": f"Bearer {made['key']}"}


def test_a_key_of_one_knowledge_base_reaches_no_other(tmp_path: Path) -> None:
    """Events of the reached one show; its webhook can be made, one for all cannot."""
    storage = InMemoryStorage()
    app = memory_app(
        tmp_path, storage=storage, identity=ApiKeyIdentity(storage), enable_index_worker=False
    )
    with RestService(app) as service:
        whole = _key(service)

        def call(method: str, path: str, key: dict[str, str], **options: Any) -> Any:
            return service.call(method, path, user=None, headers=key, **options)

        body = {"name": "n", "embedding_model_config": MODEL}
        mine, other = (
            call("POST", "/knowledge_bases/", whole, json=body).json()["knowledge_base_id"]
            for _ in range(2)
        )
        narrow = _key(service, knowledge_base_ids=[mine])
        text = call("GET", "/events", narrow, params=NOW).text
        assert mine in text
        assert other not in text
        path = f"/knowledge_bases/{other}/events"
        assert call("GET", path, narrow, params=NOW).status_code == 404
        assert call("POST", "/webhooks/", narrow, json=HOOK).status_code == 403
        foreign = {**HOOK, "knowledge_base_id": other}
        assert call("POST", "/webhooks/", narrow, json=foreign).status_code == 404
        reached = {**HOOK, "knowledge_base_id": mine}
        assert call("POST", "/webhooks/", narrow, json=reached).status_code == 201
        hidden = call("POST", "/webhooks/", whole, json=foreign).json()["id"]
        assert call("GET", f"/webhooks/{hidden}", narrow).status_code == 404
        assert call("GET", "/webhooks/", narrow).json()["total"] == 1
        assert call("GET", "/audit_log", narrow).status_code == 403
        refused = call("GET", "/audit_log", whole).json()["entries"]
        assert ("POST /webhooks", 403, "api_key") in [
            (entry["action"], entry["status"], entry["identified_by"]) for entry in refused
        ]
        assert call("GET", "/audit_log", _key(service, capability="read")).status_code == 403
