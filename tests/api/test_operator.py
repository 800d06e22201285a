"""The audit: for the operator, not for users."""

from pathlib import Path

from agentscope.app.running import operator_key
from agentscope.credential.sealing import SecretBox
from agentscope.testing.rest import SECRET_KEY, RestService, memory_app

PATH = "/operator/audit"


def test_a_clean_service_has_a_clean_audit(service: RestService, user: str) -> None:
    """From this machine, where any caller may be any user anyway."""
    kb = service.knowledge_base(user=user)
    service.ready(kb, "a.txt", b"words", user=user)
    report = service.json("POST", PATH, user=None)
    assert report["clean"], report
    assert report["counts"]["documents"] >= 1


def test_a_caller_from_elsewhere_needs_the_key(tmp_path: Path) -> None:
    """Also one that a proxy on this machine lets through."""
    key = operator_key(SecretBox.from_text(SECRET_KEY))
    bearer = {"Authorization": f"Bearer {key}"}
    with RestService(memory_app(tmp_path / "far"), client_address="192.0.2.7") as far:
        assert far.call("POST", PATH).status_code == 401
        assert far.call("POST", PATH, headers={"Authorization": "Bearer x"}).status_code == 401
        assert far.call("POST", PATH, headers=bearer).status_code == 200
    with RestService(memory_app(tmp_path / "near")) as near:
        forwarded = {"X-Forwarded-For": "192.0.2.7"}
        assert near.call("POST", PATH, headers=forwarded).status_code == 401
        assert near.call("POST", PATH, headers={**forwarded, **bearer}).status_code == 200


def test_a_key_for_any_user_takes_the_operator_key_even_here(service: RestService) -> None:
    """It stays valid when callers are no longer trusted, so being on this machine is not enough."""
    body = {"user_id": "alice", "name": "mine now"}
    for user in (None, "mallory"):
        assert service.call("POST", "/operator/api_keys", user=user, json=body).status_code == 401


def test_the_audit_finds_and_mends(tmp_path: Path) -> None:
    """A blob that vanished is named; so is what belongs to nothing."""
    with RestService(memory_app(tmp_path)) as service:
        kb = service.knowledge_base()
        service.ready(kb, "a.txt", b"words")
        blob = next(path for path in (tmp_path / "blobs").rglob("*") if path.is_file())
        blob.unlink()
        report = service.json("POST", PATH)
        assert not report["clean"]
        assert any(finding["subject"]["kind"] for finding in report["findings"])
