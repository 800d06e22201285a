"""Providers that misbehave, and the models that servers offer: seen through the whole service."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.records import Timings
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.provider import FakeProvider, Fault
from agentscope.testing.rest import RestService, memory_app

SECONDS = 120.0
LINES = [f"Paragraph number {number:03} ends." for number in range(35)]
CHUNKER = {"type": "approx_token", "parameters": {"chunk_size": 8, "overlap": 0}}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestService]:
    """A service that asks real addresses and waits two seconds for an answer."""
    storage, store = InMemoryStorage(), InMemoryVectorStore()
    app = memory_app(
        Path(tmp_path_factory.mktemp("providers")),
        storage=storage,
        vector_store=store,
        knowledge_base_manager=CollectionPerKbManager(storage, store),
        timings=Timings(request_timeout=timedelta(seconds=2)),
    )
    with RestService(app) as running:
        yield running


class Place:
    """A provider, a credential for it, and a knowledge base that uses both."""

    def __init__(self, service: RestService, name: str, **options: Any) -> None:
        self.service = service
        self.user = f"user-of-{name}"
        self.provider = FakeProvider(dimensions=64, **options)
        service.run(self.provider.__aenter__())

    def credential(self, **fields: Any) -> str:
        """Store a credential."""
        data = {"type": "openai_credential", "api_key": "key", "base_url": self.provider.base_url}
        made = self.service.json(
            "POST", "/credential/", status=201, user=self.user, json={"data": {**data, **fields}}
        )
        return str(made["credential_id"])

    def knowledge_base(self, credential: str, model: str = "text-embedding-3-small") -> str:
        """Create a knowledge base that cuts into many small chunks."""
        config = {
            "type": "openai_credential",
            "credential_id": credential,
            "model": model,
            "dimensions": 64,
        }
        return self.service.knowledge_base(
            user=self.user, embedding_model_config=config, chunker_config=CHUNKER
        )

    def upload(self) -> None:
        """Upload a document of many chunks."""
        self.base = self.knowledge_base(self.credential())
        content = "\n\n".join(LINES).encode()
        sent = self.service.upload(self.base, "a.txt", content, user=self.user)
        self.document = str(sent.json()["document_id"])

    def view(self) -> dict[str, Any]:
        """Return the document as it is."""
        path = f"/knowledge_bases/{self.base}/documents/{self.document}/info"
        found: dict[str, Any] = self.service.json("GET", path, user=self.user)
        return found

    def settled(self) -> dict[str, Any]:
        """Return the document once it is ready or has failed."""
        return self.service.settled(self.base, self.document, user=self.user, seconds=SECONDS)

    def whole(self) -> None:
        """Assert that the document is complete and each of its texts was paid for once."""
        view = self.settled()
        assert view["status"] == "ready", view["error_detail"]
        assert view["chunk_count"] >= len(LINES)
        chunks = self.service.json(
            "GET",
            f"/knowledge_bases/{self.base}/documents/{self.document}/chunks?page_size=100",
            user=self.user,
        )["chunks"]
        texts = [chunk["content"]["text"] for chunk in chunks]
        assert len(texts) == view["chunk_count"]
        assert {text: self.provider.embedded[text] for text in texts} == dict.fromkeys(texts, 1)

    def nothing(self) -> None:
        """Assert that no part of the document is shown."""
        path = f"/knowledge_bases/{self.base}/documents/{self.document}/chunks"
        assert self.service.json("GET", path, user=self.user)["total"] == 0
        assert not self.view()["searchable"]


Places = Callable[..., Place]


@pytest.fixture
def places(service: RestService) -> Iterator[Places]:
    """Makes places, and stops their providers in the end."""
    made: list[Place] = []

    def make(name: str, **options: Any) -> Place:
        made.append(Place(service, name, **options))
        return made[-1]

    yield make
    for place in made:
        service.run(place.provider.__aexit__(None, None, None))


def _short(answer: Any) -> Any:
    return {**answer, "data": answer["data"][:-1]}


def _narrow(answer: Any) -> Any:
    rows = [{**row, "embedding": row["embedding"][:-1]} for row in answer["data"]]
    return {**answer, "data": rows}


def test_each_way_to_misbehave_has_its_right_outcome(service: RestService, places: Places) -> None:
    """Limits, bursts and hangs: ready, and paid once. Wrong counts and sizes: an error."""
    limited = places("limit", max_inputs=10, too_many="batch size is invalid, max is 10")
    burst, short = places("burst"), places("short")
    hanging, narrow = places("hang"), places("narrow")
    again = {"Retry-After": "0"}
    burst.provider.fail_next(*[Fault(status=429, headers=again) for _ in range(2)])
    short.provider.fail_next(Fault(change=_short))
    hanging.provider.fail_next(Fault(hang=True))
    narrow.provider.fail_always(Fault(change=_narrow))
    for place in (limited, burst, short, hanging, narrow):
        place.upload()
    for place, words in ((narrow, "63 dimensions"), (short, "vectors for")):
        refused = place.settled()
        assert (refused["status"], refused["chunk_count"]) == ("error", 0)
        assert words in refused["error"]
        place.nothing()
        place.provider.heal()
        place.provider.embedded.clear()
        path = f"/knowledge_bases/{place.base}/documents/{place.document}/reindex"
        service.json("POST", path, status=202, user=place.user)
    for place in (limited, burst, narrow, short):
        place.whole()
    view = hanging.settled()
    assert view["status"] == "ready"
    assert view["chunk_count"] >= len(LINES)
    sizes = [len(seen.body["input"]) for seen in limited.provider.seen if seen.body]
    assert sorted(sizes)[-2] <= 10  # one was too large, and taught the limit


def test_while_a_provider_rests_documents_wait_and_say_why(
    service: RestService, places: Places
) -> None:
    """No attempt is burned, nothing is sent, and the next answer of the provider ends it."""
    place = places("rest")
    place.provider.fail_always(Fault(status=429, headers={"Retry-After": "15"}))
    place.upload()
    first, reason = place.document, ""
    for _ in range(600):
        reason = str(place.view()["paused_reason"] or "")
        if reason:
            break
        service.run(_pause())
    assert "provider" in reason
    asked = len(place.provider.seen)
    others = []
    for number in range(3):
        sent = service.upload(place.base, f"{number}.txt", b"another", user=place.user)
        others.append(str(sent.json()["document_id"]))
    service.run(_pause(1.0))
    for document in others:
        path = f"/knowledge_bases/{place.base}/documents/{document}/info"
        view = service.json("GET", path, user=place.user)
        assert view["status"] in ("pending", "parsing")
        assert (view["error_detail"] or {"attempt": 0})["attempt"] == 0
        assert "provider" in view["paused_reason"]
    assert len(place.provider.seen) == asked
    shown = service.json("GET", f"/knowledge_bases/{place.base}", user=place.user)
    assert "provider" in shown["paused_reason"]
    place.provider.heal()
    for document in (first, *others):
        view = service.settled(place.base, document, user=place.user, seconds=SECONDS)
        assert view["status"] == "ready"


async def _pause(seconds: float = 0.05) -> None:
    await asyncio.sleep(seconds)


def offered(service: RestService, user: str, credential: str) -> dict[str, int]:
    """Return the models and dimensions that a credential opens."""
    answer = service.json("GET", "/knowledge_bases/embedding_models", user=user)
    return {
        model["name"]: model["dimensions"]
        for entry in answer["providers"]
        if entry["credential"]["id"] == credential
        for model in entry["models"]
    }


def test_models_of_a_server_are_offered_and_can_be_used(
    service: RestService, places: Places
) -> None:
    """Asked once; what is no embedding model is left out; dimensions are measured."""
    place = places("models", models=("house-embedding-1", "chat-large"))
    credential = place.credential()
    assert offered(service, place.user, credential) == {"house-embedding-1": 64}
    assert offered(service, place.user, credential) == {"house-embedding-1": 64}
    assert [seen.path for seen in place.provider.seen].count("/v1/models") == 1
    kb = place.knowledge_base(credential, "house-embedding-1")
    document = service.ready(kb, "a.txt", b"apples and pears", user=place.user)
    body = {"query": "apples", "mode": "vector"}
    found = service.json("POST", f"/knowledge_bases/{kb}/search", user=place.user, json=body)
    assert [hit["document_id"] for hit in found["results"]] == [document]


def test_models_can_be_declared_on_the_credential(service: RestService, places: Places) -> None:
    """For servers that do not list them; a change of the credential changes the offer."""
    place = places("declared")
    credential = place.credential(embedding_models="mine-1=64, mine-2=128")
    assert offered(service, place.user, credential) == {"mine-1": 64, "mine-2": 128}
    assert place.provider.seen == []
    data = {"type": "openai_credential", "embedding_models": "other=32"}
    data["base_url"] = place.provider.base_url
    path = f"/credential/{credential}"
    service.json("PATCH", path, user=place.user, json={"data": data})
    assert offered(service, place.user, credential) == {"other": 32}
    bad = {"data": {"type": "openai_credential", "api_key": "k", "embedding_models": "no size"}}
    assert service.call("POST", "/credential/", user=place.user, json=bad).status_code == 422
