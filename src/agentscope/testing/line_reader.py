"""The simulated file format: one line is one chunk, the first word may be a misbehaviour."""

import asyncio
import random
from collections.abc import Callable
from typing import Protocol

from agentscope.app.rag.indexing.reading import ReadJob, ReadOutcome, ReadProgress
from agentscope.app.records import DocumentStatus, Policy
from agentscope.errors import CorruptFileError, ParserCrashError
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk, ParseReport
from agentscope.testing.simulation import SimulationLoop, current_process

POISON, CORRUPT, CRASH, EMPTY, SLOW = "POISON", "CORRUPT", "CRASH", "EMPTY", "SLOW"
GATE, LONG = "GATE", "LONG"


class ReadingTable(Protocol):
    """What readers share with the story that is told."""

    policy: Policy
    gate: asyncio.Event  # files that begin with GATE wait for it
    at_gate: asyncio.Event  # one does
    reads: list[str]  # document ids, one per reading

    def note(self, event: str, *details: object) -> None:
        """Add a line to the trace."""


class LineReader:
    """Reads the simulated file format; the first word of a file may be a misbehaviour."""

    def __init__(self, table: ReadingTable, loop: SimulationLoop, rng: random.Random) -> None:
        self._table = table
        self._loop = loop
        self._rng = rng

    async def read(
        self, job: ReadJob, *, on_progress: Callable[[ReadProgress], None]
    ) -> ReadOutcome:
        text = job.path.read_text()
        word = text.split(maxsplit=1)[0] if text.strip() else ""
        self._table.reads.append(job.document_id)
        await self._behave(word)
        lines = [] if word == EMPTY else text.splitlines()
        on_progress(ReadProgress(DocumentStatus.CHUNKING, 1, 1, "section"))
        await asyncio.sleep(self._rng.uniform(0.0, 2.0))
        with job.spool.open("w") as spool:
            for number, line in enumerate(lines):
                chunk = Chunk(
                    content=TextBlock(text=line, id="x", created_at="x"),
                    source=job.filename,
                    chunk_index=number,
                    total_chunks=0,
                )
                spool.write(chunk.model_dump_json() + "\n")
        return ReadOutcome(len(lines), len(lines), ParseReport(media_type="text/plain"), 0.0)

    async def _behave(self, word: str) -> None:
        await asyncio.sleep(self._rng.expovariate(0.5))
        if word == POISON:
            process = current_process()
            assert process is not None, "files are read by workers"
            self._table.note("poison", process.name)
            self._loop.kill(process)
            await asyncio.sleep(0)
        elif word == CORRUPT:
            raise CorruptFileError
        elif word == CRASH:
            raise ParserCrashError
        elif word == SLOW:
            await asyncio.sleep(self._rng.uniform(30.0, 120.0))
        elif word == LONG:
            await asyncio.sleep(4 * self._table.policy.timings.lease_ttl.total_seconds())
        elif word == GATE:
            self._table.at_gate.set()
            await self._table.gate.wait()
