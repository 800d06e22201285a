"""Credential of the Anthropic API."""

from typing import Literal

from pydantic import ConfigDict, SecretStr

from agentscope.credential.base import CredentialBase


class AnthropicCredential(CredentialBase):
    """Access to the Anthropic API."""

    model_config = ConfigDict(title="Anthropic API")

    type: Literal["anthropic_credential"] = "anthropic_credential"
    api_key: SecretStr
    base_url: str | None = None
