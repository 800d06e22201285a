"""Finds a Qdrant server for the tests: `QDRANT_URL`, else the stand-in of the shared bench."""

import atexit
import functools
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@functools.cache
def qdrant_url() -> str:
    """Return the address of a server that lives as long as the tests."""
    given = os.environ.get("QDRANT_URL")
    if given:
        return given
    shared = Path(os.environ.get("RAG_SHARED") or ROOT.parent / "shared")
    script = shared / "bench" / "stub_qdrant.py"
    if not script.is_file():
        if os.environ.get("CI"):
            pytest.fail("No Qdrant server: set QDRANT_URL or RAG_SHARED.")
        pytest.skip("No Qdrant server: set QDRANT_URL or RAG_SHARED.")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(script), "--port", str(port)],
        cwd=script.parent,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    atexit.register(process.kill)
    url = f"http://127.0.0.1:{port}"
    _wait_until_it_answers(url)
    return url


def _wait_until_it_answers(url: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{url}/readyz", timeout=1).close()
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
