"""Message buses: memory for one process; Redis and PostgreSQL for many."""

from agentscope.app.message_bus.base import MessageBus, MessageBusKeys
from agentscope.app.message_bus.memory import InMemoryMessageBus

__all__ = ["InMemoryMessageBus", "MessageBus", "MessageBusKeys"]
