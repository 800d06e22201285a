"""The data directory of an embedded service: its layout, its one owner, its secret key."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from agentscope.credential.sealing import SecretBox, key_from_file
from agentscope.errors import ConfigurationError, DataDirectoryLockedError

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows, where the second process is not noticed
    fcntl = None  # type: ignore[assignment]

SCALE_OUT = (
    "One process owns a data directory. To use several, start `serve --postgres embedded`, or keep "
    "records in PostgreSQL or Redis (AGENTSCOPE_STORAGE_URL)."
)


class DataDirectory:
    """One directory with everything that an embedded service keeps."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()

    @property
    def database(self) -> Path:
        """The records."""
        return self.path / "records.sqlite"

    @property
    def blobs(self) -> Path:
        """The original files."""
        return self.path / "blobs"

    @property
    def vectors(self) -> Path:
        """The vector store."""
        return self.path / "vectors"

    @property
    def scratch(self) -> Path:
        """Temporary files of documents that are being read."""
        return self.path / "scratch"

    @property
    def _address(self) -> Path:
        return self.path / "server.json"

    def secrets(self, given: str | None) -> SecretBox:
        """Return the secret key: the one that was given, else the one kept here."""
        if given:
            return SecretBox.from_text(given)
        return SecretBox.from_text(self.key_text())

    def key_text(self) -> str:
        """Return the text of the key file, which is made if it is missing."""
        return key_from_file(self.path / "secret.key")

    @contextlib.contextmanager
    def owned(self) -> Iterator[None]:
        """Own the directory while the context is open.

        Raises:
            DataDirectoryLockedError: another process owns it.
            ConfigurationError: it cannot be made.
        """
        self._make()
        try:
            lock = (self.path / "lock").open("a+", encoding="ascii")
        except OSError as exc:
            raise self._unusable(exc) from exc
        with lock:
            self._take(lock)
            try:
                yield
            finally:
                self._address.unlink(missing_ok=True)

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Use the directory beside other processes: records and vectors are elsewhere.

        Raises:
            ConfigurationError: it cannot be made.
        """
        self._make()
        try:
            yield
        finally:
            if self._told().get("pid") == os.getpid():
                self._address.unlink(missing_ok=True)

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as exc:
            raise self._unusable(exc) from exc

    def _unusable(self, error: OSError) -> ConfigurationError:
        return ConfigurationError(
            f"The data directory {self.path} cannot be used: {error.strerror}."
        )

    def _take(self, lock: IO[str]) -> None:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as exc:
                lock.seek(0)
                owner = lock.read().strip() or "unknown"
                raise DataDirectoryLockedError(
                    f"The data directory {self.path} is in use by process {owner}. {SCALE_OUT}"
                ) from exc
        lock.seek(0)
        lock.truncate()
        lock.write(str(os.getpid()))
        lock.flush()

    def tell_address(self, url: str) -> None:
        """Let commands on this directory find the service that owns it."""
        self._address.write_text(json.dumps({"url": url, "pid": os.getpid()}), encoding="utf-8")

    def address(self) -> str | None:
        """Return where the service that owns the directory listens, if one does."""
        url = self._told().get("url")
        return None if url is None else str(url)

    def _told(self) -> dict[str, Any]:
        try:
            found: Any = json.loads(self._address.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
