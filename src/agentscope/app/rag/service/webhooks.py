"""Webhooks of users: where events are sent, and from which place in the outbox on.

What the user chose and how far delivery is are two registry entries, so that a change by the user
and progress of the deliverer never overwrite each other.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from agentscope.app.records import Event
from agentscope.app.storage.base import StorageBase
from agentscope.credential.sealing import SecretBox
from agentscope.errors import ConflictError, InvalidInputError, NotFoundError
from agentscope.identity import new_id

MAX_PER_USER = 20
CHANGE_TRIES = 5
SECRET_PREFIX = "whsec_"  # noqa: S105 -- what a secret begins with, not one
_LIST_LIMIT = 1000
_ID_DIGITS = "0123456789abcdef"
_HOOKS = "webhook/"
_STATES = "webhook_state/"


@dataclass(frozen=True, slots=True)
class Webhook:
    """What the user chose; the secret is sealed."""

    id: str
    user_id: str
    url: str
    event_types: tuple[str, ...]  # a type, or a kind like `document`; empty: all
    knowledge_base_id: str | None  # None: all of the user's
    enabled: bool
    sealed: str = field(repr=False)
    created_at: str = ""
    begin: int = 0  # events after this sequence are sent
    begin_id: str = ""  # changes with every replay, so that the deliverer begins there again

    def wants(self, event: Event) -> bool:
        """Say whether the event is to be sent."""
        if self.knowledge_base_id not in (None, event.knowledge_base_id):
            return False
        kind = event.type.partition(".")[0]
        return not self.event_types or event.type in self.event_types or kind in self.event_types


@dataclass(frozen=True, slots=True)
class DeliveryState:
    """How far delivery is; times are store time."""

    begin_id: str = ""
    sequence: int = 0  # everything up to here was delivered or not wanted
    failures: int = 0  # in a row
    last_error: str = ""
    not_before: str = ""
    delivered_at: str = ""

    def waits(self, now: datetime) -> bool:
        """Say whether the next try is later."""
        return bool(self.not_before) and datetime.fromisoformat(self.not_before) > now


@dataclass(frozen=True, slots=True)
class WebhookWish:
    """What a caller asks for."""

    url: str
    event_types: Sequence[str] = ()
    knowledge_base_id: str | None = None
    enabled: bool = True


def _owned(user_id: str) -> str:
    # Hexadecimal, so that no user id can be the prefix of another's entries.
    return f"webhook_of/{user_id.encode().hex()}/"


def _place(webhook_id: str) -> str:
    return f"webhook:{webhook_id}"


class Webhooks:
    """The webhooks in a storage."""

    def __init__(
        self, storage: StorageBase, secrets_box: SecretBox, *, allow_url: Callable[[str], None]
    ) -> None:
        """`allow_url` raises for addresses that policy forbids; it may resolve names."""
        self.storage = storage
        self.allow_url = allow_url
        self._box = secrets_box

    async def create(self, user_id: str, wish: WebhookWish) -> tuple[Webhook, str]:
        """Return the new webhook and its secret, which is not shown again.

        Raises:
            InvalidInputError: the user has too many.
        """
        registry = self.storage.registry
        if len(await registry.list(_owned(user_id), limit=MAX_PER_USER)) >= MAX_PER_USER:
            raise InvalidInputError(f"A user may have at most {MAX_PER_USER} webhooks.")
        webhook_id, secret = new_id(), SECRET_PREFIX + secrets.token_urlsafe(32)
        webhook = Webhook(
            id=webhook_id,
            user_id=user_id,
            url=wish.url,
            event_types=tuple(wish.event_types),
            knowledge_base_id=wish.knowledge_base_id,
            enabled=wish.enabled,
            sealed=self._box.seal(secret, place=_place(webhook_id)),
            created_at=(await self.storage.now()).isoformat(),
            begin=await self.storage.events.last(user_id),
            begin_id=new_id(),
        )
        # The list entry first: what sends is always something that its owner can see and remove.
        await registry.put(_owned(user_id) + webhook_id, {})
        await self._write(webhook)
        return webhook, secret

    async def check(self, url: str) -> None:
        """Raise if nothing may be sent to the address.

        Raises:
            InvalidInputError: it is not an address, or carries a password.
            PermissionDeniedError: policy forbids it.
        """
        try:
            parts = urlsplit(url)
            carries_secret = bool(parts.username or parts.password)
        except ValueError as exc:
            raise InvalidInputError("The URL is not valid.") from exc
        if carries_secret or not url.isprintable() or " " in url:
            raise InvalidInputError("The URL is not valid; it must not hold a user or password.")
        await asyncio.to_thread(self.allow_url, url)

    async def list(self, user_id: str) -> Sequence[Webhook]:
        """Return the user's webhooks, oldest first."""
        prefix = _owned(user_id)
        found = []
        for entry in await self.storage.registry.list(prefix, limit=MAX_PER_USER):
            record = await self.storage.registry.get(_HOOKS + entry.removeprefix(prefix))
            if record is not None:
                found.append(_load(record))
        return sorted(found, key=lambda webhook: (webhook.created_at, webhook.id))

    async def get(self, user_id: str, webhook_id: str) -> Webhook:
        """Return the user's webhook.

        Raises:
            NotFoundError: the user has no such webhook.
        """
        known = webhook_id.isascii() and webhook_id.isalnum()
        record = await self.storage.registry.get(_HOOKS + webhook_id) if known else None
        if record is None or record["user_id"] != user_id:
            raise NotFoundError(f"Webhook '{webhook_id[:60]}' not found.")
        return _load(record)

    async def change(self, user_id: str, webhook_id: str, changes: Mapping[str, Any]) -> Webhook:
        """Replace fields of the user's webhook; nothing that changes at the same time is undone.

        Raises:
            NotFoundError: the user has no such webhook.
            ConflictError: it was changed all the time.
        """
        for _ in range(CHANGE_TRIES):
            before = await self.get(user_id, webhook_id)
            webhook = replace(before, **changes)
            key = _HOOKS + webhook_id
            if await self.storage.registry.replace(key, _entry(before), _entry(webhook)):
                return webhook
        raise ConflictError

    async def replay(self, user_id: str, webhook_id: str, after: int) -> Webhook:
        """Send every event after this sequence again that is still kept."""
        return await self.change(user_id, webhook_id, {"begin": after, "begin_id": new_id()})

    async def remove(self, user_id: str, webhook_id: str) -> None:
        """Forget the webhook; at most one delivery that is under way still arrives."""
        await self.get(user_id, webhook_id)
        await self.storage.registry.delete(_HOOKS + webhook_id)
        await self.storage.registry.delete(_STATES + webhook_id)
        await self.storage.registry.delete(_owned(user_id) + webhook_id)

    def secret(self, webhook: Webhook) -> str:
        """Return the secret that signs."""
        return self._box.open(webhook.sealed, place=_place(webhook.id))

    async def all(self, prefix: str = "") -> AsyncIterator[Webhook]:
        """Yield the webhooks of all users; a full answer is asked again digit by digit."""
        found = await self.storage.registry.list(_HOOKS + prefix, limit=_LIST_LIMIT)
        if len(found) < _LIST_LIMIT:
            for record in found.values():
                yield _load(record)
            return
        for digit in _ID_DIGITS:
            async for webhook in self.all(prefix + digit):
                yield webhook

    async def state(self, webhook: Webhook) -> DeliveryState:
        """Return how far delivery is; a replay begins anew."""
        record = await self.storage.registry.get(_STATES + webhook.id)
        state = DeliveryState(**record) if record is not None else DeliveryState()
        if state.begin_id != webhook.begin_id:
            return DeliveryState(begin_id=webhook.begin_id, sequence=webhook.begin)
        return state

    async def keep(self, webhook: Webhook, state: DeliveryState) -> None:
        """Remember how far delivery is."""
        record = {name: getattr(state, name) for name in DeliveryState.__slots__}
        await self.storage.registry.put(_STATES + webhook.id, record)

    async def _write(self, webhook: Webhook) -> None:
        await self.storage.registry.put(_HOOKS + webhook.id, _entry(webhook))


