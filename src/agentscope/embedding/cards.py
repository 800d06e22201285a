"""The models the product knows by name, and the dimensions of well-known self-hosted ones."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from agentscope.embedding.base import EmbeddingModelCard
from agentscope.errors import ConfigurationError
from agentscope.optional import require

_TEXT = ["text/plain"]
_IMAGES = ["text/plain", "image/png", "image/jpeg", "image/webp", "image/bmp"]


def _card(
    name: str,
    label: str,
    supported: list[int] | None,
    context_size: int,
    *,
    dimensions: int | None = None,
    input_types: list[str] | None = None,
) -> EmbeddingModelCard:
    return EmbeddingModelCard(
        name=name,
        label=label,
        input_types=input_types or _TEXT,
        dimensions=dimensions or (supported or [0])[0],
        supported_dimensions=supported,
        context_size=context_size,
    )


OPENAI_CARDS = [
    _card("text-embedding-3-small", "Text Embedding 3 Small", [1536, 1024, 768, 512, 256], 8191),
    _card(
        "text-embedding-3-large", "Text Embedding 3 Large", [3072, 1536, 1024, 768, 512, 256], 8191
    ),
]

DASHSCOPE_CARDS = [
    _card(
        "text-embedding-v4",
        "Text Embedding V4",
        [2048, 1536, 1024, 768, 512, 256, 128, 64],
        8192,
        dimensions=1024,
    ),
    _card("text-embedding-v3", "Text Embedding V3", [1024, 768, 512, 256, 128, 64], 8192),
    _card(
        "multimodal-embedding-v1",
        "Multimodal Embedding V1",
        None,
        512,
        dimensions=1024,
        input_types=_IMAGES,
    ),
    _card(
        "qwen3-vl-embedding",
        "Qwen3 VL Embedding",
        [2560, 2048, 1536, 1024, 768, 512, 256],
        32000,
        input_types=_IMAGES,
    ),
    _card(
        "qwen2.5-vl-embedding",
        "Qwen2.5 VL Embedding",
        [2048, 1024, 768, 512],
        32000,
        dimensions=1024,
        input_types=_IMAGES,
    ),
    _card(
        "tongyi-embedding-vision-plus",
        "Tongyi Embedding Vision Plus",
        [1152, 1024, 512, 256, 128, 64],
        1024,
        input_types=_IMAGES,
    ),
    _card(
        "tongyi-embedding-vision-flash",
        "Tongyi Embedding Vision Flash",
        [768, 512, 256, 128, 64],
        1024,
        input_types=_IMAGES,
    ),
]

GEMINI_CARDS = [
    _card("gemini-embedding-001", "Gemini Embedding 001", [3072, 1536, 768, 512, 256, 128], 2048),
    _card(
        "gemini-embedding-2",
        "Gemini Embedding 2",
        [3072, 1536, 768],
        8192,
        input_types=["text/plain", "image/png", "image/jpeg"],
    ),
]

KNOWN_DIMENSIONS = {
    "all-minilm": 384,
    "bge-base": 768,
    "bge-large": 1024,
    "bge-m3": 1024,
    "bge-small": 384,
    "e5-base": 768,
    "e5-large": 1024,
    "e5-small": 384,
    "embeddinggemma": 768,
    "granite-embedding": 384,
    "gte-base": 768,
    "gte-large": 1024,
    "gte-small": 384,
    "jina-embeddings-v2-base": 768,
    "jina-embeddings-v3": 1024,
    "mxbai-embed-large": 1024,
    "nomic-embed-text": 768,
    "paraphrase-multilingual": 768,
    "qwen3-embedding-0.6b": 1024,
    "qwen3-embedding-4b": 2560,
    "qwen3-embedding-8b": 4096,
    "snowflake-arctic-embed2": 1024,
}
"""By the beginning of the name without owner; others are probed."""

EMBEDDING_WORDS = (
    "embed",
    "bge",
    "minilm",
    "e5-",
    "gte-",
    "sentence",
    "paraphrase-multilingual",
)
"""A served model with one of these in its name is taken for an embedding model."""


def cards_with_custom(
    built_in: Sequence[EmbeddingModelCard], directory: str | Path | None
) -> list[EmbeddingModelCard]:
    """Return copies of `built_in` with the cards of `directory` added or put in their place.

    Blocking when a directory is given.

    Raises:
        ConfigurationError: a file there is not a card; names the file.
    """
    cards = {card.name: card.model_copy(deep=True) for card in built_in}
    for path in sorted(Path(directory).glob("*.yaml")) if directory is not None else []:
        card = _card_from(path)
        cards[card.name] = card
    return list(cards.values())


def _card_from(path: Path) -> EmbeddingModelCard:
    yaml = require("yaml", package="pyyaml", extra="all")
    try:
        return EmbeddingModelCard.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeError, ValidationError, yaml.YAMLError) as exc:
        raise ConfigurationError(
            f"The file '{path.name}' does not describe an embedding model.",
            context={"path": str(path)},
        ) from exc


def find_card(cards: Sequence[EmbeddingModelCard], name: str) -> EmbeddingModelCard | None:
    """Return the card of the model `name`."""
    return next((card for card in cards if card.name == name), None)


def known_dimensions(name: str) -> int | None:
    """Return the dimensions of a well-known self-hosted model."""
    short = name.lower().rpartition("/")[2].replace(":", "-").replace("_", "-")
    matching = [known for known in KNOWN_DIMENSIONS if short.startswith(known)]
    return KNOWN_DIMENSIONS[max(matching, key=len)] if matching else None


def looks_like_embedding(name: str) -> bool:
    """Tell by its name whether a served model makes embeddings."""
    lower = name.lower()
    return any(word in lower for word in EMBEDDING_WORDS) and "rerank" not in lower
