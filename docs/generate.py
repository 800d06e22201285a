"""Writes the reference pages that follow from the code: `python docs/generate.py [--check]`."""

import importlib
import inspect
import json
import sys
import tempfile
from pathlib import Path

from agentscope import errors, observe
from agentscope.app import create_app
from agentscope.app.access import ResourceAccessPolicyBase
from agentscope.app.api.errors import STATUS_OF
from agentscope.app.auth.base import IdentityBase
from agentscope.app.message_bus import InMemoryMessageBus
from agentscope.app.rag.blob_store import BlobStoreBase, LocalBlobStore
from agentscope.app.rag.knowledge_base_manager import CollectionPerKbManager
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.settings import settings_table
from agentscope.app.storage import InMemoryStorage
from agentscope.credential.base import CredentialBase
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.parser import ParserBase, PDFParser, TextParser
from agentscope.rag.vector_store.base import VectorStoreBase
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.rerank.base import RerankerBase

REFERENCE = Path(__file__).parent / "reference"


def error_classes() -> list[type[errors.AgentScopeError]]:
    """Return the whole family, by code."""
    found = [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, errors.AgentScopeError)
    ]
    return sorted(found, key=lambda kind: (kind.code, kind.__name__))


def status_of(kind: type[errors.AgentScopeError]) -> int:
    """Return the HTTP status of an error class: its own or its nearest parent's."""
    return next(STATUS_OF[parent] for parent in kind.__mro__ if parent in STATUS_OF)


def errors_page() -> str:
    """Return the page of all error codes."""
    lines = [
        "# Errors",
        "",
        'Every error is JSON: `{"detail": "a plain sentence", "code": "..."}`. For a request that',
        "does not fit its schema `detail` is a list. The same codes stand in `error_detail.code`",
        "of a document.",
        "",
        "| code | status | retry helps | meaning |",
        "|---|---|---|---|",
    ]
    for kind in error_classes():
        meaning = (kind.__doc__ or "").strip().splitlines()[0]
        retry = "yes" if kind.retryable else ""
        lines.append(f"| `{kind.code}` | {status_of(kind)} | {retry} | {meaning} |")
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Return the page of all settings."""
    head = (
        "# Settings\n\nEvery default of the command line is an environment variable; `serve`, "
        "`worker` and the\nclient commands read them. Times are seconds, sizes bytes.\n\n"
    )
    return head + settings_table()


def metrics_page() -> str:
    """Return the page of everything that `/metrics` shows."""
    lines = [
        "# Metrics",
        "",
        "`GET /metrics` answers in the text format of Prometheus. It asks for the operator key",
        "(`Authorization: Bearer ...`), except on the machine itself with header identity. Every",
        "process measures itself; what is said of queue, workers and pauses comes from the shared",
        "storage, and is the same from every API process.",
        "",
        "| metric | type | labels | meaning |",
        "|---|---|---|---|",
    ]
    for family in observe.families():
        labels = ", ".join(f"`{label}`" for label in family.labels)
        lines.append(f"| `{family.name}` | {family.kind} | {labels} | {family.meaning} |")
    return "\n".join(lines) + "\n"


def openapi_page() -> str:
    """Return the OpenAPI document of an app with knowledge bases."""
    storage = InMemoryStorage()
    with tempfile.TemporaryDirectory() as root:
        app = create_app(
            storage,
            InMemoryMessageBus(),
            knowledge_base_manager=CollectionPerKbManager(storage, InMemoryVectorStore()),
            knowledge_parsers=[TextParser(), PDFParser()],
            blob_store=LocalBlobStore(root),
            secret_key="only-for-the-document-0123456789abcdef",  # noqa: S106 - seals nothing
        )
        return json.dumps(app.openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


SEAMS: tuple[tuple[type, str], ...] = (
    (ParserBase, "`create_app(knowledge_parsers=[...])`, `run_worker(parsers=[...])`"),
    (ChunkerBase, "`create_app(knowledge_chunkers=[...])`"),
    (VectorStoreBase, "the manager's `vector_store`"),
    (BlobStoreBase, "`create_app(blob_store=...)`"),
    (KnowledgeBaseManagerBase, "`create_app(knowledge_base_manager=...)`"),
    (EmbeddingModelBase, "a credential class, or `KnowledgeBase` in library mode"),
    (RerankerBase, "`create_app(reranker=...)`"),
    (CredentialBase, "`create_app(extra_credentials=[...])`"),
    (IdentityBase, "`create_app(identity=...)`"),
    (ResourceAccessPolicyBase, "`create_app(resource_access_policy=...)`"),
)
"""What users may write themselves, and where they put it."""


def extension_points_page() -> str:
    """Return the page of everything that can be replaced."""
    lines = [
        "# Extension points",
        "",
        "Each is one class to derive from. The suites that the project's own implementations pass",
        "are shipped in `agentscope.testing`; bind yours to them.",
    ]
    for seam, place in SEAMS:
        lines += ["", f"## {seam.__name__}", ""]
        lines += [f"`from {_public_module(seam)} import {seam.__name__}` · goes into {place}", ""]
        lines += [(inspect.getdoc(seam) or "").splitlines()[0], ""]
        lines += ["| to write | what it does |", "|---|---|"]
        for name in sorted(getattr(seam, "__abstractmethods__", ())):
            member = getattr(seam, name)
            does = (inspect.getdoc(member) or "").splitlines()
            lines.append(f"| `{name}{_parameters(member)}` | {does[0] if does else ''} |")
    return "\n".join(lines) + "\n"


def _public_module(seam: type) -> str:
    """Return the shortest package from which the class can be imported."""
    parts = seam.__module__.split(".")
    for end in range(1, len(parts) + 1):
        module = importlib.import_module(".".join(parts[:end]))
        if getattr(module, seam.__name__, None) is seam:
            return module.__name__
    raise AssertionError(seam)


def _parameters(member: object) -> str:
    if not callable(member):
        return ""
    names = [name for name in inspect.signature(member).parameters if name != "self"]
    return f"({', '.join(names)})"


def rest_page() -> str:
    """Return the page of all routes."""
    document = json.loads(openapi_page())
    lines = [
        "# REST",
        "",
        "The running service shows the whole description at `/docs`, where it can be tried; the",
        "same file is [openapi.json](openapi.json). Paths work with and without their last slash.",
        "",
        "| route | what it does |",
        "|---|---|",
    ]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            does = operation.get("description", operation.get("summary", "")).splitlines()[0]
            lines.append(f"| `{method.upper()} {path}` | {does} |")
    return "\n".join(lines) + "\n"


PAGES = {
    "rest.md": rest_page,
    "extension-points.md": extension_points_page,
    "errors.md": errors_page,
    "settings.md": settings_page,
    "metrics.md": metrics_page,
    "openapi.json": openapi_page,
}


def main() -> int:
    """Write the pages, or say which differ."""
    stale = []
    for name, make in PAGES.items():
        path, text = REFERENCE / name, make()
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                stale.append(name)
        else:
            REFERENCE.mkdir(exist_ok=True)
            path.write_text(text)
    if stale:
        sys.stderr.write(f"stale: {', '.join(stale)}; run `make docs`\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
