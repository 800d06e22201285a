"""How a browser learns to sign in, and as whom it came."""

from pathlib import Path
from typing import Any

import pytest

from agentscope.app.auth.api_keys import ApiKeyIdentity, ApiKeys, NewApiKey
from agentscope.app.auth.base import IdentityBase
from agentscope.app.auth.permissions import Capability
from agentscope.app.auth.tokens import IdentityChain, TokenIdentity
from agentscope.app.settings import Settings
from agentscope.app.storage import InMemoryStorage
from agentscope.errors import ConfigurationError
from agentscope.testing.rest import RestService, memory_app

ISSUER = "https://login.example/realms/staff"
KEYS = f"{ISSUER}/keys"


def provider(audience: str, client_id: str | None = "web") -> TokenIdentity:
    return TokenIdentity(issuer=ISSUER, audience=audience, jwks_url=KEYS, client_id=client_id)


def test_the_header_identity_says_so(service: RestService) -> None:
    """Anybody may ask; whoever names a user sees it again."""
    nobody = service.json("GET", "/identity", user=None)
    assert nobody == {"ways": ["header"], "oidc": None, "caller": None}
    caller = service.json("GET", "/identity", user="ada")["caller"]
    assert caller == {
        "user_id": "ada",
        "method": "header",
        "capability": "admin",
        "knowledge_base_ids": None,
    }


def test_a_key_is_checked_and_described(tmp_path: Path) -> None:
    """With its reach; a key that is none is refused, and the header names nobody here."""
    storage = InMemoryStorage()
    app = memory_app(tmp_path, storage=storage, identity=ApiKeyIdentity(storage))
    with RestService(app) as service:
        wanted = NewApiKey("reader", Capability.READ, frozenset({"b", "a"}))
        _, text = service.run(ApiKeys(storage).create("ada", wanted))
        nobody = service.json("GET", "/identity", user="ben")
        assert nobody == {"ways": ["api_key"], "oidc": None, "caller": None}
        headers = {"Authorization": f"Bearer {text}"}
        caller = service.json("GET", "/identity", user=None, headers=headers)["caller"]
        assert (caller["user_id"], caller["capability"]) == ("ada", "read")
        assert caller["knowledge_base_ids"] == ["a", "b"]
        wrong = {"Authorization": f"Bearer {text[:-1]}"}
        refused = service.call("GET", "/identity", user=None, headers=wrong)
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("identity", "token"), [(provider("web"), "id_token"), (provider("api"), "access_token")]
)
def test_a_provider_is_named_with_the_token_that_is_taken(
    tmp_path: Path, identity: IdentityBase, token: str
) -> None:
    """The web app may talk to it; to nobody else."""
    chain = IdentityChain(ApiKeyIdentity(InMemoryStorage()), identity)
    with RestService(memory_app(tmp_path, identity=chain)) as service:
        told: dict[str, Any] = service.json("GET", "/identity", user=None)
        policy = service.call("GET", "/", user=None).headers["content-security-policy"]
    assert told["ways"] == ["api_key", "oidc"]
    assert told["oidc"] == {"issuer": ISSUER, "client_id": "web", "token": token}
    assert "connect-src 'self' https://login.example;" in policy


def test_without_a_client_nobody_signs_in_at_the_provider(tmp_path: Path) -> None:
    """Tokens are taken from scripts all the same."""
    with RestService(memory_app(tmp_path, identity=provider("api", None))) as service:
        assert service.json("GET", "/identity", user=None)["ways"] == []
        policy = service.call("GET", "/", user=None).headers["content-security-policy"]
    assert "connect-src 'self';" in policy


def test_a_client_needs_a_provider() -> None:
    """Told at the start."""
    with pytest.raises(ConfigurationError, match="OIDC_ISSUER"):
        Settings(identity="api_key", oidc_client_id="web")
