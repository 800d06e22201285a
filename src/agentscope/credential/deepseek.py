"""Credential of the DeepSeek API."""

from typing import Literal

from pydantic import ConfigDict, SecretStr

from agentscope.credential.base import CredentialBase


class DeepSeekCredential(CredentialBase):
    """Access to the DeepSeek API."""

    model_config = ConfigDict(title="DeepSeek API")

    type: Literal["deepseek_credential"] = "deepseek_credential"
    api_key: SecretStr
    base_url: str = "https://api.deepseek.com"
