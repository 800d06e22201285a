"""Workers are killed while a model is changed: no search fails, and the change comes to its end."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from benchmarks.bench_migration import measure

from agentscope.testing.live_service import connected
from agentscope.testing.processes import ask, free_port, serving


@pytest.mark.kill
@pytest.mark.server
def test_kill_nine_in_the_middle_of_a_migration_is_seen_by_no_search() -> None:
    """The benchmark in small: searches all the time, uploads, deletions, and dead workers."""
    figures = measure(60, calm_seconds=1.0, workers=1)
    assert figures["failed_searches"] == 0, figures["failures"]
    assert figures["empty_searches"] == 0
    assert figures["missed_documents"] == 0
    assert figures["searches"]["during"]["searches"] > 0
    assert figures["model_after"] == "text-embedding-3-large"
    assert figures["audit"]["clean"], figures["audit"]


@contextmanager
def provider() -> Iterator[str]:
    """Run an embeddings endpoint in a process of its own; yield its address."""
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.chaos.provider", "--port", str(port)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2]) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(lambda: _mode(address, "ok"))
            yield address
        finally:
            process.kill()


def _mode(address: str, mode: str) -> bool:
    with suppress(OSError):
        return ask(address, "POST", "/faults", body={"mode": mode})[0] == 200
    return False


def wait_for(condition: Callable[[], bool], seconds: float = 80) -> None:
    """Wait until a condition holds; less long than a lease lasts."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        threading.Event().wait(0.1)


@pytest.mark.kill
def test_the_embedded_service_goes_on_with_a_migration_after_kill_nine(tmp_path: Path) -> None:
    """At once, not when the lease of 90 s ends: the successor knows that nobody holds it."""
    with provider() as address, serving(tmp_path / "data") as service:
        with connected(service.base_url) as live:
            data = {"type": "openai_credential", "api_key": "x", "base_url": f"{address}/v1"}
            made = live.json("POST", "/credential/", status=201, json={"data": data})
            model = {
                "type": "openai_credential",
                "credential_id": made["credential_id"],
                "model": "text-embedding-3-small",
                "dimensions": 64,
            }
            base = live.knowledge_base("moving", model)
            sent = [live.upload(base, f"{n}.txt", f"unique{n}x".encode()) for n in range(3)]
            documents = [answer.json()["document_id"] for answer in sent]
            live.settled(base, documents, seconds=60)
            path = f"/knowledge_bases/{base}/migration"
            body = {"embedding_model_config": {**model, "dimensions": 96}}
            live.json("POST", path, status=202, json=body)
            assert _mode(address, "hang")
            service.wait_for_log("migration_claimed")
        service.kill()
        assert _mode(address, "ok")
        service.start()
        with connected(service.base_url) as live:
            wait_for(lambda: live.json("GET", path)["generation"] == 2)
            for number, document in enumerate(documents):
                hits = live.search(base, f"unique{number}x", mode="vector", top_k=1)
                assert [hit["document_id"] for hit in hits] == [document]
