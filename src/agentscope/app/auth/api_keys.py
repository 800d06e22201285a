"""API keys: made once, shown once, stored as a digest.

A key reads `rag_<id>_<secret>`. The id finds the record, the secret is 256 random bits, so a plain
SHA-256 is a sufficient digest (nothing to guess, unlike a password). A revoked or expired key is
refused from the next request on; nothing is cached.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from agentscope.app.auth.base import Caller, IdentityBase
from agentscope.app.auth.header import check_user_id
from agentscope.app.auth.permissions import Capability
from agentscope.app.storage.base import StorageBase
from agentscope.errors import AuthenticationError, InvalidInputError, NotFoundError

PREFIX = "rag"
MAX_KEYS_PER_USER = 100
MAX_NAME_CHARS = 200
LAST_USED_EVERY = timedelta(minutes=1)
REFUSED = "The API key is not valid."


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key, without its secret; times are store time."""

    id: str
    user_id: str
    name: str
    capability: Capability
    knowledge_bases: frozenset[str] | None  # None: all of the user's
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    digest: str

    def record(self) -> dict[str, Any]:
        """Return what is stored."""
        bases = None if self.knowledge_bases is None else sorted(self.knowledge_bases)
        return {
            "user_id": self.user_id,
            "name": self.name,
            "capability": str(self.capability),
            "knowledge_bases": bases,
            "created_at": self.created_at.isoformat(),
            "expires_at": _text(self.expires_at),
            "last_used_at": _text(self.last_used_at),
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """What a caller asks for."""

    name: str
    capability: Capability = Capability.WRITE
    knowledge_bases: frozenset[str] | None = None
    lifetime: timedelta | None = None


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _key(key_id: str) -> str:
    return f"api_key/{key_id}"


def _owned(user_id: str) -> str:
    # Hexadecimal, so that no user id can be the prefix of another's entries.
    return f"api_key_of/{user_id.encode().hex()}/"


def _load(key_id: str, record: Mapping[str, Any]) -> ApiKey:
    bases = record["knowledge_bases"]
    created = _moment(record["created_at"])
    assert created is not None, "a key has a creation time"
    return ApiKey(
        id=key_id,
        user_id=record["user_id"],
        name=record["name"],
        capability=Capability(record["capability"]),
        knowledge_bases=None if bases is None else frozenset(bases),
        created_at=created,
        expires_at=_moment(record["expires_at"]),
        last_used_at=_moment(record["last_used_at"]),
        digest=record["digest"],
    )


class ApiKeys:
    """The keys in a storage."""

    def __init__(self, storage: StorageBase) -> None:
        self._storage = storage

    async def create(self, user_id: str, wanted: NewApiKey) -> tuple[ApiKey, str]:
        """Return the new key and its text, which is not shown again.

        Raises:
            InvalidInputError: the name is blank or too long, or the user has too many keys.
        """
        name = wanted.name.strip()
        if not name or len(name) > MAX_NAME_CHARS:
            raise InvalidInputError(f"The name must have 1 to {MAX_NAME_CHARS} characters.")
        if len(await self.list(check_user_id(user_id))) >= MAX_KEYS_PER_USER:
            raise InvalidInputError(f"A user may have at most {MAX_KEYS_PER_USER} API keys.")
        now = await self._storage.now()
        secret = secrets.token_hex(32)
        key = ApiKey(
            id=secrets.token_hex(8),
            user_id=user_id,
            name=name,
            capability=wanted.capability,
            knowledge_bases=wanted.knowledge_bases,
            created_at=now,
            expires_at=None if wanted.lifetime is None else now + wanted.lifetime,
            last_used_at=None,
            digest=_digest(secret),
        )
        # The list entry first: a key that works is always one that its owner can see and revoke.
        await self._storage.registry.put(_owned(user_id) + key.id, {})
        await self._storage.registry.put(_key(key.id), key.record())
        return key, f"{PREFIX}_{key.id}_{secret}"

    async def list(self, user_id: str) -> Sequence[ApiKey]:
        """Return the user's keys, oldest first."""
        prefix = _owned(user_id)
        found = []
        for entry in await self._storage.registry.list(prefix, limit=MAX_KEYS_PER_USER):
            key_id = entry.removeprefix(prefix)
            record = await self._storage.registry.get(_key(key_id))
            if record is not None:
                found.append(_load(key_id, record))
        return sorted(found, key=lambda key: (key.created_at, key.id))

    async def revoke(self, user_id: str, key_id: str) -> None:
        """Make the key worthless at once.

        Raises:
            NotFoundError: the user has no such key.
        """
        await self._own(user_id, key_id)
        await self._storage.registry.delete(_key(key_id))
        await self._storage.registry.delete(_owned(user_id) + key_id)

    async def rotate(self, user_id: str, key_id: str) -> tuple[ApiKey, str]:
        """Give the key a new secret; the old one is worthless at once.

        Raises:
            NotFoundError: the user has no such key.
        """
        key = await self._own(user_id, key_id)
        secret = secrets.token_hex(32)
        fresh = replace(key, digest=_digest(secret))
        await self._storage.registry.put(_key(key_id), fresh.record())
        return fresh, f"{PREFIX}_{key_id}_{secret}"

    async def verify(self, text: str) -> ApiKey:
        """Return the key that `text` proves.

        Raises:
            AuthenticationError: malformed, unknown, revoked or expired; always the same sentence.
        """
        prefix, _, rest = text.partition("_")
        key_id, _, secret = rest.partition("_")
        record = None
        if prefix == PREFIX and key_id.isalnum() and len(key_id) <= 32:
            record = await self._storage.registry.get(_key(key_id))
        expected = record["digest"] if record else _digest("")
        if not hmac.compare_digest(_digest(secret), expected) or record is None:
            raise AuthenticationError(REFUSED)
        key = _load(key_id, record)
        now = await self._storage.now()
        if key.expires_at is not None and key.expires_at <= now:
            raise AuthenticationError(REFUSED)
        if key.last_used_at is None or now - key.last_used_at > LAST_USED_EVERY:
            await self._touch(key, now)
        return key

    async def _touch(self, key: ApiKey, now: datetime) -> None:
        standing = await self._storage.registry.get(_key(key.id))
        if standing is not None and standing["digest"] == key.digest:  # not revoked meanwhile
            await self._storage.registry.put(_key(key.id), replace(key, last_used_at=now).record())

    async def _own(self, user_id: str, key_id: str) -> ApiKey:
        record = await self._storage.registry.get(_key(key_id)) if key_id.isalnum() else None
        if record is None or record["user_id"] != user_id:
            raise NotFoundError(f"API key '{key_id[:60]}' not found.")
        return _load(key_id, record)


class ApiKeyIdentity(IdentityBase):
    """Identifies callers by `Authorization: Bearer rag_...`."""

    header = "Authorization"

    def __init__(self, storage: StorageBase) -> None:
        self.keys = ApiKeys(storage)

    async def identify(self, headers: Mapping[str, str]) -> Caller | None:
        text = bearer(headers)
        if text is None or not text.startswith(f"{PREFIX}_"):
            return None
        key = await self.keys.verify(text)
        return Caller(key.user_id, "api_key", key.capability, key.knowledge_bases)

    def describe(self) -> Mapping[str, Any]:
        return {"api_key": {"type": "http", "scheme": "bearer"}}

    def sign_in(self) -> Mapping[str, Mapping[str, Any]]:
        return {"api_key": {}}


def bearer(headers: Mapping[str, str]) -> str | None:
    """Return the bearer token of the request, or None if there is none."""
    scheme, _, token = (headers.get("Authorization") or "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None
