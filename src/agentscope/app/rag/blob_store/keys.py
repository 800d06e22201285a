"""Which keys a blob store takes."""

import re

from agentscope.errors import InvalidInputError

MAX_KEY_CHARS = 512
_SEGMENT = re.compile(r"[A-Za-z0-9_\-][A-Za-z0-9_\-.]{0,127}\Z")


def check_key(key: str) -> str:
    """Return `key` if it is relative, of plain segments, and cannot leave the store's root.

    Raises:
        InvalidInputError: anything else (empty, absolute, `..`, control characters, ...).
    """
    segments = key.split("/")
    if len(key) > MAX_KEY_CHARS or not all(_SEGMENT.match(segment) for segment in segments):
        raise InvalidInputError("The blob key is not valid.", context={"key": key[:200]})
    return key


def key_of(uri: str, prefix: str) -> str:
    """Return the key in `uri`, which must start with `prefix`.

    Raises:
        InvalidInputError: the URI belongs to another store.
    """
    if not uri.startswith(prefix):
        raise InvalidInputError("The blob address belongs to another store.", context={"uri": uri})
    return check_key(uri.removeprefix(prefix))
