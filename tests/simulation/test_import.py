"""Imports while API processes die and the network fails: each document is whole or absent."""

import asyncio
import gc
import logging
import os
from collections.abc import AsyncIterator, Iterator

import pytest

from agentscope.app.rag.archive import layout
from agentscope.app.rag.archive.layout import Document, Embedding, Manifest, Settings
from agentscope.app.rag.archive.writer import ArchiveWriter
from agentscope.app.rag.service.import_knowledge_base import (
    ImportOptions,
    ImportResult,
    import_knowledge_base,
)
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import DocumentStatus
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk
from agentscope.testing.faults import FaultRates
from agentscope.testing.plan import ROUGH
from agentscope.testing.simulation import SimulationLoop
from agentscope.testing.world import USER, Api, World, scratch_folder, seeded_ids

SEEDS = int(os.environ.get("AGENTSCOPE_TEST_SEEDS", "300")) // 5
BLOCKS = 6
DOCUMENTS = 6
TRIES = 40


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Expected warnings help nobody."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def lines_of(number: int) -> list[str]:
    return [f"document {number} line {line}" for line in range(1 + number * 30)]


async def archive_of(world: World) -> list[bytes]:
    """Return the pieces of an archive whose last document was never indexed."""
    writer = ArchiveWriter(modified=0)
    embedding = Embedding(
        type="local_credential", model=world.model.model, dimensions=world.model.dimensions
    )
    settings = Settings(name="Moved", embedding=embedding)
    manifest = Manifest(
        format=layout.FORMAT,
        version=layout.VERSION,
        archive_id="0" * 32,
        created_at="",
        knowledge_base=settings,
    )
    pieces = [*writer.manifest(manifest)]
    for number in range(DOCUMENTS):
        lines = lines_of(number)
        content = "\n".join(lines).encode()
        carried = 0 if number == DOCUMENTS - 1 else len(lines)
        document = Document(
            id=f"source{number}", filename=f"{number}.txt", size=len(content), chunks=carried
        )
        pieces += writer.document(document)
        pieces += [piece async for piece in writer.original(len(content), _pieces([content]))]
        for start in range(0, carried, 64):
            part = lines[start : min(start + 64, carried)]
            chunks = [
                Chunk(
                    content=TextBlock(text=text, id="x", created_at="x"),
                    source=document.filename,
                    chunk_index=start + index,
                    total_chunks=len(lines),
                )
                for index, text in enumerate(part)
            ]
            vectors = (await world.model([chunk.content for chunk in chunks])).embeddings
            pieces += writer.chunks(chunks, vectors)
        pieces += writer.end_document(complete=True)
    return [*pieces, *writer.end()]


async def _pieces(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _slowly(world: World, pieces: list[bytes], *, cut: int) -> AsyncIterator[bytes]:
    """Yield the first `cut` pieces as a network would."""
    for piece in pieces[:cut]:
        await asyncio.sleep(world.rng.expovariate(2.0))
        yield piece


async def one_try(world: World, api: Api, pieces: list[bytes], *, cut: int) -> ImportResult | None:
    """Send the archive once; None: it did not come through."""

    async def work(service: KnowledgeBaseService) -> ImportResult:
        sent = _slowly(world, pieces, cut=cut)
        return await import_knowledge_base(service, USER, sent, ImportOptions())

    task = await world.call(api, work, seconds=900)
    if task is None or task.cancelled() or task.exception() is not None:
        reason = task.exception() if task is not None and not task.cancelled() else "no answer"
        world.note("import", repr(reason))
        return None
    world.note("import", "done", task.result().documents)
    return task.result()


async def story(world: World) -> None:
    """Try until it came through, with disasters first, and check what is there in the end."""
    for _ in range(2):
        world.start_api()
    for _ in range(2):
        world.start_worker()
    pieces = await archive_of(world)
    for _ in range(world.rng.randrange(1, 6)):
        api = world.rng.choice(world.apis)
        cut = world.rng.choice([len(pieces), world.rng.randrange(1, len(pieces))])
        attempt = asyncio.create_task(one_try(world, api, pieces, cut=cut))
        await asyncio.sleep(world.rng.uniform(0.0, 40.0))
        if world.rng.random() < 0.7:
            world.kill(api.process)
            world.restart_the_dead()
        else:
            await asyncio.wait({attempt})
        await world.check_always()
    world.network.rates = FaultRates()
    world.restart_the_dead()
    for _ in range(TRIES):
        result = await one_try(world, world.apis[0], pieces, cut=len(pieces))
        if result is not None:
            break
        await asyncio.sleep(30)
    else:
        raise AssertionError("the import never came through")
    await world.quiescent(hours=6)
    await judge(world)


async def judge(world: World) -> None:
    """One knowledge base, every document once and whole, nothing else anywhere."""
    report = await world.auditor().run()
    assert report.clean, report.findings[:5]
    assert not report.unfinished, dict(report.unfinished)
    bases = list(world.storage._state.knowledge_bases.values())
    assert [base.name for base in bases] == ["Moved"]
    records = list(world.storage._state.documents.values())
    assert sorted(record.filename for record in records) == [
        f"{number}.txt" for number in range(DOCUMENTS)
    ]
    for record in records:
        assert record.status is DocumentStatus.READY
        assert record.active_run_id is not None
        expected = lines_of(int(record.filename.removesuffix(".txt")))
        chunks = await world.vectors.run_chunks(
            bases[0].collection_name, record.id, record.active_run_id, limit=1000
        )
        texts = [chunk.content.text for chunk in chunks if isinstance(chunk.content, TextBlock)]
        assert texts == expected
        assert await world.blobs.fetch(record.blob_uri) == "\n".join(expected).encode()


def simulate(seed: int, rates: FaultRates) -> None:
    """Run one seed; a failure shows what happened."""
    loop = SimulationLoop(seed)
    with scratch_folder() as scratch, seeded_ids(seed):
        world = World(loop, scratch, FaultRates(**vars(rates)))

        async def run() -> None:
            try:
                await story(world)
            finally:
                await world.end()

        gc.collect(0)
        gc.disable()
        try:
            loop.run_until_complete(run())
        except Exception as exc:
            trace = "\n".join(world.trace)
            pytest.fail(f"seed {seed}: {exc}\n{trace}", pytrace=False)
        finally:
            gc.enable()
            loop.close()
        assert not loop.failures, (seed, loop.failures[:3])


@pytest.mark.parametrize("block", range(BLOCKS))
def test_an_import_ends_whole_whatever_happens(block: int) -> None:
    """Kills, cut streams, lost and late answers; then the same archive once more."""
    for seed in range(block, SEEDS, BLOCKS):
        simulate(seed, ROUGH.rates)


def test_an_import_without_faults_asks_the_model_for_nothing_that_was_carried() -> None:
    """Only the document without chunks is embedded."""
    loop = SimulationLoop(1)
    with scratch_folder() as scratch, seeded_ids(1):
        world = World(loop, scratch, FaultRates())

        async def run() -> None:
            try:
                api = world.start_api()
                world.start_worker()
                pieces = await archive_of(world)
                before = world.model.embedded
                result = await one_try(world, api, pieces, cut=len(pieces))
                assert result is not None
                assert (result.carried, result.queued) == (DOCUMENTS - 1, 1)
                await world.quiescent(hours=1)
                await judge(world)
                assert world.model.embedded - before == len(lines_of(DOCUMENTS - 1))
            finally:
                await world.end()

        loop.run_until_complete(run())
        loop.close()
