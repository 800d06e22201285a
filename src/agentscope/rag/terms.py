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


def _mark_class() -> str:
    """Return the combining marks of other scripts, which the regular expression's words lack."""
    paired = re.compile(f"[{_PAIRED}]")
    marks = (chr(code) for code in range(0x300, 0x10000))
    return "".join(
        mark for mark in marks if unicodedata.category(mark)[0] == "M" and not paired.match(mark)
    )


_JOINERS = frozenset("-._")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_ASCII_LETTERS = re.compile(r"[a-z]+\Z")


class _Patterns(NamedTuple):
    token: re.Pattern[str]
    part: re.Pattern[str]


@functools.cache
def _patterns() -> _Patterns:
    """Return the regular expressions, made on first use: finding the marks takes a moment."""
    word = rf"(?:[^\W_{_PAIRED}]|[{_mark_class()}])+"
    return _Patterns(
        re.compile(rf"(?P<paired>[{_PAIRED}]+)|{word}(?:[-._]{{1,3}}{word})*"), re.compile(word)
    )


class Term(NamedTuple):
    """A term with its code point range in the normalised text."""

    text: str
    start: int
    end: int


def normalise(text: str) -> str:
    """Return `text` in the form in which terms are cut."""
    return unicodedata.normalize("NFKC", text).casefold()


def cut(normalised: str, *, singles: bool) -> Iterator[Term]:
    """Yield the terms of normalised text in order.

    `singles` adds each single character of a paired script beside the pairs; a run of one
    character gives it in any case.
    """
    for token in _patterns().token.finditer(normalised):
        if token["paired"] is None:
            yield from _words(token)
        else:
            yield from _pairs(token, singles=singles)


def _pairs(token: re.Match[str], *, singles: bool) -> Iterator[Term]:
    run, start = token.group(), token.start()
    for index in range(len(run) - 1):
        yield Term(run[index : index + 2], start + index, start + index + 2)
    if singles or len(run) == 1:
        for index, character in enumerate(run):
            yield Term(character, start + index, start + index + 1)


def _words(token: re.Match[str]) -> Iterator[Term]:
    whole, start = token.group(), token.start()
    parts = list(_patterns().part.finditer(whole))
    for part in parts:
        yield Term(_word(part.group()), start + part.start(), start + part.end())
    if len(parts) > 1 and len(whole) <= MAX_TERM_CHARS:
        yield Term(whole, start, token.end())


@functools.lru_cache(maxsize=65_536)
def _word(word: str) -> str:
    if not word.isascii():
        bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
        word = unicodedata.normalize("NFC", bare)
    if _ASCII_LETTERS.match(word):
        word = stem(word)
    return word[:MAX_TERM_CHARS]


def document_terms(text: str) -> list[str]:
    """Return the terms under which `text` is found, with repetitions, in no promised order.

    The same terms as those of `cut`, without their places: indexing spends most of its time here.
    """
    terms: list[str] = []
    patterns = _patterns()
    for token in patterns.token.finditer(normalise(text)):
        whole = token.group()
        if token.lastgroup:
            terms += map("".join, itertools.pairwise(whole))
            terms += whole
        elif _JOINERS.isdisjoint(whole):
            terms.append(_word(whole))
        else:
            parts = patterns.part.findall(whole)
            terms += map(_word, parts)
            if len(parts) > 1 and len(whole) <= MAX_TERM_CHARS:
                terms.append(whole)
    return terms


def query_terms(text: str) -> list[str]:
    """Return the distinct terms that a query asks for, at most `MAX_QUERY_TERMS`."""
    terms = dict.fromkeys(term.text for term in cut(normalise(text), singles=False))
    return list(terms)[:MAX_QUERY_TERMS]
