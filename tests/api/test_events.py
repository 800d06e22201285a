"""Event streams over real HTTP: order, resumption, bounds and borders."""

import asyncio
import contextlib
import json
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.rag.service.events import EventFeed, FeedLimits, Scope
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.errors import QuotaExceededError
from agentscope.rag.parser.text import TextParser
from agentscope.testing.event_streams import StreamListener
from agentscope.testing.live_service import LiveService
from agentscope.testing.rest import DIMENSIONS, RestService, memory_app

MODEL = {
    "type": "local_credential",
    "credential_id": "local",
    "model": "fake-embedding",
    "dimensions": DIMENSIONS,
}


class _Quiet(uvicorn.Server):
    def install_signal_handlers(self) -> None:
        return


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    app = memory_app(folder, enable_index_worker=False, knowledge_parsers=[TextParser()])
    config = uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1, ws="none")
    server = _Quiet(config)
    with contextlib.ExitStack() as stack:
        listening = config.bind_socket()
        stack.callback(listening.close)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        stack.callback(thread.join, 20)
        stack.callback(setattr, server, "should_exit", True)
        host, port = listening.getsockname()[:2]
        url = f"http://{host}:{port}"
        deadline = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < deadline
            threading.Event().wait(0.01)
        yield url


def _events(answer: httpx.Response) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield (id, type, data) of every event that has data, and remember the id of all frames."""
    number, kind, data = 0, "message", ""
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            number = int(value)
        elif name == "event":
            kind = value
        elif name == "data":
            data = value
        elif not line and data:
            yield number, kind, json.loads(data)
            kind, data = "message", ""


def test_a_cut_connection_resumes_without_gap_or_repetition(tmp_path: Path) -> None:
    """Real HTTP: every second event the connection is dropped, and the sequence stays whole."""
    with (
        _served(tmp_path) as url,
        httpx.Client(base_url=url, headers={"X-User-ID": "carol"}, timeout=30) as client,
    ):
        live = LiveService(client)
        kb = live.knowledge_base("Boats", MODEL)
        ids = [
            live.upload(kb, f"{n}.txt", f"boat {n}".encode()).json()["document_id"]
            for n in range(3)
        ]
        seen: list[int] = []
        kinds: list[tuple[str | None, str]] = []
        place = 0
        while kinds.count((ids[2], "document.deleted")) == 0:
            headers = {"Last-Event-ID": str(place)}
            path = f"/knowledge_bases/{kb}/events"
            with client.stream("GET", path, headers=headers) as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                for count, (number, kind, data) in enumerate(_events(answer), start=1):
                    place = number
                    seen.append(number)
                    kinds.append((data["document_id"], kind))
                    if kinds[-1] == (ids[1], "document.pending"):
                        client.delete(f"/knowledge_bases/{kb}/documents/{ids[2]}")
                    if count == 2 or kind == "document.deleted":
                        break
        assert seen == sorted(set(seen))
        assert seen == list(range(seen[0], seen[-1] + 1))
        assert all((document, "document.pending") in kinds for document in ids)


def test_two_hundred_streams_that_are_cut_at_random_stay_whole(tmp_path: Path) -> None:
    """Real HTTP, one process: each listener hears every event of its user once, in order."""
    users = [f"listener-{number}" for number in range(10)]

    async def listen(url: str, bases: dict[str, str]) -> list[StreamListener]:
        host, _, port = url.removeprefix("http://").rpartition(":")
        listeners = [
            StreamListener(host, int(port), "/events", user, 0.2, random.Random(f"{user} {number}"))
            for user in users
            for number in range(20)
        ]
        tasks = [asyncio.create_task(one.run(9)) for one in listeners]
        await asyncio.gather(*(one.connected.wait() for one in listeners))
        async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client:
            for number in range(8):
                for user, base in bases.items():
                    files = {"file": (f"{number}.txt", b"a boat", "text/plain")}
                    path, sender = f"/knowledge_bases/{base}/documents", {"X-User-ID": user}
                    answer = await client.post(path, headers=sender, files=files)
                    assert answer.status_code == 201
        async with asyncio.timeout(60):
            await asyncio.gather(*tasks)
        return listeners

    with _served(tmp_path) as url:
        bases = {}
        for user in users:
            with httpx.Client(base_url=url, headers={"X-User-ID": user}, timeout=30) as client:
                bases[user] = LiveService(client).knowledge_base("Boats", MODEL)
        listeners = asyncio.run(listen(url, bases))
    assert all(one.whole for one in listeners)
    assert sum(one.cuts for one in listeners) > 100
    for one in listeners:
        assert {frame.data["knowledge_base_id"] for frame in one.frames} == {bases[one.user]}


def test_a_waiting_stream_is_told_at_once(tmp_path: Path) -> None:
    """What happens after the stream began arrives in it; the stream of all shows it, too."""
    with (
        _served(tmp_path) as url,
        httpx.Client(base_url=url, headers={"X-User-ID": "dave"}, timeout=30) as client,
    ):
        live = LiveService(client)
        kb = live.knowledge_base("Boats", MODEL)
        with client.stream("GET", "/events") as answer:
            events = _events(answer)
            document = live.upload(kb, "new.txt", b"a new boat").json()["document_id"]
            number, kind, data = next(events)
            assert (kind, data["document_id"]) == ("document.pending", document)
            assert data["sequence"] == number


def test_streams_keep_to_their_user_and_knowledge_base(service: RestService, user: str) -> None:
    """Others' events never show; a stream of one knowledge base has only its own."""
    first = service.knowledge_base(user=user)
    second = service.knowledge_base(user=user)
    service.ready(first, "a.txt", b"alpha", user=user)
    service.ready(second, "b.txt", b"beta", user=user)
    now = {"after": 0, "seconds": 0}
    one = service.call("GET", f"/knowledge_bases/{first}/events", user=user, params=now).text
    assert first in one
    assert second not in one
    both = service.call("GET", "/events", user=user, params=now).text
    assert first in both
    assert second in both
    assert "data:" not in service.call("GET", "/events", user=f"{user}-x", params=now).text


