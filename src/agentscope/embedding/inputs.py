"""Turns what callers hand to an embedding model into what a model can take."""

from collections.abc import Sequence

from agentscope.embedding.base import EmbeddingInput, EmbeddingResponse, EmbeddingUsage
from agentscope.errors import EmbeddingInputError
from agentscope.message.blocks import TextBlock


def texts_of(inputs: Sequence[EmbeddingInput]) -> list[str]:
    """Return the texts of `inputs`, without the lone surrogates no encoder or JSON can carry.

    Raises:
        EmbeddingInputError: an input is not text.
    """
    texts = []
    for item in inputs:
        if isinstance(item, TextBlock):
            text = item.text
        elif isinstance(item, str):
            text = item
        else:
            raise EmbeddingInputError("This embedding model takes text only, not images or files.")
        texts.append(_encodable(text))
    return texts


def _encodable(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def response_of(
    embeddings: list[list[float]], usage: EmbeddingUsage, *, from_cache: bool = False
) -> EmbeddingResponse:
    """Build a response without validating every float again: a million would stall the loop."""
    response = EmbeddingResponse(
        embeddings=[], usage=usage, source="cache" if from_cache else "api"
    )
    response.embeddings = embeddings
    return response
