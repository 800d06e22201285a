"""The process that reads hostile files: parse, chunk, write a spool, report. `python -m` runs it.

It lives in its own process so that a parser may crash, hang or eat memory. It takes jobs from
stdin (length-prefixed pickles from its parent) and answers on a private copy of stdout with
length-prefixed JSON, never pickles: the parent must not have to trust it.
"""

import contextlib
import ctypes
import json
import os
import pickle
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from agentscope.app.rag.indexing.reading import ReadJob, ReadOutcome, ReadProgress
from agentscope.app.records import DocumentStatus
from agentscope.errors import AgentScopeError, ParseError, ParseLimitError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import ParseReport, Section

HEADER = struct.Struct(">I")
NICENESS = 10  # reading must never slow down the answers of the API on the same machine
PROGRESS_SECONDS = 0.3
BUILT_IN = "agentscope.rag.parser"
PR_SET_PDEATHSIG = 1
# Libraries reserve address space that they never touch: text recognition maps 1.1 GiB and uses
# 0.4. The parent bounds what is used; this bounds how far one leap gets before the parent looks.
RESERVED_BYTES = 1024 * 1024 * 1024

Emit = Callable[[ReadProgress], None]


def read_document(job: ReadJob, emit: Emit) -> ReadOutcome:
    """Parse and chunk one file into its spool; runs in a child, or in a thread as a fallback.

    Raises:
        ParseError: as `DocumentReader.read` tells.
    """
    begun = time.monotonic()
    report = ParseReport(media_type=job.options.media_type, parser=type(job.parser).__name__)
    sections = _Sections(job, report, emit)
    count = text_count = 0
    with job.spool.open("wb") as spool:
        for chunk in job.chunker.iter_chunks(sections.read()):
            count += 1
            if count > job.limits.max_chunks:
                raise ParseLimitError("The document has too many passages.")
            text_count += isinstance(chunk.content, TextBlock)
            spool.write(chunk.model_dump_json().encode())
            spool.write(b"\n")
    emit(ReadProgress(DocumentStatus.CHUNKING, count, count, "chunk"))
    return ReadOutcome(count, text_count, report, time.monotonic() - begun)


class _Sections:
    """The sections of one file, cleaned, counted and bounded as they pass."""

    def __init__(self, job: ReadJob, report: ParseReport, emit: Emit) -> None:
        self._job = job
        self._report = report
        self._emit = emit
        self._chars = 0
        self._told = 0.0

    def read(self) -> Iterator[Section]:
        job = self._job
        found = job.parser.iter_sections(job.path, job.filename, job.options, self._report)
        for number, section in enumerate(found, start=1):
            content = section.content
            size = len(content.text) if isinstance(content, TextBlock) else 0
            self._chars += size
            if self._chars > job.limits.output_chars:
                raise ParseLimitError("The document holds more text than allowed.")
            self._tell(number)
            yield clean(section)

    def _tell(self, number: int) -> None:
        now = time.monotonic()
        if now - self._told >= PROGRESS_SECONDS:
            self._told = now
            coverage = self._report.coverage
            total = max(coverage.total, number) if coverage.total else 0
            self._emit(ReadProgress(DocumentStatus.PARSING, number, total, coverage.unit))


def clean(section: Section) -> Section:
    """Return the section without NUL characters and lone surrogates; parsers of users pass here."""
    content = section.content
    if not isinstance(content, TextBlock):
        return section
    text = clean_text(content.text)
    if text is content.text:
        return section
    return section.model_copy(update={"content": content.model_copy(update={"text": text})})


def clean_text(text: str) -> str:
    """Return `text` fit for every database and for UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\x00", "") if "\x00" in text else text


def describe(exc: BaseException, job: ReadJob) -> dict[str, Any]:
    """Return what the parent needs to raise the same error: code, sentence, reason for the log."""
    reason = f"{type(exc).__name__}: {exc}"[:1000]
    if isinstance(exc, AgentScopeError):
        return {"code": exc.code, "message": exc.message, "reason": reason}
    if isinstance(exc, MemoryError):
        return _limit("Reading the file needs more memory than allowed.", reason)
    if isinstance(exc, RecursionError):
        return _limit("The file is nested too deeply.", reason)
    message = ParseError().message
    own = type(job.parser).__module__.startswith(BUILT_IN)
    if type(exc) is ValueError and not own and str(exc):
        # The documented way for a user's parser to refuse a file: its sentence is for the user.
        message = str(exc).splitlines()[0][:240]
    return {"code": ParseError.code, "message": message, "reason": reason}


def _limit(message: str, reason: str) -> dict[str, Any]:
    return {"code": ParseLimitError.code, "message": message, "reason": reason}


def _confine(job: ReadJob) -> None:
    """Bound the CPU time and address space that this job may add."""
    used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    _soft(resource.RLIMIT_CPU, used + job.limits.cpu_seconds + 1)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    mapped = pages * resource.getpagesize()
    _soft(resource.RLIMIT_AS, mapped + job.limits.memory_bytes + RESERVED_BYTES)
    _network.allowed = not type(job.parser).__module__.startswith(BUILT_IN)


def _soft(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    none = resource.RLIM_INFINITY  # -1: not a number to compare with
    limit = hard if value == none else value if hard == none else min(value, hard)
    resource.setrlimit(kind, (limit, hard))


class _Network:
    """No parser of this package may reach for the network; a user's own parser may."""

    allowed = False

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        del arguments
        if event in ("socket.connect", "socket.getaddrinfo") and not self.allowed:
            raise PermissionError("A parser may not use the network.")


_network = _Network()


def _die_with_parent() -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        with contextlib.suppress(OSError):
            # If memory runs out, the kernel should end this process, not the service.
            Path("/proc/self/oom_score_adj").write_text("900")


def _receive(source: BinaryIO) -> bytes | None:
    header = source.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return source.read(HEADER.unpack(header)[0])


def _send(target: BinaryIO, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    target.write(HEADER.pack(len(data)) + data)
    target.flush()


def _serve(source: BinaryIO, target: BinaryIO) -> None:
    def emit(progress: ReadProgress) -> None:
        _send(target, {"type": "progress", **asdict(progress)})

    _send(target, {"type": "up"})
    while (data := _receive(source)) is not None:
        try:
            # Pickles come from the parent only, which made them from its own objects.
            job: ReadJob = pickle.loads(data)  # noqa: S301
        except Exception as exc:
            _send(target, {"type": "unloadable", "reason": f"{type(exc).__name__}: {exc}"[:1000]})
            continue
        try:
            _confine(job)
            outcome = read_document(job, emit)
        except BaseException as exc:
            _soft(resource.RLIMIT_AS, resource.RLIM_INFINITY)
            _send(target, {"type": "error", **describe(exc, job)})
        else:
            _send(target, {"type": "done", **asdict(outcome)})


def main() -> None:
    """Serve jobs until stdin ends; the arguments are where the parent finds its modules."""
    sys.path.extend(path for path in sys.argv[1:] if path not in sys.path)
    _die_with_parent()
    os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the parent, which drains
    sys.addaudithook(_network.audit)
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not end up between the answers
    with contextlib.suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, target)


if __name__ == "__main__":
    main()
