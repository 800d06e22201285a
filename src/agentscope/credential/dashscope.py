"""Credential of the DashScope API."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field, SecretStr

from agentscope.credential.base import CredentialBase


class DashScopeCredential(CredentialBase):
    """Access to the DashScope API."""

    model_config = ConfigDict(title="DashScope API")
    embedding_model: ClassVar[str | None] = "agentscope.embedding.dashscope:DashScopeEmbeddingModel"

    type: Literal["dashscope_credential"] = "dashscope_credential"
    api_key: SecretStr = Field(title="API Key")
    base_url: str = Field(
        default="https://dashscope.aliyuncs.com/compatible-mode/v1", title="API Base URL"
    )
