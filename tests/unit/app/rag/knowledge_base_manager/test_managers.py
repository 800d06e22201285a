"""Both managers: creation leaves nothing half-made, deletion needs no model, tenants stay apart."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.rag.knowledge_base_manager.dimension_policy import (
    DimensionPolicy,
    DimensionPolicyKind,
)
from agentscope.app.rag.knowledge_base_manager.models import PinnedModel, same_vectors
from agentscope.app.rag.knowledge_base_manager.shared_collection import SharedCollectionManager
from agentscope.app.records import EmbeddingModelConfig, KnowledgeBaseStatus, Policy
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.app.transitions import run, upload
from agentscope.embedding.base import EmbeddingModelBase, EmbeddingModelCard, ModelFingerprint
from agentscope.errors import (
    CredentialNotFoundError,
    DimensionPolicyError,
    EmbeddingModelChangedError,
    KnowledgeBaseNotFoundError,
    VectorStoreError,
)
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, Run, SearchMode
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel

KINDS = [CollectionPerKbManager, SharedCollectionManager]


def config(dimensions: int = 8, credential_id: str = "c") -> EmbeddingModelConfig:
    """Return a configuration of the fake model."""
    return EmbeddingModelConfig("fake", credential_id, "fake-embedding", dimensions)


@dataclass
class House:
    """A manager with what it works on."""

    manager: RecordedManager
    storage: InMemoryStorage
    store: InMemoryVectorStore
    model: FakeEmbeddingModel

    async def index(self, user: str, base: str, name: str, text: str) -> None:
        """Put one ready document in, as the service and a worker would."""
        documents, policy = self.storage.documents, Policy()
        await documents.begin_upload(user, base, {"id": name, "filename": name}, policy=policy)
        commit = partial(upload.commit_upload, stored={"size": 1}, duplicate_of=None)
        await documents.apply(name, commit)
        claim = partial(run.claim, owner="w", run_id=f"run-{name}", policy=policy)
        record = await documents.apply(name, claim)
        assert record is not None
        handle = await self.manager.get_knowledge(user, base)
        block = TextBlock(text=text)
        chunk = Chunk(content=block, source=name, chunk_index=0, total_chunks=1)
        await handle.insert_document([chunk], name, run=Run(f"run-{name}", record.epoch))
        publish = partial(
            run.publish,
            run_id=f"run-{name}",
            chunk_count=1,
            warnings=(),
            report={},
            policy=policy,
        )
        await documents.apply(name, publish)


@asynccontextmanager
async def house(kind: type[RecordedManager]) -> AsyncIterator[House]:
    """Open a manager over memory."""
    storage, store, model = InMemoryStorage(), InMemoryVectorStore(), FakeEmbeddingModel(8)

    async def models(user_id: str, wanted: EmbeddingModelConfig) -> EmbeddingModelBase:
        if wanted.credential_id == "gone":
            raise CredentialNotFoundError
        return model

    manager = kind(storage=storage, vector_store=store)
    manager.bind(embedding_models=models, policy=Policy())
    async with manager:
        yield House(manager, storage, store, model)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_new_knowledge_base_is_active_and_empty(kind: type[RecordedManager]) -> None:
    """Its collection exists; name and description can be changed; foreign users see nothing."""
    async with house(kind) as home:
        record = await home.manager.create_knowledge_base("u1", "name", "about", config())
        assert record.status is KnowledgeBaseStatus.ACTIVE
        assert await home.store.has_collection(record.collection_name)
        assert [r.id for r in await home.manager.list_knowledge_bases("u1")] == [record.id]
        assert await home.manager.list_knowledge_bases("u2") == []
        changed = await home.manager.update_knowledge_base("u1", record.id, name="other")
        assert changed is not None
        assert (changed.name, changed.description) == ("other", "about")
        assert await home.manager.update_knowledge_base("u2", record.id, name="x") is None
        with pytest.raises(KnowledgeBaseNotFoundError):
            await home.manager.get_knowledge("u2", record.id)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_creation_that_fails_is_given_up_at_once(
    kind: type[RecordedManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is a tombstone that the sweeper purges; nobody ever sees it."""
    async with house(kind) as home:

        async def refuse(name: str, dimensions: int) -> None:
            raise VectorStoreError

        monkeypatch.setattr(home.store, "create_collection", refuse)
        with pytest.raises(VectorStoreError):
            await home.manager.create_knowledge_base("u1", "name", "", config())
        assert await home.manager.list_knowledge_bases("u1") == []
        left = await home.storage.knowledge_bases.all()
        assert [record.status for record in left] == [KnowledgeBaseStatus.DELETING]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_missing_credential_leaves_no_record(kind: type[RecordedManager]) -> None:
    """It is found before anything is written."""
    async with house(kind) as home:
        with pytest.raises(CredentialNotFoundError):
            await home.manager.create_knowledge_base("u1", "n", "", config(credential_id="gone"))
        assert await home.storage.knowledge_bases.all() == []


