"""The message bus contract: a bounded queue and a signal. It is a hint, never the truth.

Losing an entry or a signal, or getting one twice, costs latency only: work is claimed from
storage. So the queue is bounded (the oldest entries fall out), entries are acknowledged by being
pulled, and no caller may fail because the bus did. Payloads are small JSON objects.
"""

import abc
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Self

MAX_QUEUE_ENTRIES = 100_000
MAX_PAYLOAD_BYTES = 64 * 1024


class MessageBusKeys:
    """Names on the bus, as documented."""

    @staticmethod
    def index_tasks_queue() -> str:
        """Return the queue of index tasks."""
        return "agentscope:index:tasks"

    @staticmethod
    def index_tasks_signal() -> str:
        """Return the channel that says: there is index work."""
        return "agentscope:index:tasks:wake"

    @staticmethod
    def cancel_signal() -> str:
        """Return the channel that says: this document was deleted, stop its run."""
        return "agentscope:index:cancel"

    @staticmethod
    def events_signal() -> str:
        """Return the channel that says: this user has new events."""
        return "agentscope:events"


class MessageBus(abc.ABC):
    """Carries hints between the API and the workers."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End all subscriptions and release connections; calling it twice is harmless."""
        return

    @abc.abstractmethod
    async def queue_push(
        self, key: str, payload: Mapping[str, Any], *, ttl_secs: int | None = None
    ) -> str:
        """Append to the queue and return the entry's id; beyond the bound the oldest is dropped.

        Raises:
            BusError: the bus does not answer.
        """

    @abc.abstractmethod
    async def queue_drain(self, key: str, max_count: int = 100) -> list[tuple[str, dict[str, Any]]]:
        """Remove and return at most `max_count` entries, oldest first.

        An entry goes to one caller only. An entry that is not a JSON object is dropped and logged.
        """

    @abc.abstractmethod
    async def queue_length(self, key: str) -> int:
        """Return the number of waiting entries."""

    @abc.abstractmethod
    async def publish(self, key: str, payload: Mapping[str, Any]) -> None:
        """Send a signal to those who are subscribed now."""

    @abc.abstractmethod
    def subscribe(
        self, key: str, *, on_ready: Callable[[], None] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield signals from now on; `on_ready` is called once the subscription stands.

        At most 1,000 unread signals are kept, the oldest fall out. A lost connection raises
        `BusError`; the caller subscribes again.
        """

    @abc.abstractmethod
    async def ping(self) -> None:
        """Return if the bus answers, else raise `BusError`."""
