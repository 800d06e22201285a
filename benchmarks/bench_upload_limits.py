"""An upload far beyond what is allowed, over a real socket: when it stops, and what it leaves.

A client sends 5 GiB in chunks, without saying how much will come, to a served process that takes
100 MB: once by the limit of a file, once by the quota of the tenant; and once it says the length.
Measured are the bytes that the client got rid of before it was answered, the memory of the service
and the files below its data directory. Fails if a figure is out of bounds.

`python benchmarks/bench_upload_limits.py [--gib 5] [--limit 100000000] [--write]`
"""

import json
import select
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil

from agentscope.testing.live_service import LiveService
from agentscope.testing.processes import Served, serving
from benchmarks import figures

USER = "uploader"
BOUNDARY = "border-of-the-form"
PIECE = 32 * 1024
SO_MAX_PACING_RATE = 47  # of Linux; the socket module has no name for it
BYTES_PER_SECOND = 16_000_000
SLACK_BYTES = 1_000_000  # 100 MB may cost 101
FLAT_BYTES = 48 * 1024 * 1024
CLEAN_SECONDS = 30.0
HEAD = (
    f"--{BOUNDARY}\r\n"
    'Content-Disposition: form-data; name="file"; filename="endless.txt"\r\n'
    "Content-Type: text/plain\r\n\r\n"
).encode()
TAIL = f"\r\n--{BOUNDARY}--\r\n".encode()


@dataclass(slots=True)
class Answer:
    """What the client was told, and after how much."""

    status: int
    code: str
    sent_bytes: int
    seconds: float


@dataclass(slots=True)
class Attempt:
    """One upload that must be refused, with what was measured beside it."""

    name: str
    answer: Answer
    rss_before: int
    rss_growth: int
    disk_peak: int  # bytes below the data directory, more than before
    disk_after: int
    taken_after: bool  # the service then took a small file

    def faults(self, status: int, limit: int) -> list[str]:
        """Return what is out of bounds."""
        told, found = self.answer, []
        if told.status != status:
            found.append(f"{self.name}: answered {told.status}, not {status}")
        if told.sent_bytes > limit + SLACK_BYTES:
            found.append(f"{self.name}: answered after {told.sent_bytes} bytes")
        if self.rss_growth > FLAT_BYTES:
            found.append(f"{self.name}: memory grew by {self.rss_growth} bytes")
        if self.disk_peak > limit + SLACK_BYTES:
            found.append(f"{self.name}: {self.disk_peak} bytes were on disk")
        if self.disk_after > SLACK_BYTES or not self.taken_after:
            found.append(f"{self.name}: {self.disk_after} bytes left, next {self.taken_after}")
        return found


