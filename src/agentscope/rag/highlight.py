"""Where a text matches a query, in code points of the text as it stands."""

import functools
import unicodedata
from collections.abc import Sequence

from agentscope.rag.terms import normalise, places, query_terms

MAX_HIGHLIGHTS = 200

_FUNCTION_WORDS = (
    "a an and are as at be but by can did do does for from had has have he her his how i in is it"
    " its me my of on or our she that the their them they this to us was we were what when where"
    " which who whom whose why will with would you your"
)


@functools.cache
def _function_terms() -> frozenset[str]:
    return frozenset(query_terms(_FUNCTION_WORDS))


def highlight_terms(queries: Sequence[str]) -> frozenset[str]:
    """Return the terms worth showing: English function words only if there is nothing else."""
    terms = frozenset(term for query in queries for term in query_terms(query))
    return terms - _function_terms() or terms


def highlights(text: str, terms: frozenset[str]) -> list[tuple[int, int]]:
    """Return the ranges [start, end) of `text` that hold one of `terms`, merged and in order.

    At most the first `MAX_HIGHLIGHTS`.
    """
    if not terms or not text:
        return []
    normalised, offsets = _aligned(text)
    found = sorted((offsets[start], offsets[end]) for start, end in places(normalised, terms))
    merged: list[tuple[int, int]] = []
    for start, end in found:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged[:MAX_HIGHLIGHTS]


def _aligned(text: str) -> tuple[str, Sequence[int]]:
    """Return normalised text and, for each of its positions and the end, the place in `text`."""
    normalised = normalise(text)
    if len(normalised) == len(text) and all(map(_stays_one, set(text))):
        return normalised, range(len(text) + 1)
    pieces: list[str] = []
    offsets: list[int] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _joins(text[end]):
            end += 1
        piece = _piece(text[start:end])
        pieces.append(piece)
        offsets.extend(_spread(start, end, len(piece)))
        start = end
    return "".join(pieces), [*offsets, len(text)]


@functools.lru_cache(maxsize=16_384)
def _piece(text: str) -> str:
    return normalise(text)


@functools.lru_cache(maxsize=16_384)
def _stays_one(character: str) -> bool:
    """Say whether the character becomes one character, whatever stands beside it."""
    return not _joins(character) and len(normalise(character)) == 1


def _spread(start: int, end: int, length: int) -> list[int]:
    """Give each of `length` characters a place within [start, end)."""
    return [min(start + index, end - 1) if length > 1 else start for index in range(length)]


def _joins(character: str) -> bool:
    """Say whether the character may melt into the one before it under normalisation."""
    return (
        unicodedata.combining(character) != 0
        or character in "\uff9e\uff9f"
        or "\u1160" <= character <= "\u11ff"
    )
