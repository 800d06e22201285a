"""Credential of the Gemini API."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, SecretStr

from agentscope.credential.base import CredentialBase


class GeminiCredential(CredentialBase):
    """Access to the Gemini API."""

    model_config = ConfigDict(title="Gemini API")
    embedding_model: ClassVar[str | None] = "agentscope.embedding.gemini:GeminiEmbeddingModel"

    type: Literal["gemini_credential"] = "gemini_credential"
    api_key: SecretStr
