"""Who is calling. The tenant of every request comes from here and from nowhere else.

An identity looks at request headers only and knows nothing of routes. It answers None when the
caller presented nothing at all, and raises when what was presented is not good.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentscope.app.auth.permissions import Capability


@dataclass(frozen=True, slots=True)
class Caller:
    """An identified caller; `user_id` is the tenant."""

    user_id: str
    method: str = "header"  # how the caller was identified: header, api_key, token, ...
    capability: Capability = Capability.ADMIN
    knowledge_bases: frozenset[str] | None = None  # None: all that the user may see


class IdentityBase(abc.ABC):
    """Identifies callers by what their requests carry."""

    header: str = "Authorization"
    """The request header that carries the identity."""
    required_header: bool = False
    """Whether a request without the header is malformed instead of unauthenticated."""
    trusts_caller: bool = False
    """Whether anybody who can reach the service can be anybody."""

    @abc.abstractmethod
    async def identify(self, headers: Mapping[str, str]) -> Caller | None:
        """Return the caller, or None if the headers say nothing about one.

        Raises:
            AuthenticationError: what was presented is not valid.
        """

    def describe(self) -> Mapping[str, Any]:
        """Return OpenAPI security schemes, by name, for a caller's tools."""
        return {}

    def sign_in(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the ways in for people at a browser: `header`, `api_key`, `oidc`. No secrets."""
        return {}
