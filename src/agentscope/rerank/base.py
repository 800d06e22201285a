"""The reranker contract: a query and texts in, one relevance per text out."""

import abc
from collections.abc import Sequence
from types import TracebackType
from typing import Self


class RerankerBase(abc.ABC):
    """Reads query and text together; slower and better than comparing vectors."""

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
        """Release connections; calling it twice is harmless."""
        return

    @abc.abstractmethod
    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one relevance per text, in input order; higher is better, the scale is its own.

        No texts give no scores, without asking anybody. Long texts are cut, never refused.

        Raises:
            RerankError: no usable answer; `retryable` says whether later can help.
        """
