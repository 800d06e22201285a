"""The pool of reading processes: what a hostile parser can and cannot do."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import psutil
import pytest

from agentscope.app.rag.indexing.parser_pool import ParserPool
from agentscope.app.rag.indexing.reading import (
    ReadJob,
    ReadLimits,
    ReadOutcome,
    ReadProgress,
    read_spool,
)
from agentscope.errors import CorruptFileError, ParseError, ParseLimitError, ParserCrashError
from agentscope.message.blocks import TextBlock
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, ParserBase, SyncParser


def _section(text: str) -> Section:
    return Section(content=TextBlock(text=text), source="f")


class Plain(SyncParser):
    """Yields the file's text and tells what it noticed."""

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        assert isinstance(file, Path)
        report.encoding = "utf-8"
        report.coverage.total = 1
        report.warn("one thing")
        yield _section(file.read_text())


class Exits(Plain):
    """Ends its process."""

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        os._exit(3)
        yield _section("")


class Loops(Plain):
    """Never returns."""

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        while True:
            report.encoding = "busy"
        yield _section("")


class Eats(Plain):
    """Takes all the memory there is."""

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        hoard = []
        while True:
            hoard.append(bytearray(16 * 1024 * 1024))
        yield _section(str(len(hoard)))


class Endless(Plain):
    """Yields more text than any file holds."""

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        while True:
            yield _section("text " * 1000)


class Refuses(Plain):
    """Says that the file is damaged."""

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        raise CorruptFileError("The file is damaged, says the parser.")
        yield _section("")


class Documented(ParserBase):
    """A user's parser, written against the published contract."""

    supported_media_types: ClassVar[list[str]] = ["text/plain"]

    async def parse(self, file: bytes | str, filename: str) -> list[Section]:
        assert isinstance(file, str)
        text = Path(file).read_text()
        if text.startswith("bad"):
            raise ValueError("this is not my kind of text")
        return [_section(text + "\x00 and \ud800 end")]


