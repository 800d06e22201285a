"""The terms of the keyword leg, cut the same way for every vector store.

Text is normalised (NFKC, case folded). Scripts that are written without spaces or with long
compounds (Han, kana, Hangul, Thai, ...) give overlapping pairs of characters; a single character
is kept too, so that a query of one character finds something. Everything else gives words:
English suffixes are stripped, accents removed. A compound such as `ERR-0x19` or `GOALS.md` gives
itself and its parts.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from agentscope.rag.stemmer import stem

TERMS_VERSION = 1
"""Changes with every change of the terms; stores that keep cut terms rebuild them."""

MAX_TERM_CHARS = 64
MAX_QUERY_TERMS = 256

_PAIRED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"  # Hangul
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # iteration marks, kana
    "\u3100-\u312f\u31a0-\u31bf"  # bopomofo
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)


_OTHER_PLANES = "\U00010000-\U0001efff"  # historic scripts; emoji begin above


def _word_class() -> str:
    """Return the characters of words as ranges: letters, digits and combining marks.

    One set of ranges, because a regular expression tests it much faster than alternatives.
    """
    paired = re.compile(f"[{_PAIRED}]")
    codes = [
        code
        for code in range(0x80, 0x10000)
        if (chr(code).isalnum() or unicodedata.category(chr(code))[0] == "M")
        and not paired.match(chr(code))
    ]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "0-9a-z" + "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges) + _OTHER_PLANES


_JOINERS = frozenset("-._")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_ASCII_LETTERS = re.compile(r"[a-z]+\Z")


class _Patterns(NamedTuple):
    token: re.Pattern[str]
    part: re.Pattern[str]


@functools.cache
def _patterns() -> _Patterns:
    """Return the regular expressions, made on first use: it takes a moment."""
    word = f"[{_word_class()}]+"
    return _Patterns(
        re.compile(rf"{word}(?:[-._]{{1,3}}{word})*|(?P<paired>[{_PAIRED}]+)"), re.compile(word)
    )


def normalise(text: str) -> str:
    """Return `text` in the form in which terms are cut."""
    return unicodedata.normalize("NFKC", text).casefold()


def places(normalised: str, terms: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of normalised text that hold one of `terms`, in no promised order."""
    for term in terms:
        if term and _is_paired(term):
            start = normalised.find(term)
            while start >= 0:
                yield start, start + len(term)
                start = normalised.find(term, start + 1)
    patterns = _patterns()
    for token in patterns.token.finditer(normalised):
        if not token.lastgroup:
            yield from _word_places(token, terms, patterns)


def _word_places(
    token: re.Match[str], terms: frozenset[str], patterns: _Patterns
) -> Iterator[tuple[int, int]]:
    whole, start = token.group(), token.start()
    if whole in terms or (_JOINERS.isdisjoint(whole) and _word(whole) in terms):
        yield start, token.end()
    elif not _JOINERS.isdisjoint(whole):
        for part in patterns.part.finditer(whole):
            if _word(part.group()) in terms:
                yield start + part.start(), start + part.end()


def _is_paired(term: str) -> bool:
    token = _patterns().token.match(term)
    return token is not None and bool(token.lastgroup)


def _cut(normalised: str, *, singles: bool) -> Iterator[str]:
    """Yield the terms of normalised text.

    `singles` adds each single character of a paired script beside the pairs; a run of one
    character gives it in any case.
    """
    patterns = _patterns()
    for token in patterns.token.finditer(normalised):
        whole = token.group()
        if token.lastgroup:
            yield from map("".join, itertools.pairwise(whole))
            if singles or len(whole) == 1:
                yield from whole
        elif _JOINERS.isdisjoint(whole):
            yield _word(whole)
        else:
            parts = patterns.part.findall(whole)
            yield from map(_word, parts)
            if len(parts) > 1 and len(whole) <= MAX_TERM_CHARS:
                yield whole


@functools.lru_cache(maxsize=65_536)
def _word(word: str) -> str:
    if not word.isascii():
        bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
        word = unicodedata.normalize("NFC", bare)
    if _ASCII_LETTERS.match(word):
        word = stem(word)
    return word[:MAX_TERM_CHARS]


def document_terms(text: str) -> list[str]:
    """Return the terms under which `text` is found, with repetitions."""
    return list(_cut(normalise(text), singles=True))


def query_terms(text: str) -> list[str]:
    """Return the distinct terms that a query asks for, at most `MAX_QUERY_TERMS`."""
    return list(dict.fromkeys(_cut(normalise(text), singles=False)))[:MAX_QUERY_TERMS]
