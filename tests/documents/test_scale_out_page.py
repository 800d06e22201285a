"""The page about scaling out is run as printed."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agentscope.cli.postgres_cluster import PostgresCluster
from agentscope.testing.processes import free_port

PAGE = Path(__file__).parents[2] / "docs/how-to/scale-out.md"


@pytest.mark.server
def test_one_service_and_two_workers_on_one_machine() -> None:
    """From nothing to a hit; then everything stops with its process group."""
    [block] = re.findall(r"<!-- run -->\n```bash\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)  # PostgreSQL does not run as root
        data = folder / "data"
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PORT": str(free_port()),
            "DATA_DIR": str(data),
            "NO_PROXY": "127.0.0.1",
        }
        log = folder / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                ["bash", "-euc", block],
                cwd=folder,
                env=environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        try:
            assert process.wait(240) == 0, log.read_text()[-3000:]
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            PostgresCluster(data).stop()
        said = log.read_text()
    assert "1 ready, 0 failed" in said
    assert "Annual leave is 25 days." in said
    assert "at work: 1 service, 2 workers" in said
    assert "Nothing is wrong." in said
