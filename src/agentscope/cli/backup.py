"""`agentscope-rag backup`: a copy of an embedded data directory, also while its service runs.

The order makes the copy usable: records first, then vectors, then original files. So whatever the
records name was copied after them, and what came later belongs to nothing, which an audit removes.
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from agentscope.app.settings import Settings
from agentscope.cli.data_directory import DataDirectory
from agentscope.errors import ConfigurationError, InvalidInputError

DATABASE = "collection.sqlite"
BUSY_SECONDS = 30.0


@dataclass(slots=True)
class Copied:
    """How much was copied."""

    collections: int = 0
    files: int = 0


@click.command()
@click.argument("target", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--data-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The directory to copy.",
)
def command(target: Path, data_dir: Path | None) -> None:
    """Copy a data directory to TARGET, a new or empty directory; its service may run meanwhile.

    Then `serve --data-dir TARGET` works on the copy. The copy holds the secret key.
    """
    settings = Settings.from_environment(os.environ, data_dir=data_dir)
    copied = copy_directory(DataDirectory(settings.data_dir), target)
    click.echo(
        f"Copied to {target}: records, vectors (collections: {copied.collections}), "
        f"original files: {copied.files}."
    )


def copy_directory(source: DataDirectory, target: Path) -> Copied:
    """Copy what a service keeps, each part as it is at one moment, in the order that is safe.

    Raises:
        ConfigurationError: the records are not in a file of this directory.
        InvalidInputError: the target holds something.
    """
    if not source.database.is_file():
        raise ConfigurationError(
            f"{source.path} keeps no records in a file; back its servers up with their own tools."
        )
    if target.exists() and any(target.iterdir()):
        raise InvalidInputError(f"{target} is not empty.")
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    copied = Copied()
    copy_database(source.database, target / source.database.name)
    for name in _collections(source.vectors):
        place = target / source.vectors.name / name
        place.mkdir(parents=True)
        try:
            copy_database(source.vectors / name / DATABASE, place / DATABASE)
            copied.collections += 1
        except sqlite3.OperationalError:
            if (source.vectors / name).exists():
                raise
            shutil.rmtree(place)  # its knowledge base was deleted meanwhile
    for path in _files(source.blobs):
        copied.files += _copy_file(path, target / path.relative_to(source.path))
    key = source.path / "secret.key"
    if key.is_file():
        _copy_file(key, target / key.name)
    return copied


def copy_database(source: Path, target: Path) -> None:
    """Copy a SQLite database as it is now; writers go on meanwhile."""
    with (
        _opened(f"{source.absolute().as_uri()}?mode=ro") as origin,
        _opened(target.absolute().as_uri()) as copy,
    ):
        origin.backup(copy)
    target.chmod(0o600)


@contextlib.contextmanager
def _opened(uri: str) -> Iterator[sqlite3.Connection]:
    """Yield a connection and close it; the library's own context only commits."""
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS)
    try:
        yield connection
    finally:
        connection.close()


def _collections(vectors: Path) -> list[str]:
    """Return the folders of collections; the index beside the rows is built anew."""
    if not vectors.is_dir():
        return []
    return sorted(
        entry.name for entry in vectors.iterdir() if entry.is_dir() and entry.name[:1] != "."
    )


def _files(blobs: Path) -> Iterator[Path]:
    """Yield finished original files."""
    for folder, folders, names in os.walk(blobs):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            yield Path(folder) / name


def _copy_file(path: Path, target: Path) -> int:
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.copy2(path, target)
    except FileNotFoundError:
        return 0  # deleted meanwhile
    return 1
