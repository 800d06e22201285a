"""How likely a text is in a language: a log-likelihood from letters, words and spelling rules.

The numbers are rough logs of probabilities per character. Only differences between readings of
the same bytes matter, so each reading pays for every character it makes of them.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from agentscope.rag.parser.language_characters import (
    COMMON_HANGUL,
    COMMON_KANJI,
    COMMON_SIMPLIFIED,
    COMMON_TRADITIONAL,
    KANA_ORDER,
)
from agentscope.rag.parser.language_data import LANGUAGES, Language

_TYPOGRAPHIC = frozenset("‘’“”„«»‹›–—…•·°§©®™€£\u00a0²³½¼¾±×№¿¡ªº´¨")
_EAST_ASIAN_PUNCTUATION = frozenset("，。、：；「」『』《》（）！？・ー“”‘’…—\u3000【】〈〉．～")
# What hardly follows a letter, and what hardly stands before one, without a space.
_NOT_AFTER = frozenset("‚„†‡‰‹§¶«“¡¿•€£")
_NOT_BEFORE = frozenset("”»›‰†‡")
_SYMBOLS = frozenset({"So", "Sm", "Sk", "No"})
_WORD = re.compile(r"[^\W\d_]+")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_WORD_BONUS = 2.5
_WORDS_MAX = 12
_FEW_LETTERS_COST = 8.0
_LANGUAGE_SAMPLE = 4000
_LANGUAGE_LETTERS = 30
_CONTROLS_ALLOWED = frozenset("\t\n\r\f\x1b")
# (last code point, script) in ascending order.
_SCRIPTS = (
    (0x24F, "latin"),
    (0x36F, "mark"),
    (0x3FF, "greek"),
    (0x52F, "cyrillic"),
    (0x58F, "armenian"),
    (0x5FF, "hebrew"),
    (0x77F, "arabic"),
    (0x8FF, "other"),
    (0x97F, "devanagari"),
    (0x9FF, "bengali"),
    (0xB7F, "other"),
    (0xBFF, "tamil"),
    (0xDFF, "other"),
    (0xE7F, "thai"),
    (0x109F, "other"),
    (0x10FF, "georgian"),
    (0x11FF, "hangul"),
    (0x1DFF, "other"),
    (0x1EFF, "latin"),
    (0x1FFF, "greek"),
    (0x2E7F, "other"),
    (0x303F, "han"),
    (0x30FF, "kana"),
    (0x318F, "hangul"),
    (0x31EF, "other"),
    (0x31FF, "kana"),
    (0x33FF, "other"),
    (0x9FFF, "han"),
    (0xABFF, "other"),
    (0xD7FF, "hangul"),
    (0xF8FF, "other"),
    (0xFAFF, "han"),
    (0xFB4F, "hebrew"),
    (0xFEFE, "arabic"),
    (0xFF65, "han"),
    (0xFF9F, "kana"),
    (0x1FFFF, "other"),
    (0x3FFFF, "han"),
)
_EAST_ASIAN = frozenset({"han", "kana", "hangul"})


@lru_cache(maxsize=8192)
def script_of(char: str) -> str:
    """Return the script of a letter, in our coarse naming."""
    point = ord(char)
    for last, script in _SCRIPTS:
        if point <= last:
            return script
    return "other"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a candidate text looks like, apart from any language."""

    chars: Counter[str]
    words: Counter[str]
    cost: float
    ascii_letters: int
    scripts: Counter[str]


def reading_of(text: str) -> Reading:
    """Gather the features of `text`; linear in its length."""
    ascii_only = _NON_ASCII.sub("", text)
    chars = Counter(_NON_ASCII.findall(text))
    words = Counter(_WORD.findall(text.lower()))
    scripts: Counter[str] = Counter()
    for char, count in chars.items():
        if char.isalpha():
            scripts[script_of(char)] += count
    return Reading(
        chars=chars,
        words=words,
        cost=_ascii_cost(ascii_only) + _joint_cost(text),
        ascii_letters=sum(char.isalpha() for char in ascii_only),
        scripts=scripts,
    )


def _ascii_cost(text: str) -> float:
    cost = 0.0
    for char, count in Counter(text).items():
        if "a" <= char <= "z" or char == " ":
            cost -= 2.8 * count
        elif char.isprintable() or char in _CONTROLS_ALLOWED:
            cost -= 4.0 * count
        else:
            cost -= 11.0 * count
    return cost


_PAIRS = re.compile(r"(?=(.)([^\x00-\x7f]))|(?=([^\x00-\x7f])([\x00-\x7f]))", re.DOTALL)


def _joint_cost(text: str) -> float:
    """Judge neighbours: case inside words, symbols inside words, scripts side by side."""
    pairs: Counter[tuple[str, str]] = Counter()
    if text and text[0] >= "\x80":
        pairs[(" ", text[0])] = 1
    for match in _PAIRS.finditer(text):
        one, two, three, four = match.groups()
        pairs[(one or three, two or four)] += 1
    return sum(_pair_cost(*pair) * count for pair, count in pairs.items())


@lru_cache(maxsize=65536)
def _pair_cost(before: str, after: str) -> float:
    if before.isalpha() and after.isalpha():
        return _letters_cost(before, after)
    if unicodedata.category(after) == "Mn":
        # A mark stands on a letter of its own script.
        fits = unicodedata.category(before) == "Mn" or script_of(after) in (
            "mark",
            script_of(before),
        )
        return 0.0 if fits and not before.isspace() else -6.0
    odd_after = after in _NOT_AFTER or unicodedata.category(after) in _SYMBOLS
    odd_before = before in _NOT_BEFORE or unicodedata.category(before) in _SYMBOLS
    return -2.0 if (before.isalpha() and odd_after) or (after.isalpha() and odd_before) else 0.0


