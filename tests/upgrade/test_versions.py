"""Programs and data of different versions: what works side by side, and what is refused."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from tests.contract.test_storage_postgres import fresh_schema

from agentscope.app.records import DocumentRecord, DocumentStatus, KnowledgeBaseRecord
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.codec import (
    dump_document,
    dump_knowledge_base,
    load_document,
    load_knowledge_base,
)
from agentscope.app.storage.redis import layout
from agentscope.app.storage.redis.store import RedisStorage
from agentscope.app.storage.sql import session
from agentscope.app.storage.sql.dialect import Dialect
from agentscope.app.storage.sql.migrations import STEPS
from agentscope.app.storage.sql.postgres import PostgresStorage
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.errors import ConfigurationError
from agentscope.identity import new_id
from agentscope.testing.servers import shared_redis

TOO_NEW = "The data was written by a newer version; upgrade this program."
DOCUMENT = (
    '{"id":"d1","user_id":"u1","knowledge_base_id":"k1","filename":"a.txt","size":5,'
    '"status":"error","failure":{"code":"no_text","message":"No text.","stage":"parsing",'
    '"retryable":false},"created_at":1700000000000000,"updated_at":1700000000000000,"version":3}'
)
KNOWLEDGE_BASE = (
    '{"id":"k1","user_id":"u1","name":"Rules","embedding_model_config":{"type":"local_credential",'
    '"credential_id":"local","model":"m","dimensions":8,"parameters":{}},"chunker_config":'
    '{"type":"approx_token","parameters":{}},"collection_name":"kb_k1_1","status":"active",'
    '"created_at":1700000000000000,"updated_at":1700000000000000,"version":2}'
)


def test_records_of_the_first_version_are_read() -> None:
    """The text is as that version wrote it."""
    document = load_document(DOCUMENT)
    assert document.status is DocumentStatus.ERROR
    assert document.error == "No text."
    assert json.loads(dump_document(document)) == json.loads(DOCUMENT)
    base = load_knowledge_base(KNOWLEDGE_BASE)
    assert base.embedding_model_config.dimensions == 8
    assert json.loads(dump_knowledge_base(base)) == json.loads(KNOWLEDGE_BASE)


def test_what_only_a_newer_version_knows_survives_a_write_by_this_one() -> None:
    """An older worker publishes a document; what the newer one noted in it is still there."""
    newer = {**json.loads(DOCUMENT), "review": {"by": "u2"}, "seen_at": 1700000000000001}
    document = load_document(json.dumps(newer))
    assert document.newer == {"review": {"by": "u2"}, "seen_at": 1700000000000001}
    written = json.loads(dump_document(replace(document, size=6)))
    assert written == {**newer, "size": 6}
    base = load_knowledge_base(json.dumps({**json.loads(KNOWLEDGE_BASE), "colour": "red"}))
    assert json.loads(dump_knowledge_base(base))["colour"] == "red"


def test_new_fields_inside_of_parts_do_not_stop_an_older_reader() -> None:
    """They are left out."""
    newer = json.loads(DOCUMENT)
    newer["failure"]["hint"] = "try again"
    assert load_document(json.dumps(newer)).failure == load_document(DOCUMENT).failure
    base = json.loads(KNOWLEDGE_BASE)
    base["embedding_model_config"]["region"] = "eu"
    base["chunker_config"]["style"] = "new"
    assert load_knowledge_base(json.dumps(base)) == load_knowledge_base(KNOWLEDGE_BASE)


def test_no_record_has_a_field_without_a_default_that_the_first_version_did_not_write() -> None:
    """Else its data could not be read."""
    assert isinstance(load_document(DOCUMENT), DocumentRecord)
    assert isinstance(load_knowledge_base(KNOWLEDGE_BASE), KnowledgeBaseRecord)


def two_more(dialect: Dialect) -> tuple[str, ...]:
    """Return what a step of the next version may do."""
    return (
        f"ALTER TABLE documents ADD COLUMN review {dialect.text}",
        "CREATE INDEX documents_review ON documents (review)",
    )


NEXT = (
    *STEPS,
    (STEPS[-1][0] + 1, two_more),
    (STEPS[-1][0] + 2, lambda dialect: (f"CREATE TABLE reviews (id {dialect.text} PRIMARY KEY)",)),
)


async def opens(storage: StorageBase) -> None:
    """Enter and leave the storage."""
    async with storage:
        assert await storage.now()


@pytest.mark.server
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_this_version_works_on_the_schema_of_the_next(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its steps only add, and it says so; however many there are in one release."""
    address = fresh_schema() if kind == "postgres" else ""

    def made() -> StorageBase:
        if kind == "postgres":
            return PostgresStorage(address, connections=2)
        return SQLiteStorage(tmp_path / "records.sqlite")

    await opens(made())
    with monkeypatch.context() as patch:
        patch.setattr(session, "STEPS", NEXT)
        await opens(made())
        await opens(made())
    await opens(made())
    with monkeypatch.context() as patch:
        last = (NEXT[-1][0] + 1, lambda dialect: ("DROP TABLE reviews",))
        patch.setattr(session, "STEPS", (*NEXT, last))
        patch.setattr(session, "OLDEST_READER", NEXT[-1][0])
        await opens(made())
    with monkeypatch.context() as patch:
        patch.setattr(session, "STEPS", NEXT)
        await opens(made())
    with pytest.raises(ConfigurationError, match=TOO_NEW):
        await opens(made())


async def test_a_step_that_says_nothing_about_its_readers_is_refused(tmp_path: Path) -> None:
    """Nothing is touched."""
    path = tmp_path / "records.sqlite"
    await opens(SQLiteStorage(path))
    with sqlite3.connect(path) as other:
        other.execute("INSERT INTO schema_steps VALUES (?, 0)", (STEPS[-1][0] + 1,))
    other.close()
    with pytest.raises(ConfigurationError, match=TOO_NEW):
        await opens(SQLiteStorage(path))


@pytest.mark.server
async def test_redis_knows_the_layout_of_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data without one is of the first version; what is too new is refused in one line."""
    prefix = new_id()

    def made() -> RedisStorage:
        return RedisStorage(url=shared_redis().url, key_prefix=prefix)

    first = made()  # not entered: as the first version did it
    await first.registry.put("fact", {"is": "kept"})
    await first.aclose()
    async with made() as storage:
        assert await storage.registry.get("fact") == {"is": "kept"}
    with monkeypatch.context() as patch:
        patch.setattr(layout, "LAYOUT", 2)
        await opens(made())
    await opens(made())
    with monkeypatch.context() as patch:
        patch.setattr(layout, "LAYOUT", 3)
        patch.setattr(layout, "OLDEST_READER", 2)
        await opens(made())
    with pytest.raises(ConfigurationError, match=TOO_NEW):
        await opens(made())
