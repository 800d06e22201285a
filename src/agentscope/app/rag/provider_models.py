"""Embedding models behind stored credentials, shared by all knowledge bases of a process."""

import logging
from functools import partial

from agentscope.app.records import CredentialRecord, EmbeddingModelConfig, KnowledgeBaseRecord
from agentscope.app.storage.base import StorageBase
from agentscope.credential.base import CredentialBase
from agentscope.credential.local import LOCAL_CREDENTIAL_ID, LocalCredential
from agentscope.credential.sealing import SecretBox, opened_credential
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.embedding.registry import EmbeddingModelPool, ModelKey
from agentscope.errors import ConfigurationError, CredentialNotFoundError

logger = logging.getLogger(__name__)

SECRET_KEY_ENTRY = "secrets/key"  # noqa: S105  # where the id of the key is kept, not the key


class ProviderModels:
    """Looks the credential up, opens it, and takes the model from the pool."""

    def __init__(self, storage: StorageBase, secrets: SecretBox, pool: EmbeddingModelPool) -> None:
        self._storage = storage
        self._secrets = secrets
        self.pool = pool

    async def __call__(self, user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
        """Return the shared model of a configuration.

        Raises:
            CredentialNotFoundError: the user has no such credential (any more).
            InvalidInputError: the provider has no such model or parameters.
        """
        if config.credential_id == LOCAL_CREDENTIAL_ID:
            return await self.pool.get(_key(config, "", config.credential_id), LocalCredential)
        record = await self._storage.credentials.get(user_id, config.credential_id)
        if record is None:
            raise CredentialNotFoundError(f"Credential '{config.credential_id}' not found.")
        key = _key(config, record.updated_at, pool_id(user_id, record.id))
        return await self.pool.get(key, partial(self._open, record))

    def _open(self, record: CredentialRecord) -> CredentialBase:
        return opened_credential(self._secrets, record.data, owner=record.user_id)

    def paused_seconds(self, knowledge_base: KnowledgeBaseRecord) -> float:
        """Return for how long its provider must not be asked, because it did not work lately."""
        config = knowledge_base.embedding_model_config
        return self.pool.open_seconds(pool_id(knowledge_base.user_id, config.credential_id))

    def forget(self, user_id: str, credential_id: str) -> None:
        """Drop the models of a credential that was changed or deleted."""
        self.pool.forget(pool_id(user_id, credential_id))


def pool_id(user_id: str, credential_id: str) -> str:
    """Return the name of a credential in the pool; two users may use one id."""
    return f"{len(user_id)}:{user_id}:{credential_id}"


def _key(config: EmbeddingModelConfig, version: object, name: str) -> ModelKey:
    return ModelKey.of(name, version, config.model, config.dimensions, config.parameters)


async def check_secret_key(storage: StorageBase, secrets: SecretBox) -> None:
    """Make sure that this process can open what others sealed, and keep the newest key's id.

    Raises:
        ConfigurationError: the stored credentials were sealed with a key that is not here.
    """
    entry = await storage.registry.put_if_absent(SECRET_KEY_ENTRY, {"key_id": secrets.key_id})
    known = str(entry.get("key_id", ""))
    try:
        secrets.ensure_known(known)
    except ConfigurationError:
        logger.error("secret_key_mismatch", extra={"key_id": known})
        raise
    if known != secrets.key_id:
        await storage.registry.put(SECRET_KEY_ENTRY, {"key_id": secrets.key_id})