def _letters_cost(before: str, after: str) -> float:
    one, two = script_of(before), script_of(after)
    if one != two and "mark" not in (one, two):
        if one in _EAST_ASIAN and two in _EAST_ASIAN:
            return -2.5 if "hangul" in (one, two) else 0.0
        return -3.0 if one in _EAST_ASIAN or two in _EAST_ASIAN else -6.0
    if before.islower() and after.isupper():
        return -5.0
    if before.isupper() and after.islower() and not before.isascii():
        return -0.2
    return 0.0


def best_language(
    reading: Reading, languages: tuple[Language, ...] = LANGUAGES
) -> tuple[float, str]:
    """Return the highest log-likelihood of `reading` and the code of its language."""
    best = (float("-inf"), "")
    for language in languages:
        found = reading.cost + language.prior
        for char, count in reading.chars.items():
            found += count * char_weight(language.code, char)
        if language.script not in _EAST_ASIAN and language.script != "latin":
            # A few letters of another script in a Latin text are rather a wrong reading.
            few = reading.scripts[language.script] * 4 < reading.ascii_letters
            found -= _FEW_LETTERS_COST if few else 0.0
        hits = sum(reading.words[word] for word in language.words)
        found += _WORD_BONUS * min(hits, _WORDS_MAX)
        best = max(best, (found, language.code))
    return best


_BY_CODE = {language.code: language for language in LANGUAGES}


@lru_cache(maxsize=65536)
def char_weight(code: str, char: str) -> float:
    """Return the log-probability of a non-ASCII character in a language."""
    language = _BY_CODE[code]
    if language.script in _EAST_ASIAN:
        return _east_asian_weight(code, char)
    rank = language.letters.find(char)
    if rank < 0:
        rank, extra = language.letters.find(char.lower()), -1.8
    else:
        extra = 0.0
    if rank >= 0:
        spread = 12.0 if language.script == "latin" else 6.0
        base = 3.0 if language.script == "latin" else 2.2
        return -base - 2.2 * rank / spread * min(1.0, spread / len(language.letters)) * 2 + extra
    return _foreign_weight(language.script, char)


@lru_cache(maxsize=16384)
def _foreign_weight(script: str, char: str) -> float:
    if char in _TYPOGRAPHIC:
        return -6.0
    category = unicodedata.category(char)
    if category[0] == "L":
        return -9.5 if script_of(char) == script else -12.0
    if category in ("Cc", "Cn", "Co", "Cs"):
        return -15.0
    return -8.0 if category == "Cf" else -10.0


_KNOWN = {
    "zh": (COMMON_SIMPLIFIED, "gb2312", 0xD8),
    "zh-Hant": (COMMON_TRADITIONAL, "big5", 0xC9),
    "ja": (COMMON_KANJI, "shift_jis", 0x98),
}


def _east_asian_weight(code: str, char: str) -> float:
    if char in _EAST_ASIAN_PUNCTUATION:
        return -4.5
    script = script_of(char)
    if code == "ko":
        return _korean_weight(char, script)
    if script == "kana":
        return _kana_weight(code, char)
    if script != "han" or not char.isalpha():
        return -11.0 if unicodedata.category(char) not in ("Cc", "Cn", "Co") else -16.0
    common, codec, second_level = _KNOWN[code]
    rank = common.find(char)
    if rank >= 0:
        return -5.0 - 2.0 * rank / len(common)
    try:
        lead = char.encode(codec)[0]
    except UnicodeEncodeError:
        return -14.0
    return -8.5 if lead < second_level else -12.0


def _kana_weight(code: str, char: str) -> float:
    if code != "ja":
        return -9.5
    if char >= "\uff66":
        return -7.0
    rank = KANA_ORDER.find(char)
    return -3.2 - rank / 20 if rank >= 0 else -5.5


def _korean_weight(char: str, script: str) -> float:
    if script != "hangul":
        return -12.0 if unicodedata.category(char) not in ("Cc", "Cn", "Co") else -16.0
    rank = COMMON_HANGUL.find(char)
    if rank >= 0:
        return -4.5 - 2.0 * rank / len(COMMON_HANGUL)
    try:
        char.encode("euc_kr")
    except UnicodeEncodeError:
        return -13.0
    return -8.0


def language_of(text: str) -> str | None:
    """Return the code of the language `text` is probably in, or None if little speaks for any."""
    sample = text[:_LANGUAGE_SAMPLE]
    reading = reading_of(sample)
    foreign = sum(reading.scripts.values())
    # A sign of these scripts says as much as several letters.
    signs = sum(reading.scripts[script] for script in _EAST_ASIAN)
    if foreign + 3 * signs + reading.ascii_letters < _LANGUAGE_LETTERS:
        return None
    code = best_language(reading)[1]
    found = [word for word in _BY_CODE[code].words if len(word) > 1 and reading.words[word]]
    hits = sum(reading.words[word] for word in found)
    if _BY_CODE[code].script != "latin":
        return code if foreign * 4 >= reading.ascii_letters else None
    enough = len(found) > 1 and hits * 12 >= sum(reading.words.values())
    return code if enough else None
