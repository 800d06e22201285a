"""The README is run as printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentscope.testing.processes import serving

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "README.zh.md")


def _blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def _bin(tmp_path: Path) -> dict[str, str]:
    """An environment in which `python3` and `agentscope-rag` are this installation's."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}


@pytest.mark.parametrize("name", READMES)
def test_the_two_commands_are_make_run_and_make_test(name: str) -> None:
    """They stand alone in their blocks, so that they can be copied."""
    blocks = [block.strip() for block in _blocks(name, "bash")]
    assert blocks[:2] == ["make run", "make test"]


@pytest.mark.parametrize("name", READMES)
@pytest.mark.parametrize("number", [0, 1])
def test_a_python_block_runs(name: str, number: int, tmp_path: Path) -> None:
    """In an empty folder, without a service."""
    code = _blocks(name, "python")[number]
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        command, cwd=tmp_path, env=_bin(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if "print(" in code:
        assert "25 days" in done.stdout


@pytest.mark.parametrize("name", READMES)
def test_the_curl_block_finds_the_document(name: str, tmp_path: Path) -> None:
    """From nothing to a hit, against the running service."""
    [block] = [b for b in _blocks(name, "bash") if "curl" in b]
    with serving(tmp_path / "data") as service:
        environment = {**_bin(tmp_path), "PORT": service.base_url.rpartition(":")[2]}
        done = subprocess.run(
            ["bash", "-euc", block],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert '"results"' in done.stdout
    assert "Annual leave is 25 days" in done.stdout


def test_both_readmes_hold_the_same_code() -> None:
    """What is true in one language is true in the other."""
    for language in ("bash", "python"):
        first, second = (_blocks(name, language) for name in READMES)
        assert [_without_comments(b) for b in first] == [_without_comments(b) for b in second]


def _without_comments(block: str) -> str:
    return re.sub(r"\s+#.*", "", block)
