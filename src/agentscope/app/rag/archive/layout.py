"""What stands in an archive: its entries, their names and their JSON.

    manifest.json                         format, version, the settings of the knowledge base
    documents/00000001/document.json      what is known about the document
    documents/00000001/original           the file as it was uploaded
    documents/00000001/chunks-00000.jsonl one chunk per line
    documents/00000001/vectors-00000.npy  their vectors, float32, one row per line
    documents/00000001/end.json           checksums of the entries above
    end.json                              totals and the checksum of everything above

The entries come in exactly this order. A newer version may add fields, which are ignored here.
"""

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from agentscope.errors import ArchiveInvalidError, ArchiveVersionError

FORMAT = "agentscope-rag/knowledge-base"
VERSION = 1
MANIFEST = "manifest.json"
END = "end.json"
MAX_JSON_BYTES = 4 * 1024 * 1024
MAX_CHUNKS_BYTES = 32 * 1024 * 1024
BATCH_BYTES = 4 * 1024 * 1024
BATCH_CHUNKS = 64
MAX_BATCH_CHUNKS = 1024
MAX_BATCHES = 100_000
LISTED = 1000

_DOCUMENT_ENTRY = re.compile(
    r"documents/(\d{8})/(document\.json|original|end\.json"
    r"|chunks-(\d{5})\.jsonl|vectors-(\d{5})\.npy)"
)

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, lt=2**53)]
Model = TypeVar("Model", bound=BaseModel)


class Embedding(BaseModel):
    """Which model made the vectors; of its credential only type and name."""

    type: str = Field(max_length=200)
    credential_name: str | None = Field(default=None, max_length=1000)
    model: str = Field(max_length=1000)
    dimensions: int = Field(ge=1, le=100_000)
    parameters: dict[str, Any] = Field(default_factory=dict)
    fingerprint: dict[str, Any] = Field(default_factory=dict)


class Chunker(BaseModel):
    """What cut the documents."""

    type: str = Field(max_length=200)
    parameters: dict[str, Any] = Field(default_factory=dict)


class Settings(BaseModel):
    """The knowledge base without its content."""

    name: str = Field(max_length=10_000)
    description: str = Field(default="", max_length=100_000)
    search_mode: Literal["vector", "keyword", "hybrid"] = "hybrid"
    embedding: Embedding
    chunker: Chunker | None = None


class Manifest(BaseModel):
    """The first entry; `archive_id` is new for every export and lets an import go on."""

    format: str
    version: int
    archive_id: str = Field(pattern=r"^[0-9a-f]{32}$")
    created_at: str = Field(max_length=64)
    program: str = Field(default="", max_length=200)
    knowledge_base: Settings


class Document(BaseModel):
    """What is known about a document; `chunks` is 0 if its original has to be indexed again."""

    id: str = Field(pattern=r"^[^\x00-\x20\x7f/]{1,200}$")
    filename: str = Field(max_length=10_000)
    size: Count
    sha256: Sha256 | None = None
    content_type: str | None = Field(default=None, max_length=1000)
    encoding: str | None = Field(default=None, max_length=200)
    metadata: dict[str, Any] = Field(default_factory=dict)
    duplicate_of: str | None = Field(default=None, max_length=200)
    created_at: str = Field(default="", max_length=64)
    chunks: Count = 0
    warnings: list[str] = Field(default_factory=list, max_length=LISTED)
    report: dict[str, Any] = Field(default_factory=dict)


class DocumentEnd(BaseModel):
    """Closes a document; `entries` maps the last part of each name to its SHA-256.

    `complete` is false if the content changed while it was exported: then only the original
    counts.
    """

    complete: bool
    chunks: Count
    entries: dict[str, Sha256]


class Skipped(BaseModel):
    """A document that could not be exported."""

    id: str
    filename: str
    reason: str


class ArchiveEnd(BaseModel):
    """Closes the archive; `sha256` is that of every byte before the header of this entry."""

    documents: Count
    chunks: Count
    sha256: Sha256
    skipped: list[Skipped] = Field(max_length=LISTED)


def folder(number: int) -> str:
    """Return the folder of the document with this number, from 1."""
    return f"documents/{number:08d}"


def chunks_name(batch: int) -> str:
    """Return the name of a batch of chunks, from 0."""
    return f"chunks-{batch:05d}.jsonl"


def vectors_name(batch: int) -> str:
    """Return the name of a batch of vectors, from 0."""
    return f"vectors-{batch:05d}.npy"


def split_name(name: str) -> tuple[int, str]:
    """Return document number and last part of the name of an entry.

    Raises:
        ArchiveInvalidError: an archive has no such entry.
    """
    match = _DOCUMENT_ENTRY.fullmatch(name)
    if match is None:
        shown = name[:80].encode("ascii", "replace").decode()
        raise ArchiveInvalidError(f"The archive holds an entry that does not belong: '{shown}'.")
    return int(match[1]), match[2]


def encoded(value: BaseModel) -> bytes:
    """Return the JSON of an entry."""
    return value.model_dump_json(indent=1).encode() + b"\n"


def decoded(kind: type[Model], content: bytes, *, what: str) -> Model:
    """Return what a JSON entry holds.

    Raises:
        ArchiveInvalidError: something else.
    """
    try:
        return kind.model_validate_json(content)
    except ValidationError as exc:
        place = ".".join(str(part) for part in exc.errors(include_input=False)[0]["loc"])
        raise ArchiveInvalidError(
            f"The archive is damaged: the {what} does not hold what it should"
            f"{f' at {place[:100]}' if place else ''}."
        ) from exc


def decoded_manifest(content: bytes) -> Manifest:
    """Return the manifest of an archive that this version can read.

    Raises:
        ArchiveInvalidError: this is no export of a knowledge base.
        ArchiveVersionError: it is one of a newer version.
    """
    manifest = decoded(Manifest, content, what="manifest")
    if manifest.format != FORMAT or manifest.version < 1:
        raise ArchiveInvalidError("This file is no export of a knowledge base.")
    if manifest.version > VERSION:
        raise ArchiveVersionError
    return manifest
