"""Records survive the way to text and back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope.app.generations import (
    Migration,
    MigrationFailure,
    MigrationPhase,
    RetiredCollection,
)
from agentscope.app.records import (
    ChunkerConfig,
    DocumentFailure,
    DocumentRecord,
    DocumentStatus,
    EmbeddingModelConfig,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
)
from agentscope.app.storage.codec import (
    dump_document,
    dump_knowledge_base,
    from_micros,
    load_document,
    load_knowledge_base,
    to_micros,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = st.timedeltas(timedelta(), timedelta(days=80_000)).map(lambda age: EPOCH + age)
TEXTS = st.text(max_size=20)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)
DOCUMENTS = st.builds(
    DocumentRecord,
    id=TEXTS,
    user_id=TEXTS,
    knowledge_base_id=TEXTS,
    filename=TEXTS,
    size=st.integers(0, 2**40),
    status=st.sampled_from(DocumentStatus),
    metadata=OBJECTS,
    report=OBJECTS,
    warnings=st.lists(TEXTS, max_size=3).map(tuple),
    failure=st.none() | st.builds(DocumentFailure, TEXTS, TEXTS, TEXTS, st.booleans()),
    due_at=st.none() | TIMES,
    max_lease_at=st.none() | TIMES,
    alone=st.booleans(),
    epoch=st.integers(0, 2**53),
    created_at=TIMES,
    updated_at=TIMES,
)


@settings(max_examples=50, deadline=None)
@given(DOCUMENTS)
def test_a_document_comes_back_equal(record: DocumentRecord) -> None:
    """Every field, every character."""
    text = dump_document(record)
    assert text.isascii()
    assert load_document(text) == record


@settings(max_examples=30, deadline=None)
@given(OBJECTS, TEXTS, TIMES)
def test_a_knowledge_base_comes_back_equal(
    parameters: dict[str, Any], name: str, at: datetime
) -> None:
    """With its configurations."""
    record = KnowledgeBaseRecord(
        id="k",
        user_id="u",
        name=name,
        embedding_model_config=EmbeddingModelConfig("t", "c", "m", 8, parameters),
        chunker_config=ChunkerConfig("c", parameters),
        collection_name="c",
        status=KnowledgeBaseStatus.ACTIVE,
        created_at=at,
        updated_at=at,
    )
    assert load_knowledge_base(dump_knowledge_base(record)) == record
    migration = Migration(
        generation=2,
        embedding_model_config=EmbeddingModelConfig("t", "c", "m", 9, parameters),
        collection_name="c2",
        fingerprint=parameters,
        phase=MigrationPhase.STOPPED,
        after=name,
        due_at=at,
        failure=MigrationFailure(name, name, retryable=True),
        started_at=at,
    )
    moving = replace(record, migration=migration, retired=(RetiredCollection("c0", at),))
    assert load_knowledge_base(dump_knowledge_base(moving)) == moving


@given(TIMES, st.integers(-14 * 60, 14 * 60))
def test_a_time_is_one_number_in_every_zone(at: datetime, offset: int) -> None:
    """No zone, no fraction and no summer time changes it."""
    elsewhere = at.astimezone(timezone(timedelta(minutes=offset)))
    assert to_micros(at) == to_micros(elsewhere)
    assert from_micros(to_micros(elsewhere)) == at


def test_fields_of_a_newer_version_are_left_alone() -> None:
    """Two versions run side by side during an upgrade."""
    text = dump_document(
        DocumentRecord(
            id="d",
            user_id="u",
            knowledge_base_id="k",
            filename="f",
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            updated_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
    )
    assert load_document(text[:-1] + ',"new":1}').id == "d"
