"""Encodes filter fields for stores that cannot address arbitrary field names or types.

Each field and each of its values becomes one fixed-length token, so any name and any value, of any
length and type, is an equality on one list of tokens. Numbers are kept beside it for ranges,
under a name made of hexadecimal digits only.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from agentscope.rag.vector_store.filter import Scalar


def field_token(field: str) -> str:
    """Return the token that says that the field is there."""
    return _digest(f"has\0{field}")


def value_token(field: str, value: Scalar) -> str:
    """Return the token of one value; numbers that are equal have one token."""
    if isinstance(value, bool):
        text = f"truth\0{field}\0{int(value)}"
    elif isinstance(value, str):
        text = f"text\0{field}\0{value}"
    else:
        number = int(value) if isinstance(value, int) or value.is_integer() else value
        text = f"number\0{field}\0{number!r}"
    return _digest(text)


def number_name(field: str) -> str:
    """Return the name under which the field's numbers are kept."""
    return _digest(f"name\0{field}")


def facets(metadata: Mapping[str, Any]) -> list[str]:
    """Return every token of the metadata, sorted."""
    tokens: set[str] = set()
    for field, value in metadata.items():
        if value is None:
            continue
        tokens.add(field_token(field))
        tokens.update(
            value_token(field, member)
            for member in _members(value)
            if isinstance(member, str | bool) or _is_number(member)
        )
    return sorted(tokens)


def numbers(metadata: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return the numbers of every field that has some."""
    found = {
        number_name(field): [member for member in _members(value) if _is_number(member)]
        for field, value in metadata.items()
    }
    return {name: values for name, values in found.items() if values}


def _members(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return bool(abs(value) < 2**63)  # refuses nan and infinity too


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
