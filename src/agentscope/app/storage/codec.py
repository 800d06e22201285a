"""Records as JSON text, for back ends that store text.

Times are whole microseconds since 1970 UTC, so they compare as numbers in every back end and no
time zone can creep in. Fields at their default are left out. Fields that only a newer version
knows are kept as they are when this one writes the record, so both may work side by side.
"""

import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from agentscope.app.generations import (
    ChunkerConfig,
    EmbeddingModelConfig,
    Migration,
    MigrationFailure,
    MigrationPhase,
    RetiredCollection,
)
from agentscope.app.records import (
    CredentialRecord,
    DocumentFailure,
    DocumentRecord,
    DocumentStatus,
    Event,
    KnowledgeBaseRecord,
    KnowledgeBaseStatus,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Kind = TypeVar("Kind", bound="DataclassInstance")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_TIMES = frozenset(
    {
        "at",
        "lease_expires_at",
        "max_lease_at",
        "due_at",
        "purge_after",
        "deleted_at",
        "created_at",
        "updated_at",
        "started_at",
        "drop_after",
    }
)


def to_micros(moment: datetime) -> int:
    """Return the moment as whole microseconds since 1970 UTC."""
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the moment that `to_micros` made the number from."""
    return EPOCH + timedelta(microseconds=micros)


def _defaults(kind: type[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in dataclasses.fields(kind):
        if item.default_factory is not dataclasses.MISSING:
            found[item.name] = item.default_factory()
        else:
            found[item.name] = item.default
    return found


_DOCUMENT = _defaults(DocumentRecord)
_KNOWLEDGE_BASE = _defaults(KnowledgeBaseRecord)
_CREDENTIAL = _defaults(CredentialRecord)
_EVENT = _defaults(Event)
_MIGRATION = _defaults(Migration)
_NEWER = "newer"  # the field of a record that holds what this version does not know


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, datetime):
        return to_micros(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def dump_json(value: Mapping[str, Any]) -> str:
    """Return `value` as JSON in ASCII, so that no back end can refuse a character."""
    return json.dumps(value, separators=(",", ":"), default=_plain)


def load_json(text: str) -> dict[str, Any]:
    """Return the object in `text`."""
    found: dict[str, Any] = json.loads(text)
    return found


def _dump(record: Any, defaults: Mapping[str, Any]) -> str:
    found: dict[str, Any] = {}
    for name, default in defaults.items():
        value = getattr(record, name)
        if value is None or value == default or name == _NEWER:
            continue
        found[name] = to_micros(value) if name in _TIMES else value
    return dump_json({**getattr(record, _NEWER, {}), **found})


def _load(text: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(text)
    known = {name: value for name, value in stored.items() if name in defaults}
    found = _timed(known)
    if _NEWER in defaults and len(known) < len(stored):
        found[_NEWER] = {name: value for name, value in stored.items() if name not in known}
    return found


def _as(kind: type[Kind], stored: Mapping[str, Any]) -> Kind:
    """Return a part of a record; what only a newer version knows of it is left out."""
    known = {item.name for item in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in stored.items() if name in known})


def dump_document(record: DocumentRecord) -> str:
    """Return the document as JSON."""
    return _dump(record, _DOCUMENT)


def load_document(text: str) -> DocumentRecord:
    """Return the document that `dump_document` wrote."""
    found = _load(text, _DOCUMENT)
    if "status" in found:
        found["status"] = DocumentStatus(found["status"])
    if "failure" in found:
        found["failure"] = _as(DocumentFailure, found["failure"])
    for name in ("warnings", "replaces"):
        if name in found:
            found[name] = tuple(found[name])
    return DocumentRecord(**found)


def dump_knowledge_base(record: KnowledgeBaseRecord) -> str:
    """Return the knowledge base as JSON."""
    return _dump(record, _KNOWLEDGE_BASE)


def load_knowledge_base(text: str) -> KnowledgeBaseRecord:
    """Return the knowledge base that `dump_knowledge_base` wrote."""
    found = _load(text, _KNOWLEDGE_BASE)
    if "status" in found:
        found["status"] = KnowledgeBaseStatus(found["status"])
    found["embedding_model_config"] = _as(EmbeddingModelConfig, found["embedding_model_config"])
    if "chunker_config" in found:
        found["chunker_config"] = _as(ChunkerConfig, found["chunker_config"])
    if "migration" in found:
        found["migration"] = _migration(found["migration"])
    retired = found.get("retired", ())
    found["retired"] = tuple(_as(RetiredCollection, _timed(item)) for item in retired)
    return KnowledgeBaseRecord(**found)


def _migration(stored: Mapping[str, Any]) -> Migration:
    found = {name: value for name, value in _timed(stored).items() if name in _MIGRATION}
    found["embedding_model_config"] = _as(EmbeddingModelConfig, found["embedding_model_config"])
    found["phase"] = MigrationPhase(found["phase"])
    if found.get("failure") is not None:
        found["failure"] = _as(MigrationFailure, found["failure"])
    return Migration(**found)


def _timed(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: from_micros(value) if name in _TIMES and value is not None else value
        for name, value in stored.items()
    }


def dump_credential(record: CredentialRecord) -> str:
    """Return the credential as JSON."""
    return _dump(record, _CREDENTIAL)


def load_credential(text: str) -> CredentialRecord:
    """Return the credential that `dump_credential` wrote."""
    return CredentialRecord(**_load(text, _CREDENTIAL))


def dump_event(event: Event) -> str:
    """Return the event as JSON."""
    return _dump(event, _EVENT)


def load_event(text: str, sequence: int) -> Event:
    """Return the event; its number is given by the back end, which hands numbers out."""
    found = _load(text, _EVENT)
    found.setdefault("document_id", None)
    return Event(**{**found, "sequence": sequence})


def folded(text: str) -> str:
    """Return text to sort and search by without case; what no back end can hold is replaced."""
    return text.casefold().replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
