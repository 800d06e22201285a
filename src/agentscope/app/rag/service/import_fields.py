"""What an archive says about a document, reduced to what this service would have written itself."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from agentscope.app.rag.service.metadata import RESERVED
from agentscope.rag.document import Chunk

MAX_SENTENCES = 100
SENTENCE_CHARS = 500
MAX_LISTED = 1000
_MEDIA_TYPE = re.compile(
    r"[a-z0-9!#$&^_.+-]{1,100}/[a-z0-9!#$&^_.+-]{1,100}(; charset=[\w.:-]{1,40})?"
)
_TEXTS = ("media_type", "parser", "encoding", "language", "routing_note")
_NUMBERS = ("parse_seconds", "index_seconds", "left_out")
_COUNTS = ("total", "with_text")
_OWN = RESERVED - {"filename", "media_type", "size_bytes"}


def media_type(given: str | None) -> str | None:
    """Return a media type, with its charset, if it is one."""
    return given if given is not None and _MEDIA_TYPE.fullmatch(given) else None


def encoding(given: str | None) -> str | None:
    """Return the name of a text encoding that is known here."""
    if given is None:
        return None
    try:
        "".encode(given)
    except (LookupError, UnicodeError, ValueError):
        return None
    return given.lower()


def sentences(given: Iterable[str]) -> list[str]:
    """Return warnings within their bounds."""
    return [_text(sentence)[:SENTENCE_CHARS] for sentence in list(given)[:MAX_SENTENCES]]


def report(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run found out, without what no run writes."""
    found: dict[str, Any] = {
        name: _text(given[name])[:SENTENCE_CHARS]
        for name in _TEXTS
        if isinstance(given.get(name), str)
    }
    found |= {name: given[name] for name in _NUMBERS if _is_number(given.get(name))}
    coverage = given.get("coverage")
    if isinstance(coverage, Mapping) and all(_is_count(coverage.get(name)) for name in _COUNTS):
        without = coverage.get("without_text")
        numbers = without if isinstance(without, list) else []
        found["coverage"] = {
            "unit": _text(str(coverage.get("unit", "section")))[:40],
            **{name: coverage[name] for name in _COUNTS},
            "without_text": [number for number in numbers if _is_count(number)][:MAX_LISTED],
        }
    return found


def own_chunk(chunk: Chunk) -> Chunk:
    """Return the chunk without metadata that belongs to the place it came from."""
    if _OWN.isdisjoint(chunk.metadata):
        return chunk
    metadata = {name: value for name, value in chunk.metadata.items() if name not in _OWN}
    return chunk.model_copy(update={"metadata": metadata})


def _text(value: str) -> str:
    return value.replace("\0", " ").encode("utf-8", "replace").decode()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