@pytest.mark.parametrize("place", ["-1", "x", "1e3", "9" * 30, " "])
def test_a_made_up_place_is_refused(service: RestService, user: str, place: str) -> None:
    """The header must be a sequence."""
    headers = {"Last-Event-ID": place}
    assert service.call("GET", "/events", user=user, headers=headers).status_code == 422


def test_a_client_learns_that_it_missed_events(service: RestService, user: str) -> None:
    """Old events are removed after a while; a place before them gets a `gap`."""
    kb = service.knowledge_base(user=user)
    storage = service.app.state.agentscope.parts.credentials.storage
    state = storage._state
    del state.user(user).events[:]
    text = service.call("GET", "/events", user=user, params={"after": 0, "seconds": 0}).text
    assert "event: gap" in text
    assert kb not in text


async def test_two_hundred_listeners_hear_the_same_and_a_slow_one_misses_nothing() -> None:
    """They share one look at the outbox; the bus is silent, so polling alone finds the events."""
    storage = InMemoryStorage()
    limits = FeedLimits(per_user=200, total=300)
    feed = EventFeed(storage, InMemoryMessageBus(), limits=limits, poll_seconds=0.02)
    async with feed:
        start = await storage.events.last("u")

        async def listen() -> list[int]:
            listener = feed.listen(Scope("u"))
            heard: list[int] = []
            try:
                async for _, events in listener.pages(start, heartbeat=5, seconds=20):
                    heard += [event.sequence for event in events]
                    if len(heard) >= 300:
                        return heard
            finally:
                listener.close()
            return heard

        tasks = [asyncio.create_task(listen()) for _ in range(200)]
        await asyncio.sleep(0)
        with pytest.raises(QuotaExceededError):
            feed.listen(Scope("u"))
        for number in range(300):
            storage._state.event("u", "k", None, f"test.{number}", {})
            if number % 50 == 0:
                await asyncio.sleep(0)
        heard = await asyncio.gather(*tasks)
    assert all(sequences == list(range(start + 1, start + 301)) for sequences in heard)
    assert not feed._audiences
