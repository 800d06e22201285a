"""Webhooks: a local receiver gets signed events in order, again after failures and on replay."""

import asyncio
import contextlib
import http.server
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentscope.app.egress import EgressPolicy
from agentscope.app.rag.service.webhook_delivery import WebhookSender
from agentscope.app.rag.service.webhooks import Webhooks, WebhookWish
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.credential.sealing import SecretBox
from agentscope.testing.rest import RestService

PAGE = Path(__file__).parents[2] / "docs/how-to/webhooks.md"
BOX = SecretBox.from_text("secret-key-of-the-tests-0123456789")


@dataclass
class Receiver:
    """What arrived, and the statuses to answer with before all is well."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    arrived: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    some: threading.Condition = field(default_factory=threading.Condition)

    def take(self, headers: dict[str, str], body: bytes) -> int:
        with self.some:
            self.arrived.append((headers, body))
            self.some.notify_all()
            return self.statuses.pop(0) if self.statuses else 204

    def wait_for(self, done: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        deadline = time.monotonic() + 30
        with self.some:
            while not done(self.events()):
                assert self.some.wait(deadline - time.monotonic()), self.events()
            return self.events()

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.arrived]


@contextlib.contextmanager
def receiver() -> Iterator[Receiver]:
    """Run a receiver on this machine."""
    taken = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(taken.take({k.lower(): v for k, v in self.headers.items()}, body))
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        taken.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        try:
            yield taken
        finally:
            server.shutdown()
            thread.join()


def _is_genuine() -> Callable[..., bool]:
    """Return the function of the documentation."""
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(code, names)  # the page's own words are what is tested
    found: Callable[..., bool] = names["is_genuine"]
    return found


def test_events_arrive_signed_as_documented(service: RestService, user: str) -> None:
    """The documented snippet accepts them, and nothing that was changed on the way."""
    with receiver() as taken:
        kb = service.knowledge_base(user=user)
        body = {"url": taken.url, "event_types": ["document.ready"], "knowledge_base_id": kb}
        made = service.json("POST", "/webhooks/", status=201, user=user, json=body)
        document = service.ready(kb, "a.txt", b"signed words", user=user)
        events = taken.wait_for(lambda seen: len(seen) >= 1)
        service.call("DELETE", f"/webhooks/{made['id']}", user=user)
    assert [(event["type"], event["document_id"]) for event in events] == [
        ("document.ready", document)
    ]
    headers, sent = taken.arrived[0]
    header, check = headers["x-agentscope-signature"], _is_genuine()
    assert headers["x-agentscope-event-id"] == events[0]["id"]
    assert check(made["secret"], header, sent)
    assert not check(made["secret"], header, sent + b" ")
    assert not check("whsec_other", header, sent)
    assert not check(made["secret"], header, sent, tolerance_seconds=-1)


def test_the_secret_is_shown_once_and_kept_sealed(service: RestService, user: str) -> None:
    """No later answer and no stored entry has it."""
    body = {"url": "http://127.0.0.1:9/", "enabled": False}
    made = service.json("POST", "/webhooks/", status=201, user=user, json=body)
    path = f"/webhooks/{made['id']}"
    for answer in (
        service.call("GET", path, user=user),
        service.call("GET", "/webhooks/", user=user),
        service.call("PATCH", path, user=user, json={"event_types": ["document"]}),
    ):
        assert answer.status_code == 200
        assert made["secret"] not in answer.text
    storage = service.app.state.agentscope.parts.credentials.storage
    assert made["secret"] not in str(service.run(storage.registry.list("webhook")))


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://169.254.169.254/latest", 403),
        ("ftp://example.com/x", 403),
        ("http://user:pass@127.0.0.1/", 422),
        ("http://127.0.0.1/a b", 422),
        ("http://[::1", 422),
    ],
)
def test_addresses_that_must_not_be_asked_are_refused(
    service: RestService, user: str, url: str, status: int
) -> None:
    """The policy for credentials holds for webhooks, too."""
    answer = service.call("POST", "/webhooks/", user=user, json={"url": url})
    assert answer.status_code == status, answer.text


async def _world(url: str, senders: int = 1) -> tuple[Webhooks, list[WebhookSender]]:
    hooks = Webhooks(InMemoryStorage(), BOX, allow_url=EgressPolicy().check)
    await hooks.create("u", WebhookWish(url))
    return hooks, [
        WebhookSender(hooks, look_seconds=0.02, first_pause_seconds=0.02) for _ in range(senders)
    ]


def _happen(hooks: Webhooks, count: int) -> None:
    state = hooks.storage._state  # type: ignore[attr-defined]  # the memory back end
    for number in range(count):
        state.event("u", "k", None, "document.ready", {"number": number})


@contextlib.asynccontextmanager
async def _running(senders: list[WebhookSender]) -> Any:
    tasks = [asyncio.create_task(sender.run()) for sender in senders]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_two_processes_send_each_event_once_and_in_order() -> None:
    """The lease lets one send; when it leaves, the other goes on."""
    with receiver() as taken:
        hooks, (first, second) = await _world(taken.url, 2)
        async with _running([first, second]):
            _happen(hooks, 30)
            await asyncio.to_thread(taken.wait_for, lambda seen: len(seen) >= 30)
        async with _running([second]):
            _happen(hooks, 5)
            await asyncio.to_thread(taken.wait_for, lambda seen: len(seen) >= 35)
    assert [event["sequence"] for event in taken.events()] == list(range(1, 36))


async def test_a_failing_receiver_gets_the_same_event_until_it_takes_it() -> None:
    """500, a redirect and 404 are failures; the ids are equal, and nothing overtakes."""
    with receiver() as taken:
        taken.statuses = [500, 302, 404]
        hooks, senders = await _world(taken.url)
        _happen(hooks, 2)
        async with _running(senders):
            await asyncio.to_thread(taken.wait_for, lambda seen: len(seen) >= 5)
    assert [event["sequence"] for event in taken.events()] == [1, 1, 1, 1, 2]
    assert len({headers["x-agentscope-event-id"] for headers, _ in taken.arrived}) == 2


async def test_a_replay_sends_again_with_the_same_ids() -> None:
    """From a sequence that the user names."""
    with receiver() as taken:
        hooks, senders = await _world(taken.url)
        _happen(hooks, 4)
        async with _running(senders):
            await asyncio.to_thread(taken.wait_for, lambda seen: len(seen) >= 4)
            (hook,) = await hooks.list("u")
            await hooks.replay("u", hook.id, 2)
            events = await asyncio.to_thread(taken.wait_for, lambda seen: len(seen) >= 6)
    assert [event["sequence"] for event in events] == [1, 2, 3, 4, 3, 4]
    assert events[2] == events[4]
