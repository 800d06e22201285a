"""Credential of the xAI API."""

from typing import Literal

from pydantic import ConfigDict, Field, SecretStr

from agentscope.credential.base import CredentialBase


class XAICredential(CredentialBase):
    """Access to the xAI API."""

    model_config = ConfigDict(title="xAI API")

    type: Literal["xai_credential"] = "xai_credential"
    api_key: SecretStr
    api_host: str = Field(default="api.x.ai", title="API Host")
