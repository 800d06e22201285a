"""Names and the lock of the embedded store's directory.

One directory per collection; what is being created or removed has a name that no collection can
have, so a crash leaves nothing that looks like data.
"""

import fcntl
import os
import shutil
import uuid
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from agentscope.errors import DataDirectoryLockedError, InvalidInputError

LOCK_NAME = "LOCK"
MAX_NAME_BYTES = 200
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
_NEW, _TRASH = ".new-", ".trash-"


def directory_name(collection: str) -> str:
    """Return the directory of a collection; different names differ on any file system.

    Raises:
        InvalidInputError: the name is empty or too long.
    """
    encoded = "".join(
        chr(byte) if byte in _PLAIN else f"%{byte:02x}"
        for byte in collection.encode("utf-8", "surrogatepass")
    )
    if not encoded or len(encoded) > MAX_NAME_BYTES:
        raise InvalidInputError("The name of the collection is empty or too long.")
    return encoded


def collection_names(root: Path) -> list[str]:
    """Return the names of the collections in `root`, sorted."""
    return sorted(
        unquote(entry.name, errors="surrogatepass")
        for entry in root.iterdir()
        if entry.is_dir() and not entry.name.startswith(".")
    )


def new_directory(root: Path) -> Path:
    """Make a directory in which a collection can be prepared."""
    path = root / f"{_NEW}{uuid.uuid4().hex}"
    path.mkdir()
    return path


def publish_directory(prepared: Path, target: Path) -> None:
    """Give the prepared directory its name, durably."""
    sync_directory(prepared)
    prepared.rename(target)
    sync_directory(target.parent)


def remove_directory(path: Path) -> None:
    """Remove a directory so that it is gone at once, whenever the process dies."""
    trash = path.parent / f"{_TRASH}{uuid.uuid4().hex}"
    try:
        path.rename(trash)
    except FileNotFoundError:
        return
    sync_directory(path.parent)
    shutil.rmtree(trash, ignore_errors=True)


def sweep(root: Path) -> None:
    """Remove what a dead process was creating or removing."""
    for entry in root.iterdir():
        if entry.name.startswith((_NEW, _TRASH)):
            shutil.rmtree(entry, ignore_errors=True)


def sync_directory(path: Path) -> None:
    """Make the directory's entries durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock_directory(root: Path) -> IO[bytes]:
    """Lock `root` for this object; the lock ends when the file is closed or the process dies.

    Raises:
        DataDirectoryLockedError: somebody else holds it.
    """
    root.mkdir(parents=True, exist_ok=True)
    file = (root / LOCK_NAME).open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        file.close()
        raise DataDirectoryLockedError(
            "Another process already uses this vector data. Stop it first, or share the work "
            "through a server: PostgreSQL or Redis for records and Qdrant or pgvector for vectors."
        ) from exc
    return file
