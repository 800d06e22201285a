"""Credentials, events and the registry in Redis."""

import builtins
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from agentscope.app.records import CredentialRecord, Event, Page
from agentscope.app.storage.base import CredentialStorage, EventStorage, RegistryStorage
from agentscope.app.storage.codec import (
    dump_credential,
    dump_json,
    load_credential,
    load_event,
    load_json,
    to_micros,
)
from agentscope.app.storage.redis import lists, scripts
from agentscope.app.storage.redis.commit import Commit
from agentscope.app.storage.redis.server import RedisServer
from agentscope.errors import AlreadyExistsError

MAX_CREDENTIALS = 1000
EVENTS_PER_LOOK = 500
LAST_CHARACTER = "\U0010ffff"


class RedisCredentials(CredentialStorage):
    """Credentials of one server."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def put(
        self, user_id: str, credential_id: str, data: Mapping[str, Any]
    ) -> CredentialRecord:
        server, keys = self._server, self._server.keys
        name = keys.credential(credential_id)

        async def step(_: int) -> CredentialRecord:
            micros, now, version, body = await server.load_one(name)
            old = load_credential(body) if body else None
            if old is not None and old.user_id != user_id:
                raise AlreadyExistsError
            record = CredentialRecord(
                id=credential_id,
                user_id=user_id,
                data=dict(data),
                created_at=old.created_at if old else now,
                updated_at=now,
            )
            commit = Commit(keys, name, micros)
            commit.check_version(name, version)
            commit.command("HSET", name, "v", commit.token, "b", dump_credential(record))
            commit.command(
                *("ZADD", keys.user_credentials(user_id)),
                *(to_micros(record.created_at), credential_id),
            )
            await server.commit(commit)
            return record

        return await server.repeated(step)

    async def get(self, user_id: str, credential_id: str) -> CredentialRecord | None:
        found = await self._server.load_one(self._server.keys.credential(credential_id))
        record = load_credential(found[3]) if found[3] else None
        return record if record is not None and record.user_id == user_id else None

    async def list(self, user_id: str) -> builtins.list[CredentialRecord]:
        keys = self._server.keys
        bodies, _ = await lists.first_page(
            self._server,
            keys.user_credentials(user_id),
            Page(1, MAX_CREDENTIALS, descending=False),
            records=f"{keys.root}cred:",
        )
        return [load_credential(body) for body in bodies]

    async def delete(self, user_id: str, credential_id: str) -> bool:
        server, keys = self._server, self._server.keys
        name = keys.credential(credential_id)

        async def step(number: int) -> bool:
            micros, _, version, body = await server.load_one(name)
            if not body or load_credential(body).user_id != user_id:
                return number > 0 and not body
            commit = Commit(keys, name, micros)
            commit.check_version(name, version)
            commit.command("DEL", name)
            commit.command("ZREM", keys.user_credentials(user_id), credential_id)
            await server.commit(commit)
            return True

        return await server.repeated(step)

    async def of_everybody(self) -> AsyncIterator[CredentialRecord]:
        keys, cursor = self._server.keys, "0"
        pattern = re.sub(r"([*?\[\]\\])", r"\\\1", keys.credential("")) + "*"
        while True:
            cursor, *bodies = await self._server.run(
                scripts.SCANNED, [keys.registry], pattern, cursor
            )
            for body in bodies:
                yield load_credential(body)
            if cursor == "0":
                return

    async def reseal(self, record: CredentialRecord, data: Mapping[str, Any]) -> bool:
        server, keys = self._server, self._server.keys
        name = keys.credential(record.id)
        wanted = replace(record, data=dict(data))

        async def step(number: int) -> bool:
            micros, _, version, body = await server.load_one(name)
            standing = load_credential(body) if body else None
            if number and standing == wanted:
                return True  # an earlier try did it, its answer was lost
            if standing != record:
                return False
            commit = Commit(keys, name, micros)
            commit.check_version(name, version)
            commit.command("HSET", name, "v", commit.token, "b", dump_credential(wanted))
            await server.commit(commit)
            return True

        return await server.repeated(step)


class RedisEvents(EventStorage):
    """The outbox of one server."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def after(
        self, user_id: str, sequence: int, *, knowledge_base_id: str | None = None, limit: int = 100
    ) -> Sequence[Event]:
        found: builtins.list[Event] = []
        look = limit if knowledge_base_id is None else max(limit, EVENTS_PER_LOOK)
        while len(found) < limit:
            members = await self._server.run(
                scripts.BY_SCORE, [self._server.keys.events(user_id)], f"({sequence}", look
            )
            for member in members:
                digits, _, payload = member.split("|", 2)
                sequence = int(digits)
                event = load_event(payload, sequence)
                if knowledge_base_id in (None, event.knowledge_base_id):
                    found.append(event)
            if len(members) < look:
                break
        return found[:limit]

    async def last(self, user_id: str) -> int:
        ((sequence,),) = await self._server.run(
            scripts.COUNTERS, [self._server.keys.user(user_id)], "sequence"
        )
        return int(sequence)

    async def trim(self, *, older_than: timedelta, limit: int = 10_000) -> int:
        keys = self._server.keys
        now = (await self._server.load_one(keys.entry("")))[1]
        removed = await self._server.run(
            scripts.TRIM,
            [keys.users_with_events],
            *(keys.root, to_micros(now - older_than), limit),
        )
        return int(removed)


