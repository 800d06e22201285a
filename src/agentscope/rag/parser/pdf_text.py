"""Repairs of the text that PDF libraries give: broken words and undecoded fonts."""

import re

from agentscope.rag.parser.encoding import best_guess

# PDFium marks a hyphen at a line end with U+FFFE (older versions with U+0002).
_LINE_HYPHEN = re.compile(r"(.?)[\ufffe\x02](?:\r?\n)?(.?)", re.DOTALL)
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff]")
_HIGH_BYTE = re.compile("[\x80-\xff]")
_UNREADABLE_SHARE = 0.3
_MIN_JUDGED = 20
_SOUP_SHARE = 0.6
_SAMPLE = 4096
_MULTI_BYTE = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})


def repaired_line_ends(text: str) -> str:
    """Put words together again that were hyphenated at a line end."""
    if "\ufffe" not in text and "\x02" not in text:
        return text
    return _LINE_HYPHEN.sub(_joined, text)


def _joined(match: re.Match[str]) -> str:
    before, after = match.group(1), match.group(2)
    joint = "" if before.islower() and after.islower() else "-"
    return before + joint + after


def repaired_mojibake(text: str) -> tuple[str, bool]:
    """Return the text and whether it can be read.

    Fonts without a character map often give the bytes of a Chinese, Japanese or Korean encoding
    one by one; those are read again. Private characters count as unreadable.
    """
    if text.isascii():  # nearly every page of an English document: nothing to judge
        return text, True
    marks = "".join(text.split())
    if len(marks) < _MIN_JUDGED:
        return text, True
    bad = len(_UNREADABLE.findall(marks))
    if bad > len(marks) * _UNREADABLE_SHARE:
        return text, False
    soup = len(_HIGH_BYTE.findall(marks))
    if soup < len(marks) * _SOUP_SHARE:
        return text, True
    raw = b"".join(char.encode("cp1252", "ignore") or b"" for char in text)
    if any(char > "\xff" and not char.encode("cp1252", "ignore") for char in marks):
        return text, True
    guess = best_guess(raw[:_SAMPLE], raw[:_SAMPLE], None, utf8=False)
    if guess.encoding not in _MULTI_BYTE:
        return text, True
    return raw.decode(guess.encoding, "ignore"), True
