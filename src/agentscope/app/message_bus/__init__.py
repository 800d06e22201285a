"""Message buses: memory for one process; Redis and PostgreSQL for many."""

from agentscope.app.message_bus.base import MessageBus, MessageBusKeys
from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.message_bus.postgres import PostgresMessageBus
from agentscope.app.message_bus.redis import RedisMessageBus

__all__ = [
    "InMemoryMessageBus",
    "MessageBus",
    "MessageBusKeys",
    "PostgresMessageBus",
    "RedisMessageBus",
]
