"""Workspaces of agents. This product has no agents; the contract is here so that code runs."""

import abc
import enum
from types import TracebackType
from typing import Any, Self


class IsolationPolicy(enum.StrEnum):
    """What shares a workspace."""

    PER_AGENT = "per_agent"
    PER_SESSION = "per_session"
    PER_USER = "per_user"


class WorkspaceManagerBase(abc.ABC):
    """Owns the workspaces of agents; entered and left with the application."""

    def bind_storage(self, storage: Any) -> None:
        """Take the storage of the application."""
        self.storage = storage

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    @abc.abstractmethod
    async def aclose(self) -> None:
        """Release what it holds; calling it twice is harmless."""
