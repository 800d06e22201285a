"""The pool of shared models, the caches, discovery and the address policy."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from pydantic import SecretStr

from agentscope.credential.anthropic import AnthropicCredential
from agentscope.credential.base import CredentialBase
from agentscope.credential.gemini import GeminiCredential
from agentscope.credential.ollama import OllamaCredential
from agentscope.credential.openai import OpenAICredential
from agentscope.embedding.cache import FileEmbeddingCache, cache_key
from agentscope.embedding.discovery import ModelDiscovery
from agentscope.embedding.provider_client import Transport
from agentscope.embedding.query_cache import QueryCache
from agentscope.embedding.registry import EmbeddingModelPool, ModelKey
from agentscope.errors import EmbeddingAuthError, EmbeddingError, InvalidInputError
from agentscope.testing.embedding import FakeEmbeddingModel, hashed_vector
from agentscope.testing.provider import FakeProvider, Fault


def _credential(provider: FakeProvider, credential_id: str = "c1") -> OpenAICredential:
    return OpenAICredential(id=credential_id, api_key=SecretStr("k"), base_url=provider.base_url)


def _loads(credential: CredentialBase, log: list[str]) -> Callable[[], CredentialBase]:
    def load() -> CredentialBase:
        log.append(credential.id)
        return credential

    return load


async def test_one_configuration_is_one_object_and_a_changed_credential_another() -> None:
    """The credential is opened once; version, model, dimensions and parameters tell apart."""
    async with FakeProvider() as provider:
        pool, log = EmbeddingModelPool(), list[str]()
        load = _loads(_credential(provider), log)
        key = ModelKey.of("c1", "v1", "m", 16, {"b": 1, "a": 2})
        first = await pool.get(key, load)
        assert await pool.get(ModelKey.of("c1", "v1", "m", 16, {"a": 2, "b": 1}), load) is first
        assert log == ["c1"]
        for other in (
            ModelKey.of("c1", "v2", "m", 16),
            ModelKey.of("c1", "v1", "m", 8),
            ModelKey.of("c1", "v1", "n", 16),
        ):
            assert await pool.get(other, load) is not first
        pool.forget("c1")
        assert await pool.get(key, load) is not first
        assert len((await first(["still works"])).embeddings) == 1
        await first.aclose()
        await pool.aclose()


async def test_the_pool_is_bounded() -> None:
    """The model that was not used longest goes; asking for it builds it again."""
    async with FakeProvider() as provider:
        pool, log = EmbeddingModelPool(capacity=2), list[str]()
        load = _loads(_credential(provider), log)
        keys = [ModelKey.of("c1", "v", f"m{i}", 16) for i in range(3)]
        one = await pool.get(keys[0], load)
        await pool.get(keys[1], load)
        assert await pool.get(keys[0], load) is one
        await pool.get(keys[2], load)
        assert await pool.get(keys[0], load) is one
        await pool.get(keys[1], load)
        assert len(log) == 4
        await pool.aclose()


async def test_models_of_a_credential_share_one_gate() -> None:
    """A provider that fails for one model is left alone by all; others go on."""
    async with FakeProvider() as provider:
        pool = EmbeddingModelPool()
        load = _loads(_credential(provider), [])
        one = await pool.get(ModelKey.of("c1", "v", "m1", 16), load)
        two = await pool.get(ModelKey.of("c1", "v", "m2", 16), load)
        provider.fail_next(Fault(status=429, headers={"Retry-After": "15"}))
        with pytest.raises(EmbeddingError):
            await one(["a"])
        assert 10 < pool.open_seconds("c1") <= 15
        assert pool.open_seconds("c2") == 0
        with pytest.raises(EmbeddingError):
            await two(["a"])
        assert len(provider.seen) == 1
        pool.forget("c1")
        assert pool.open_seconds("c1") == 0
        await pool.aclose()


async def test_the_local_model_is_shared_and_exact() -> None:
    """One object for everybody; another name or length, or a pool without it, is refused."""
    local = FakeEmbeddingModel(512)
    pool = EmbeddingModelPool(local=local)
    load = _loads(OllamaCredential(), [])
    assert await pool.get(ModelKey.of("local", "", local.model, 512), load) is local
    with pytest.raises(InvalidInputError):
        await pool.get(ModelKey.of("local", "", local.model, 256), load)
    with pytest.raises(InvalidInputError):
        await EmbeddingModelPool().get(ModelKey.of("local", "", local.model, 512), load)
    await pool.aclose()
    assert local.closed


class HouseModel(FakeEmbeddingModel):
    """A model class as an embedder writes it: documented arguments only."""

    def __init__(
        self, credential: CredentialBase, model: str, dimensions: int, parameters: dict[str, Any]
    ) -> None:
        super().__init__(dimensions, model=model)


class HouseCredential(CredentialBase):
    """A credential type that an embedder registers."""

    embedding_model: ClassVar[str | None] = f"{__name__}:HouseModel"
    type: Literal["house_credential"] = "house_credential"


async def test_a_users_own_model_class_is_built_with_the_documented_arguments() -> None:
    """No transport or cache is forced on a class that does not know them."""
    pool = EmbeddingModelPool()
    model = await pool.get(ModelKey.of("h", "v", "m", 8), _loads(HouseCredential(), []))
    assert isinstance(model, HouseModel)
    await pool.aclose()


async def test_the_file_cache_answers_instead_of_the_provider(tmp_path: Path) -> None:
    """A repeated attempt pays for what is new only, also after a restart and a failed batch."""
    async with FakeProvider() as provider:
        key = ModelKey.of("c1", "v", "m", 16)
        texts = [f"text{i}" for i in range(30)]
        pool = EmbeddingModelPool(cache=FileEmbeddingCache(tmp_path))
        model = await pool.get(key, _loads(_credential(provider), []))
        first = (await model(texts[:20])).embeddings
        await pool.aclose()

        pool = EmbeddingModelPool(cache=FileEmbeddingCache(tmp_path))
        model = await pool.get(key, _loads(_credential(provider), []))
        response = await model(texts)
        for one, two in zip(first, response.embeddings[:20], strict=True):
            assert two == pytest.approx(one, abs=1e-6)
        assert set(provider.embedded.values()) == {1}
        assert (await model(texts)).source == "cache"
        other = await pool.get(
            ModelKey.of("c2", "v", "m", 16), _loads(_credential(provider, "c2"), [])
        )
        assert (await other(texts[:1])).source == "api"
        await pool.aclose()


async def test_the_file_cache_is_bounded_and_survives_damage(tmp_path: Path) -> None:
    """Old entries go first; a damaged file is made anew; no error ever leaves the cache."""
    cache = FileEmbeddingCache(tmp_path, max_file_number=100)
    for start in range(0, 250, 50):
        await cache.store({f"k{i}": [float(i), 0.5] for i in range(start, start + 50)})
    known = await cache.retrieve([f"k{i}" for i in range(250)])
    kept = [i for i, vector in enumerate(known) if vector is not None]
    assert 50 <= len(kept) <= 100
    assert kept[-1] == 249
    assert known[249] == [249.0, 0.5]
    await cache.remove("k249")
    assert await cache.retrieve(["k249"]) == [None]
    await cache.clear()
    assert await cache.retrieve(["k248"]) == [None]
    await cache.aclose()
    await cache.aclose()

    (tmp_path / "embeddings.sqlite3").write_bytes(b"not a database" * 100)
    cache = FileEmbeddingCache(tmp_path)
    await cache.store({"k": [1.0]})
    assert await cache.retrieve(["k"]) == [[1.0]]
    await cache.aclose()

    (tmp_path / "file").write_text("")
    cache = FileEmbeddingCache(tmp_path / "file")
    await cache.store({"k": [1.0]})
    assert await cache.retrieve(["k"]) == [None]
    await cache.aclose()


def test_cache_keys_tell_models_and_texts_apart() -> None:
    """Order of parameters does not matter; everything else does."""
    key = cache_key({"a": 1, "b": 2}, "text")
    assert key == cache_key({"b": 2, "a": 1}, "text")
    assert key != cache_key({"a": 1, "b": 3}, "text")
    assert key != cache_key({"a": 1, "b": 2}, "texts")


async def test_recent_queries_are_remembered_and_content_is_not() -> None:
    """`embed_queries` asks once per text; a plain call always asks."""
    async with FakeProvider() as provider:
        pool = EmbeddingModelPool()
        model = await pool.get(ModelKey.of("c1", "v", "m", 16), _loads(_credential(provider), []))
        first = await model.embed_queries(["what", "is"])
        again = await model.embed_queries(["is", "what", "this"])
        assert again.embeddings[:2] == first.embeddings[::-1]
        assert [seen.body["input"] for seen in provider.seen] == [["what", "is"], ["this"]]
        assert (await model.embed_queries(["this"])).source == "cache"
        await model(["this"])
        assert len(provider.seen) == 3
        await pool.aclose()


async def test_the_query_cache_is_bounded_and_keeps_no_failure() -> None:
    """Old queries are forgotten; an error is asked again."""
    model = FakeEmbeddingModel(8)
    cache = QueryCache(capacity=2)
    for text in ("a", "b", "c", "a"):
        await cache.answer([text], model)
    assert len(model.calls) == 4
    model.fail_with(EmbeddingError(), times=1)
    with pytest.raises(EmbeddingError):
        await cache.answer(["d"], model)
    assert (await cache.answer(["d"], model)).embeddings == [hashed_vector("d", 8)]


async def test_models_are_discovered_from_the_server() -> None:
    """Embedding-like names only, with known or probed dimensions, asked once for a while."""
    names = ("llama3", "BAAI/bge-m3", "my-embedder", "bge-reranker-large", "nomic-embed-text:v1")
    async with FakeProvider(dimensions=24, models=names) as provider:
        discovery = ModelDiscovery()
        cards = await discovery.cards(_credential(provider), "v1")
        assert {card.name: card.dimensions for card in cards} == {
            "BAAI/bge-m3": 1024,
            "my-embedder": 24,
            "nomic-embed-text:v1": 768,
        }
        asked = len(provider.seen)
        assert await discovery.cards(_credential(provider), "v1") == cards
        assert len(provider.seen) == asked
        ollama = OllamaCredential(id="o", host=provider.root_url)
        assert [card.name for card in await discovery.cards(ollama, "v1")] == sorted(
            ["BAAI/bge-m3", "my-embedder", "nomic-embed-text:v1"]
        )


async def test_a_server_that_cannot_be_asked_has_no_cards() -> None:
    """Refusals, nonsense and silence cost no error; the provider's own list needs no question."""
    async with FakeProvider() as provider:
        for version, fault in enumerate(
            (Fault(status=401), Fault(body=b"x"), Fault(body={"data": [{"id": 5}, 7]}))
        ):
            provider.fail_next(fault)
            discovery = ModelDiscovery()
            assert await discovery.cards(_credential(provider), version) == []
    nowhere = OpenAICredential(api_key=SecretStr("k"))
    assert await asyncio.wait_for(ModelDiscovery().cards(nowhere, ""), 1) == []


async def test_a_credential_can_be_tried() -> None:
    """A good one passes; a wrong key, a dead server and a chat-only provider say what is wrong."""
    async with FakeProvider(dimensions=64) as provider:
        discovery = ModelDiscovery(Transport(base_url=provider.base_url))
        gemini = GeminiCredential(api_key=SecretStr("k"))
        for credential in (_credential(provider), gemini):
            await discovery.check(credential)
            provider.fail_next(Fault(status=401))
            with pytest.raises(EmbeddingAuthError):
                await discovery.check(credential)
        await ModelDiscovery().check(OllamaCredential(host=provider.root_url))
        dead = OllamaCredential(host=provider.root_url)
    with pytest.raises(EmbeddingError):
        await ModelDiscovery().check(dead)
    with pytest.raises(InvalidInputError):
        await discovery.check(AnthropicCredential(api_key=SecretStr("k")))
