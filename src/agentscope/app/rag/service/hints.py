"""Hints for workers. They may be lost: whoever sends one never fails because of the bus."""

import asyncio
import logging

from agentscope.app.message_bus.base import MessageBus, MessageBusKeys
from agentscope.app.records import DocumentRecord

logger = logging.getLogger(__name__)
HINT_SECONDS = 2.0


async def hint_index(bus: MessageBus, document: DocumentRecord) -> None:
    """Say that a document waits to be indexed."""
    task = _names(document)
    try:
        async with asyncio.timeout(HINT_SECONDS):
            await bus.queue_push(MessageBusKeys.index_tasks_queue(), task)
            await bus.publish(MessageBusKeys.index_tasks_signal(), {})
            await bus.publish(MessageBusKeys.events_signal(), {"user_id": document.user_id})
    except Exception:
        # The document is due in storage; a worker finds it at its next poll.
        logger.warning("index_hint_lost", extra=task, exc_info=True)


async def hint_look(bus: MessageBus) -> None:
    """Say that workers may find something now."""
    try:
        async with asyncio.timeout(HINT_SECONDS):
            await bus.publish(MessageBusKeys.index_tasks_signal(), {})
    except Exception:
        logger.warning("look_hint_lost", exc_info=True)


async def hint_cancel(bus: MessageBus, document: DocumentRecord) -> None:
    """Say that a document was deleted, so that its run stops now and not at its next renewal."""
    task = _names(document)
    try:
        async with asyncio.timeout(HINT_SECONDS):
            await bus.publish(MessageBusKeys.cancel_signal(), task)
            await bus.publish(MessageBusKeys.events_signal(), {"user_id": document.user_id})
    except Exception:
        logger.warning("cancel_hint_lost", extra=task, exc_info=True)


def _names(document: DocumentRecord) -> dict[str, str]:
    return {
        "user_id": document.user_id,
        "knowledge_base_id": document.knowledge_base_id,
        "document_id": document.id,
    }
