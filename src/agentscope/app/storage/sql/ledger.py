"""Credentials, events and the registry in SQL."""

import builtins
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from agentscope.app.records import CredentialRecord, Event
from agentscope.app.storage.base import CredentialStorage, EventStorage, RegistryStorage
from agentscope.app.storage.codec import (
    dump_credential,
    dump_json,
    load_credential,
    load_event,
    load_json,
    to_micros,
)
from agentscope.app.storage.sql.session import Database, Row, Session
from agentscope.errors import AlreadyExistsError

MAX_CREDENTIALS = 1000
CREDENTIALS_READ = 500


class SQLCredentials(CredentialStorage):
    """Credentials of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self, user_id: str, credential_id: str, data: Mapping[str, Any]
    ) -> CredentialRecord:
        def work(session: Session) -> CredentialRecord:
            row = session.row(
                "SELECT body FROM credentials WHERE id = :id" + session.dialect.for_update,
                id=credential_id,
            )
            old = None if row is None else load_credential(row[0])
            if old is not None and old.user_id != user_id:
                raise AlreadyExistsError
            now = session.now()
            record = CredentialRecord(
                id=credential_id,
                user_id=user_id,
                data=dict(data),
                created_at=old.created_at if old else now,
                updated_at=now,
            )
            written = session.rows(
                "INSERT INTO credentials (id, user_id, created_at, body) "
                "VALUES (:id, :user_id, :created_at, :body) ON CONFLICT (id) DO UPDATE "
                "SET body = excluded.body WHERE credentials.user_id = excluded.user_id "
                "RETURNING id",
                id=credential_id,
                user_id=user_id,
                created_at=to_micros(record.created_at),
                body=dump_credential(record),
            )
            if not written:
                raise AlreadyExistsError
            return record

        return await self._database.write(work)

    async def get(self, user_id: str, credential_id: str) -> CredentialRecord | None:
        row = await self._database.read(
            lambda session: session.row(
                "SELECT body FROM credentials WHERE id = :id AND user_id = :user_id",
                id=credential_id,
                user_id=user_id,
            )
        )
        return None if row is None else load_credential(row[0])

    async def list(self, user_id: str) -> builtins.list[CredentialRecord]:
        rows = await self._database.read(
            lambda session: session.rows(
                "SELECT body FROM credentials WHERE user_id = :user_id "
                "ORDER BY created_at, id LIMIT :limit",
                user_id=user_id,
                limit=MAX_CREDENTIALS,
            )
        )
        return [load_credential(body) for (body,) in rows]

    async def delete(self, user_id: str, credential_id: str) -> bool:
        rows = await self._database.write(
            lambda session: session.rows(
                "DELETE FROM credentials WHERE id = :id AND user_id = :user_id RETURNING id",
                id=credential_id,
                user_id=user_id,
            )
        )
        return bool(rows)

    async def of_everybody(self) -> AsyncIterator[CredentialRecord]:
        after = ""
        while rows := await self._page(after):
            for _, body in rows:
                yield load_credential(body)
            after = rows[-1][0]

    async def _page(self, after: str) -> builtins.list[Row]:
        return await self._database.read(
            lambda session: session.rows(
                "SELECT id, body FROM credentials WHERE id > :after ORDER BY id LIMIT :limit",
                after=after,
                limit=CREDENTIALS_READ,
            )
        )

    async def reseal(self, record: CredentialRecord, data: Mapping[str, Any]) -> bool:
        rows = await self._database.write(
            lambda session: session.rows(
                "UPDATE credentials SET body = :body WHERE id = :id AND body = :old RETURNING id",
                id=record.id,
                old=dump_credential(record),
                body=dump_credential(replace(record, data=dict(data))),
            )
        )
        return bool(rows)


class SQLEvents(EventStorage):
    """The outbox of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def after(
        self, user_id: str, sequence: int, *, knowledge_base_id: str | None = None, limit: int = 100
    ) -> Sequence[Event]:
        own = "" if knowledge_base_id is None else "AND knowledge_base_id = :knowledge_base_id "
        values: dict[str, Any] = {"user_id": user_id, "sequence": sequence, "limit": limit}
        if knowledge_base_id is not None:
            values["knowledge_base_id"] = knowledge_base_id
        rows = await self._database.read(
            lambda session: session.rows(
                "SELECT body, sequence FROM events "
                f"WHERE user_id = :user_id AND sequence > :sequence {own}"
                "ORDER BY sequence LIMIT :limit",
                **values,
            )
        )
        return [load_event(body, number) for body, number in rows]

    async def last(self, user_id: str) -> int:
        row = await self._database.read(
            lambda session: session.row(
                "SELECT sequence FROM users WHERE user_id = :user_id", user_id=user_id
            )
        )
        return 0 if row is None else int(row[0])

    async def trim(self, *, older_than: timedelta, limit: int = 10_000) -> int:
        def work(session: Session) -> int:
            rows = session.rows(
                "DELETE FROM events WHERE (user_id, sequence) IN (SELECT user_id, sequence "
                "FROM events WHERE at < :before ORDER BY at, user_id, sequence LIMIT :limit) "
                "RETURNING sequence",
                before=to_micros(session.now() - older_than),
                limit=limit,
            )
            return len(rows)

        return await self._database.write(work)


