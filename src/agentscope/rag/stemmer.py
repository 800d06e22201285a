"""English suffix stripping after M. F. Porter, "An algorithm for suffix stripping", 1980,
with its author's two later departures (-bli, -logi).

Done here and not by a full-text engine, so that every vector store cuts the same terms. Words of
other languages in Latin script pass through the same rules on both sides of a search.
"""

import itertools

_VOWELS = frozenset("aeiou")

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
    ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def _by_length(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


_STEP_2_LONGEST_FIRST = _by_length(_STEP_2)
_STEP_3_LONGEST_FIRST = _by_length(_STEP_3)
_STEP_4_LONGEST_FIRST = tuple(sorted(_STEP_4, key=len, reverse=True))


def stem(word: str) -> str:
    """Return the stem of `word`, which consists of a-z only; short words stay as they are."""
    if len(word) <= 2:
        return word
    word = _step_1(word)
    word = _replace(word, _STEP_2_LONGEST_FIRST)
    word = _replace(word, _STEP_3_LONGEST_FIRST)
    return _step_5(_step_4(word))


def _is_consonant(word: str, index: int) -> bool:
    letter = word[index]
    if letter in _VOWELS:
        return False
    return letter != "y" or index == 0 or not _is_consonant(word, index - 1)


def _measure(word: str) -> int:
    """Return how often a vowel run is followed by a consonant run."""
    kinds = [_is_consonant(word, index) for index in range(len(word))]
    return sum(1 for left, right in itertools.pairwise(kinds) if not left and right)


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, index) for index in range(len(word)))


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _ends_cvc(word: str) -> bool:
    last = len(word) - 1
    return (
        last >= 2
        and _is_consonant(word, last)
        and not _is_consonant(word, last - 1)
        and _is_consonant(word, last - 2)
        and word[last] not in "wxy"
    )


def _step_1(word: str) -> str:
    if word.endswith("sses") or word.endswith("ies"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        if _measure(word[:-3]) > 0:
            word = word[:-1]
    elif word.endswith("ed") and _has_vowel(word[:-2]):
        word = _restore(word[:-2])
    elif word.endswith("ing") and _has_vowel(word[:-3]):
        word = _restore(word[:-3])
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _restore(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double(word) and word[-1] not in "lsz":
        return word[:-1]
    if _measure(word) == 1 and _ends_cvc(word):
        return word + "e"
    return word


def _replace(word: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for suffix, replacement in pairs:
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            return root + replacement if _measure(root) > 0 else word
    return word


def _step_4(word: str) -> str:
    for suffix in _STEP_4_LONGEST_FIRST:
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            if _measure(root) > 1 and (suffix != "ion" or root.endswith(("s", "t"))):
                return root
            return word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        root = word[:-1]
        measure = _measure(root)
        if measure > 1 or (measure == 1 and not _ends_cvc(root)):
            word = root
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
