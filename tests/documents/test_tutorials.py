"""The tutorials are run as printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentscope.testing.processes import serving

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorial"


def run_blocks(page: str, language: str) -> list[str]:
    text = (TUTORIALS / page).read_text()
    return re.findall(rf"<!-- run -->\n```{language}\n(.*?)^```", text, re.M | re.S)


def environment(home: Path, url: str = "") -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {"PATH": path, "HOME": str(home), "NO_PROXY": "127.0.0.1", "AGENTSCOPE_URL": url}
    return {**os.environ, **given}


def test_the_first_tutorial_leads_to_its_answers(tmp_path: Path) -> None:
    """All blocks in one shell, against a service that has just been started."""
    script = "\n".join(run_blocks("first-knowledge-base.md", "bash"))
    with serving(tmp_path / "data") as service:
        done = subprocess.run(
            ["bash", "-euc", script],
            cwd=tmp_path,
            env=environment(tmp_path, service.base_url),
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    assert "2 ready, 0 failed" in said
    assert "Annual leave is 25 days" in said
    assert "the disk is full" in said
    assert '"total":1' in said.replace(" ", "")
    assert re.search(r"nDCG@10\D+1\.0", said, re.IGNORECASE), said


@pytest.mark.parametrize("number", [0, 1])
def test_the_agent_tutorial_finds_the_passage(number: int, tmp_path: Path) -> None:
    """As a tool and as context."""
    code = run_blocks("agent.md", "python")[number]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "25 days" in done.stdout
