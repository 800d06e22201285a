"""The documented identity."""

import pytest

from agentscope.app.auth.header import HeaderIdentity
from agentscope.errors import AuthenticationError, InvalidInputError


async def test_the_value_is_the_user() -> None:
    """As it stands; nothing at all is not a caller."""
    identity = HeaderIdentity()
    caller = await identity.identify({"X-User-ID": "a:b/c 用"})
    assert caller is not None
    assert caller.user_id == "a:b/c 用"
    assert await identity.identify({}) is None


@pytest.mark.parametrize("value", ["", "  "])
async def test_an_empty_value_is_refused(value: str) -> None:
    """It names nobody."""
    with pytest.raises(AuthenticationError, match="X-User-ID header is required"):
        await HeaderIdentity().identify({"X-User-ID": value})


@pytest.mark.parametrize("value", ["x" * 257, "a\x00b", "a\nb", "\x7f"])
async def test_a_value_that_cannot_be_stored_is_refused(value: str) -> None:
    """Too long, or with control characters."""
    with pytest.raises(InvalidInputError):
        await HeaderIdentity().identify({"X-User-ID": value})


async def test_a_name_beyond_ascii_is_one_user_however_it_is_sent() -> None:
    """UTF-8 bytes of a script and Latin-1 of a browser."""
    for sent, user in (
        ("团队/c".encode().decode("latin-1"), "团队/c"),
        ("é".encode().decode("latin-1"), "é"),
        ("é", "é"),
    ):
        caller = await HeaderIdentity().identify({"X-User-ID": sent})
        assert caller is not None
        assert caller.user_id == user
