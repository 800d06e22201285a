"""Where a text may be cut: between graphemes, words, sentences, lines and paragraphs.

All positions are code points. Every function looks only at the window it is given, so that
cutting a text of any length stays linear.
"""

import re
import unicodedata

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
# One terminator only before the closing quotes: a repeat would make long runs of dots quadratic.
_SENTENCE = re.compile(
    r"[.!?…][\"'”’»)\]]{0,4}\s+|[。！？｡．⋯۔؟।॥။၊][\"'”’」』）】》〉]{0,4}\s*|;\s+|；\s*"
)
_MIN_FILL = 0.5
_GRAPHEME_LOOKBACK = 32
_WORD_LOOKBACK = 256
_ZWJ = "\u200d"

# Scripts written without spaces between words: a cut between two of their letters is no worse
# than any other cut. Thai, Lao, Myanmar, Khmer, kana, ideographs; Hangul has spaces.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f"
    r"\U00020000-\U0003ffff]"
)


def token_count(text: str) -> int:
    """Return the approximate number of tokens: UTF-8 bytes divided by 4, rounded down."""
    return byte_count(text) // 4


def byte_count(text: str) -> int:
    """Return the length of `text` in UTF-8; a lone surrogate counts as three bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def reach(text: str, start: int, stop: int, max_bytes: int) -> int:
    """Return the largest end, up to `stop`, so that text[start:end] has `max_bytes` in UTF-8."""
    window = text[start : min(start + max_bytes, stop)]
    if window.isascii():
        return start + len(window)
    encoded = window.encode("utf-8", "surrogatepass")
    if len(encoded) <= max_bytes:
        return start + len(window)
    while encoded[max_bytes] & 0xC0 == 0x80:
        max_bytes -= 1
    return start + len(encoded[:max_bytes].decode("utf-8", "surrogatepass"))


def reach_back(text: str, end: int, max_bytes: int) -> int:
    """Return the smallest start so that text[start:end] has at most `max_bytes` UTF-8 bytes."""
    if max_bytes <= 0:
        return end
    floor = max(0, end - max_bytes)
    window = text[floor:end]
    if window.isascii():
        return floor
    encoded = window.encode("utf-8", "surrogatepass")
    cut = max(0, len(encoded) - max_bytes)
    while cut < len(encoded) and encoded[cut] & 0xC0 == 0x80:
        cut += 1
    return end - len(encoded[cut:].decode("utf-8", "surrogatepass"))


def splits_grapheme(text: str, at: int) -> bool:
    """Tell whether a cut before text[at] would tear one visible character apart."""
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if after < "\u0300" and before < "\u0300":
        return before == "\r" and after == "\n"
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    if _ZWJ in (before, after) or _extends(after):
        return True
    if _is_flag_half(before) and _is_flag_half(after):
        run = at
        while run > 0 and at - run < 2 * _GRAPHEME_LOOKBACK and _is_flag_half(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 1
    return _joins_hangul(before, after)


def _extends(char: str) -> bool:
    return (
        "\ufe00" <= char <= "\ufe0f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
    )


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _joins_hangul(before: str, after: str) -> bool:
    return "\u1160" <= after <= "\u11ff" and ("\u1100" <= before <= "\u11ff" or before >= "\uac00")


def splits_word(text: str, at: int) -> bool:
    """Tell whether a cut before text[at] would go through a word of a script with spaces."""
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (_is_word(before) and _is_word(after)):
        return False
    return not (_UNSPACED.match(before) or _UNSPACED.match(after))


def _is_word(char: str) -> bool:
    return char.isalnum() or char in "_'’" or (char >= "\u0300" and _extends(char))


def best_end(text: str, covered: int, limit: int, stop: int) -> int:
    """Return the best end of a piece, in (`covered`, `limit`]; the text ends at `stop`.

    Prefers, in the second half of that range, a paragraph end, then a line end, then a sentence
    end; then any word boundary; then any grapheme boundary.
    """
    if limit >= stop:
        return stop
    floor = covered + max(1, int((limit - covered) * _MIN_FILL))
    for pattern in (_PARAGRAPH, _SENTENCE):
        end = _last_match(pattern, text, floor, limit)
        if pattern is _PARAGRAPH and end == 0:
            end = text.rfind("\n", floor - 1, limit) + 1
        if end >= floor:
            return end
    return _safe_end(text, covered, limit)


def _last_match(pattern: re.Pattern[str], text: str, floor: int, limit: int) -> int:
    found = 0
    for match in pattern.finditer(text, floor - 1, limit):
        if not splits_grapheme(text, match.end()):
            found = match.end()
    return found


def _safe_end(text: str, start: int, limit: int) -> int:
    for end in range(limit, max(start, limit - _WORD_LOOKBACK), -1):
        if not splits_word(text, end) and not splits_grapheme(text, end):
            return end
    for end in range(limit, max(start, limit - _GRAPHEME_LOOKBACK), -1):
        if not splits_grapheme(text, end):
            return end
    return limit


def overlap_start(text: str, previous: int, end: int, overlap_bytes: int) -> int:
    """Return where the piece after `end` begins so that it repeats at most `overlap_bytes`.

    Moves forward to a sentence or word start where there is one. Always greater than
    `previous` and at most `end`.
    """
    start = max(reach_back(text, end, overlap_bytes), previous + 1)
    if start >= end:
        return end
    sentence = _SENTENCE.search(text, max(start - 1, 0), start + (end - start) // 2)
    if sentence and sentence.end() >= start and not splits_grapheme(text, sentence.end()):
        return sentence.end()
    for candidate in range(start, min(end, start + _WORD_LOOKBACK)):
        if not splits_word(text, candidate) and not splits_grapheme(text, candidate):
            return _skip_spaces(text, candidate, end)
    for candidate in range(start, min(end, start + _GRAPHEME_LOOKBACK)):
        if not splits_grapheme(text, candidate):
            return candidate
    return start


def _skip_spaces(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start if not splits_grapheme(text, start) else end
