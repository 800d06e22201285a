"""Text that users give as names: what is kept as it is, and what is refused."""

import re
import unicodedata

from agentscope.errors import InvalidInputError

DEFAULT_FILENAME = "uploaded_file"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ID = re.compile(r"[^\x00-\x20\x7f/\ud800-\udfff]{1,200}")


def clean_filename(raw: str | None, *, max_chars: int) -> str:
    """Return the last path component of what the client sent, otherwise unchanged.

    Raises:
        InvalidInputError: control characters, no name at all after the path, or too long.
    """
    if not raw:
        return DEFAULT_FILENAME
    name = re.split(r"[/\\]", raw)[-1]
    if not name.strip() or name in (".", ".."):
        raise InvalidInputError("The file name is empty.")
    if len(name) > max_chars:
        raise InvalidInputError(f"The file name has more than {max_chars} characters.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise InvalidInputError("The file name contains control characters.")
    return name


def clean_name(raw: str, *, what: str, max_chars: int) -> str:
    """Return a display name without surrounding white space.

    Raises:
        InvalidInputError: blank, too long, or not storable.
    """
    name = clean_text(raw, what=what, max_chars=max_chars).strip()
    if not name:
        raise InvalidInputError(f"The {what} must not be blank.")
    return name


def clean_text(raw: str, *, what: str, max_chars: int) -> str:
    """Return `raw` if every back end can store it.

    Raises:
        InvalidInputError: too long, or holds NUL or half a surrogate pair.
    """
    if len(raw) > max_chars:
        raise InvalidInputError(f"The {what} has more than {max_chars} characters.")
    if _UNSTORABLE.search(raw):
        raise InvalidInputError(f"The {what} contains characters that cannot be stored.")
    return raw


def clean_query(raw: str, *, max_chars: int) -> str:
    """Return the text to search for; characters that mean nothing become blanks.

    Raises:
        InvalidInputError: blank or too long.
    """
    if len(raw) > max_chars:
        raise InvalidInputError(f"The query has more than {max_chars} characters.")
    query = _UNSTORABLE.sub(" ", raw)
    if not query.strip():
        raise InvalidInputError("The query must not be blank.")
    return query


def is_id(text: str) -> bool:
    """Say whether `text` can be an id at all; what cannot is unknown without asking anybody."""
    return _ID.fullmatch(text) is not None
