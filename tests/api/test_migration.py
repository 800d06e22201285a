"""Changing the embedding model of a knowledge base, as clients see it."""

import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.rag.knowledge_base_manager.models import EmbeddingModels
from agentscope.app.rag.knowledge_base_manager.shared_collection import SharedCollectionManager
from agentscope.app.records import EmbeddingModelConfig, Policy, Timings
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.embedding.base import EmbeddingModelBase, ModelFingerprint
from agentscope.errors import EmbeddingAuthError, EmbeddingError, InvalidInputError
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel
from agentscope.testing.rest import DIMENSIONS, RestService, memory_app

FAST = Timings(
    lease_ttl=Timings().lease_ttl / 30,
    heartbeat=Timings().heartbeat / 30,
    margin=Timings().margin / 30,
    sweep_interval=Timings().sweep_interval / 50,
    poll_interval=Timings().poll_interval / 20,
    request_timeout=Timings().request_timeout,
)


class TwoModels(RecordedManager):
    """Knows models by their name; the wrong dimensions are refused by the collection."""

    def bind(self, *, embedding_models: EmbeddingModels, policy: Policy) -> None:
        del embedding_models
        self.models = {
            "fake-embedding": FakeEmbeddingModel(DIMENSIONS),
            "second": FakeEmbeddingModel(96, model="second"),
            "third": FakeEmbeddingModel(DIMENSIONS, model="third"),
            "changing": FakeEmbeddingModel(DIMENSIONS, model="changing"),
        }

        async def models(user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
            del user_id
            model = self.models.get(config.model)
            if model is None or model.dimensions != config.dimensions:
                raise InvalidInputError("There is no such model.")
            return model

        super().bind(embedding_models=models, policy=policy)


class Upgraded(FakeEmbeddingModel):
    """The same name, other vectors."""

    def vector(self, text: str) -> list[float]:
        return super().vector(text[::-1])

    async def fingerprint(self) -> ModelFingerprint:
        found = await super().fingerprint()
        return ModelFingerprint(found.model, "2", tuple(value + 1 for value in found.sample))


class PerKb(TwoModels, CollectionPerKbManager):
    """One collection each."""


class Shared(TwoModels, SharedCollectionManager):
    """One collection for all of a model."""


class Home:
    """A running service and a way into it; every test has a user and a word of its own."""

    def __init__(self, folder: Path, kind: type[TwoModels]) -> None:
        storage, self.store = InMemoryStorage(), InMemoryVectorStore()
        self.manager: TwoModels = kind(storage, self.store)
        self.service = RestService(
            memory_app(
                folder,
                storage=storage,
                message_bus=InMemoryMessageBus(),
                vector_store=self.store,
                knowledge_base_manager=self.manager,
                timings=FAST,
            )
        )
        self.fresh()

    def fresh(self) -> "Home":
        """Be somebody else."""
        self.word = f"apple{uuid.uuid4().hex[:8]}"
        self.user = f"user-{self.word}"
        return self

    def filled(self, count: int = 3, **fields: Any) -> tuple[str, list[str]]:
        """Return a knowledge base with documents."""
        kb = self.service.knowledge_base(user=self.user, **fields)
        documents = [self.ready(kb, f"number{number}") for number in range(count)]
        return kb, documents

    def ready(self, kb: str, text: str) -> str:
        """Return a new searchable document."""
        content = f"{self.word} {text}".encode()
        return self.service.ready(kb, f"{text}.txt", content, user=self.user)

    def begin(self, kb: str, model: str = "second", dimensions: int = 96, status: int = 202) -> Any:
        """Ask for another model."""
        config = {
            "type": "local_credential",
            "credential_id": "local",
            "model": model,
            "dimensions": dimensions,
        }
        return self.call("POST", kb, status=status, json={"embedding_model_config": config})

    def call(self, method: str, kb: str, *, status: int = 200, **options: Any) -> Any:
        """Call the route of the migration."""
        path = f"/knowledge_bases/{kb}/migration"
        return self.service.json(method, path, status=status, user=self.user, **options)

    def view(self, kb: str) -> Any:
        """Return the knowledge base."""
        return self.service.json("GET", f"/knowledge_bases/{kb}", user=self.user)

    def until(self, kb: str, condition: Any, seconds: float = 60) -> Any:
        """Wait until the state of the migration is as wished."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            state = self.call("GET", kb)
            if condition(state):
                return state
            threading.Event().wait(0.02)
        raise AssertionError(f"never: {state}")

    def moved(self, kb: str, generation: int = 2) -> Any:
        """Wait for the swap."""
        return self.until(kb, lambda state: state["generation"] == generation)

    def hits(self, kb: str, mode: str = "vector") -> list[str]:
        """Return the documents that a search finds, sorted."""
        body = {"query": self.word, "mode": mode, "top_k": 50}
        answer = self.service.json(
            "POST", f"/knowledge_bases/{kb}/search", user=self.user, json=body
        )
        return sorted(hit["document_id"] for hit in answer["results"])


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Home]]:
    """A service with each manager."""
    built = {kind.__name__: Home(tmp_path_factory.mktemp("home"), kind) for kind in (PerKb, Shared)}
    with built["PerKb"].service, built["Shared"].service:
        yield built


@pytest.fixture(params=["PerKb", "Shared"])
def home(request: pytest.FixtureRequest, homes: dict[str, Home]) -> Home:
    """A service with either manager."""
    return homes[request.param].fresh()


@pytest.fixture
def single(homes: dict[str, Home]) -> Home:
    """A service with one collection per knowledge base."""
    return homes["PerKb"].fresh()


@pytest.fixture
def shared(homes: dict[str, Home]) -> Home:
    """A service where knowledge bases share collections."""
    return homes["Shared"].fresh()


def target(home: Home) -> tuple[str, int]:
    """Return a model that the manager's dimension policy accepts."""
    return ("second", 96) if isinstance(home.manager, PerKb) else ("third", DIMENSIONS)


def test_a_knowledge_base_gets_another_model(home: Home) -> None:
    """Documents keep their ids, states and chunks; the new model answers; the old one is gone."""
    kb, documents = home.filled()
    name, dimensions = target(home)
    begun = home.begin(kb, name, dimensions)
    assert begun["migration"]["generation"] == 2
    assert begun["migration"]["embedding_model_config"]["model"] == name
    assert begun["generation"] == 1
    state = home.moved(kb)
    assert state["migration"] is None
    assert state["embedding_model_config"]["model"] == name
    view = home.view(kb)
    assert (view["generation"], view["migration"]) == (2, None)
    assert view["chunk_count"] == 3
    assert home.hits(kb) == sorted(documents)
    assert home.hits(kb, "hybrid") == sorted(documents)
    assert [home.word] in home.manager.models[name].calls
    added = home.ready(kb, "later")
    assert added in home.hits(kb)


def test_a_knowledge_base_goes_to_and_fro(home: Home) -> None:
    """Back to the first model; each generation has a collection that was never used before."""
    kb, documents = home.filled()
    name, dimensions = target(home)
    home.begin(kb, name, dimensions)
    home.moved(kb)
    home.begin(kb, "fake-embedding", DIMENSIONS)
    home.moved(kb, 3)
    assert home.hits(kb) == sorted(documents)


def test_neighbours_in_a_shared_collection_stay_as_they_are(shared: Home) -> None:
    """One moves, the other's points and answers do not change."""
    home = shared
    kb, documents = home.filled()
    other, others = home.filled()
    home.begin(kb, "third", DIMENSIONS)
    home.moved(kb)
    assert home.hits(kb) == sorted(documents)
    assert home.hits(other) == sorted(others)


def test_what_changes_meanwhile_is_there_afterwards(single: Home) -> None:
    """Uploads, deletions and a re-index while the new model is held up."""
    home = single
    kb, documents = home.filled(6)
    second = home.manager.models["second"]
    second.hang(match=home.word)
    home.begin(kb)
    state = home.until(kb, lambda state: second.entered.is_set())
    assert state["migration"]["progress"]["total"] == 6
    path = f"/knowledge_bases/{kb}/documents"
    home.service.json("DELETE", f"{path}/{documents[0]}", status=204, user=home.user)
    home.service.json("POST", f"{path}/{documents[1]}/reindex", status=202, user=home.user)
    home.service.settled(kb, documents[1], user=home.user)
    added = home.ready(kb, "during")
    expected = sorted([*documents[1:], added])
    assert home.hits(kb) == expected
    second.heal()
    home.moved(kb)
    assert home.hits(kb) == expected


def test_it_can_be_given_up(home: Home) -> None:
    """Everything is as before, and another model can be taken then."""
    kb, documents = home.filled()
    name, dimensions = target(home)
    model = home.manager.models[name]
    model.hang(match=home.word)
    home.begin(kb, name, dimensions)
    home.until(kb, lambda state: model.entered.is_set())
    home.call("DELETE", kb, status=204)
    assert home.call("GET", kb)["migration"] is None
    home.call("DELETE", kb, status=204)
    model.heal()
    assert home.hits(kb) == sorted(documents)
    assert home.view(kb)["generation"] == 1
    home.begin(kb, name, dimensions)
    home.moved(kb, 3)
    assert home.hits(kb) == sorted(documents)


def test_what_cannot_work_is_refused_at_once(single: Home) -> None:
    """Nothing is begun, and the answer says why."""
    home = single
    kb, _ = home.filled(1)

    def refused(status: int, **fields: Any) -> str:
        config = {
            "type": "local_credential",
            "credential_id": "local",
            "model": "second",
            "dimensions": 96,
            **fields,
        }
        body = {"embedding_model_config": config}
        return str(home.call("POST", kb, status=status, json=body)["code"])

    assert refused(422, model="nothing") == "invalid_input"
    assert refused(422, dimensions=95) == "invalid_input"
    assert refused(404, type="openai_credential", credential_id="f" * 32) == "credential_not_found"
    assert refused(400, type="no_such_credential") == "unknown_provider"
    assert refused(409, model="fake-embedding", dimensions=DIMENSIONS) == "conflict"
    assert home.call("POST", kb, status=409, json={})["code"] == "conflict"
    home.manager.models["second"].fail_with(EmbeddingAuthError(), times=1)
    assert refused(502) == "embedding_auth"
    assert home.call("GET", kb)["migration"] is None
    home.manager.models["second"].hang(match=home.word)
    home.begin(kb)
    assert refused(409, model="third", dimensions=DIMENSIONS) == "conflict"
    assert refused(409) == "conflict"
    home.manager.models["second"].heal()
    home.moved(kb)


def test_a_dimension_that_the_policy_forbids_is_refused(shared: Home) -> None:
    """Where collections are shared, all knowledge bases have the same dimensions."""
    kb, _ = shared.filled(1)
    assert shared.begin(kb, "second", 96, status=409)["code"] == "dimension_policy"


def test_a_failure_is_shown_and_one_for_good_waits_for_the_user(single: Home) -> None:
    """Searches go on with the old model; asking again goes on where it stopped."""
    home = single
    kb, documents = home.filled()
    second = home.manager.models["second"]
    second.fail_with(EmbeddingAuthError(), times=1, match=home.word)
    home.begin(kb)
    state = home.until(kb, lambda state: state["migration"]["progress"]["stage"] == "stopped")
    assert state["migration"]["error"]["code"] == "embedding_auth"
    assert state["migration"]["next_attempt_at"] is None
    assert home.hits(kb) == sorted(documents)
    added = home.ready(kb, "then")
    second.fail_with(EmbeddingError(retry_after_seconds=3600), times=1, match=home.word)
    home.begin(kb)
    state = home.until(kb, lambda state: state["migration"]["error"])
    assert state["migration"]["error"]["retryable"]
    assert state["migration"]["next_attempt_at"] is not None
    assert state["migration"]["progress"]["stage"] == "copying"
    home.call("DELETE", kb, status=204)
    home.begin(kb)
    home.moved(kb, 3)
    assert home.hits(kb) == sorted([*documents, added])


def test_a_model_that_changed_is_made_good_by_a_migration(single: Home) -> None:
    """Words answer until then; what failed to be indexed is indexed with the new one."""
    home = single
    config = {"model": "changing", "dimensions": DIMENSIONS, "credential_id": "local"}
    config["type"] = "local_credential"
    kb, documents = home.filled(embedding_model_config=config)
    home.manager.models["changing"] = Upgraded(DIMENSIONS, model="changing", version="2")
    assert home.call("GET", kb)["model_changed"] is True
    sent = home.service.upload(kb, "late.txt", home.word.encode(), user=home.user).json()[
        "document_id"
    ]
    late = home.service.settled(kb, sent, user=home.user)
    assert late["error_detail"]["code"] == "embedding_model_changed"
    assert home.hits(kb, "hybrid") == sorted(documents)
    home.call("POST", kb, status=202, json={})
    home.moved(kb)
    assert home.call("GET", kb)["model_changed"] is False
    deadline = time.monotonic() + 60
    while late["status"] != "ready" and time.monotonic() < deadline:
        late = home.service.settled(kb, sent, user=home.user)
        threading.Event().wait(0.05)
    assert home.hits(kb) == sorted([*documents, sent])


def test_the_next_credential_counts_as_used(single: Home) -> None:
    """Whoever is about to delete it sees why not."""
    home = single
    kb, _ = home.filled(1)
    data = {"data": {"type": "openai_credential", "api_key": "key", "name": "next"}}
    credential = home.service.json("POST", "/credential/", status=201, user=home.user, json=data)
    home.manager.models["second"].hang(match=home.word)
    config = {
        "type": "openai_credential",
        "credential_id": credential["credential_id"],
        "model": "second",
        "dimensions": 96,
    }
    home.call("POST", kb, status=202, json={"embedding_model_config": config})
    (listed,) = home.service.json("GET", "/credential/", user=home.user)["credentials"]
    assert [entry["id"] for entry in listed["used_by"]] == [kb]
    home.manager.models["second"].heal()
    home.moved(kb)


def test_the_outbox_and_the_audit_log_tell_of_it(single: Home) -> None:
    """Who asked for it, and what became of it."""
    home = single
    kb, _ = home.filled(1)
    home.begin(kb)
    home.moved(kb)
    body = {"embedding_model_config": {"model": "third"}}
    refused = home.service.call("PATCH", f"/knowledge_bases/{kb}", user=home.user, json=body)
    assert refused.status_code == 409
    assert "migration" in refused.json()["detail"]
    text = home.service.call(
        "GET",
        f"/knowledge_bases/{kb}/events",
        user=home.user,
        params={"after": 0, "seconds": 0},
    ).text
    assert "knowledge_base.migration_started" in text
    assert "knowledge_base.migrated" in text
    log = home.service.json("GET", "/audit_log", user=home.user)["entries"]
    actions = [(entry["action"], entry["status"]) for entry in log]
    assert ("POST /knowledge_bases/{knowledge_base_id}/migration", 202) in actions


def test_a_deleted_knowledge_base_takes_all_its_generations_with_it(single: Home) -> None:
    """Also the one that waits for its last reader."""
    home = single
    kb, _ = home.filled(1)
    home.begin(kb)
    home.moved(kb)

    async def names() -> list[str]:
        return [name for name in await home.store.list_collections() if kb in name]

    assert sorted(home.service.run(names())) == [f"kb_{kb}_1", f"kb_{kb}_2"]
    home.service.json("DELETE", f"/knowledge_bases/{kb}", status=204, user=home.user)
    deadline = time.monotonic() + 60
    while home.service.run(names()) and time.monotonic() < deadline:
        threading.Event().wait(0.05)
    assert home.service.run(names()) == []
