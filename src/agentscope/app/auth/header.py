"""The documented identity: a header names the user, and whoever reaches the service may name any.

Right for one machine and behind a gateway that sets the header itself; see `IdentityBase` for
identities that prove something.
"""

import unicodedata
from collections.abc import Mapping
from typing import Any

from agentscope.app.auth.base import Caller, IdentityBase
from agentscope.errors import AuthenticationError, InvalidInputError

MAX_USER_ID_CHARS = 256


class HeaderIdentity(IdentityBase):
    """Takes the user id from `X-User-ID` as it stands."""

    header = "X-User-ID"
    required_header = True
    trusts_caller = True

    async def identify(self, headers: Mapping[str, str]) -> Caller | None:
        value = headers.get(self.header)
        if value is None:
            return None
        if not value.strip():
            raise AuthenticationError("X-User-ID header is required.")
        return Caller(check_user_id(decoded(value)))

    def sign_in(self) -> Mapping[str, Mapping[str, Any]]:
        return {"header": {}}


def decoded(value: str) -> str:
    """Return a header value as text: UTF-8 where the bytes are, else Latin-1 as HTTP has it.

    Scripts send UTF-8, browsers only Latin-1; both then name the same user.
    """
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def check_user_id(value: str) -> str:
    """Return `value` if it can be a user id.

    Raises:
        InvalidInputError: longer than 256 characters, or holds control characters.
    """
    if len(value) > MAX_USER_ID_CHARS:
        raise InvalidInputError(f"The user id has more than {MAX_USER_ID_CHARS} characters.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
        raise InvalidInputError("The user id contains control characters.")
    return value
