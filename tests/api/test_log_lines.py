"""Log lines: one per event, as JSON on one line, with the ids of request and document."""

import io
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from agentscope import logs
from agentscope.testing.rest import RestService, memory_app


@contextmanager
def _written() -> Iterator[list[dict[str, Any]]]:
    """Collect what our modules log, as the JSON handler writes it; filled when the block ends."""
    stream, ours = io.StringIO(), logging.getLogger("agentscope")
    handler, before = logging.StreamHandler(stream), ours.level
    handler.setFormatter(logs.JsonFormatter())
    handler.addFilter(logs.LineContext())
    ours.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    found: list[dict[str, Any]] = []
    try:
        yield found
    finally:
        ours.removeHandler(handler)
        ours.setLevel(before)
    found.extend(json.loads(line) for line in stream.getvalue().splitlines())


def test_every_line_of_an_upload_names_its_request_and_every_line_of_a_run_its_document(
    tmp_path: Path,
) -> None:
    """So that both can be followed by one search in the log; the trace joins them."""
    with (
        _written() as lines,
        RestService(memory_app(tmp_path, tracer_provider=TracerProvider())) as service,
    ):
        kb = service.knowledge_base()
        files = {"file": ("private.txt", b"words nobody may log", "text/plain")}
        answer = service.call(
            "POST",
            f"/knowledge_bases/{kb}/documents",
            headers={"X-Request-ID": "upload-1"},
            files=files,
        )
        document = answer.json()["document_id"]
        service.settled(kb, document)
    assert answer.headers["X-Request-ID"] == "upload-1"
    stored = [line for line in lines if line["event"] == "document_stored"]
    assert [(line["request_id"], line["document_id"]) for line in stored] == [
        ("upload-1", document)
    ]
    [answered] = [
        line
        for line in lines
        if line["event"] == "request_answered" and line["request_id"] == "upload-1"
    ]
    assert (answered["method"], answered["status"]) == ("POST", 201)
    assert answered["route"] == "/knowledge_bases/{knowledge_base_id}/documents"
    assert answered["knowledge_base_id"] == kb

    run = [line for line in lines if line.get("document_id") == document and "run_id" in line]
    assert {"document_claimed", "document_ready"} <= {line["event"] for line in run}
    assert {line["knowledge_base_id"] for line in run} == {kb}
    assert len({line["run_id"] for line in run}) == 1
    assert {line["trace_id"] for line in run} == {answered["trace_id"]}
    told = json.dumps(lines)
    assert "private" not in told
    assert "nobody may log" not in told


def test_lines_of_deeper_modules_carry_what_they_belong_to(tmp_path: Path) -> None:
    """The parser pool and the models know no documents; their lines have the id all the same."""
    with _written() as lines, RestService(memory_app(tmp_path)) as service:
        kb = service.knowledge_base()
        sent = service.upload(kb, "a.txt", b"  ")
        service.settled(kb, sent.json()["document_id"])
    [failed] = [line for line in lines if line["event"] == "run_failed"]
    assert failed["error_code"] == "no_text"
    assert failed["document_id"] == sent.json()["document_id"]


@pytest.mark.parametrize("sent", ["", "a b", "x" * 200, "a;b"])
def test_a_request_gets_an_id_of_its_own_if_it_brings_none_that_can_be_logged(
    service: RestService, sent: str
) -> None:
    """A client must not write into the log what it likes."""
    answer = service.call("GET", "/health", user=None, headers={"X-Request-ID": sent})
    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["X-Request-ID"])


def _record(**fields: Any) -> logging.LogRecord:
    record = logging.makeLogRecord({"msg": "event", "levelname": "INFO", "name": "x"})
    for name, value in fields.items():
        setattr(record, name, value)
    return record


def test_a_json_line_is_one_line_whatever_is_in_it() -> None:
    """Line breaks, other scripts, objects and a traceback."""
    record = _record(text="a\nb\u2028c", path=Path("/x"), name_of="汉字 \ud800")
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        record.exc_info = sys.exc_info()
    line = logs.JsonFormatter().format(record)
    assert line.isascii()
    assert "\n" not in line
    found = json.loads(line)
    assert (found["event"], found["level"], found["logger"]) == ("event", "INFO", "x")
    assert found["text"] == "a\nb\u2028c"
    assert "ValueError" in found["exception"]
    assert found["time"].endswith("+00:00")


def test_names_are_bound_inside_only_and_never_overwrite_a_field() -> None:
    """The nearest name wins; afterwards it is gone."""
    context = logs.LineContext()
    with logs.bound(request_id="outer", document_id=None), logs.bound(request_id="inner"):
        inside, own = _record(), _record(request_id="own")
        context.filter(inside)
        context.filter(own)
    after = _record()
    context.filter(after)
    assert vars(inside)["request_id"] == "inner"
    assert vars(own)["request_id"] == "own"
    assert "document_id" not in vars(inside)
    assert "request_id" not in vars(after)


@pytest.mark.kill
def test_the_service_logs_json_lines_if_told_to(tmp_path: Path) -> None:
    """Everything on standard error, of other libraries, too."""
    program = [sys.executable, "-m", "agentscope.cli", "serve", "--port", "0", "--no-ui"]
    environment = {**os.environ, "AGENTSCOPE_LOG_FORMAT": "json", "AGENTSCOPE_LOG_LEVEL": "DEBUG"}
    for name in ("PORT", "DATA_DIR"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [*program, "--data-dir", str(tmp_path)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith("AgentScope RAG is ready")
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=60)
    events = [json.loads(line)["event"] for line in errors.splitlines()]
    assert "index_worker_ready" in events
