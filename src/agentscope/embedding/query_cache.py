"""Remembers the vectors of recent search queries of one model, in memory."""

from array import array
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

from agentscope.embedding.base import EmbeddingInput, EmbeddingResponse, EmbeddingUsage
from agentscope.embedding.inputs import response_of
from agentscope.message.blocks import TextBlock

CAPACITY = 256
MAX_CHARACTERS = 2000


class QueryCache:
    """The least recently used queries go first; 256 of 1,536 dimensions take 3 MB."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._vectors: OrderedDict[str, array[float]] = OrderedDict()

    async def answer(
        self,
        inputs: Sequence[EmbeddingInput],
        ask: Callable[[Sequence[EmbeddingInput]], Awaitable[EmbeddingResponse]],
    ) -> EmbeddingResponse:
        """Return the vectors of `inputs`, asking for those that are not remembered."""
        texts = [_text(item) for item in inputs]
        known = [self._known(text) for text in texts]
        missing = [at for at, vector in enumerate(known) if vector is None]
        usage = EmbeddingUsage()
        if missing:
            response = await ask([inputs[at] for at in missing])
            usage = response.usage or usage
            for at, vector in zip(missing, response.embeddings, strict=True):
                known[at] = vector
                self._remember(texts[at], vector)
        vectors = [vector for vector in known if vector is not None]
        return response_of(vectors, usage, from_cache=bool(inputs) and not missing)

    def _known(self, text: str | None) -> list[float] | None:
        if text is None or text not in self._vectors:
            return None
        self._vectors.move_to_end(text)
        return self._vectors[text].tolist()

    def _remember(self, text: str | None, vector: Sequence[float]) -> None:
        if text is None:
            return
        self._vectors[text] = array("d", vector)
        while len(self._vectors) > self._capacity:
            self._vectors.popitem(last=False)


def _text(item: EmbeddingInput) -> str | None:
    text = item.text if isinstance(item, TextBlock) else item
    return text if isinstance(text, str) and len(text) <= MAX_CHARACTERS else None