class Held(Plain):
    """Cannot be sent to another process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def _ignore(progress: ReadProgress) -> None:
    del progress


def _job(tmp_path: Path, parser: ParserBase, text: str = "hello world", **limits: int) -> ReadJob:
    source = tmp_path / "source"
    source.write_text(text)
    return ReadJob(
        document_id="d",
        path=source,
        filename="f.txt",
        parser=parser,
        chunker=ApproxTokenChunker(),
        spool=tmp_path / "spool",
        limits=ReadLimits(**limits),
    )


async def _read(pool: ParserPool, job: ReadJob) -> ReadOutcome:
    return await pool.read(job, on_progress=_ignore)


async def test_a_document_becomes_a_spool_of_chunks_with_a_report(tmp_path: Path) -> None:
    """The chunks come back in order with their total; so does what the parser noticed."""
    told: list[ReadProgress] = []
    async with ParserPool(1) as pool:
        outcome = await pool.read(_job(tmp_path, Plain(), "word " * 2000), on_progress=told.append)
    chunks = list(read_spool(tmp_path / "spool", outcome.chunk_count))
    assert outcome.chunk_count == len(chunks) > 1
    assert outcome.text_chunks == len(chunks)
    assert [chunk.chunk_index for chunk in chunks] == list(range(len(chunks)))
    assert {chunk.total_chunks for chunk in chunks} == {len(chunks)}
    assert outcome.report.encoding == "utf-8"
    assert outcome.report.warnings == ["one thing"]
    assert told[-1].done == outcome.chunk_count


async def test_a_crash_costs_one_document_only(tmp_path: Path) -> None:
    """The neighbour on the same pool is read, and so is the next document."""
    async with ParserPool(2) as pool:
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        crash, fine = await asyncio.gather(
            _read(pool, _job(tmp_path / "a", Exits())),
            _read(pool, _job(tmp_path / "b", Plain())),
            return_exceptions=True,
        )
        assert isinstance(crash, ParserCrashError)
        assert isinstance(fine, ReadOutcome)
        assert (await _read(pool, _job(tmp_path, Plain()))).chunk_count == 1


async def test_an_endless_loop_ends_at_the_wall_limit(tmp_path: Path) -> None:
    """The child is killed; its slot is free at once."""
    async with ParserPool(1) as pool:
        with pytest.raises(ParseLimitError, match="longer"):
            await _read(pool, _job(tmp_path, Loops(), wall_seconds=1))
        assert (await _read(pool, _job(tmp_path, Plain()))).chunk_count == 1


async def test_an_endless_loop_ends_at_the_cpu_limit(tmp_path: Path) -> None:
    """The kernel stops a child that burns its CPU seconds, whatever the clock says."""
    async with ParserPool(1) as pool:
        with pytest.raises(ParseLimitError, match="longer"):
            await _read(pool, _job(tmp_path, Loops(), cpu_seconds=1))


async def test_memory_is_bounded(tmp_path: Path) -> None:
    """A parser that takes all memory gets a clear error, and this process does not grow."""
    async with ParserPool(1) as pool:
        with pytest.raises(ParseLimitError, match="memory"):
            await _read(pool, _job(tmp_path, Eats(), memory_bytes=128 * 1024 * 1024))


async def test_the_output_is_bounded(tmp_path: Path) -> None:
    """A small file cannot become an endless text."""
    async with ParserPool(1) as pool:
        with pytest.raises(ParseLimitError, match="more text"):
            await _read(pool, _job(tmp_path, Endless(), output_chars=1_000_000))
        with pytest.raises(ParseLimitError, match="too many passages"):
            await _read(pool, _job(tmp_path, Endless(), max_chunks=10))


async def test_a_refusal_keeps_its_code_and_sentence(tmp_path: Path) -> None:
    """What the parser said reaches the user."""
    async with ParserPool(1) as pool:
        with pytest.raises(CorruptFileError) as caught:
            await _read(pool, _job(tmp_path, Refuses()))
    assert caught.value.message == "The file is damaged, says the parser."


async def test_a_users_parser_runs_in_the_child_and_is_cleaned(tmp_path: Path) -> None:
    """Published contract in, text fit for every database out."""
    async with ParserPool(1) as pool:
        await _read(pool, _job(tmp_path, Documented(), "good"))
        chunk = next(read_spool(tmp_path / "spool", 1))
        assert isinstance(chunk.content, TextBlock)
        assert chunk.content.text == "good and \ufffd end"
        with pytest.raises(ParseError, match="not my kind"):
            await _read(pool, _job(tmp_path, Documented(), "bad"))


async def test_cancelling_frees_the_slot(tmp_path: Path) -> None:
    """A deleted document stops its child; nothing waits for it."""
    async with ParserPool(1) as pool:
        job = _job(tmp_path, Loops())
        task = asyncio.create_task(_read(pool, job))
        while not job.spool.exists():  # noqa: ASYNC110 - another process makes the file
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        begun = time.monotonic()
        assert (await _read(pool, _job(tmp_path, Plain()))).chunk_count == 1
        assert time.monotonic() - begun < 30
        assert pool.state.busy == 0


async def test_a_parser_that_no_process_can_load_runs_in_a_thread(tmp_path: Path) -> None:
    """A warning in the log, and the document is read."""
    async with ParserPool(1) as pool:
        assert (await _read(pool, _job(tmp_path, Held()))).chunk_count == 1


async def test_the_event_loop_never_waits_for_a_parser(tmp_path: Path) -> None:
    """While a parser burns CPU, the loop answers."""
    async with ParserPool(1) as pool:
        task = asyncio.create_task(_read(pool, _job(tmp_path, Loops(), wall_seconds=1)))
        worst = 0.0
        while not task.done():
            begun = time.monotonic()
            await asyncio.sleep(0)
            worst = max(worst, time.monotonic() - begun)
            await asyncio.sleep(0.005)
        with pytest.raises(ParseLimitError):
            await task
    assert worst < 0.5


async def test_no_child_outlives_the_pool(tmp_path: Path) -> None:
    """Closing ends idle children and the spare."""
    async with ParserPool(2) as pool:
        await _read(pool, _job(tmp_path, Plain()))
        pids = [child.process.pid for child in pool._idle]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


SCRIPT = """
import asyncio, sys
from pathlib import Path
from agentscope.app.rag.indexing.parser_pool import ParserPool
from agentscope.app.rag.indexing.reading import ReadJob
from agentscope.rag.chunker.approx_token import ApproxTokenChunker
{load}

async def main():
    file = Path(__file__).with_name("a.mine")
    file.write_text("hello")
    job = ReadJob("d", file, "a.mine", Mine(), ApproxTokenChunker(), file.with_suffix(".spool"))
    async with ParserPool(1) as pool:
        print((await pool.read(job, on_progress=lambda progress: None)).chunk_count)

if __name__ == "__main__":
    asyncio.run(main())
"""
BESIDE = "from beside import Mine"
# A module that only this process has: the child cannot import it.
ONLY_HERE = """
import types
module = types.ModuleType("made_up")
exec(Path(__file__).with_name("beside.py").read_text(), module.__dict__)
sys.modules["made_up"] = module
Mine = module.Mine
Mine.__module__ = "made_up"
"""
MODULE = """
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Section
from agentscope.rag.parser.base import ParserBase

class Mine(ParserBase):
    supported_media_types = ["application/x-mine"]

    async def parse(self, file, filename):
        return [Section(content=TextBlock(text=open(file).read()), source=filename)]
"""


@pytest.mark.parametrize("load", [BESIDE, ONLY_HERE], ids=["beside the script", "only here"])
def test_a_parser_is_found_wherever_the_service_found_it(load: str, tmp_path: Path) -> None:
    """Also in a module beside the main script; what no other process can load runs in a thread."""
    (tmp_path / "beside.py").write_text(MODULE)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(load=load))
    (tmp_path / "elsewhere").mkdir()
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path / "elsewhere",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.split()[:1] == ["1"], done.stderr


async def test_closing_while_a_spare_starts_leaves_no_process_behind(tmp_path: Path) -> None:
    """However early the pool is closed."""
    before = {child.pid for child in psutil.Process().children()}
    for pause in (0.0, 0.001, 0.01, 0.05):
        async with ParserPool(1):
            await asyncio.sleep(pause)
    assert {child.pid for child in psutil.Process().children()} <= before
