"""Builds the nearest-neighbour index of a collection in a process of its own.

The graph of 100,000 vectors takes a minute of computing. In a child process it cannot slow down
or take along the service, it can be stopped at any time, and its memory is given back.
"""

import asyncio
import os
import sqlite3
import sys
from pathlib import Path

from agentscope.optional import require
from agentscope.rag.vector_store.embedded_index import VectorIndex

_BATCH = 1000


def build(database: Path, target: Path) -> None:
    """Write an index of every vector in `database` to the new directory `target`."""
    numpy = require("numpy", package="numpy", extra="all")
    connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
    (dimensions,) = connection.execute(
        "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'dimensions'"
    ).fetchone()
    index = VectorIndex.create(target, dimensions)
    last = 0
    while True:
        rows = connection.execute(
            "SELECT id, vector FROM vectors WHERE id > ? ORDER BY id LIMIT ?", (last, _BATCH)
        ).fetchall()
        if not rows:
            break
        last = rows[-1][0]
        matrix = numpy.frombuffer(b"".join(row[1] for row in rows), dtype=numpy.float32)
        index.add([row[0] for row in rows], matrix.reshape(len(rows), dimensions))
    index.optimize()
    index.close()
    connection.close()


async def build_in_child(database: Path, target: Path) -> bool:
    """Build in a child process and say whether it worked; cancelling kills the child."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "agentscope.rag.vector_store.embedded_build",
        str(database),
        str(target),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    try:
        return await child.wait() == 0
    except BaseException:
        if child.returncode is None:
            child.kill()
            await child.wait()
        raise


if __name__ == "__main__":
    os.nice(10)
    build(Path(sys.argv[1]), Path(sys.argv[2]))
