"""Sealing every stored secret again with the newest key, while the service runs.

Each secret is written only if it still stands as it was read, so what users change meanwhile is
never undone. Stopped half-way, it goes on from what is still sealed with an older key.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentscope.app.rag.service.webhooks import resealed_webhook, stored_webhooks
from agentscope.app.records import CredentialRecord
from agentscope.app.storage.base import StorageBase
from agentscope.credential.sealing import SecretBox, resealed_payload
from agentscope.errors import ConfigurationError

logger = logging.getLogger(__name__)

TRIES = 5


@dataclass(slots=True)
class Rotation:
    """What was looked at and what became of it."""

    checked: int = 0
    resealed: int = 0
    unreadable: int = 0  # sealed with a key that is not here, or damaged


async def rotate_secrets(storage: StorageBase, secrets: SecretBox) -> Rotation:
    """Seal every secret with the newest key; when it says none is unreadable, older keys can go."""
    done = Rotation()
    async for record in storage.credentials.of_everybody():
        done.checked += 1
        try:
            done.resealed += await _credential(storage, secrets, record)
        except ConfigurationError:
            done.unreadable += 1
            logger.warning("secret_unreadable", extra={"credential_id": record.id})
    async for key, entry in stored_webhooks(storage):
        done.checked += 1
        try:
            done.resealed += await _webhook(storage, secrets, key, entry)
        except ConfigurationError:
            done.unreadable += 1
            logger.warning("secret_unreadable", extra={"entry": key})
    logger.info("secrets_rotated", extra={"checked": done.checked, "resealed": done.resealed})
    return done


async def _credential(
    storage: StorageBase, secrets: SecretBox, record: CredentialRecord | None
) -> bool:
    """Reseal one credential; what was changed meanwhile is looked at again."""
    for _ in range(TRIES):
        if record is None:
            return False
        data = resealed_payload(secrets, record.data, owner=record.user_id)
        if data is None:
            return False
        if await storage.credentials.reseal(record, data):
            return True
        record = await storage.credentials.get(record.user_id, record.id)
    raise ConfigurationError("A credential was changed all the time; try again.")


async def _webhook(
    storage: StorageBase, secrets: SecretBox, key: str, entry: Mapping[str, Any] | None
) -> bool:
    for _ in range(TRIES):
        if entry is None:
            return False
        wanted = resealed_webhook(secrets, entry)
        if wanted is None:
            return False
        if await storage.registry.replace(key, entry, wanted):
            return True
        entry = await storage.registry.get(key)
    raise ConfigurationError("A webhook was changed all the time; try again.")