class Watch:
    """Samples memory and disk of a service until the block ends."""

    def __init__(self, service: Served, data_dir: Path) -> None:
        assert service.popen is not None
        self._process = psutil.Process(service.popen.pid)
        self._data_dir = data_dir
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.rss_before = self._process.memory_info().rss
        self.disk_before = disk_bytes(data_dir)
        self.rss_peak, self.disk_peak = self.rss_before, self.disk_before

    def _run(self) -> None:
        while not self._stop.wait(0.02):
            self.rss_peak = max(self.rss_peak, self._process.memory_info().rss)
            self.disk_peak = max(self.disk_peak, disk_bytes(self._data_dir))

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def disk_bytes(folder: Path) -> int:
    """Return the bytes of the original files below the folder; some may vanish meanwhile."""
    total = 0
    for path in (folder / "blobs").rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def send(base_url: str, path: str, size: int, *, announced: bool) -> Answer:
    """Send a file of `size` bytes until there is an answer; stop sending then."""
    address = urlsplit(base_url)
    begun, sent = time.monotonic(), 0
    with socket.socket() as connection:
        # The pace of a line of 130 Mbit/s and a small buffer: counted is what the service took,
        # not what waits in buffers of the kernel between two ends of one machine.
        connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, BYTES_PER_SECOND)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)
        connection.settimeout(60)
        connection.connect((address.hostname, address.port))
        connection.sendall(_request_head(address.netloc, path, size, announced=announced))
        try:
            for piece in _pieces(size, announced=announced):
                if select.select([connection], [], [], 0)[0]:
                    break
                connection.sendall(piece)
                sent += len(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the service closed after its answer; that can still be read
        status, body = _read_answer(connection)
    return Answer(status, str(body.get("code", "")), sent, round(time.monotonic() - begun, 2))


def _request_head(host: str, path: str, size: int, *, announced: bool) -> bytes:
    length = f"Content-Length: {size + len(HEAD) + len(TAIL)}"
    how = length if announced else "Transfer-Encoding: chunked"
    return (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nX-User-ID: {USER}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n{how}\r\n\r\n"
    ).encode()


def _pieces(size: int, *, announced: bool) -> Iterator[bytes]:
    def framed(data: bytes) -> bytes:
        return data if announced else b"%x\r\n%b\r\n" % (len(data), data)

    yield framed(HEAD)
    line = b"the same words again and again\n"
    block = (line * (PIECE // len(line) + 1))[:PIECE]
    for _ in range(size // PIECE):
        yield framed(block)
    yield framed(TAIL)
    if not announced:
        yield b"0\r\n\r\n"


def _read_answer(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    data = b""
    while b"\r\n\r\n" not in data or not data.rstrip().endswith(b"}"):
        try:
            more = connection.recv(65_536)
        except ConnectionResetError:
            break
        if not more:
            break
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    if not head:
        return 0, {}
    return int(head.split()[1]), json.loads(body) if body else {}


def attempt(service: Served, data_dir: Path, name: str, size: int, *, announced: bool) -> Attempt:
    """Make one upload that is too large."""
    with client(service) as http:
        live = LiveService(http)
        base = live.knowledge_base(name)
        live.upload(base, "first.txt", b"first").raise_for_status()
        path = f"/knowledge_bases/{base}/documents"
        with Watch(service, data_dir) as watch:
            told = send(service.base_url, path, size, announced=announced)
        disk_after = _settled_disk(data_dir, watch.disk_before)
        taken = live.upload(base, "second.txt", b"second").status_code == 201
    return Attempt(
        name=name,
        answer=told,
        rss_before=watch.rss_before,
        rss_growth=watch.rss_peak - watch.rss_before,
        disk_peak=watch.disk_peak - watch.disk_before,
        disk_after=disk_after,
        taken_after=taken,
    )


def _settled_disk(data_dir: Path, before: int) -> int:
    """Return what is left, once it is nothing or nothing more is to be expected."""
    deadline = time.monotonic() + CLEAN_SECONDS
    while (left := disk_bytes(data_dir) - before) > 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


@contextmanager
def client(service: Served) -> Iterator[httpx.Client]:
    """Open a client of the uploader."""
    headers = {"X-User-ID": USER}
    with httpx.Client(
        base_url=service.base_url, headers=headers, timeout=60, trust_env=False
    ) as http:
        yield http


def measure(limit: int, size: int) -> tuple[list[Attempt], list[str]]:
    """Return all attempts and what is out of bounds."""
    cases: tuple[tuple[Mapping[str, str], int, list[tuple[str, bool]]], ...] = (
        (
            {"AGENTSCOPE_UPLOAD_BYTES": str(limit)},
            413,
            [("limit of a file, chunked", False), ("limit of a file, length known", True)],
        ),
        (
            {
                "AGENTSCOPE_STORED_BYTES_PER_USER": str(limit),
                "AGENTSCOPE_UPLOAD_BYTES": str(2 * size),
            },
            403,
            [("quota of the tenant, chunked", False), ("quota of the tenant, length known", True)],
        ),
    )
    attempts, faults = [], []
    for environment, status, wanted in cases:
        with tempfile.TemporaryDirectory() as folder:
            data_dir = Path(folder) / "data"
            with serving(data_dir, environment=environment) as service:
                for name, announced in wanted:
                    made = attempt(service, data_dir, name, size, announced=announced)
                    attempts.append(made)
                    faults += made.faults(status, limit)
    return attempts, faults


def main() -> int:
    """Measure and report."""
    parser = figures.arguments(__doc__ or "")
    parser.add_argument("--gib", type=float, default=5.0, help="size of the upload")
    parser.add_argument("--limit", type=int, default=100_000_000, help="what is allowed, in bytes")
    given = parser.parse_args()
    size = int(given.gib * 1024**3)
    attempts, faults = measure(given.limit, size)
    told = {
        "upload_bytes": size,
        "allowed_bytes": given.limit,
        "attempts": [asdict(one) for one in attempts],
        "faults": faults,
    }
    figures.report("upload_limits", told, packages=("uvicorn", "starlette"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
