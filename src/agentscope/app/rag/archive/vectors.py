"""Vectors and chunks of one batch: NumPy's file format, and JSON lines."""

import io
import math
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from agentscope.app.rag.archive.layout import MAX_BATCH_CHUNKS
from agentscope.errors import ArchiveInvalidError
from agentscope.optional import require
from agentscope.rag.document import Chunk, Vector

MAX_DEPTH = 8
MAX_INTEGER = 2**63
HEADER_BYTES = 4096


def packed(vectors: Sequence[Vector]) -> bytes:
    """Return the vectors as an `.npy` file: float32, little endian, shape (n, dimensions)."""
    numpy: Any = require("numpy", package="numpy", extra="all")
    target = io.BytesIO()
    numpy.save(target, numpy.asarray(vectors, dtype="<f4"), allow_pickle=False)
    return target.getvalue()


def unpacked(content: bytes, *, count: int, dimensions: int) -> list[Vector]:
    """Return the vectors of an `.npy` file that must hold exactly this many.

    The header is read first, so that a false one reserves no memory.

    Raises:
        ArchiveInvalidError: it holds something else, or numbers that are not finite.
    """
    numpy: Any = require("numpy", package="numpy", extra="all")
    stream = io.BytesIO(content)
    try:
        if numpy.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("another version")
        shape, by_column, kind = numpy.lib.format.read_array_header_1_0(
            stream, max_header_size=HEADER_BYTES
        )
    except (ValueError, TypeError, SyntaxError, EOFError, KeyError) as exc:
        raise ArchiveInvalidError("The archive is damaged: vectors cannot be read.") from exc
    expected = stream.tell() + 4 * count * dimensions
    fits = shape == (count, dimensions) and kind == numpy.dtype("<f4") and len(content) == expected
    if not fits or by_column:
        raise ArchiveInvalidError("The archive is damaged: vectors do not fit their chunks.")
    matrix = numpy.frombuffer(content, dtype="<f4", offset=stream.tell()).reshape(shape)
    if not numpy.isfinite(matrix).all():
        raise ArchiveInvalidError("The archive holds vectors that are not finite.")
    vectors: list[Vector] = matrix.tolist()
    return vectors


def line_of(chunk: Chunk) -> bytes:
    """Return a chunk as one line of JSON."""
    return chunk.model_dump_json().encode("utf-8", "replace") + b"\n"


def chunks_of(content: bytes, *, first: int) -> list[Chunk]:
    """Return the chunks of a batch, numbered from `first` without gaps.

    Raises:
        ArchiveInvalidError: it holds something else.
    """
    lines = content.split(b"\n")
    if lines.pop() or not 0 < len(lines) <= MAX_BATCH_CHUNKS:
        raise ArchiveInvalidError("The archive is damaged: a batch of chunks is not complete.")
    try:
        chunks = [Chunk.model_validate_json(line) for line in lines]
    except ValidationError as exc:
        raise ArchiveInvalidError("The archive is damaged: a chunk cannot be read.") from exc
    for number, chunk in enumerate(chunks, start=first):
        if chunk.chunk_index != number or not _is_plain(chunk.metadata):
            raise ArchiveInvalidError("The archive is damaged: a chunk is not what it should be.")
    return chunks


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Say whether every back end can store the value."""
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, dict):
        named = all(isinstance(key, str) for key in value)
        return named and all(_is_plain(item, depth + 1) for item in value.values())
    if isinstance(value, list):
        return all(_is_plain(item, depth + 1) for item in value)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) < MAX_INTEGER
    return value is None or isinstance(value, str)
