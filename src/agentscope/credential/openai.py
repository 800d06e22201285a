"""Credential of OpenAI or any server that speaks its protocol."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, SecretStr

from agentscope.credential.base import CredentialBase


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
