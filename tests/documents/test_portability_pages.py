"""The pages about exports and backups are run as printed."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentscope.testing.processes import free_port

PAGES = Path(__file__).parents[2] / "docs/how-to"
BEGIN = """
agentscope-rag serve &
until curl -sf http://127.0.0.1:$PORT/health > /dev/null; do sleep 1; done
echo "Annual leave is 25 days." > leave.txt
agentscope-rag ingest leave.txt --kb Handbook
"""


def block_of(page: str) -> str:
    """Return the part of a page that is run."""
    text = (PAGES / page).read_text()
    [block] = re.findall(r"<!-- run -->\n```bash\n(.*?)^```", text, re.M | re.S)
    return str(block)


@pytest.mark.server
@pytest.mark.timeout(600)
def test_a_knowledge_base_is_exported_imported_and_restored(tmp_path: Path) -> None:
    """One service, one copy of it, every command of both pages."""
    script = BEGIN + block_of("export-import.md") + block_of("backup.md")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PORT": str(free_port()),
        "SPARE_PORT": str(free_port()),
        "DATA_DIR": str(tmp_path / "data"),
        "NO_PROXY": "127.0.0.1",
    }
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["bash", "-euc", script],
            cwd=tmp_path,
            env=environment,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        assert process.wait(540) == 0, log.read_text()[-3000:]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    said = log.read_text()
    assert "Written to handbook.kb.tar: documents: 1, chunks: 1." in said
    assert "Made the knowledge base 'Handbook, a copy'" in said
    assert "Documents: 1 with their vectors, 0 to be indexed, 0 there already." in said
    assert "records, vectors (collections: 2), original files: 2." in said
    assert "Annual leave is 25 days." in said
    assert "Nothing is wrong." in said
