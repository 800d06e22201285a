"""Credential of an Ollama server."""

from typing import ClassVar, Literal

from pydantic import ConfigDict

from agentscope.credential.base import CredentialBase


class OllamaCredential(CredentialBase):
    """Access to an Ollama server."""

    model_config = ConfigDict(title="Ollama API")
    embedding_model: ClassVar[str | None] = "agentscope.embedding.ollama:OllamaEmbeddingModel"

    type: Literal["ollama_credential"] = "ollama_credential"
    host: str | None = None
