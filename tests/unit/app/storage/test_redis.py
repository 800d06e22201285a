"""What is special to Redis."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
import redis.asyncio
import redis.exceptions

from agentscope.app.records import DocumentStatus, OnDuplicate
from agentscope.app.storage.redis import scripts
from agentscope.app.storage.redis.keys import Keys
from agentscope.app.storage.redis.store import RedisStorage
from agentscope.app.storage.verbs import purge_passed, tombstone
from agentscope.errors import ConfigurationError, StorageError
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.storage_world import GRACE, TTL, World

pytestmark = pytest.mark.server


class LossyClient:
    """A client whose next answer to a commit is lost after the server applied it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.lose = False
        self.lost = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def evalsha(self, sha: str, *arguments: Any) -> Any:
        answer = await self._client.evalsha(sha, *arguments)
        if sha == scripts.COMMIT.sha and self.lose:
            self.lose = False
            self.lost += 1
            raise redis.exceptions.ConnectionError("the answer was lost")
        return answer


class Moved:
    """How far store time was moved."""

    def __init__(self) -> None:
        self.by = timedelta()

    def advance(self, step: timedelta) -> None:
        """Move on."""
        self.by += step


@asynccontextmanager
async def lossy_world() -> AsyncIterator[tuple[World, LossyClient]]:
    """Yield a storage over a client that can lose answers."""
    moved, url = Moved(), servers.shared_redis().url
    raw = redis.asyncio.Redis.from_url(url)  # bytes come back: the storage must not care
    client: Any = LossyClient(raw)
    async with RedisStorage(client=client, key_prefix=new_id(), shift=lambda: moved.by) as storage:
        yield World(storage, moved.advance), client
    await raw.aclose()


async def test_a_lost_answer_does_not_turn_a_success_into_a_loss() -> None:
    """A commit that was applied is recognised when it is sent again."""
    async with lossy_world() as (world, client):
        base = await world.knowledge_base()
        client.lose = True
        document = await world.begin(base)
        client.lose = True
        await world.storage.documents.commit_upload(
            document.id, stored={"size": 3}, on_duplicate=OnDuplicate.KEEP, policy=world.policy
        )
        client.lose = True
        (claim,) = await world.claim()
        client.lose = True
        done = await world.writer(claim).publish(3, warnings=(), report={})
        assert done.status is DocumentStatus.READY
        client.lose = True
        gone = await tombstone(world.storage.documents, document.id, policy=world.policy)
        assert gone.status is DocumentStatus.DELETING
        world.advance(TTL + GRACE + GRACE)
        (sweep,) = await world.sweep()
        client.lose = True
        assert (
            await purge_passed(world.storage.documents, document.id, claimed_at=sweep.claimed_at)
            is None
        )
        assert client.lost == 6
        await world.check_totals()
        await world.check_events("u")


async def test_a_commit_long_after_its_load_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that was read is too old then; the change is made again with a fresh one."""
    async with lossy_world() as (world, _):
        base = await world.knowledge_base()
        document = await world.upload(base)
        server = world.storage.documents._server  # type: ignore[attr-defined]
        load = server.load
        late: list[Any] = []

        async def first_load_is_old(*arguments: Any) -> Any:
            loaded = await load(*arguments)
            if late:
                return loaded
            late.append(loaded)
            object.__setattr__(loaded, "micros", loaded.micros - 6_000_000)
            return loaded

        monkeypatch.setattr(server, "load", first_load_is_old)
        gone = await tombstone(world.storage.documents, document.id, policy=world.policy)
        assert gone.deleted_at is not None
        assert gone.deleted_at > late[0].now


async def test_frequent_calls_never_scan() -> None:
    """No KEYS and no SCAN, whatever is asked."""
    with servers.redis() as server:
        async with RedisStorage(url=server.url) as storage:
            world = World(storage, lambda step: None)
            base = await world.knowledge_base()
            await world.ready(base)
            await world.sweep()
            await world.claim()
            await world.check_totals()
            await storage.registry.put("a", {})
            await storage.registry.list("")
            await storage.events.trim(older_than=timedelta(days=1))
            stats = await storage.get_client().info("commandstats")
        assert not {name for name in stats if "scan" in name or name.endswith("_keys")}


async def test_a_deleted_knowledge_base_leaves_nothing_behind() -> None:
    """Only the user's counters and events stay, and what layout the keys have."""
    moved = Moved()
    with servers.redis() as server:
        async with RedisStorage(url=server.url, shift=lambda: moved.by) as storage:
            world = World(storage, moved.advance)
            base = await world.knowledge_base()
            for number in range(3):
                await world.upload(base, sha=f"s{number}")
            (claim,) = await world.claim()
            await world.writer(claim).publish(1, warnings=(), report={})
            for record in await world.everything():
                await tombstone(storage.documents, record.id, policy=world.policy)
                assert await storage.documents.apply(record.id, _remove) is None
            assert await storage.knowledge_bases.apply(base.id, lambda record, now: None) is None
            client = storage.get_client()
            left = {str(name) for name in await client.keys("*")}
        root = Keys("agentscope").root
        kinds = {name.removeprefix(root).partition(":")[0] for name in left}
        assert kinds <= {"user", "events", "userswithevents", "turn", "hold", "layout"}


def _remove(record: object, base: object, now: object) -> None:
    del record, base, now


async def test_a_wrong_password_is_told_at_once() -> None:
    """It is a plain error that no retry heals; TLS and addresses go through `url`."""
    with servers.redis(options=("--requirepass", "secret")) as server:
        async with RedisStorage(port=server.port, password="secret") as storage:
            await storage.now()
        with pytest.raises(StorageError) as caught:
            async with RedisStorage(port=server.port, password="wrong"):
                pass
        assert "password" in caught.value.message
        assert "wrong" not in caught.value.message
        assert not caught.value.retryable


async def test_a_pool_made_elsewhere_is_used_and_left_open() -> None:
    """The documented `connection_pool` and the attribute `_client`."""
    pool = redis.asyncio.BlockingConnectionPool.from_url(servers.shared_redis().url)
    async with RedisStorage(connection_pool=pool, key_ttl=60, key_prefix=new_id()) as storage:
        await storage.now()
        assert storage._client is storage.get_client()
    client = redis.asyncio.Redis(connection_pool=pool)
    assert await client.ping()
    other = RedisStorage(key_prefix=new_id())
    other._client = client
    async with other:
        await other.now()
    await client.aclose()
    await pool.aclose()


@pytest.mark.parametrize("prefix", ["", "a{b", "}"])
def test_a_prefix_that_breaks_the_hash_tag_is_refused(prefix: str) -> None:
    """All keys must share one slot."""
    with pytest.raises(ConfigurationError):
        RedisStorage(key_prefix=prefix)
