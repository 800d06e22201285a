"""The product under chaos: an app factory and a worker bootstrap for each back end.

Read from the environment because both run in their own processes: `CHAOS_BACKEND` (redis or
postgres), `CHAOS_REDIS`, `CHAOS_POSTGRES`, `CHAOS_WORK`.
"""

import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

from agentscope.app import create_app
from agentscope.app.message_bus import MessageBus, RedisMessageBus
from agentscope.app.message_bus.postgres import PostgresMessageBus
from agentscope.app.rag.blob_store import LocalBlobStore
from agentscope.app.rag.knowledge_base_manager import CollectionPerKbManager
from agentscope.app.records import Timings
from agentscope.app.storage import PostgresStorage, RedisStorage, StorageBase
from agentscope.message import TextBlock
from agentscope.rag import ApproxTokenChunker, PgVectorStore, TextParser
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser

WORK = Path(os.environ.get("CHAOS_WORK", "."))
TIMINGS = Timings(
    lease_ttl=timedelta(seconds=6),
    heartbeat=timedelta(seconds=2),
    margin=timedelta(seconds=1),
    request_timeout=timedelta(seconds=3),
    upload_ttl=timedelta(seconds=10),
    sweep_interval=timedelta(seconds=1),
    drain_timeout=timedelta(seconds=2),
    parse_timeout=timedelta(seconds=4),
    grace_extra=timedelta(seconds=4),
)


class HostileParser(SyncParser):
    """Does what the first word of the file says: crash, hang, eat memory, or be slow."""

    supported_media_types: ClassVar[list[str]] = ["application/x-hostile"]

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".hostile"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        text = file.read_text() if isinstance(file, Path) else file.decode()
        word = text.split(maxsplit=1)[0]
        if word == "crash":
            os._exit(9)
        if word == "hang":
            time.sleep(3600)
        hoard = []
        while word == "eat":
            hoard.append(bytearray(32 * 1024 * 1024))
        if word == "slow":
            time.sleep(1.5)
        yield Section(content=TextBlock(text=text), source=filename)


def _storage() -> StorageBase:
    if os.environ["CHAOS_BACKEND"] == "redis":
        return RedisStorage(url=os.environ["CHAOS_REDIS"])
    return PostgresStorage(url=os.environ["CHAOS_POSTGRES"])


def _bus() -> MessageBus:
    if os.environ["CHAOS_BACKEND"] == "redis":
        return RedisMessageBus(url=os.environ["CHAOS_REDIS"])
    return PostgresMessageBus(url=os.environ["CHAOS_POSTGRES"])


def _parts() -> dict[str, Any]:
    storage = _storage()
    vectors = PgVectorStore(url=os.environ["CHAOS_POSTGRES"])
    return {
        "storage": storage,
        "message_bus": _bus(),
        "blob_store": LocalBlobStore(root_dir=WORK / "blobs"),
        "knowledge_base_manager": CollectionPerKbManager(storage=storage, vector_store=vectors),
        "secret_key": os.environ["AGENTSCOPE_SECRET_KEY"],
        "timings": TIMINGS,
    }


def app() -> Any:
    """Return the API, which does not index."""
    return create_app(
        workspace_manager=None,
        knowledge_parsers=[TextParser(), HostileParser()],
        enable_index_worker=False,
        **_parts(),
    )


def bootstrap() -> dict[str, Any]:
    """Return what `run_worker` takes."""
    return {
        **_parts(),
        "parsers": [TextParser(), HostileParser()],
        "chunker": ApproxTokenChunker(chunk_size=64, overlap=8),
        "worker_max_concurrency": 4,
    }
