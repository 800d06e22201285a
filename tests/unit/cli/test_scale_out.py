"""Several processes over shared servers: started by commands, joined by workers, compared."""

import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentscope.cli.entry import main
from agentscope.cli.postgres_cluster import PostgresCluster
from agentscope.testing.live_service import connected
from agentscope.testing.processes import Served, serving
from agentscope.testing.servers import postgres, redis

TEXTS = [
    "Annual leave is twenty-five days.",
    "Call your manager before nine when you are ill.",
    "The canteen opens at noon.",
    "Bicycles are kept in the cellar.",
    "Error ERR-0x19 means that the disk is full.",
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may pass through: PostgreSQL does not run as root."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o711)
        try:
            yield path
        finally:
            PostgresCluster(path / "data").stop()


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
    return result.exit_code, result.output


def worker(data: Path, log: Path) -> Served:
    command = [sys.executable, "-m", "agentscope.cli", "worker", "--data-dir", str(data)]
    return Served(command=command, log=log)


@pytest.mark.server
def test_workers_join_the_postgresql_of_a_service(folder: Path) -> None:
    """`serve --postgres embedded --no-index` and a worker on the same directory, nothing else."""
    data = folder / "data"
    cluster = PostgresCluster(data)
    joined = worker(data, folder / "worker.log")
    with serving(data, arguments=["--postgres", "embedded", "--no-index"]) as service:
        note = (data / "postgres.json").stat()
        assert stat.S_IMODE(note.st_mode) == 0o600
        joined.start()
        try:
            joined.wait_for_log("The worker is ready.")
            with connected(service.base_url) as client:
                base = client.knowledge_base("Handbook")
                ids = [
                    client.upload(base, f"{number}.txt", text.encode()).json()["document_id"]
                    for number, text in enumerate(TEXTS)
                ]
                settled = client.settled(base, ids, seconds=60)
                assert {view["status"] for view in settled.values()} == {"ready"}
                hit = client.search(base, "ERR-0x19")[0]
                assert hit["chunk"]["content"]["text"] == TEXTS[-1]
            code, output = run("doctor", "--data-dir", str(data))
            assert code == 0, output
            assert "1 service, 1 worker" in output
            assert joined.terminate() == 0
        finally:
            joined.kill()
        assert service.terminate() == 0
    assert cluster.exists
    code, output = run("audit", "--data-dir", str(data))  # starts the server for itself
    assert (code, output.splitlines()[-1]) == (0, "Nothing is wrong.")


@pytest.mark.server
def test_a_killed_service_finds_its_postgresql_again(folder: Path) -> None:
    """The server outlives the process that started it; the next one takes it over."""
    data = folder / "data"
    arguments = ["--postgres", "embedded"]
    with serving(data, arguments=arguments) as service, connected(service.base_url) as client:
        base = client.knowledge_base("Handbook")
    address = PostgresCluster(data).address()
    with serving(data) as service, connected(service.base_url) as client:  # it remembers
        assert client.json("GET", f"/knowledge_bases/{base}")["name"] == "Handbook"
        assert PostgresCluster(data).address() == address
        assert service.terminate() == 0
    cluster = data / "postgres" / "cluster"
    assert not (cluster / "postmaster.pid").exists()


@pytest.mark.server
def test_parts_on_servers_of_their_own_are_named_by_address(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records in Redis, vectors in PostgreSQL, files in a folder; callers with API keys."""
    with redis(options=["--appendfsync", "everysec"]) as records, postgres() as vectors:
        monkeypatch.setenv("AGENTSCOPE_STORAGE_URL", records.url)
        monkeypatch.setenv("AGENTSCOPE_VECTORS_URL", vectors.url)
        monkeypatch.setenv("AGENTSCOPE_BLOBS_URL", (folder / "files").as_uri())
        monkeypatch.setenv("AGENTSCOPE_SECRET_KEY", "a-key-of-this-test-0123456789abcdef")
        joined = worker(folder / "another", folder / "worker.log")
        options = ["--no-index", "--identity", "api_key"]
        with serving(folder / "api", arguments=options) as service:
            key = run(
                *("keys", "create", "--for", "alice", "--name", "first", "--capability", "admin"),
                *("--url", service.base_url),
            )[1].strip()
            (folder / "leave.txt").write_text("Annual leave is twenty-five days.")
            joined.start()
            try:
                joined.wait_for_log("The worker is ready.")
                here = ["--api-key", key, "--url", service.base_url]
                assert run("ingest", str(folder / "leave.txt"), "--kb", "H", *here) == (
                    0,
                    "1 ready, 0 failed, 0 unchanged, 0 refused\n",
                )
                assert run("search", "leave", "--kb", "H", "--url", service.base_url)[0] == 1
                assert "twenty-five" in run("search", "leave", "--kb", "H", *here)[1]
                code, output = run("doctor", "--url", service.base_url)
            finally:
                joined.kill()
    assert code == 1
    assert "1 service, 1 worker" in output
    assert "1 problems." in output
    assert "appendfsync always" in output


@pytest.mark.server
def test_a_directory_with_records_in_a_file_is_not_taken_over(folder: Path) -> None:
    """PostgreSQL would start empty beside what is there."""
    (folder / "records.sqlite").touch()
    code, output = run("serve", "--postgres", "embedded", "--data-dir", str(folder))
    assert code == 1
    assert "choose another directory" in output


def test_addresses_that_cannot_work_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with the setting that mends it."""
    monkeypatch.setenv("AGENTSCOPE_STORAGE_URL", "redis://127.0.0.1:1/0")
    code, output = run("serve", "--data-dir", str(tmp_path))
    assert code == 1
    assert "AGENTSCOPE_VECTORS_URL" in output
    monkeypatch.setenv("AGENTSCOPE_VECTORS_URL", "qdrant+http://127.0.0.1:2")
    monkeypatch.setenv("AGENTSCOPE_BUS_URL", "memory:")
    code, output = run("worker", "--data-dir", str(tmp_path))
    assert code == 1
    assert "AGENTSCOPE_BUS_URL" in output
    monkeypatch.setenv("AGENTSCOPE_STORAGE_URL", "mysql://nobody")
    assert "must start with one of" in run("worker", "--data-dir", str(tmp_path))[1]
    monkeypatch.setenv("AGENTSCOPE_OIDC_ISSUER", "https://id.example.org")
    assert "AGENTSCOPE_OIDC_AUDIENCE" in _refusal("serve", "--data-dir", str(tmp_path))


def _refusal(*arguments: str) -> str:
    code, output = run(*arguments)
    assert code == 1
    return output
