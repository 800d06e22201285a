"""Runs the product as a user does, in processes of its own."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

READY_SECONDS = 60.0


def free_port() -> int:
    """Return a loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class Served:
    """A process and the log it writes; `base_url` is empty for a worker."""

    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    base_url: str = ""
    popen: "subprocess.Popen[bytes] | None" = None

    def start(self, *, seconds: float = READY_SECONDS) -> None:
        """Start it; a service is waited for until `/health` answers 200."""
        with self.log.open("ab") as out:
            self.popen = subprocess.Popen(
                list(self.command),
                env={**os.environ, **self.environment},
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        deadline = time.monotonic() + seconds
        while self.base_url and not self.healthy():
            if self.popen.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"the service did not start:\n{self.tail()}")
            threading.Event().wait(0.05)

    def healthy(self) -> bool:
        """Say whether the service answers that it is ready."""
        try:
            return ask(self.base_url, "GET", "/health", timeout=5)[0] == 200
        except OSError:
            return False

    def wait_for_log(self, text: str, *, seconds: float = READY_SECONDS) -> None:
        """Return once `text` stands in the log."""
        deadline = time.monotonic() + seconds
        while text not in self.log.read_text(errors="replace"):
            alive = self.popen is not None and self.popen.poll() is None
            assert alive and time.monotonic() < deadline, f"no {text!r} in:\n{self.tail()}"
            threading.Event().wait(0.05)

    def tail(self, chars: int = 3000) -> str:
        """Return the end of the log."""
        return self.log.read_text(errors="replace")[-chars:]

    def send(self, number: int) -> None:
        """Send a signal to the process and its children."""
        if self.popen is not None and self.popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.popen.pid, number)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.send(signal.SIGKILL)
        if self.popen is not None:
            self.popen.wait()

    def terminate(self, *, seconds: float = 40) -> int:
        """Ask it to stop (the main process only, as a supervisor does); return its exit code."""
        assert self.popen is not None
        self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(seconds)


def ask(
    base_url: str,
    method: str,
    path: str,
    *,
    user: str = "default",
    body: Any = None,
    timeout: float = 30,
) -> tuple[int, Any]:
    """Return status and decoded body of one JSON request; no proxy, no redirect surprises."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"X-User-ID": user, "Content-Type": "application/json"}
    request = urllib.request.Request(base_url + path, data=data, headers=headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout) as answer:
            return answer.status, _decoded(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _decoded(error.read())


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        return data.decode(errors="replace")


@contextlib.contextmanager
def serving(
    data_dir: Path, *, arguments: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """Run `agentscope-rag serve` on a free port with `data_dir` until the block ends."""
    port = free_port()
    data_dir.mkdir(parents=True, exist_ok=True)
    address = ["--port", str(port), "--data-dir", str(data_dir)]
    served = Served(
        command=[sys.executable, "-m", "agentscope.cli", "serve", *address, *arguments],
        log=data_dir.parent / f"{data_dir.name}.log",
        environment=dict(environment or {}),
        base_url=f"http://127.0.0.1:{port}",
    )
    try:
        served.start()
        yield served
    finally:
        served.kill()
