"""Credential of the Moonshot API."""

from typing import Literal

from pydantic import ConfigDict, SecretStr

from agentscope.credential.base import CredentialBase


class MoonshotCredential(CredentialBase):
    """Access to the Moonshot API."""

    model_config = ConfigDict(title="Moonshot API")

    type: Literal["moonshot_credential"] = "moonshot_credential"
    api_key: SecretStr
    base_url: str = "https://api.moonshot.cn/v1"