class RedisRegistry(RegistryStorage):
    """Shared facts of one server."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    def _commit(
        self,
        key: str,
        micros: int,
        value: Mapping[str, Any],
        expires: datetime | None,
        ttl: timedelta | None,
    ) -> Commit:
        keys = self._server.keys
        name = keys.entry(key)
        body = {"value": value, "expires": None if expires is None else to_micros(expires)}
        commit = Commit(keys, name, micros)
        commit.command("HSET", name, "v", commit.token, "b", dump_json(body))
        if ttl is None:
            commit.command("PERSIST", name)
        else:
            # The body tells when it ends; this only keeps ended entries from piling up.
            commit.command("PEXPIRE", name, max(1, ttl // timedelta(milliseconds=1)))
        commit.command("ZADD", keys.registry, 0, key)
        return commit

    async def put(
        self, key: str, value: Mapping[str, Any], *, ttl: timedelta | None = None
    ) -> None:
        server = self._server

        async def step(_: int) -> None:
            micros, now, _version, _body = await server.load_one(server.keys.entry(key))
            expires = None if ttl is None else now + ttl
            await server.commit(self._commit(key, micros, value, expires, ttl))

        await server.repeated(step)

    async def put_if_absent(self, key: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
        server, name = self._server, self._server.keys.entry(key)

        async def step(_: int) -> Mapping[str, Any]:
            micros, now, version, body = await server.load_one(name)
            standing = _live(body, now)
            if standing is not None:
                return standing
            commit = self._commit(key, micros, value, None, None)
            commit.check_version(name, version)
            await server.commit(commit)
            return dict(value)

        return await server.repeated(step)

    async def replace(self, key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
        server, name = self._server, self._server.keys.entry(key)

        async def step(number: int) -> bool:
            micros, now, version, body = await server.load_one(name)
            standing = _live(body, now)
            if number and standing == dict(new):
                return True  # an earlier try did it, its answer was lost
            if standing != dict(old):
                return False
            commit = self._commit(key, micros, new, None, None)
            commit.check_version(name, version)
            await server.commit(commit)
            return True

        return await server.repeated(step)

    async def get(self, key: str) -> Mapping[str, Any] | None:
        _micros, now, _version, body = await self._server.load_one(self._server.keys.entry(key))
        return _live(body, now)

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 1000
    ) -> dict[str, Mapping[str, Any]]:
        server, keys = self._server, self._server.keys
        found: dict[str, Mapping[str, Any]] = {}
        start = f"({after}" if after >= prefix else f"[{prefix}"
        while len(found) < limit:
            answer = await server.run(
                scripts.ENTRIES,
                [keys.registry],
                *(keys.root, start, f"({prefix}{LAST_CHARACTER}", lists.SLICE),
            )
            _, now = server.time(answer[0], answer[1])
            for name, body in zip(answer[4::2], answer[5::2], strict=True):
                value = _live(body, now)
                if value is not None and len(found) < limit:
                    found[name] = value
            if int(answer[2]) < lists.SLICE:
                break
            start = f"({answer[3]}"
        return found

    async def delete(self, key: str) -> None:
        server, keys = self._server, self._server.keys
        name = keys.entry(key)

        async def step(_: int) -> None:
            micros, _now, version, _body = await server.load_one(name)
            if not version:
                return
            commit = Commit(keys, name, micros)
            commit.check_version(name, version)
            commit.command("DEL", name)
            commit.command("ZREM", keys.registry, key)
            await server.commit(commit)

        await server.repeated(step)


def _live(body: str, now: datetime) -> Mapping[str, Any] | None:
    """Return the value of an entry unless its time is over."""
    if not body:
        return None
    found = load_json(body)
    if found["expires"] is not None and found["expires"] <= to_micros(now):
        return None
    value: Mapping[str, Any] = found["value"]
    return value
