"""A rolling upgrade: processes of two versions on one storage, and not a document is lost.

The older version is this one. The newer one is made from it: more steps of the schema, and fields
in records that this version does not know.
"""

import contextlib
import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from agentscope.app.storage.sql.migrations import STEPS
from agentscope.testing.live_service import LiveService, connected
from agentscope.testing.processes import Served, ask, free_port
from agentscope.testing.servers import PostgresServer, postgres

NEXT = Path(__file__).with_name("next_version.py")
READY = "The worker is ready."
SHORT = {
    "LEASE_TTL": 8, "HEARTBEAT": 2, "MARGIN": 2, "REQUEST_TIMEOUT": 6, "GRACE_EXTRA": 1,
    "SWEEP_INTERVAL": 1, "POLL_INTERVAL": 0.5, "UPLOAD_TTL": 20,
}  # fmt: skip


@dataclass
class Fleet:
    """Processes on one PostgreSQL server."""

    folder: Path
    server: PostgresServer
    stack: contextlib.ExitStack
    number: int = 0
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.environment = {
            "AGENTSCOPE_STORAGE_URL": self.server.url,
            "AGENTSCOPE_BLOBS_URL": (self.folder / "blobs").as_uri(),
            "AGENTSCOPE_DATA_DIR": str(self.folder / "data"),
            "AGENTSCOPE_SECRET_KEY": "rolling-upgrade-secret-key-0123456789",
            "AGENTSCOPE_INDEX_SLOTS": "2",
            **{f"AGENTSCOPE_{name}_SECONDS": str(value) for name, value in SHORT.items()},
        }

    def _started(self, arguments: list[str], *, newer: bool, url: str = "") -> Served:
        self.number += 1
        program = [str(NEXT)] if newer else ["-m", "agentscope.cli"]
        process = Served(
            command=[sys.executable, *program, *arguments],
            log=self.folder / f"process{self.number}.log",
            environment=self.environment,
            base_url=url,
        )
        self.stack.callback(process.kill)
        process.start(seconds=120)
        return process

    def service(self, *, newer: bool) -> Served:
        """Start an API process and wait until it answers."""
        port = free_port()
        arguments = ["serve", "--no-index", "--port", str(port)]
        return self._started(arguments, newer=newer, url=f"http://127.0.0.1:{port}")

    def worker(self, *, newer: bool) -> Served:
        """Start a worker and wait until it takes documents."""
        process = self._started(["worker"], newer=newer)
        process.wait_for_log(READY, seconds=120)
        return process

    def query(self, statement: str) -> list[tuple[object, ...]]:
        """Ask the database."""
        with psycopg.connect(self.server.url, autocommit=True) as connection:
            return connection.execute(statement.encode()).fetchall()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """A server with no process on it yet."""
    with postgres() as server, contextlib.ExitStack() as stack:
        yield Fleet(tmp_path, server, stack)


def uploaded(live: LiveService, kb: str, names: range) -> dict[str, str]:
    """Upload documents and return their names by id."""
    found = {}
    for number in names:
        answer = live.upload(kb, f"{number}.txt", f"Document number{number} stands here.".encode())
        assert answer.status_code == 201, answer.text
        found[str(answer.json()["document_id"])] = f"{number}.txt"
    return found


def claimed_by(process: Served) -> int:
    """Return how many documents a worker took, by its log."""
    return process.log.read_text(errors="replace").count("document_claimed")


def wait_for_a_claim(process: Served, *, more_than: int = 0) -> None:
    """Return once the worker took a document."""
    deadline = time.monotonic() + 90
    while claimed_by(process) <= more_than:
        assert time.monotonic() < deadline, process.tail()
        threading.Event().wait(0.1)


@pytest.mark.server
@pytest.mark.kill
def test_two_versions_work_on_one_storage_and_lose_nothing(fleet: Fleet) -> None:
    """Workers first, then the API; the old ones die, come back and end meanwhile."""
    documents: dict[str, str] = {}
    old_api, old_worker = fleet.service(newer=False), fleet.worker(newer=False)
    with connected(old_api.base_url) as live:
        kb = live.knowledge_base("Rolling")
        documents |= uploaded(live, kb, range(6))
        wait_for_a_claim(old_worker)
        new_worker = fleet.worker(newer=True)  # migrates while the old ones work
        steps = fleet.query("SELECT max(number) FROM schema_steps")
        assert steps == [(STEPS[-1][0] + 2,)]
        documents |= uploaded(live, kb, range(6, 20))
        wait_for_a_claim(new_worker)
        old_worker.kill()
        old_worker = fleet.worker(newer=False)  # starts on a schema that it does not know
        documents |= uploaded(live, kb, range(20, 26))
    new_api = fleet.service(newer=True)
    assert old_api.terminate(seconds=60) == 0
    assert new_worker.terminate(seconds=60) == 0
    with connected(new_api.base_url) as live:
        late = uploaded(
            live, kb, range(26, 30)
        )  # written by the new API, indexed by the old worker
        documents |= late
        views = live.settled(kb, documents, seconds=180)
        assert {view["status"] for view in views.values()} == {"ready"}
        listed = list(
            live.json("GET", f"/knowledge_bases/{kb}/documents?page_size=64")["documents"]
        )
        assert {view["id"]: view["filename"] for view in listed} == documents
        for number in (3, 15, 22, 28):
            (hit, *_) = live.search(kb, f"number{number}", mode="keyword")
            assert hit["chunk"]["source"] == f"{number}.txt"
        for document_id, body in fleet.query("SELECT id, body FROM documents"):
            noted = json.loads(str(body)).get("review")
            assert noted == {"by": "nobody yet"} or document_id not in late
        live.json("DELETE", f"/knowledge_bases/{kb}/documents/{next(iter(late))}", status=204)
        status, report = ask(
            new_api.base_url, "POST", "/operator/audit?deep=true&wait_seconds=90", timeout=150
        )
        assert status == 200, report
        assert report["clean"], report["findings"]
