"""Loads and commits on one Redis server: what all nouns share."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from agentscope.app.records import DocumentRecord, KnowledgeBaseRecord
from agentscope.app.redis_connection import RedisConnection, Script
from agentscope.app.storage.codec import from_micros, load_document, load_knowledge_base
from agentscope.app.storage.redis import scripts
from agentscope.app.storage.redis.commit import Commit
from agentscope.app.storage.redis.keys import Keys
from agentscope.errors import StorageError

Result = TypeVar("Result")

MAX_TRIES = 60
LONGEST_PAUSE_SECONDS = 0.05


class ConflictOnCommit(Exception):  # noqa: N818 - a signal between two functions, never shown
    """What was loaded does not stand any more; load again."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What one load found: records with their versions ('': not there) and the time."""

    now: datetime
    micros: int  # of the server, not shifted
    version: str
    document: DocumentRecord | None
    base_version: str
    knowledge_base: KnowledgeBaseRecord | None
    twin_member: str
    twin_version: str
    twin: DocumentRecord | None


class RedisServer:
    """One server under one prefix; `shift` moves store time (tests)."""

    def __init__(
        self,
        connection: RedisConnection,
        prefix: str,
        shift: Callable[[], timedelta] | None,
    ) -> None:
        self.connection = connection
        self.keys = Keys(prefix)
        self._shift = shift or timedelta

    async def run(self, script: Script, keys: Sequence[str], *arguments: Any) -> Any:
        """Run a script."""
        return await self.connection.run(script, keys, arguments)

    @property
    def shift_micros(self) -> int:
        """How far store time is ahead of the server, in microseconds."""
        return self._shift() // timedelta(microseconds=1)

    def time(self, seconds: Any, micros: Any) -> tuple[int, datetime]:
        """Return the server's time as it said it, and store time."""
        raw = int(seconds) * 1_000_000 + int(micros)
        return raw, from_micros(raw) + self._shift()

    async def load(self, document_id: str, sha: str | None = None) -> Loaded:
        """Return the document, its knowledge base and the oldest one with the content `sha`."""
        keys = self.keys
        found = await self.run(scripts.LOAD, [keys.document(document_id)], keys.root, sha or "")
        micros, now = self.time(found[0], found[1])
        return Loaded(
            now=now,
            micros=micros,
            version=found[2],
            document=load_document(found[3]) if found[3] else None,
            base_version=found[4],
            knowledge_base=load_knowledge_base(found[5]) if found[5] else None,
            twin_member=found[6],
            twin_version=found[7],
            twin=load_document(found[8]) if found[8] else None,
        )

    async def load_one(self, key: str) -> tuple[int, datetime, str, str]:
        """Return the server's time, store time, and version and body of one hash."""
        found = await self.run(scripts.LOAD_ONE, [key])
        micros, now = self.time(found[0], found[1])
        return micros, now, found[2], found[3]

    async def load_base(
        self, knowledge_base_id: str
    ) -> tuple[int, datetime, str, KnowledgeBaseRecord | None]:
        """Return the server's time, store time, version and record of a knowledge base."""
        micros, now, version, body = await self.load_one(
            self.keys.knowledge_base(knowledge_base_id)
        )
        return micros, now, version, load_knowledge_base(body) if body else None

    async def commit(self, commit: Commit) -> bool:
        """Write; False: a counter is at its limit and nothing was written.

        Raises:
            ConflictOnCommit: something checked does not stand any more.
        """
        keys, words = commit.encoded()
        answer = await self.run(scripts.COMMIT, keys, *words)
        if answer in ("conflict", "late"):
            raise ConflictOnCommit
        return bool(answer != "full")

    async def repeated(self, step: Callable[[int], Awaitable[Result]]) -> Result:
        """Run `step` (given the number of earlier tries) until it meets no conflict.

        Raises:
            StorageError: others were always faster.
        """
        for number in range(MAX_TRIES):
            try:
                return await step(number)
            except ConflictOnCommit:
                longest = min(LONGEST_PAUSE_SECONDS, 0.001 * 2**number)
                await asyncio.sleep(random.uniform(0, longest))  # noqa: S311 - no secret
        raise StorageError(
            "Too many changes of the same record at once; try again.", provider="redis"
        )
