"""A name that changes its address after the check leads nowhere."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agentscope import outgoing
from agentscope.app.egress import EgressPolicy
from agentscope.app.rag.service.webhook_delivery import WebhookSender
from agentscope.app.rag.service.webhooks import Webhooks, WebhookWish
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.credential.sealing import SecretBox
from agentscope.embedding.provider_client import ProviderClient, Transport
from agentscope.errors import EmbeddingError, PermissionDeniedError, RerankError
from agentscope.rerank.http import HTTPReranker
from agentscope.testing.storage_world import World

PUBLIC, HERE = "93.184.216.34", "127.0.0.1"
NAME = "provider.example"


@dataclass
class Resolver:
    """Answers with one address after the other, the last one for ever; counts the questions."""

    answers: list[str]
    asked: list[str] = field(default_factory=list)

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        return [self.answers[min(len(self.asked), len(self.answers)) - 1]]


@dataclass
class Heard:
    """What a server on this machine received."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)


@asynccontextmanager
async def server(
    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    context: ssl.SSLContext | None = None,
) -> AsyncIterator[Heard]:
    """Serve one answer to everybody on a free port of this machine."""
    heard = Heard()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    if context is not None:
        context.sni_callback = lambda _, name, __: heard.names.append(name)
    running = await asyncio.start_server(serve, HERE, 0, ssl=context)
    heard.port = running.sockets[0].getsockname()[1]
    async with running:
        yield heard


def closed(resolve: Callable[[str, int], list[str]]) -> EgressPolicy:
    return EgressPolicy(allow_loopback=False, allow_private=False, resolve=resolve)


async def test_the_connection_is_judged_not_the_name() -> None:
    """The check saw a public address, the connection would go to this machine."""
    resolver = Resolver([PUBLIC, HERE])
    policy = closed(resolver)
    async with server() as heard:
        url = f"http://{NAME}:{heard.port}/"
        policy(url)
        async with outgoing.client(policy, context=outgoing.ssl_context()) as client:
            with pytest.raises(PermissionDeniedError):
                await client.get(url)
        assert heard.requests == []
        assert len(resolver.asked) == 2


async def test_the_address_that_was_checked_is_the_one_connected_to() -> None:
    """Resolved once; a later answer has no say, and the name stands in the request."""
    resolver = Resolver([HERE, "192.0.2.1"])
    policy = EgressPolicy(resolve=resolver)
    async with server() as heard:
        async with outgoing.client(policy, context=outgoing.ssl_context()) as client:
            answer = await client.get(f"http://{NAME}:{heard.port}/v1")
        assert answer.status_code == 200
        assert resolver.asked == [NAME]
        assert f"Host: {NAME}:{heard.port}\r\n".encode() in heard.requests[0]


async def test_every_redirect_ends_here() -> None:
    """Not even one to the same host is followed."""
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    async with server(moved) as heard:
        policy = EgressPolicy(resolve=Resolver([HERE]))
        async with outgoing.client(policy, context=outgoing.ssl_context()) as client:
            answer = await client.get(f"http://{NAME}:{heard.port}/")
        assert (answer.status_code, len(heard.requests)) == (302, 1)


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    """Only the last failure counts, and a name without any address is one, too."""
    async with server() as heard:
        policy = EgressPolicy(resolve=lambda host, port: ["127.0.0.9", HERE])
        async with outgoing.client(policy, context=outgoing.ssl_context(), timeout=20) as client:
            assert (await client.get(f"http://{NAME}:{heard.port}/")).status_code == 200
        policy = EgressPolicy(resolve=lambda host, port: [])
        async with outgoing.client(policy, context=outgoing.ssl_context()) as client:
            with pytest.raises(httpx.ConnectError):
                await client.get(f"http://{NAME}:{heard.port}/")


def _certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return contexts of a server that is called `name`, and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    both = folder / "server.pem"
    both.write_bytes(pem + secret)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(both)
    return serving, ssl.create_default_context(cadata=pem.decode())


async def test_the_certificate_must_be_for_the_name(tmp_path: Path) -> None:
    """Though the connection goes to an address; the name is what the server is asked for."""
    serving, trusting = _certificate(tmp_path, NAME)
    policy = EgressPolicy(resolve=Resolver([HERE]))
    async with server(context=serving) as heard:
        async with outgoing.client(policy, context=trusting) as client:
            assert (await client.get(f"https://{NAME}:{heard.port}/")).status_code == 200
            with pytest.raises(httpx.ConnectError):
                await client.get(f"https://other.example:{heard.port}/")
        assert heard.names[0] == NAME
        assert len(heard.requests) == 1


async def test_providers_and_rerankers_are_held_to_it() -> None:
    """With one clear error that says nothing of where the name led."""
    async with server() as heard:
        url = f"http://{NAME}:{heard.port}/rerank"
        transport = Transport(allow_url=closed(Resolver([PUBLIC, HERE])))
        provider = ProviderClient(provider="p", headers={}, secret="", transport=transport)
        with pytest.raises(EmbeddingError) as refused:
            await provider.send("POST", url, {})
        await provider.aclose()
        assert not refused.value.retryable
        policy = closed(Resolver([PUBLIC, HERE]))
        async with HTTPReranker(url, allow_url=policy) as reranker:
            with pytest.raises(RerankError) as ranked:
                await reranker.score("q", ["a"])
        for message in (refused.value.message, ranked.value.message):
            assert message == "This address must not be used from here."
        assert heard.requests == []


async def test_webhooks_are_held_to_it() -> None:
    """The owner reads the same sentence as for an address that was forbidden from the start."""
    async with server() as heard:
        storage = InMemoryStorage()
        box = SecretBox.from_text("secret-key-of-the-tests-0123456789")
        hooks = Webhooks(storage, box, allow_url=closed(Resolver([PUBLIC, HERE])))
        wish = WebhookWish(f"http://{NAME}:{heard.port}/")
        hook, _ = await hooks.create("u", wish)
        await World(storage, lambda step: None).knowledge_base("u")
        await WebhookSender(hooks).look()
        state = await hooks.state(hook)
        assert (state.failures, state.last_error) == (1, "This address must not be used from here.")
        assert heard.requests == []


async def test_a_plain_function_is_asked_for_urls_only() -> None:
    """An embedder's own rule knows names; it can hold no connection to an address."""
    async with server() as heard:

        def allow(url: str) -> None:
            assert url

        async with outgoing.client(allow, context=outgoing.ssl_context()) as client:
            assert (await client.get(f"http://{HERE}:{heard.port}/")).status_code == 200
