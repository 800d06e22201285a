"""How the settings choose who says who is calling."""

import asyncio

import pytest

from agentscope.app.auth.api_keys import ApiKeyIdentity, ApiKeys, NewApiKey
from agentscope.app.auth.header import HeaderIdentity
from agentscope.app.auth.tokens import IdentityChain
from agentscope.app.settings import Settings
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.cli.application import identity_of
from agentscope.errors import AuthenticationError, ConfigurationError

PROVIDER = {
    "AGENTSCOPE_OIDC_ISSUER": "https://id.example.org",
    "AGENTSCOPE_OIDC_AUDIENCE": "rag",
    "AGENTSCOPE_OIDC_JWKS_URL": "http://127.0.0.1:9/keys",
}


def test_the_header_is_the_default() -> None:
    """It trusts its caller, which `serve` knows."""
    assert isinstance(identity_of(Settings(), InMemoryStorage()), HeaderIdentity)


def test_keys_alone_or_with_the_tokens_of_a_provider() -> None:
    """Nobody is trusted, and a key is known in both."""
    storage = InMemoryStorage()
    alone = identity_of(Settings(identity="api_key"), storage)
    assert isinstance(alone, ApiKeyIdentity)
    settings = Settings.from_environment({**PROVIDER, "AGENTSCOPE_IDENTITY": "api_key"})
    both = identity_of(settings, storage)
    assert isinstance(both, IdentityChain)
    assert not alone.trusts_caller
    assert not both.trusts_caller
    assert set(both.describe()) == {"api_key", "token"}

    async def use() -> None:
        async with storage:
            _, text = await ApiKeys(storage).create("alice", NewApiKey("test"))
            for identity in (alone, both):
                caller = await identity.identify({"Authorization": f"Bearer {text}"})
                assert caller is not None
                assert caller.user_id == "alice"
                assert await identity.identify({"X-User-ID": "alice"}) is None
                with pytest.raises(AuthenticationError):
                    await identity.identify({"Authorization": f"Bearer {text}0"})

    asyncio.run(use())


def test_a_provider_beside_the_header_is_refused() -> None:
    """Its tokens would prove nothing; half a provider is refused, too."""
    with pytest.raises(ConfigurationError, match="AGENTSCOPE_IDENTITY=api_key"):
        Settings.from_environment(PROVIDER)
    with pytest.raises(ConfigurationError, match="need all of"):
        Settings.from_environment({"AGENTSCOPE_OIDC_ISSUER": "https://id.example.org"})