@pytest.mark.parametrize("kind", KINDS)
async def test_deleting_needs_no_embedding_model(kind: type[RecordedManager]) -> None:
    """The credential is gone; the knowledge base and its points go all the same."""
    async with house(kind) as home:
        one = await home.manager.create_knowledge_base("u1", "one", "", config())
        two = await home.manager.create_knowledge_base("u1", "two", "", config())
        await home.index("u1", one.id, "d1", "alpha")
        await home.index("u1", two.id, "d2", "alpha")

        async def no_models(user_id: str, wanted: EmbeddingModelConfig) -> Any:
            raise CredentialNotFoundError

        home.manager.bind(embedding_models=no_models, policy=Policy())
        assert await home.manager.delete_knowledge_base("u2", one.id) is False
        assert await home.manager.delete_knowledge_base("u1", one.id) is True
        assert await home.manager.delete_knowledge_base("u1", one.id) is False
        await home.manager.drop(one)
        await home.manager.drop(one)
        left = {
            key[0] for collection in home.store._collections.values() for key in collection.entries
        }
        assert left == {"d2"}


@pytest.mark.parametrize("kind", KINDS)
async def test_two_tenants_never_find_each_other(kind: type[RecordedManager]) -> None:
    """Same text, same model, perhaps the same collection: each finds its own only."""
    async with house(kind) as home:
        one = await home.manager.create_knowledge_base("u1", "one", "", config())
        two = await home.manager.create_knowledge_base("u2", "two", "", config())
        await home.index("u1", one.id, "d1", "alpha beta")
        await home.index("u2", two.id, "d2", "alpha beta")
        for user, base, own in (("u1", one.id, "d1"), ("u2", two.id, "d2")):
            handle = await home.manager.get_knowledge(user, base)
            for mode in SearchMode:
                hits = await handle.search("alpha beta", mode=mode)
                assert [hit.document_id for hit in hits] == [own]


@pytest.mark.parametrize(("first", "then"), [KINDS, KINDS[::-1]])
async def test_a_knowledge_base_stays_where_it_was_made(
    first: type[RecordedManager], then: type[RecordedManager]
) -> None:
    """Another kind of manager searches it alone, removes it whole, and touches no neighbour."""
    async with house(first) as home:
        one = await home.manager.create_knowledge_base("u1", "one", "", config())
        two = await home.manager.create_knowledge_base("u2", "two", "", config())
        await home.index("u1", one.id, "d1", "alpha")
        await home.index("u2", two.id, "d2", "alpha")
        models = home.manager.embedding_models
        home.manager = then(storage=home.storage, vector_store=home.store)
        home.manager.bind(embedding_models=models, policy=Policy())
        await home.index("u1", one.id, "d3", "alpha")
        handle = await home.manager.get_knowledge("u1", one.id)
        for mode in SearchMode:
            hits = await handle.search("alpha", mode=mode)
            assert {hit.document_id for hit in hits} == {"d1", "d3"}
        new = await home.manager.create_knowledge_base("u1", "new", "", config())
        await home.index("u1", new.id, "d4", "alpha")
        await home.manager.drop(one)
        left = {
            key[0] for collection in home.store._collections.values() for key in collection.entries
        }
        assert left == {"d2", "d4"}


async def test_a_shared_collection_locks_the_dimension() -> None:
    """The first knowledge base decides; others are refused; a fixed one is known at once."""
    async with house(SharedCollectionManager) as home:
        assert (await home.manager.get_dimension_policy()).kind is DimensionPolicyKind.ANY
        await home.manager.create_knowledge_base("u1", "one", "", config(8))
        policy = await home.manager.get_dimension_policy()
        assert policy == DimensionPolicy(DimensionPolicyKind.LOCKED_BY_EXISTING, 8)
        with pytest.raises(DimensionPolicyError) as refused:
            await home.manager.create_knowledge_base("u1", "two", "", config(16))
        assert (refused.value.requested_dimension, refused.value.policy_dimension) == (16, 8)
        fixed = SharedCollectionManager(home.storage, home.store, dimension=4)
        assert (await fixed.get_dimension_policy()).kind is DimensionPolicyKind.FIXED


def test_a_policy_narrows_the_cards_it_shows() -> None:
    """A card keeps only what is accepted, or is left out."""
    locked = DimensionPolicy(DimensionPolicyKind.FIXED, 512)
    many = EmbeddingModelCard(
        name="m", label="M", dimensions=1024, supported_dimensions=[1024, 512]
    )
    narrowed = locked.filter_card(many)
    assert narrowed is not None
    assert (narrowed.dimensions, narrowed.supported_dimensions) == (512, [512])
    assert locked.filter_card(EmbeddingModelCard(name="m", label="M", dimensions=768)) is None
    assert DimensionPolicy().filter_card(many) is many
    with pytest.raises(ValueError, match="no dimension"):
        DimensionPolicy(DimensionPolicyKind.FIXED)


async def test_a_model_that_changed_is_refused_before_it_writes() -> None:
    """The vector of the test text decides; without one the version does."""
    async with house(CollectionPerKbManager) as home:
        record = await home.manager.create_knowledge_base("u1", "one", "", config())
        handle = await home.manager.get_knowledge("u1", record.id)
        assert isinstance(handle.embedding_model, PinnedModel)
        await handle.embedding_model(["alpha"])

        async def other() -> ModelFingerprint:
            return ModelFingerprint("fake-embedding", "1", (0.5,) * 8)

        home.model.fingerprint = other  # type: ignore[method-assign]  # a new package version
        again = await home.manager.get_knowledge("u1", record.id)
        with pytest.raises(EmbeddingModelChangedError):
            await again.embedding_model(["alpha"])
    assert same_vectors({}, ModelFingerprint("m"))
    assert not same_vectors({"model": "m", "version": "1"}, ModelFingerprint("m", "2"))
    stored = {"model": "m", "version": "1", "sample": [0.25]}
    assert same_vectors(stored, ModelFingerprint("m", "2", (0.2501,)))
