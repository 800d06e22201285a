"""The command line: what it does with a data directory, and what it says when it cannot."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentscope.cli.data_directory import DataDirectory
from agentscope.cli.entry import COMMANDS, main
from agentscope.cli.serve import is_loopback
from agentscope.errors import DataDirectoryLockedError
from agentscope.logs import FieldFormatter


def test_help_is_instant_and_loads_nothing_heavy() -> None:
    """The list of commands needs none of them."""
    code = (
        "import sys\nfrom agentscope.cli.entry import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name, summary in COMMANDS.items():
        assert name in done.stdout
        assert summary in done.stdout
    loaded = set(done.stdout.split())
    assert not loaded & {"fastapi", "uvicorn", "pydantic", "numpy", "httpx", "zvec"}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(name: str) -> None:
    """Each loads and explains itself."""
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output


def test_a_directory_has_one_owner(tmp_path: Path) -> None:
    """The second gets one line that says how to scale out."""
    directory = DataDirectory(tmp_path / "data")
    with directory.owned():
        with pytest.raises(DataDirectoryLockedError, match="PostgreSQL or Redis"):
            DataDirectory(tmp_path / "data").owned().__enter__()
        result = CliRunner().invoke(main, ["serve", "--data-dir", str(tmp_path / "data")])
        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1
        assert "is in use by process" in result.stderr
    with directory.owned():
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert directory.address() is None


def test_the_key_of_a_directory_is_private(tmp_path: Path) -> None:
    """Made once, readable by its owner only."""
    directory = DataDirectory(tmp_path)
    assert directory.key_text() == directory.key_text()
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("x", False)],
)
def test_loopback_is_recognised(host: str, local: bool) -> None:
    """Anything else needs a word from the operator."""
    assert is_loopback(host) is local


def test_serving_beyond_this_machine_is_refused_with_header_identity(tmp_path: Path) -> None:
    """Unless told so explicitly."""
    arguments = ["serve", "--host", "0.0.0.0", "--data-dir", str(tmp_path)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "--allow-header-identity" in result.stderr


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    """In one line."""
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        arguments = ["serve", "--port", port, "--data-dir", str(tmp_path)]
        result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert f"Port {port}" in result.stderr


def test_log_lines_show_their_fields() -> None:
    """Quoted where they would be ambiguous, never on a second line."""
    import logging

    record = logging.makeLogRecord({"msg": "event", "levelname": "INFO", "name": "x"})
    record.document_id = "a b\nc"
    record.count = 3
    line = FieldFormatter("%(levelname)s %(message)s").format(record)
    assert line == "INFO event document_id='a b\\nc' count=3"


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
    return result.exit_code, result.output


def test_doctor_looks_at_this_installation(tmp_path: Path) -> None:
    """And is content with it."""
    code, output = run(
        "doctor", "--data-dir", str(tmp_path / "none"), "--url", "http://127.0.0.1:9"
    )
    assert code == 0, output
    assert "none answers" in output


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the service on `folder` in a process of its own."""
    program = [sys.executable, "-m", "agentscope.cli", "serve", "--port", "0"]
    process = subprocess.Popen(
        [*program, "--data-dir", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline().decode()
        assert line.startswith("AgentScope RAG is ready: http://127.0.0.1:")
        yield process
    finally:
        process.terminate()
        process.wait(40)
        process.stdout.close()


@pytest.mark.kill
def test_files_go_in_come_back_and_are_not_sent_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ingest, search and audit find the service by its directory, and open it when it is gone."""
    for name in ("PORT", "DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    data = ["--data-dir", str(tmp_path / "data")]
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "leave.txt").write_text("Annual leave is twenty-five days.")
    (folder / "sub" / "sick.md").write_text("# Sick\nCall your manager before nine.")
    (folder / ".hidden").write_text("not for anybody")
    (folder / "strange.xyz").write_bytes(b"\x00\x01\x02" * 100)
    ingest = ["ingest", str(folder), "--kb", "Handbook", "--quiet", *data]
    with serving(tmp_path / "data") as process:
        code, output = run(*ingest)
        assert code == 1  # one file was refused, and said so
        assert "2 ready, 0 failed, 0 unchanged, 1 refused" in output
        (folder / "strange.xyz").unlink()
        code, output = run(*ingest)
        assert (code, output.strip()) == (0, "0 ready, 0 failed, 2 unchanged, 0 refused")
        (folder / "leave.txt").write_text("Annual leave is thirty days now.")
        assert run(*ingest)[0] == 0
        question = ["search", "how many days of annual leave", "--kb", "Handbook"]
        hits = json.loads(run(*question, "--json", *data)[1])["results"]
        texts = [hit["chunk"]["content"]["text"] for hit in hits]
        assert any("thirty" in text for text in texts)
        assert not any("twenty-five" in text for text in texts)
        assert "leave.txt" in run(*question, *data)[1]
        assert run("search", "x", "--kb", "Nobody", *data)[0] == 1
        assert run("serve", *data)[0] == 1  # the second on one directory
    assert process.returncode == 0
    code, output = run("audit", *data)
    assert (code, output.splitlines()[-1]) == (0, "Nothing is wrong.")
