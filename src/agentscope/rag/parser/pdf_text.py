"""Repairs of the text that PDF libraries give: broken words and undecoded fonts."""

import re

# PDFium marks a hyphen at a line end with U+FFFE (older versions with U+0002).
_LINE_HYPHEN = re.compile(r"(.?)[\ufffe\x02](?:\r?\n)?(.?)", re.DOTALL)
_UNREADABLE_SHARE = 0.3
_MIN_JUDGED = 20


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
    """Return the text and whether it can be read; private characters count as unreadable."""
    marks = [char for char in text if not char.isspace()]
    if len(marks) < _MIN_JUDGED:
        return text, True
    bad = sum(1 for char in marks if char == "\ufffd" or "\ue000" <= char <= "\uf8ff")
    return text, bad <= len(marks) * _UNREADABLE_SHARE
