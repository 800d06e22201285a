"""Sends events to webhooks: in order per webhook, at least once, by one process at a time.

A lease in the registry says which process sends. A process that dies loses it after half a
minute; what it had sent but not noted is then sent again, with the same event id.
"""

import asyncio
import hashlib
import hmac
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from agentscope import observe, outgoing
from agentscope.app.rag.service.webhooks import DeliveryState, Webhook, Webhooks, event_body
from agentscope.app.records import Event
from agentscope.errors import AgentScopeError
from agentscope.identity import new_id
from agentscope.optional import require
from agentscope.stopping import stopped

if TYPE_CHECKING:
    pass

logger = logging.getLogger(__name__)

LEASE_KEY = "webhooks/sender"
LEASE = timedelta(seconds=30)
LOOK_SECONDS = 2.0
TIMEOUT_SECONDS = 10.0
LAST_SECONDS = 2.0
PAGE = 50
PARALLEL = 8
FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 3600.0
SIGNATURE = "X-AgentScope-Signature"
EVENT_ID = "X-AgentScope-Event-Id"


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """Return the header that proves who sent the body, and when."""
    signed = str(timestamp).encode() + b"." + body
    return f"t={timestamp},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


class WebhookSender:
    """Supervised loop; only cancellation ends it."""

    def __init__(
        self,
        webhooks: Webhooks,
        *,
        look_seconds: float = LOOK_SECONDS,
        first_pause_seconds: float = FIRST_PAUSE_SECONDS,
    ) -> None:
        self._webhooks = webhooks
        self._storage = webhooks.storage
        self._look_seconds = look_seconds
        self._first_pause = first_pause_seconds
        self._owner = new_id()

    async def run(self) -> None:
        """Send until cancelled."""
        try:
            while True:
                try:
                    if await self._mine():
                        await self.look()
                except Exception as exc:
                    code = exc.code if isinstance(exc, AgentScopeError) else type(exc).__name__
                    logger.warning("webhooks_not_looked_at", extra={"error_code": code})
                await asyncio.sleep(self._look_seconds)
        finally:
            await self._give_up_lease()

    async def _mine(self) -> bool:
        """Take or keep the lease; False while another process has it."""
        registry = self._storage.registry
        now = await self._storage.now()
        mine = {"owner": self._owner, "until": (now + LEASE).isoformat()}
        standing = await registry.put_if_absent(LEASE_KEY, mine)
        if standing["owner"] == self._owner:
            await registry.put(LEASE_KEY, mine, ttl=LEASE)
            return True
        if datetime.fromisoformat(str(standing["until"])) + LEASE < now:
            await registry.delete(LEASE_KEY)  # its owner died between two words
        return False

    async def _give_up_lease(self) -> None:
        try:
            async with asyncio.timeout(1):
                standing = await self._storage.registry.get(LEASE_KEY)
                if standing is not None and standing["owner"] == self._owner:
                    await self._storage.registry.delete(LEASE_KEY)
        except Exception as exc:
            logger.debug("webhook_lease_left", extra={"error": str(exc)})

    async def look(self) -> None:
        """Send what every webhook still lacks, for at most half a lease."""
        gate = asyncio.Semaphore(PARALLEL)
        until = asyncio.get_running_loop().time() + LEASE.total_seconds() / 2

        async def send(webhook: Webhook) -> None:
            async with gate:
                try:
                    await self._catch_up(webhook, until)
                except AgentScopeError as exc:
                    fields = {"webhook_id": webhook.id, "error_code": exc.code}
                    logger.warning("webhook_skipped", extra=fields)

        hooks = [webhook async for webhook in self._webhooks.all() if webhook.enabled]
        if not hooks:
            return
        context = await asyncio.to_thread(outgoing.ssl_context)
        allow_url = self._webhooks.allow_url
        async with outgoing.client(allow_url, context=context, timeout=TIMEOUT_SECONDS) as client:
            self._client = client
            await asyncio.gather(*(send(webhook) for webhook in hooks))

    async def _catch_up(self, webhook: Webhook, until: float) -> None:
        loop = asyncio.get_running_loop()
        state = await self._webhooks.state(webhook)
        if state.waits(await self._storage.now()):
            return
        # An event is begun only while it can still end within the lease.
        while loop.time() + TIMEOUT_SECONDS < until + LEASE.total_seconds() / 2:
            events = await self._storage.events.after(webhook.user_id, state.sequence, limit=PAGE)
            for event in events:
                if loop.time() > until:
                    return
                done = await _finished(self._step(webhook, event, state))
                if done.sequence == state.sequence:
                    return
                state = done
            if events:
                await self._webhooks.keep(webhook, state)
            if len(events) < PAGE:
                return

    async def _step(self, webhook: Webhook, event: Event, state: DeliveryState) -> DeliveryState:
        done = await self._pass(webhook, event, state)
        if webhook.wants(event):
            await self._webhooks.keep(webhook, done)
        return done

    async def _pass(self, webhook: Webhook, event: Event, state: DeliveryState) -> DeliveryState:
        """Return the state after the event was sent, was not wanted, or failed."""
        if not webhook.wants(event):
            return replace(state, sequence=event.sequence)
        now = await self._storage.now()
        problem = await self._send(webhook, event, now)
        observe.DELIVERIES.labels("failed" if problem else "delivered").inc()
        if not problem:
            return DeliveryState(state.begin_id, event.sequence, delivered_at=now.isoformat())
        pause = min(LONGEST_PAUSE_SECONDS, self._first_pause * 2.0 ** min(state.failures, 20))
        logger.info(
            "webhook_not_delivered",
            extra={"webhook_id": webhook.id, "sequence": event.sequence, "reason": problem},
        )
        return replace(
            state,
            failures=state.failures + 1,
            last_error=problem,
            not_before=(now + timedelta(seconds=pause)).isoformat(),
        )

    async def _send(self, webhook: Webhook, event: Event, now: datetime) -> str:
        """Send once; return what went wrong, in words that its owner may see, or nothing."""
        body = event_body(webhook, event)
        headers = {
            "Content-Type": "application/json",
            EVENT_ID: f"{webhook.id}-{event.sequence}",
            SIGNATURE: signature(self._webhooks.secret(webhook), int(now.timestamp()), body),
        }
        try:
            await self._webhooks.check(webhook.url)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                status = await self._post(webhook.url, body, headers)
        except TimeoutError:
            return "The receiver did not answer in time."
        except AgentScopeError as exc:
            return exc.message
        except _errors() as exc:
            logger.debug("webhook_unreachable", extra={"error": str(exc)})
            return "The receiver cannot be reached."
        return "" if 200 <= status < 300 else f"The receiver answered with status {status}."

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        # The answer's body is not read: only its status matters, and it may be endless.
        async with self._client.stream("POST", url, content=body, headers=headers) as answer:
            return int(answer.status_code)


async def _finished(step: Coroutine[Any, Any, DeliveryState]) -> DeliveryState:
    """Let a delivery end when the process does, so that the next one need not repeat it."""
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=LAST_SECONDS)
        await stopped([task])
        raise


def _errors() -> tuple[type[Exception], ...]:
    return (_httpx().HTTPError, _httpx().InvalidURL)


def _httpx() -> Any:
    # Loading it costs 400 ms, which a process without webhooks should not pay.
    return require("httpx", package="httpx", extra="all")
