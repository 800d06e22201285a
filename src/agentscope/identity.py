"""Ids and timestamps that the product hands out; an embedder may replace both factories."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime


def _hex_id() -> str:
    return uuid.uuid4().hex


def _utc_now() -> str:
    return datetime.now(UTC).isoformat()


_factories: dict[str, Callable[[], str]] = {"id": _hex_id, "timestamp": _utc_now}


def set_id_factory(factory: Callable[[], str]) -> None:
    """Use `factory` for every new id; ids must be unique and safe in a URL path."""
    _factories["id"] = factory


def set_timestamp_factory(factory: Callable[[], str]) -> None:
    """Use `factory` for the timestamps of content blocks; it must return ISO-8601 text."""
    _factories["timestamp"] = factory


def new_id() -> str:
    """Return a new id: 32 lower-case hexadecimal characters unless a factory was set."""
    return _factories["id"]()


def new_timestamp() -> str:
    """Return the current time as ISO-8601 text."""
    return _factories["timestamp"]()
