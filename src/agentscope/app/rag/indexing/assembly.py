"""Puts the indexing side of a process together: the same for embedded and separate workers."""

import asyncio
import contextlib
import logging
import os
import random
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from agentscope.app.message_bus.base import MessageBus
from agentscope.app.rag.blob_store.base import StreamingBlobStore
from agentscope.app.rag.indexing.consumer import DEFAULT_BATCH, Consumer
from agentscope.app.rag.indexing.migrator import Migrator
from agentscope.app.rag.indexing.pipeline import Pipeline
from agentscope.app.rag.indexing.presence import Presence
from agentscope.app.rag.indexing.reading import DocumentReader, ReadLimits
from agentscope.app.rag.indexing.scratch import Scratch
from agentscope.app.rag.indexing.worker import IndexWorker, PausedSeconds, not_paused
from agentscope.app.rag.knowledge_base_manager.base import KnowledgeBaseManagerBase
from agentscope.app.rag.knowledge_base_manager.creation import RecordedManager
from agentscope.app.records import ChunkerConfig, DocumentRecord, Policy
from agentscope.app.storage.base import StorageBase
from agentscope.clock import Clock, SystemClock
from agentscope.identity import new_id
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.registry import ParserRegistry
from agentscope.stopping import stopped

logger = logging.getLogger(__name__)

ALWAYS_ROUTED = frozenset({"", "application/octet-stream", "application/vnd.ms-excel"})
"""Types that clients send for want of a better one; the name and content decide then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingParts:
    """What indexing works with; entered before and closed after it by whoever made it."""

    storage: StorageBase
    message_bus: MessageBus
    blobs: StreamingBlobStore
    manager: KnowledgeBaseManagerBase
    reader: DocumentReader
    parsers: ParserRegistry
    chunker_of: Callable[[ChunkerConfig | None], ChunkerBase]
    policy: Policy = field(default_factory=Policy)
    read_limits: ReadLimits = field(default_factory=ReadLimits)
    max_file_bytes: int = 2 * 1024**3
    max_batch: int = DEFAULT_BATCH
    node_id: str = ""
    temporary: Path | None = None
    clock: Clock = field(default_factory=SystemClock)
    rng: random.Random = field(default_factory=random.Random)
    on_ended: Callable[[str], None] = lambda user_id: None
    """Called with the owner when a run ended, however it did."""
    paused_seconds: PausedSeconds = not_paused


def default_node_id() -> str:
    """Return a name for this worker that no other has."""
    return f"{socket.gethostname()}:{os.getpid()}:{new_id()[:8]}"


def parser_choice(
    parsers: ParserRegistry,
) -> Callable[[DocumentRecord, bytes], tuple[ParserBase, str]]:
    """Return the function that finds the parser of a document.

    The type was routed at upload, where an explicit wish was known, so it is trusted; an API
    without parsers stored what the client said, and that is routed here if it says nothing.
    """

    def choose(document: DocumentRecord, head: bytes) -> tuple[ParserBase, str]:
        return stored_parser(parsers, document.filename, document.content_type or "", head)

    return choose


def stored_parser(
    parsers: ParserRegistry, filename: str, media_type: str, head: bytes
) -> tuple[ParserBase, str]:
    """Return parser and media type of a stored original, as `parser_choice` says."""
    parser = None if media_type in ALWAYS_ROUTED else parsers.parser_for(media_type)
    if parser is not None:
        return parser, media_type
    route = parsers.route(filename, declared=media_type or None, explicit=None, head=head)
    return route.parser, route.media_type


@contextlib.asynccontextmanager
async def indexing(
    parts: IndexingParts, *, drain_seconds: float | None = None
) -> AsyncIterator[Consumer]:
    """Index in the background while the context is open; leaving it drains."""
    node_id = parts.node_id or default_node_id()
    async with contextlib.AsyncExitStack() as stack:
        scratch = await stack.enter_async_context(Scratch(parts.temporary))
        pipeline = Pipeline(
            manager=parts.manager,
            blobs=parts.blobs,
            reader=parts.reader,
            parser_of=parser_choice(parts.parsers),
            chunker_of=parts.chunker_of,
            scratch=scratch,
            timings=parts.policy.timings,
            read_limits=parts.read_limits,
            max_file_bytes=parts.max_file_bytes,
        )
        worker = IndexWorker(
            storage=parts.storage,
            pipeline=pipeline,
            policy=parts.policy,
            clock=parts.clock,
            rng=parts.rng,
            on_ended=parts.on_ended,
            paused_seconds=parts.paused_seconds,
        )
        consumer = Consumer(
            storage=parts.storage,
            message_bus=parts.message_bus,
            worker=worker,
            owner=node_id,
            policy=parts.policy,
            clock=parts.clock,
            rng=parts.rng,
            max_batch=parts.max_batch,
        )
        presence = Presence(parts.storage, node_id, parts.parsers, consumer)
        tasks = [asyncio.create_task(consumer.run()), asyncio.create_task(presence.run())]
        if isinstance(parts.manager, RecordedManager):
            migrator = Migrator(
                manager=parts.manager,
                owner=node_id,
                policy=parts.policy,
                clock=parts.clock,
                rng=parts.rng,
            )
            tasks.append(asyncio.create_task(migrator.run()))
        try:
            yield consumer
        finally:
            await consumer.drain(drain_seconds)
            await stopped(tasks)
            await presence.leave()
