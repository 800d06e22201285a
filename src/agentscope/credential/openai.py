"""Credential of OpenAI or any server that speaks its protocol."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field, SecretStr

from agentscope.credential.base import CredentialBase

MAX_MODELS = 50
MAX_DIMENSIONS = 16_384


def _models(text: str) -> dict[str, int]:
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, size = part.rpartition("=")
        if not name.strip() or not size.strip().isascii() or not size.strip().isdecimal():
            raise ValueError("write each model as name=dimensions")
        found[name.strip()] = int(size)
    if len(found) > MAX_MODELS or not all(0 < size <= MAX_DIMENSIONS for size in found.values()):
        raise ValueError(f"use at most {MAX_MODELS} models of 1 to {MAX_DIMENSIONS} dimensions")
    return found


def _check_models(value: str | None) -> str | None:
    _models(value or "")
    return value


class OpenAICredential(CredentialBase):
    """Access to OpenAI or any server that speaks its protocol."""

    model_config = ConfigDict(title="OpenAI API")
    embedding_model: ClassVar[str | None] = (
        "agentscope.embedding.openai_compatible:OpenAIEmbeddingModel"
    )

    type: Literal["openai_credential"] = "openai_credential"
    api_key: SecretStr
    organization: str | None = None
    base_url: str | None = None
    embedding_models: Annotated[str | None, AfterValidator(_check_models)] = Field(
        default=None, title="Embedding models, as name=dimensions, separated by commas"
    )

    def declared_models(self) -> dict[str, int]:
        """Return the dimensions of the embedding models that the user named, by name."""
        return _models(self.embedding_models or "")