class SQLRegistry(RegistryStorage):
    """Shared facts of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self, key: str, value: Mapping[str, Any], *, ttl: timedelta | None = None
    ) -> None:
        def work(session: Session) -> None:
            now = session.now()
            session.rows(
                "INSERT INTO registry (name, value, expires_at) VALUES (:name, :value, :expires) "
                "ON CONFLICT (name) DO UPDATE "
                "SET value = excluded.value, expires_at = excluded.expires_at",
                name=key,
                value=dump_json(value),
                expires=None if ttl is None else to_micros(now + ttl),
            )

        await self._database.write(work)

    async def put_if_absent(self, key: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
        def work(session: Session) -> Mapping[str, Any]:
            session.rows(
                "INSERT INTO registry (name, value) VALUES (:name, :value) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value, expires_at = NULL "
                "WHERE registry.expires_at <= :now",
                name=key,
                value=dump_json(value),
                now=to_micros(session.now()),
            )
            row = session.row("SELECT value FROM registry WHERE name = :name", name=key)
            assert row is not None
            return load_json(row[0])

        return await self._database.write(work)

    async def replace(self, key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
        def work(session: Session) -> bool:
            row = session.row(
                "SELECT value FROM registry WHERE name = :name "
                "AND (expires_at IS NULL OR expires_at > :now)" + session.dialect.for_update,
                name=key,
                now=to_micros(session.now()),
            )
            if row is None or load_json(row[0]) != dict(old):
                return False
            session.rows(
                "UPDATE registry SET value = :value, expires_at = NULL WHERE name = :name",
                name=key,
                value=dump_json(new),
            )
            return True

        return await self._database.write(work)

    async def get(self, key: str) -> Mapping[str, Any] | None:
        row = await self._database.read(
            lambda session: session.row(
                "SELECT value FROM registry WHERE name = :name "
                "AND (expires_at IS NULL OR expires_at > :now)",
                name=key,
                now=to_micros(session.now()),
            )
        )
        return None if row is None else load_json(row[0])

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 1000
    ) -> dict[str, Mapping[str, Any]]:
        rows = await self._database.read(
            lambda session: session.rows(
                "SELECT name, value FROM registry WHERE name >= :prefix AND name < :end "
                "AND name > :after AND (expires_at IS NULL OR expires_at > :now) "
                "ORDER BY name LIMIT :limit",
                prefix=prefix,
                after=after,
                end=prefix + "\U0010ffff",
                now=to_micros(session.now()),
                limit=limit,
            )
        )
        return {name: load_json(value) for name, value in rows}

    async def delete(self, key: str) -> None:
        def work(session: Session) -> None:
            session.rows("DELETE FROM registry WHERE name = :name", name=key)
            # Entries whose time is over go with the next removal, so that they cannot pile up.
            session.rows(
                "DELETE FROM registry WHERE expires_at <= :now", now=to_micros(session.now())
            )

        await self._database.write(work)
