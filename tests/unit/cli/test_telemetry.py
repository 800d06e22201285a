"""The operator's commands, and traces sent to an endpoint from settings."""

import http.server
import json
import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.unit.cli.test_commands import run, serving

from agentscope import tracing
from agentscope.app.settings import Settings
from agentscope.cli.data_directory import DataDirectory
from agentscope.cli.telemetry import traces
from agentscope.errors import ConfigurationError, MissingDependencyError
from agentscope.testing.live_service import connected

ROOT = Path(__file__).parents[3]


@contextmanager
def _collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """Yield the address of an OTLP endpoint and what it was sent."""
    received: list[tuple[str, bytes]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_spans_arrive_at_the_endpoint_before_the_process_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """OTLP as its own protobuf classes read it; the name of the service can be set as usual."""
    monkeypatch.setenv("OTEL_SERVICE_NAME", "our-rag")
    with _collector() as (url, received):
        settings = Settings.from_environment({"OTEL_EXPORTER_OTLP_ENDPOINT": f"{url}/"})
        with (
            traces(settings, role="worker") as provider,
            tracing.recording(provider),
            tracing.span("index", {"rag.outcome": "ready"}),
        ):
            trace_id = tracing.trace_id()
    [(path, body)] = received
    assert path == "/v1/traces"
    [sent] = ExportTraceServiceRequest.FromString(body).resource_spans
    facts = {one.key: one.value.string_value for one in sent.resource.attributes}
    assert facts["service.name"] == "our-rag"
    assert facts["rag.role"] == "worker"
    [span] = sent.scope_spans[0].spans
    assert (span.name, span.trace_id.hex()) == ("index", trace_id)


def test_an_endpoint_without_the_extra_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Silence would look like traces that never arrive."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    settings = Settings(otlp_endpoint="http://127.0.0.1:4318")
    with pytest.raises(MissingDependencyError, match="otel"), traces(settings, role="serve"):
        pass


def test_an_unknown_log_format_is_refused() -> None:
    """With the ones that there are."""
    with pytest.raises(ConfigurationError, match="text, json"):
        Settings(log_format="xml")


def _documented_commands() -> list[str]:
    lines = (ROOT / "docs/how-to/observe.md").read_text().splitlines()
    found = [line for line in lines if line.startswith("agentscope-rag operator ")]
    assert len(found) == 4
    return found


@pytest.mark.kill
def test_the_operator_sees_pauses_and_retries_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a running service, found by its directory; the commands of the guide work, too."""
    for name in ("PORT", "DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    data = ["--data-dir", str(tmp_path)]
    with serving(tmp_path):
        address = DataDirectory(tmp_path).address()
        assert address is not None
        with connected(address, user="alice") as service:
            kb = service.knowledge_base("Boats")
            empty = service.upload(kb, "empty.txt", b"  ").json()["document_id"]
            service.settled(kb, [empty], seconds=60)
        code, output = run("operator", "overview", *data)
        assert code == 0
        assert "1 documents failed." in output
        assert "no_text: 1" in output
        assert "of 4 slots busy" in output
        code, output = run("operator", "pause", "--of", "alice", "--reason", "Wait", *data)
        assert output.strip() == "Paused: tenant alice"
        code, output = run("operator", "retry", "--code", "no_text", *data)
        assert output.strip() == "1 documents are tried again."
        _, output = run("operator", "overview", "--json", *data)
        found = json.loads(output)
        assert [one["id"] for one in found["paused"]] == ["alice"]
        assert found["queue"]["documents"] == 1
        assert "tenant alice: Wait" in run("operator", "overview", *data)[1]
        code, output = run("operator", "resume", "--of", "alice", *data)
        assert output.strip() == "Workers take its documents again."
        code, _ = run("operator", "pause", *data)
        assert code == 2
        for line in _documented_commands():
            code, output = run(*shlex.split(line)[1:], *data)
            assert code == 0, (line, output)
