"""The one private path of the reference that other programs import; see docs/deviations.md."""

from agentscope.app.message_bus.base import MessageBus, MessageBusKeys


async def enqueue_index_task(
    message_bus: MessageBus, user_id: str, knowledge_base_id: str, document_id: str
) -> None:
    """Hint that a document waits: queue an index task, then signal it."""
    task = {
        "user_id": user_id,
        "knowledge_base_id": knowledge_base_id,
        "document_id": document_id,
    }
    await message_bus.queue_push(MessageBusKeys.index_tasks_queue(), task)
    await message_bus.publish(MessageBusKeys.index_tasks_signal(), {})
