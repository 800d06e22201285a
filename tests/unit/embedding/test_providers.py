"""DashScope, Gemini and Ollama: what goes over the wire, and the cards they offer."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from agentscope.credential.base import CredentialBase
from agentscope.credential.dashscope import DashScopeCredential
from agentscope.credential.factory import CredentialFactory
from agentscope.credential.gemini import GeminiCredential
from agentscope.credential.local import LocalCredential
from agentscope.credential.ollama import OllamaCredential
from agentscope.credential.openai import OpenAICredential
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.dashscope import DashScopeEmbeddingModel
from agentscope.embedding.gemini import GeminiEmbeddingModel
from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.embedding.ollama import OllamaEmbeddingModel
from agentscope.embedding.openai_compatible import OpenAIEmbeddingModel
from agentscope.embedding.provider_client import Transport
from agentscope.errors import ConfigurationError, EmbeddingAuthError, EmbeddingInputError
from agentscope.message.blocks import Base64Source, DataBlock, URLSource
from agentscope.testing.embedding import hashed_vector
from agentscope.testing.provider import FakeProvider, Fault

IMAGE = DataBlock(source=Base64Source(data="aW1n", media_type="image/png"))


def _dashscope(provider: FakeProvider, model: str, dimensions: int) -> DashScopeEmbeddingModel:
    base_url = provider.root_url + "/compatible-mode/v1"
    credential = DashScopeCredential(api_key=SecretStr("k"), base_url=base_url)
    return DashScopeEmbeddingModel(credential, model, dimensions, retry_delay=0.001)


async def test_dashscope_text_goes_to_the_compatible_address_by_tens() -> None:
    """25 texts are three requests in OpenAI's form."""
    async with FakeProvider() as provider:
        async with _dashscope(provider, "text-embedding-v4", 64) as model:
            texts = [f"text{i}" for i in range(25)]
            response = await model(texts)
            assert response.embeddings == [hashed_vector(text, 64) for text in texts]
        assert sorted(len(seen.body["input"]) for seen in provider.seen) == [5, 10, 10]
        assert {seen.path for seen in provider.seen} == {"/compatible-mode/v1/embeddings"}
        assert provider.seen[0].body["dimensions"] == 64


async def test_dashscope_images_and_texts_share_a_request() -> None:
    """A multimodal model takes both, in order, over its own protocol."""
    async with FakeProvider() as provider:
        async with _dashscope(provider, "qwen3-vl-embedding", 256) as model:
            response = await model(["a cat", IMAGE])
            assert response.embeddings[0] == hashed_vector("a cat", 256)
            assert len(response.embeddings[1]) == 256
        (seen,) = provider.seen
        assert seen.path.endswith(
            "/api/v1/services/embeddings/multimodal-embedding/multimodal-embedding"
        )
        assert seen.body == {
            "model": "qwen3-vl-embedding",
            "input": {"contents": [{"text": "a cat"}, {"image": "data:image/png;base64,aW1n"}]},
            "parameters": {"dimension": 256},
        }


@pytest.mark.parametrize(
    "block",
    [
        DataBlock(source=URLSource(url="http://intranet/a.png", media_type="image/png")),
        DataBlock(source=Base64Source(data="aaaa", media_type="audio/wav")),
        DataBlock(source=Base64Source(data="a" * (15 << 20), media_type="image/png")),
    ],
)
async def test_only_inline_images_of_bounded_size_are_sent(block: DataBlock) -> None:
    """An address is never fetched, nor handed to the provider to fetch."""
    async with FakeProvider() as provider:
        async with _dashscope(provider, "qwen3-vl-embedding", 256) as model:
            with pytest.raises(EmbeddingInputError):
                await model([block])
        assert provider.seen == []


