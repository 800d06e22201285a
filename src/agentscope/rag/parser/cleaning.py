"""What no text may carry out of a parser: NUL, lone surrogates, stray control characters."""

import re

_FORBIDDEN = re.compile(r"[\x00\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_NEWLINES = re.compile(r"\r\n?|\x85|\u2028")
_ASCII_CONTROLS = dict.fromkeys([*range(9), 0x0B, *range(0x0E, 0x20), 0x7F])
_BLANK_RUN = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*){2,}")
# White space plus what is drawn without ink: format characters and fillers.
_INVISIBLE = re.compile(
    r"[\s\x00-\x1f\x7f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff9-\ufffc]+"
)


def without_forbidden(text: str) -> str:
    """Remove NUL and lone surrogates and keep everything else."""
    return _FORBIDDEN.sub("", text)


def cleaned(text: str) -> str:
    """Use plain newlines and remove control characters; for text that a library extracted."""
    if text.isascii():  # most pages of most documents; a tenth of the time of the patterns
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.translate(_ASCII_CONTROLS)
    return _CONTROLS.sub("", _NEWLINES.sub("\n", text))


def squeezed(text: str) -> str:
    """Reduce runs of blank lines to one and trim the ends."""
    return _BLANK_RUN.sub("\n\n", text).strip()


def is_blank(text: str) -> bool:
    """Tell whether a reader would see nothing at all."""
    return not text or text.isspace() or _INVISIBLE.fullmatch(text) is not None
