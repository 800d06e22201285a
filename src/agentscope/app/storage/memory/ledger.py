"""Credentials, events and the registry in memory."""

import builtins
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from agentscope.app.records import CredentialRecord, Event
from agentscope.app.storage.base import CredentialStorage, EventStorage, RegistryStorage
from agentscope.app.storage.memory.state import State
from agentscope.errors import AlreadyExistsError

MAX_CREDENTIALS = 1000


class InMemoryCredentials(CredentialStorage):
    """Credentials of one process."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def put(
        self, user_id: str, credential_id: str, data: Mapping[str, Any]
    ) -> CredentialRecord:
        old = self._state.credentials.get(credential_id)
        if old is not None and old.user_id != user_id:
            raise AlreadyExistsError
        now = self._state.now()
        record = CredentialRecord(
            id=credential_id,
            user_id=user_id,
            data=dict(data),
            created_at=old.created_at if old else now,
            updated_at=now,
        )
        self._state.credentials[credential_id] = record
        return record

    async def get(self, user_id: str, credential_id: str) -> CredentialRecord | None:
        record = self._state.credentials.get(credential_id)
        return record if record is not None and record.user_id == user_id else None

    async def list(self, user_id: str) -> builtins.list[CredentialRecord]:
        own = [record for record in self._state.credentials.values() if record.user_id == user_id]
        own.sort(key=lambda record: (record.created_at, record.id))
        return own[:MAX_CREDENTIALS]

    async def delete(self, user_id: str, credential_id: str) -> bool:
        if await self.get(user_id, credential_id) is None:
            return False
        del self._state.credentials[credential_id]
        return True

    async def of_everybody(self) -> AsyncIterator[CredentialRecord]:
        for record in list(self._state.credentials.values()):
            yield record

    async def reseal(self, record: CredentialRecord, data: Mapping[str, Any]) -> bool:
        if self._state.credentials.get(record.id) != record:
            return False
        self._state.credentials[record.id] = replace(record, data=dict(data))
        return True


class InMemoryEvents(EventStorage):
    """The outbox of one process."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def after(
        self, user_id: str, sequence: int, *, knowledge_base_id: str | None = None, limit: int = 100
    ) -> Sequence[Event]:
        newer = [
            event
            for event in self._state.user(user_id).events
            if event.sequence > sequence and knowledge_base_id in (None, event.knowledge_base_id)
        ]
        return newer[:limit]

    async def last(self, user_id: str) -> int:
        return self._state.user(user_id).sequence

    async def trim(self, *, older_than: timedelta, limit: int = 10_000) -> int:
        before = self._state.now() - older_than
        removed = 0
        for user in self._state.users.values():
            old = sum(1 for event in user.events if event.at < before)
            count = min(old, limit - removed)
            del user.events[:count]
            removed += count
        return removed


class InMemoryRegistry(RegistryStorage):
    """Shared facts of one process."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def put(
        self, key: str, value: Mapping[str, Any], *, ttl: timedelta | None = None
    ) -> None:
        expires = None if ttl is None else self._state.now() + ttl
        self._state.registry[key] = (dict(value), expires)

    async def put_if_absent(self, key: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
        standing = await self.get(key)
        if standing is not None:
            return standing
        await self.put(key, value)
        return dict(value)

    async def replace(self, key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
        if await self.get(key) != old:
            return False
        await self.put(key, new)
        return True

    async def get(self, key: str) -> Mapping[str, Any] | None:
        value, expires = self._state.registry.get(key, (None, None))
        return value if expires is None or expires > self._state.now() else None

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 1000
    ) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for key in sorted(self._state.registry):
            value = await self.get(key) if key.startswith(prefix) and key > after else None
            if value is not None and len(found) < limit:
                found[key] = value
        return found

    async def delete(self, key: str) -> None:
        self._state.registry.pop(key, None)
