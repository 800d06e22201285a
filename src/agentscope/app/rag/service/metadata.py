"""Metadata that an uploader attaches to a document, for filters."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.errors import InvalidInputError

RESERVED = frozenset(
    (
        "filename",
        "media_type",
        "size_bytes",
        "document_id",
        "run_id",
        "epoch",
        "chunk_index",
        "kb_id",
    )
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_KEY_CHARS = 100
_MAX_MEMBERS = 256


def parse_metadata(text: str | None, limits: ServiceLimits) -> Mapping[str, Any]:
    """Return the flat JSON object in `text`: values are text, numbers, truth or lists of these.

    Raises:
        InvalidInputError: anything else, reserved names, or more than the limits allow.
    """
    if text is None or not text.strip():
        return {}
    if len(text.encode(errors="replace")) > limits.metadata_bytes:
        raise InvalidInputError(f"The metadata is larger than {limits.metadata_bytes} bytes.")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError("The metadata is not valid JSON.") from exc
    if not isinstance(value, dict):
        raise InvalidInputError("The metadata must be a JSON object.")
    if len(value) > limits.metadata_keys:
        raise InvalidInputError(f"The metadata has more than {limits.metadata_keys} keys.")
    for key, item in value.items():
        _check(key, item)
    return value


def _check(key: str, item: Any) -> None:
    if not key.strip() or len(key) > _MAX_KEY_CHARS or _UNSTORABLE.search(key) or key[0] == "$":
        raise InvalidInputError(f"'{_shown(key)}' is not a valid metadata key.")
    if key in RESERVED:
        raise InvalidInputError(f"The metadata key '{key}' is reserved.")
    members = item if isinstance(item, list) else [item]
    if len(members) > _MAX_MEMBERS or not all(_is_scalar(member) for member in members):
        raise InvalidInputError(
            f"The metadata value of '{_shown(key)}' must be text, a number, true, false, null "
            f"or a list of at most {_MAX_MEMBERS} of these."
        )


def _is_scalar(value: Any) -> bool:
    if isinstance(value, str):
        return not _UNSTORABLE.search(value)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) < 2**53
    return value is None


def _shown(key: str) -> str:
    return key[:40].encode("ascii", "replace").decode()
