"""Cuts the inputs of a call into requests that a provider takes, and learns what it takes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

_T = TypeVar("_T")
_TOO_MANY = re.compile(r"batch|inputs?\b|array|items|elements|contents|too (many|large)", re.I)
_NUMBER = re.compile(r"\d+")

MAX_FLOATS = 1 << 17
"""Numbers in one answer: parsing 131,072 takes the event loop about 10 ms."""


def token_estimate(text: str) -> int:
    """Return about how many tokens `text` has; never far too low, for any script."""
    if text.isascii():
        return len(text) // 4 + 1
    wide = len(text.encode("utf-8", "replace")) - len(text)  # 1 to 3 for each non-ASCII character
    return len(text) // 4 + wide // 2 + 1


def cut_to_tokens(text: str, tokens: int) -> str:
    """Return the beginning of `text` that has about `tokens` tokens."""
    if len(text) <= tokens:
        return text
    estimate = token_estimate(text)
    return text if estimate <= tokens else text[: max(1, len(text) * tokens // estimate)]


@dataclass(slots=True)
class RequestLimits:
    """How much one request may hold; `count` shrinks when the provider says so."""

    count: int
    tokens: int = 250_000
    size_bytes: int = 4 << 20

    def learn(self, count: int) -> None:
        """Keep the smaller limit for all later requests."""
        self.count = max(1, min(self.count, count))

    def batches(
        self, sizes: Sequence[tuple[int, int]], positions: list[int]
    ) -> Iterator[list[int]]:
        """Yield runs of `positions` within all limits; `sizes` are (tokens, bytes) by position.

        A single input over a limit is a batch of its own.
        """
        batch: list[int] = []
        tokens = size = 0
        for position in positions:
            more_tokens, more_bytes = sizes[position]
            full = len(batch) >= self.count
            if batch and (
                full or tokens + more_tokens > self.tokens or size + more_bytes > self.size_bytes
            ):
                yield batch
                batch, tokens, size = [], 0, 0
            batch.append(position)
            tokens += more_tokens
            size += more_bytes
        if batch:
            yield batch


def stated_limit(reason: str, count: int) -> int | None:
    """Return the input limit that a refusal of `count` inputs names; None if it names none."""
    if not _TOO_MANY.search(reason):
        return None
    named = [int(number) for number in _NUMBER.findall(reason)]
    below = [number for number in named if 0 < number < count]
    return max(below) if below else None


def slices(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Yield `items` in runs of `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
