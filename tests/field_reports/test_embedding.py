"""Field reports about embedding: wrong dimensions, changed models, small providers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel
from agentscope.testing.provider import FakeProvider
from agentscope.testing.rest import DIMENSIONS, FakeModelsManager, RestService, memory_app

SECONDS = 120


@contextmanager
def with_provider(folder: Path, provider: FakeProvider) -> Iterator[tuple[RestService, str]]:
    """Give a service and the credential of a provider, both running."""
    storage, store = InMemoryStorage(), InMemoryVectorStore()
    manager = CollectionPerKbManager(storage, store)
    app = memory_app(folder, storage=storage, vector_store=store, knowledge_base_manager=manager)
    with RestService(app) as service:
        service.run(provider.__aenter__())
        try:
            data = {
                "type": "openai_credential",
                "api_key": "key",
                "base_url": provider.base_url,
            }
            made = service.json("POST", "/credential/", status=201, json={"data": data})
            yield service, made["credential_id"]
        finally:
            service.run(provider.__aexit__(None, None, None))


def remote(credential_id: str, dimensions: int) -> dict[str, Any]:
    return {
        "type": "openai_credential",
        "credential_id": credential_id,
        "model": "text-embedding-3-small",
        "dimensions": dimensions,
    }


def test_field_report_30_a_model_with_other_dimensions(tmp_path: Path) -> None:
    """Told at the first batch at the latest; nothing is stored, and deleting is complete."""
    provider = FakeProvider(dimensions=1024, honours_dimensions=False)
    with with_provider(tmp_path, provider) as (service, credential):
        body = {"name": "n", "embedding_model_config": remote(credential, 512)}
        made = service.call("POST", "/knowledge_bases/", json=body)
        if made.status_code != 201:
            assert made.status_code in (409, 422)
            assert "dimension" in made.json()["detail"]
            return
        kb = made.json()["knowledge_base_id"]
        sent = service.upload(kb, "a.txt", b"alpha")
        view = service.settled(kb, sent.json()["document_id"], seconds=SECONDS)
        assert view["status"] == "error"
        assert "1024" in view["error"], view
        assert "512" in view["error"], view
        assert view["chunk_count"] == 0
        chunks = service.json("GET", f"/knowledge_bases/{kb}/documents/{view['id']}/chunks")
        assert chunks["total"] == 0
        service.json("DELETE", f"/knowledge_bases/{kb}/documents/{view['id']}", status=204)
        listed = service.json("GET", f"/knowledge_bases/{kb}/documents")
        assert listed["total"] == 0


class OtherVectors(FakeEmbeddingModel):
    """The model of the same name after an upgrade: other vectors."""

    async def fingerprint(self) -> Any:
        told = await super().fingerprint()
        return type(told)(told.model, "2", tuple(value + 0.5 for value in told.sample))


def test_field_report_32_a_changed_model_is_told_not_mixed(tmp_path: Path) -> None:
    """Words are still found, with a warning; vectors and indexing refuse in plain words."""
    storage, store = InMemoryStorage(), InMemoryVectorStore()
    manager = FakeModelsManager(storage, store)
    app = memory_app(tmp_path, storage=storage, vector_store=store, knowledge_base_manager=manager)
    with RestService(app) as service:
        kb = service.knowledge_base()
        service.ready(kb, "a.txt", b"alpha beta")
        changed = {"embedding_model_config": {"dimensions": 16}}
        refused = service.call("PATCH", f"/knowledge_bases/{kb}", json=changed)
        assert refused.status_code == 409
        assert (
            service.json("GET", f"/knowledge_bases/{kb}")["embedding_model_config"]["dimensions"]
            == DIMENSIONS
        )
        manager.model = OtherVectors(64)
        path = f"/knowledge_bases/{kb}/search"
        found = service.json("POST", path, json={"query": "alpha"})
        assert found["total"] == 1
        assert found["warnings"]
        refused = service.call("POST", path, json={"query": "alpha", "mode": "vector"})
        assert refused.status_code == 409
        assert refused.json()["code"] == "embedding_model_changed"
        sent = service.upload(kb, "b.txt", b"gamma")
        view = service.settled(kb, sent.json()["document_id"], seconds=SECONDS)
        assert view["error_detail"]["code"] == "embedding_model_changed"


def test_field_report_38_a_provider_that_takes_ten_inputs(tmp_path: Path) -> None:
    """A document of more chunks than that is split until it fits, in order."""
    provider = FakeProvider(max_inputs=10, too_many="batch size is invalid, max is 10")
    with with_provider(tmp_path, provider) as (service, credential):
        config = remote(credential, 256)
        made = service.json(
            "POST",
            "/knowledge_bases/",
            status=201,
            json={
                "name": "n",
                "embedding_model_config": config,
                "chunker_config": {
                    "type": "approx_token",
                    "parameters": {"chunk_size": 8, "overlap": 0},
                },
            },
        )
        kb = made["knowledge_base_id"]
        lines = [f"Paragraph number {n:03} ends." for n in range(35)]
        document = service.ready(kb, "a.txt", "\n\n".join(lines).encode())
        view = service.settled(kb, document)
        assert view["chunk_count"] >= 35
        for number in (0, 17, 34):
            query = {"query": lines[number], "mode": "vector", "top_k": 1}
            [hit] = service.json("POST", f"/knowledge_bases/{kb}/search", json=query)["results"]
            assert lines[number] in hit["chunk"]["content"]["text"]
