"""Credential of the MiniMax API."""

from typing import Literal

from pydantic import SecretStr

from agentscope.credential.base import CredentialBase


class MiniMaxCredential(CredentialBase):
    """Access to the MiniMax API."""

    type: Literal["minimax_credential"] = "minimax_credential"
    api_key: SecretStr
    base_url: str = "https://api.minimax.io/anthropic"
