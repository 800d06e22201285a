"""The suite every reranker must pass."""

import abc
import asyncio
import math
from contextlib import AbstractAsyncContextManager

from agentscope.rerank.base import RerankerBase


class RerankerSuite(abc.ABC):
    """What every reranker must do; a subclass says how to make one."""

    @abc.abstractmethod
    def make(self) -> AbstractAsyncContextManager[RerankerBase]:
        """Return a fresh reranker, closed on exit."""

    async def test_one_finite_score_per_text_in_input_order(self) -> None:
        """The text that answers the query scores highest, wherever it stands."""
        texts = ["Koalas sleep a lot.", "The invoice is due in May.", "Rain is expected."]
        async with self.make() as reranker:
            scores = await reranker.score("when is the invoice due", texts)
            assert len(scores) == 3
            assert all(math.isfinite(score) for score in scores)
            assert max(scores) == scores[1]
            turned = await reranker.score("when is the invoice due", texts[::-1])
            assert turned == scores[::-1]

    async def test_no_texts_give_no_scores(self) -> None:
        """The empty call is answered without asking anybody."""
        async with self.make() as reranker:
            assert await reranker.score("query", []) == []

    async def test_many_and_odd_texts_are_scored(self) -> None:
        """Hundreds of texts, blank, long and badly encoded ones get a score each."""
        texts = ["", "\ud800", "word " * 20_000, *(f"text {i}" for i in range(300))]
        async with self.make() as reranker:
            assert len(await reranker.score("text", texts)) == len(texts)

    async def test_concurrent_calls_do_not_mix(self) -> None:
        """Each call gets the scores of its own texts."""
        async with self.make() as reranker:
            answers = await asyncio.gather(
                *(reranker.score("alpha", ["alpha", "beta"][:: 1 - 2 * (i % 2)]) for i in range(8))
            )
            for index, scores in enumerate(answers):
                assert scores.index(max(scores)) == index % 2

    async def test_closing_twice_is_harmless(self) -> None:
        """Used or not, a reranker can be closed twice."""
        async with self.make() as reranker:
            await reranker.score("query", ["text"])
            await reranker.aclose()
            await reranker.aclose()
