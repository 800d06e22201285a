"""JSON Web Tokens of an OpenID provider. Needs the extra `oidc`.

Only asymmetric algorithms are accepted, so a public key can never be taken for a shared secret.
Keys come from the provider's JWKS address and are fetched again when a token names an unknown
key, at most once a minute: rotation needs no restart, and forged key ids cause no traffic.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from agentscope.app.auth.api_keys import bearer
from agentscope.app.auth.base import Caller, IdentityBase
from agentscope.app.auth.header import check_user_id
from agentscope.app.auth.permissions import Capability
from agentscope.clock import Clock, SystemClock
from agentscope.errors import AuthenticationError, InvalidInputError, UpstreamError
from agentscope.optional import require

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
REFETCH_SECONDS = 60.0
LEEWAY_SECONDS = 30
REFUSED = "The token is not valid."
MAX_TOKEN_CHARS = 16_384

UserOf = Callable[[Mapping[str, Any]], str]


def subject(claims: Mapping[str, Any]) -> str:
    """Return the user id of a token: its subject."""
    return str(claims["sub"])


class TokenIdentity(IdentityBase):
    """Identifies callers by `Authorization: Bearer <JWT>` of one issuer for one audience."""

    header = "Authorization"

    def __init__(
        self,
        *,
        issuer: str,
        audience: str,
        jwks_url: str | None = None,
        jwks: Mapping[str, Any] | None = None,
        user_of: UserOf = subject,
        capability_of: Callable[[Mapping[str, Any]], Capability] = lambda claims: Capability.ADMIN,
        clock: Clock | None = None,
        client_id: str | None = None,
    ) -> None:
        """Give `jwks_url` for a provider, or `jwks` for fixed keys.

        With a `client_id`, that of a public client, browsers can sign in at the issuer.
        """
        if (jwks_url is None) == (jwks is None):
            raise InvalidInputError("Give either jwks_url or jwks.")
        self._issuer = issuer
        self._audience = audience
        self._jwks_url = jwks_url
        self._client_id = client_id
        self._user_of = user_of
        self._capability_of = capability_of
        self._clock = clock or SystemClock()
        self._jwt = require("joserfc.jwt", package="joserfc", extra="oidc")
        self._jwk = require("joserfc.jwk", package="joserfc", extra="oidc")
        self._keys = self._jwk.KeySet.import_key_set(jwks) if jwks is not None else None
        self._fetched_at = float("-inf")
        self._fetching = asyncio.Lock()

    async def identify(self, headers: Mapping[str, str]) -> Caller | None:
        text = bearer(headers)
        if text is None or text.count(".") != 2 or len(text) > MAX_TOKEN_CHARS:
            return None
        claims = await self._claims(text)
        try:
            user_id = check_user_id(self._user_of(claims))
        except (KeyError, TypeError, InvalidInputError) as exc:
            raise AuthenticationError(REFUSED) from exc
        if not user_id.strip():
            raise AuthenticationError(REFUSED)
        return Caller(user_id, "token", self._capability_of(claims))

    async def _claims(self, text: str) -> Mapping[str, Any]:
        keys = self._keys if self._keys is not None else await self._fetch()
        try:
            return self._verify(text, keys)
        except AuthenticationError:
            if self._jwks_url is None or not self._may_fetch():
                raise
        return self._verify(text, await self._fetch())

    def _verify(self, text: str, keys: Any) -> Mapping[str, Any]:
        errors = require("joserfc.errors", package="joserfc", extra="oidc")
        registry = self._jwt.JWTClaimsRegistry(
            now=int(self._clock.now().timestamp()),
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self._audience},
            exp={"essential": True},
        )
        try:
            token = self._jwt.decode(text, keys, algorithms=list(ALGORITHMS))
            registry.validate(token.claims)
        except (errors.JoseError, ValueError) as exc:
            raise AuthenticationError(REFUSED) from exc
        claims: Mapping[str, Any] = token.claims
        return claims

    def _may_fetch(self) -> bool:
        return self._clock.monotonic() - self._fetched_at > REFETCH_SECONDS

    async def _fetch(self) -> Any:
        async with self._fetching:
            if self._keys is not None and not self._may_fetch():
                return self._keys
            assert self._jwks_url is not None, "fixed keys are never fetched"
            self._fetched_at = self._clock.monotonic()
            try:
                async with httpx.AsyncClient(timeout=10, trust_env=False) as http:
                    answer = await http.get(self._jwks_url)
                self._keys = self._jwk.KeySet.import_key_set(answer.raise_for_status().json())
            except (httpx.HTTPError, ValueError, KeyError) as exc:
                if self._keys is None:
                    raise UpstreamError("The identity provider does not answer.") from exc
            return self._keys

    def describe(self) -> Mapping[str, Any]:
        return {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}

    def sign_in(self) -> Mapping[str, Mapping[str, Any]]:
        if self._client_id is None:
            return {}
        # A provider names the client as the audience of its identity tokens only.
        token = "id_token" if self._client_id == self._audience else "access_token"
        return {"oidc": {"issuer": self._issuer, "client_id": self._client_id, "token": token}}


class IdentityChain(IdentityBase):
    """Asks several identities in turn; the first that knows the caller answers."""

    def __init__(self, *identities: IdentityBase) -> None:
        self._identities = identities
        self.header = identities[0].header
        self.trusts_caller = any(identity.trusts_caller for identity in identities)

    async def identify(self, headers: Mapping[str, str]) -> Caller | None:
        for identity in self._identities:
            caller = await identity.identify(headers)
            if caller is not None:
                return caller
        return None

    def describe(self) -> Mapping[str, Any]:
        return {
            name: scheme for each in self._identities for name, scheme in each.describe().items()
        }

    def sign_in(self) -> Mapping[str, Mapping[str, Any]]:
        return {name: way for each in self._identities for name, way in each.sign_in().items()}
