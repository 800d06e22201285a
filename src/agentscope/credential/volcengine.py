"""Credential of the Volcengine Ark API."""

from typing import Literal

from pydantic import ConfigDict, SecretStr

from agentscope.credential.base import CredentialBase


class VolcengineCredential(CredentialBase):
    """Access to the Volcengine Ark API."""

    model_config = ConfigDict(title="Volcengine Ark API")

    type: Literal["volcengine_credential"] = "volcengine_credential"
    api_key: SecretStr
    base_url: str = "https://ark.cn-beijing.volces.com/api/v3"