async def test_gemini_sends_one_content_per_input_and_the_key_in_a_header() -> None:
    """The key is not part of the address, where logs would keep it."""
    async with FakeProvider() as provider:
        model = GeminiEmbeddingModel(
            GeminiCredential(api_key=SecretStr("k")),
            "gemini-embedding-2",
            768,
            transport=Transport(base_url=provider.root_url + "/v1beta"),
        )
        async with model:
            assert len((await model(["a", IMAGE])).embeddings) == 2
            provider.fail_next(
                Fault(status=400, body={"error": {"code": 400, "message": "API key not valid."}})
            )
            with pytest.raises(EmbeddingAuthError):
                await model(["a"])
        seen = provider.seen[0]
        assert seen.path == "/v1beta/models/gemini-embedding-2:batchEmbedContents"
        assert seen.headers["x-goog-api-key"] == "k"
        assert seen.body["requests"] == [
            {
                "model": "models/gemini-embedding-2",
                "content": {"parts": [{"text": "a"}]},
                "outputDimensionality": 768,
            },
            {
                "model": "models/gemini-embedding-2",
                "content": {"parts": [{"inline_data": {"mime_type": "image/png", "data": "aW1n"}}]},
                "outputDimensionality": 768,
            },
        ]


async def test_ollama_needs_no_key_and_lets_the_server_cut() -> None:
    """The native call with `truncate`; a host without a scheme is http."""
    async with FakeProvider() as provider:
        credential = OllamaCredential(host=f"127.0.0.1:{provider.port}")
        async with OllamaEmbeddingModel(credential, "bge-m3", 16) as model:
            response = await model(["a", "b"])
            assert response.usage is not None
            assert response.usage.tokens == 2
        (seen,) = provider.seen
        assert seen.path == "/api/embed"
        assert "authorization" not in seen.headers
        assert seen.body == {
            "truncate": True,
            "model": "bge-m3",
            "input": ["a", "b"],
            "dimensions": 16,
        }


@pytest.mark.parametrize(
    ("credential", "model_class", "cards"),
    [
        (OpenAICredential, OpenAIEmbeddingModel, 2),
        (DashScopeCredential, DashScopeEmbeddingModel, 7),
        (GeminiCredential, GeminiEmbeddingModel, 2),
        (OllamaCredential, OllamaEmbeddingModel, 0),
        (LocalCredential, LocalEmbeddingModel, 1),
    ],
)
def test_credentials_lead_to_their_models(
    credential: type[CredentialBase], model_class: type[EmbeddingModelBase], cards: int
) -> None:
    """The class of a provider and the number of its cards are the documented ones."""
    assert credential.get_embedding_model_class() is model_class
    assert len(model_class.list_models()) == cards


def test_providers_without_embeddings_say_so() -> None:
    """Five of the ten providers only chat."""
    none = [
        schema["properties"]["type"]["const"]
        for schema in CredentialFactory.list_schemas()
        if (known := CredentialFactory.get_credential_class(schema["properties"]["type"]["const"]))
        and known.get_embedding_model_class() is None
    ]
    assert len(none) == 6


def test_every_default_is_among_the_supported_dimensions() -> None:
    """A card never offers what it does not support, and callers cannot change the originals."""
    for model_class in (OpenAIEmbeddingModel, DashScopeEmbeddingModel, GeminiEmbeddingModel):
        for card in model_class.list_models():
            assert card.supported_dimensions is None or card.dimensions in card.supported_dimensions
            card.label = "changed"
        assert all(card.label != "changed" for card in model_class.list_models())


def test_cards_can_be_added_from_files(tmp_path: Path) -> None:
    """A new name is added, a known one replaced, and a broken file is named."""
    card = "name: {}\nlabel: House\ndimensions: 96\n"
    (tmp_path / "a.yaml").write_text(card.format("house-model"))
    (tmp_path / "b.yaml").write_text(card.format("text-embedding-3-small"))
    cards = {card.name: card for card in OpenAIEmbeddingModel.list_models(tmp_path)}
    assert list(cards) == ["text-embedding-3-small", "text-embedding-3-large", "house-model"]
    assert cards["text-embedding-3-small"].dimensions == 96
    assert OllamaEmbeddingModel.list_models(tmp_path)[0].name == "house-model"
    (tmp_path / "c.yaml").write_text("name: [")
    with pytest.raises(ConfigurationError, match=r"c\.yaml"):
        OpenAIEmbeddingModel.list_models(tmp_path)
