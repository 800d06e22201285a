"""A worker as a process of its own: bootstrap, signals, and a death in the middle."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.index_worker.__main__ import BootstrapError, worker_arguments
from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.records import EmbeddingModelConfig, OnDuplicate, Policy
from agentscope.app.storage.sql.sqlite import SQLiteStorage
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel

BOOTSTRAP = """
import asyncio
from datetime import timedelta
from pathlib import Path

from agentscope.app.message_bus import InMemoryMessageBus
from agentscope.app.rag.blob_store import LocalBlobStore
from agentscope.app.rag.knowledge_base_manager import CollectionPerKbManager
from agentscope.app.records import Timings
from agentscope.app.storage import SQLiteStorage
from agentscope.rag import ApproxTokenChunker, TextParser
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel

ROOT = Path(__file__).parent
MODEL = FakeEmbeddingModel(8)
if (ROOT / "hang").exists():
    MODEL.hang()


async def models(user_id, config):
    return MODEL


class Manager(CollectionPerKbManager):
    def bind(self, *, embedding_models, policy):
        super().bind(embedding_models=models, policy=policy)


def bootstrap():
    storage = SQLiteStorage(ROOT / "records.db")
    return {
        "storage": storage,
        "message_bus": InMemoryMessageBus(),
        "blob_store": LocalBlobStore(ROOT / "blobs"),
        "knowledge_base_manager": Manager(storage, EmbeddedVectorStore(ROOT / "vectors")),
        "parsers": [TextParser()],
        "chunker": ApproxTokenChunker(),
        "secret_key": "a-key-for-this-test-only",
        "temporary_directory": ROOT / "scratch",
        "timings": Timings(
            lease_ttl=timedelta(seconds=4),
            heartbeat=timedelta(seconds=1),
            margin=timedelta(seconds=1),
            poll_interval=timedelta(seconds=0.2),
            drain_timeout=timedelta(seconds=1),
        ),
    }


def nothing():
    return None


def wrong():
    return {"storage": 1, "colour": 2}
"""


class Output:
    """What a process writes, line by line, with a way to wait for a word."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._process = process
        self._ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _seen(self, pattern: str) -> bool:
        return any(re.search(pattern, line) for line in self.lines)

    def wait_for(self, pattern: str, seconds: float = 60) -> None:
        """Wait until a line matches."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._seen(pattern), seconds)
            seen = self._seen(pattern)
        assert seen, f"no line matches {pattern}:\n{''.join(self.lines)}"


@contextmanager
def worker(root: Path) -> Iterator[tuple["subprocess.Popen[str]", Output]]:
    """Run a worker from the bootstrap module in `root`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "agentscope.app.rag.index_worker"],
        cwd=root,
        env={**os.environ, "AGENTSCOPE_WORKER_BOOTSTRAP": "boot:bootstrap"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, Output(process)
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


async def stored_document(root: Path) -> None:
    """Put one waiting document into the back ends of the bootstrap."""
    model = FakeEmbeddingModel(8)

    async def models(user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
        return model

    async with SQLiteStorage(root / "records.db") as storage:
        manager = CollectionPerKbManager(storage, EmbeddedVectorStore(root / "vectors"))
        manager.bind(embedding_models=models, policy=Policy())
        blobs = LocalBlobStore(root / "blobs")
        async with manager, blobs:
            config = EmbeddingModelConfig("fake", "c", "fake-embedding", 8)
            base = await manager.create_knowledge_base("u", "name", "", config)
            fields = {"id": "d", "filename": "a.txt", "blob_uri": blobs.uri("kb/k/d/1")}
            begin = partial(storage.documents.begin_upload, policy=Policy())
            await begin("u", base.id, fields)
            (root / "a.txt").write_text("alpha beta")
            with (root / "a.txt").open("rb") as file:
                uri = await blobs.write_stream("kb/k/d/1", file)
            stored = {"size": 10, "blob_uri": uri, "content_type": "text/plain"}
            await storage.documents.commit_upload(
                "d", stored=stored, on_duplicate=OnDuplicate.KEEP, policy=Policy()
            )


async def outcome(root: Path) -> tuple[str, int, int]:
    """Return status, attempts and chunk count of the document."""
    async with SQLiteStorage(root / "records.db") as storage:
        record = await storage.documents.apply("d", lambda record, _, __: record)
        assert record is not None
        return str(record.status), record.attempt, record.chunk_count


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a directory with the bootstrap module and one waiting document."""
    (tmp_path / "boot.py").write_text(BOOTSTRAP)
    asyncio.run(stored_document(tmp_path))
    return tmp_path


@pytest.mark.kill
def test_a_worker_says_ready_indexes_and_stops_when_told(root: Path) -> None:
    """The document is ready; SIGTERM ends it with code 0."""
    with worker(root) as (process, output):
        output.wait_for("ready")
        output.wait_for("document_ready")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert asyncio.run(outcome(root)) == ("ready", 0, 1)


@pytest.mark.kill
def test_a_stopped_worker_hands_its_document_back(root: Path) -> None:
    """The provider hangs; after the drain time the document waits, unharmed."""
    (root / "hang").touch()
    with worker(root) as (process, output):
        output.wait_for("document_claimed")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert asyncio.run(outcome(root)) == ("pending", 0, 0)


@pytest.mark.kill
def test_a_killed_worker_is_succeeded_by_the_next(root: Path) -> None:
    """After the lease the next one takes over, and removes what the dead one left on disk."""
    (root / "hang").touch()
    with worker(root) as (process, output):
        output.wait_for("document_claimed")
        process.kill()
        process.wait()
    assert len(list((root / "scratch").iterdir())) == 1
    (root / "hang").unlink()
    with worker(root) as (process, output):
        output.wait_for("document_ready")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert asyncio.run(outcome(root)) == ("ready", 0, 1)
    assert list((root / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is not set"),
        ("", "is not set"),
        ("module", "must look like"),
        (":function", "must look like"),
        ("no_such_module_here:function", "No module named"),
        ("json:no_such_function", "has no no_such_function"),
        ("json:__name__", "cannot be called"),
        ("boot_values:nothing", "must return a dict"),
        ("boot_values:wrong", "unknown colour, missing blob_store"),
    ],
)
def test_a_bad_bootstrap_is_one_clear_line(
    value: str | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback for what an operator mistyped."""
    module = BOOTSTRAP[BOOTSTRAP.index("def nothing") :]
    (tmp_path / "boot_values.py").write_text(module)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BootstrapError) as refused:
        worker_arguments(value)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_bootstrap_ends_with_code_two() -> None:
    """As documented, with the reason on stderr."""
    environment = {
        name: value for name, value in os.environ.items() if name != "AGENTSCOPE_WORKER_BOOTSTRAP"
    }
    done = subprocess.run(
        [sys.executable, "-m", "agentscope.app.rag.index_worker"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("AGENTSCOPE_WORKER_BOOTSTRAP is not set")
