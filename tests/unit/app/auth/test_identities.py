"""API keys and tokens: who gets in, and who does not."""

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from joserfc import jwk, jwt

from agentscope.app.auth.api_keys import ApiKeyIdentity, ApiKeys, NewApiKey
from agentscope.app.auth.permissions import Capability, includes
from agentscope.app.auth.tokens import IdentityChain, TokenIdentity
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.clock import SystemClock
from agentscope.errors import AuthenticationError, InvalidInputError, NotFoundError


class Moved(SystemClock):
    """A clock that the test moves."""

    ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


def _auth(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


async def test_a_key_identifies_its_owner_and_what_it_may_do() -> None:
    """Capability and knowledge bases come with it."""
    storage = InMemoryStorage()
    wanted = NewApiKey("ci", Capability.READ, frozenset({"kb1"}))
    key, text = await ApiKeys(storage).create("oidc:alice", wanted)
    caller = await ApiKeyIdentity(storage).identify(_auth(text))
    assert caller is not None
    assert (caller.user_id, caller.capability) == ("oidc:alice", Capability.READ)
    assert caller.knowledge_bases == frozenset({"kb1"})
    [listed] = await ApiKeys(storage).list("oidc:alice")
    assert listed.id == key.id
    assert listed.last_used_at is not None


async def test_the_secret_is_stored_nowhere() -> None:
    """Only a digest is."""
    storage = InMemoryStorage()
    _, text = await ApiKeys(storage).create("a", NewApiKey("x"))
    secret = text.split("_")[2]
    assert secret not in str(storage._state.registry)


@pytest.mark.parametrize("change", ["", "x", "shorter", "other id", "no secret"])
async def test_a_wrong_key_is_refused_with_one_sentence(change: str) -> None:
    """Nothing tells a guesser how close the guess was."""
    storage = InMemoryStorage()
    _, text = await ApiKeys(storage).create("a", NewApiKey("x"))
    wrong = {
        "": "rag_",
        "x": text[:-1] + ("0" if text[-1] != "0" else "1"),
        "shorter": text[:-1],
        "other id": "rag_" + "0" * 16 + "_" + text.split("_")[2],
        "no secret": text.rpartition("_")[0] + "_",
    }[change]
    with pytest.raises(AuthenticationError, match=r"^The API key is not valid\.$"):
        await ApiKeyIdentity(storage).identify(_auth(wrong))


async def test_a_key_ends_when_it_is_revoked_rotated_or_expired() -> None:
    """From the next request on."""
    clock = Moved()
    storage = InMemoryStorage(clock=clock)
    keys = ApiKeys(storage)
    revoked, first = await keys.create("a", NewApiKey("revoked"))
    rotated, second = await keys.create("a", NewApiKey("rotated"))
    _, third = await keys.create("a", NewApiKey("expires", lifetime=timedelta(hours=1)))
    await keys.verify(third)
    await keys.revoke("a", revoked.id)
    _, fresh = await keys.rotate("a", rotated.id)
    clock.ahead = timedelta(hours=2)
    for text in (first, second, third):
        with pytest.raises(AuthenticationError):
            await keys.verify(text)
    assert (await keys.verify(fresh)).name == "rotated"


async def test_keys_of_others_are_like_unknown_ones() -> None:
    """Also for a user whose id is the start of another's."""
    keys = ApiKeys(InMemoryStorage())
    key, _ = await keys.create("alice", NewApiKey("x"))
    assert await keys.list("ali") == []
    for user in ("ali", "mallory"):
        with pytest.raises(NotFoundError):
            await keys.revoke(user, key.id)
    with pytest.raises(NotFoundError):
        await keys.rotate("alice", "nope")
    with pytest.raises(InvalidInputError):
        await keys.create("alice", NewApiKey("  "))


def test_a_capability_includes_the_lesser_ones() -> None:
    """Admin may write, a reader may not."""
    assert includes(Capability.ADMIN, Capability.WRITE)
    assert includes(Capability.READ, Capability.READ)
    assert not includes(Capability.READ, Capability.WRITE)


KEY = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
OTHER = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})


def _shared_secret() -> Any:
    """The public key's modulus as a shared secret: the classic forgery."""
    return jwk.OctKey.import_key(str(KEY.as_dict(private=False)["n"]), {"kid": "one"})


def _token(key: Any = KEY, alg: str = "RS256", **claims: Any) -> str:
    good = {"iss": "https://id.example", "aud": "rag", "sub": "alice", "exp": time.time() + 60}
    body = {name: value for name, value in {**good, **claims}.items() if value is not None}
    return jwt.encode({"alg": alg, "kid": "one"}, body, key, algorithms=[alg])


def _identity(**options: Any) -> TokenIdentity:
    keys: Mapping[str, Any] = jwk.KeySet([KEY]).as_dict(private=False)
    return TokenIdentity(issuer="https://id.example", audience="rag", jwks=keys, **options)


async def test_a_token_of_the_issuer_identifies_its_subject() -> None:
    """Claims may be mapped to a user id."""
    caller = await _identity().identify(_auth(_token()))
    assert caller is not None
    assert caller.user_id == "alice"
    mapped = _identity(user_of=lambda claims: f"{claims['tenant']}/{claims['sub']}")
    caller = await mapped.identify(_auth(_token(tenant="acme")))
    assert caller is not None
    assert caller.user_id == "acme/alice"


@pytest.mark.parametrize(
    "token",
    [
        _token(exp=time.time() - 3600),
        _token(exp=None),
        _token(iss="https://evil.example"),
        _token(aud="another"),
        _token(aud=None),
        _token(sub=None),
        _token(sub="  "),
        _token(nbf=time.time() + 3600),
        _token(OTHER),
        _token(_shared_secret(), "HS256"),
        _token()[:-4] + "AAAA",
        "a.b.c",
    ],
)
async def test_any_other_token_is_refused(token: str) -> None:
    """Expired, endless, of another issuer or audience, forged, or signed with the public key."""
    with pytest.raises(AuthenticationError, match=r"^The token is not valid\.$"):
        await _identity().identify(_auth(token))


async def test_a_chain_takes_the_first_identity_that_knows_the_caller() -> None:
    """Keys and tokens side by side; nothing presented is nobody."""
    storage = InMemoryStorage()
    _, text = await ApiKeys(storage).create("bob", NewApiKey("x"))
    chain = IdentityChain(ApiKeyIdentity(storage), _identity())
    for header, user in ((_auth(text), "bob"), (_auth(_token()), "alice")):
        caller = await chain.identify(header)
        assert caller is not None
        assert caller.user_id == user
    assert await chain.identify({}) is None
    assert await chain.identify({"Authorization": "Basic xyz"}) is None