def _entry(webhook: Webhook) -> dict[str, Any]:
    record = {name: getattr(webhook, name) for name in Webhook.__slots__}
    return {**record, "event_types": list(webhook.event_types)}


def _load(record: Mapping[str, Any]) -> Webhook:
    return Webhook(**{**record, "event_types": tuple(record["event_types"])})


async def stored_webhooks(storage: StorageBase) -> AsyncIterator[tuple[str, Mapping[str, Any]]]:
    """Yield the registry entries of all users' webhooks."""
    after = ""
    while page := await storage.registry.list(_HOOKS, after=after, limit=_LIST_LIMIT):
        for key, entry in page.items():
            yield key, entry
        after = max(page)


def resealed_webhook(box: SecretBox, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the entry with its secret sealed by the newest key; None when it already is.

    Raises:
        ConfigurationError: the key is missing, or the value was damaged.
    """
    if not box.is_outdated(entry["sealed"]):
        return None
    place = _place(entry["id"])
    return {**entry, "sealed": box.seal(box.open(entry["sealed"], place=place), place=place)}


def event_body(webhook: Webhook, event: Event) -> bytes:
    """Return what is sent for an event; equal for every try."""
    view = {
        "id": f"{webhook.id}-{event.sequence}",
        "sequence": event.sequence,
        "type": event.type,
        "at": event.at.isoformat(),
        "knowledge_base_id": event.knowledge_base_id,
        "document_id": event.document_id,
        "data": dict(event.data),
    }
    return json.dumps(view, ensure_ascii=False, separators=(",", ":")).encode()
