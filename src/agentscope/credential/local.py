"""The virtual credential of the embedding model that runs on this machine."""

from typing import ClassVar, Literal

from pydantic import ConfigDict

from agentscope.credential.base import CredentialBase

LOCAL_CREDENTIAL_ID = "local"


class LocalCredential(CredentialBase):
    """Offered to every user, stored by nobody: it holds no secret and cannot be edited."""

    model_config = ConfigDict(title="Built-in model")
    embedding_model: ClassVar[str | None] = "agentscope.embedding.local:LocalEmbeddingModel"

    type: Literal["local_credential"] = "local_credential"
    id: str = LOCAL_CREDENTIAL_ID
    name: str = "Built-in model"
