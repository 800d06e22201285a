"""Traces, read with OpenTelemetry's own SDK: from the upload through a worker to ready."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentscope import tracing
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.rag.parser.text import TextParser
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.rest import RestService, memory_app

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE_ID = int(CALLER[3:35], 16)

WORKER = """
import asyncio, json, sys
from pathlib import Path
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.chunker_choices import ChunkerChoices
from agentscope.app.rag.index_worker.run import WorkerSettings, working
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.credential.sealing import SecretBox
from agentscope.rag.parser.registry import ParserRegistry
from agentscope.rag.parser.text import TextParser
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.rest import SECRET_KEY, FakeModelsManager

async def main(folder, user, kb, document):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    storage = SQLiteStorage(folder / "rag.db")
    settings = WorkerSettings(
        secrets=SecretBox.from_text(SECRET_KEY), tracer_provider=provider, readers=1
    )
    async with working(
        storage, InMemoryMessageBus(), LocalBlobStore(folder / "blobs"),
        FakeModelsManager(storage, EmbeddedVectorStore(folder / "vectors")),
        ParserRegistry([TextParser()]),
        ChunkerChoices(None), settings,
    ):
        async with asyncio.timeout(60):
            while (await storage.documents.get(user, kb, document)).status != "ready":
                await asyncio.sleep(0.05)
    spans = [
        {"name": span.name, "trace": span.context.trace_id, "id": span.context.span_id,
         "parent": span.parent.span_id if span.parent else None, "facts": dict(span.attributes)}
        for span in exporter.get_finished_spans()
    ]
    print(json.dumps(spans))

asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
"""


def _provider() -> tuple[TracerProvider, InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter


def _named(spans: tuple[ReadableSpan, ...], name: str) -> ReadableSpan:
    [found] = [span for span in spans if span.name == name]
    return found


@contextmanager
def _traced(folder: Path, **options: Any) -> Iterator[tuple[RestService, InMemorySpanExporter]]:
    provider, exporter = _provider()
    with RestService(memory_app(folder, tracer_provider=provider, **options)) as service:
        yield service, exporter


def test_one_trace_leads_from_the_upload_through_another_process_to_ready(tmp_path: Path) -> None:
    """The client's trace goes on in the API and, from the record, in a worker of its own."""
    with _traced(
        tmp_path,
        storage=SQLiteStorage(tmp_path / "rag.db"),
        vector_store=EmbeddedVectorStore(tmp_path / "vectors"),
        enable_index_worker=False,
        knowledge_parsers=[TextParser()],
    ) as (service, exporter):
        kb = service.knowledge_base()
        path = "/knowledge_bases/{knowledge_base_id}/documents"
        files = {"file": ("boats.txt", b"plain words about wooden boats", "text/plain")}
        headers = {"traceparent": CALLER}
        url = path.replace("{knowledge_base_id}", kb)
        document = service.call("POST", url, headers=headers, files=files).json()["document_id"]
    upload = _named(exporter.get_finished_spans(), f"POST {path}")
    assert upload.context is not None
    assert upload.context.trace_id == TRACE_ID

    command = [sys.executable, "-c", WORKER, str(tmp_path), "alice", kb, document]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    spans = json.loads(done.stdout)
    assert {span["trace"] for span in spans} == {TRACE_ID}
    [index] = [span for span in spans if span["name"] == "index"]
    assert index["parent"] == upload.context.span_id
    assert index["facts"]["rag.document_id"] == document
    assert index["facts"]["rag.outcome"] == "ready"
    children = [span["name"] for span in spans if span["parent"] == index["id"]]
    assert {"fetching", "parsing", "indexing", "publishing", "embed"} <= set(children)


def test_a_search_shows_its_legs(tmp_path: Path) -> None:
    """Embedding the query and each leg are spans below the search, below the request."""
    with _traced(tmp_path) as (service, exporter):
        kb = service.knowledge_base()
        service.ready(kb, "boats.txt", b"plain words about wooden boats")
        exporter.clear()
        service.json("POST", f"/knowledge_bases/{kb}/search", json={"query": "boats"})
        spans = exporter.get_finished_spans()
    request = _named(spans, "POST /knowledge_bases/{knowledge_base_id}/search")
    search = _named(spans, "search")
    assert search.parent is not None
    assert request.context is not None
    assert search.parent.span_id == request.context.span_id
    assert search.attributes is not None
    assert search.attributes["rag.mode"] == "hybrid"
    for name in ("embed", "vector leg", "keyword leg"):
        part = _named(spans, name)
        assert part.parent is not None
        assert search.context is not None
        assert part.parent.span_id == search.context.span_id


def test_a_document_indexed_again_belongs_to_the_trace_of_that_request(tmp_path: Path) -> None:
    """Not to the upload's, which ended long ago."""
    with _traced(tmp_path) as (service, exporter):
        kb = service.knowledge_base()
        document = service.ready(kb, "boats.txt", b"wooden boats")
        exporter.clear()
        path = f"/knowledge_bases/{kb}/documents/{document}/reindex"
        service.json("POST", path, status=202, headers={"traceparent": CALLER})
        service.settled(kb, document)
    index = _named(exporter.get_finished_spans(), "index")
    assert index.context is not None
    assert index.context.trace_id == TRACE_ID


def test_a_failure_is_in_its_span_and_what_the_user_sent_is_not(tmp_path: Path) -> None:
    """The code stands there; names, texts and messages do not."""
    with _traced(tmp_path) as (service, exporter):
        kb = service.knowledge_base()
        sent = service.upload(kb, "private name.txt", b"  \n")
        service.settled(kb, sent.json()["document_id"])
        assert service.call("GET", "/knowledge_bases/private-id").status_code == 404
    spans = exporter.get_finished_spans()
    index = _named(spans, "index")
    assert index.attributes is not None
    assert index.attributes["rag.outcome"] == "failed"
    told = "\n".join(str(span.to_json()) for span in spans)
    assert "private" not in told


def test_a_made_up_trace_begins_a_new_one(tmp_path: Path) -> None:
    """Whatever stands in the header, the request is served and traced."""
    with _traced(tmp_path) as (service, exporter):
        for text in ("", "x", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "9" * 10_000):
            headers = {"traceparent": text}
            assert service.call("GET", "/identity", user=None, headers=headers).status_code == 200
        for path in ("/health", "/health/live", "/metrics"):  # these would fill the traces
            assert service.call("GET", path, user=None).status_code == 200
        spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["GET /identity"] * 4
    assert [span.parent for span in spans] == [None] * 4


def test_without_a_provider_nothing_is_recorded_and_nothing_imported() -> None:
    """The default pays nothing, neither at start nor per call."""
    code = (
        "import sys, agentscope.rag, agentscope.app.rag.index_worker as w;"
        "from agentscope import tracing;"
        "exec('with tracing.span(\"x\"): pass');"
        "print([m for m in sys.modules if m.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
    assert tracing.traceparent() == tracing.trace_id() == ""
    tracing.here().ended("nothing", 1.0)
