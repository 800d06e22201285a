"""Redis as it is deployed: behind TLS, and as a cluster, where scripts may touch one slot only."""

import asyncio
import contextlib
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
import redis.asyncio.cluster
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agentscope.app.message_bus.redis import RedisMessageBus
from agentscope.app.storage.redis.store import RedisStorage
from agentscope.errors import StorageError
from agentscope.identity import new_id
from agentscope.testing import servers
from agentscope.testing.rest import RestService, memory_app


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for 127.0.0.1 and its key; return both paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "redis")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(servers.HOST))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


@contextlib.asynccontextmanager
async def behind_tls(port: int, folder: Path) -> AsyncIterator[tuple[int, Path]]:
    """Take TLS off in front of a server: the packaged one is built without it."""
    public, private = certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(servers.HOST, port)

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while data := await source.read(65_536):
                    target.write(data)
                    await target.drain()
            target.close()

        await asyncio.gather(copy(reader, up_writer), copy(up_reader, writer))

    server = await asyncio.start_server(relay, servers.HOST, 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1], public


@pytest.mark.server
async def test_tls_is_spoken_and_certificates_are_checked(tmp_path: Path) -> None:
    """`rediss://` for records and signals; an unknown certificate is refused."""
    async with behind_tls(servers.shared_redis().port, tmp_path) as (port, known):
        url = f"rediss://{servers.HOST}:{port}/0"
        trusted = f"{url}?ssl_ca_certs={known}"
        async with RedisStorage(url=trusted, key_prefix=new_id()) as storage:
            await storage.now()
        async with RedisMessageBus(url=trusted) as bus:
            queue = new_id()
            await bus.queue_push(queue, {"n": 1})
            assert [payload for _, payload in await bus.queue_drain(queue)] == [{"n": 1}]
        with pytest.raises(StorageError):
            async with RedisStorage(url=url, key_prefix=new_id()):
                pass


@contextlib.contextmanager
def cluster() -> Any:
    """Run a cluster of one node: it refuses what touches two slots, as a large one does."""
    with servers.redis(options=("--cluster-enabled", "yes")) as server:
        yield server


class ClosingStorage(RedisStorage):
    """Closes the client that was handed in, on its own loop and after everybody else."""

    async def aclose(self) -> None:
        client = self.get_client()
        await super().aclose()
        await client.aclose()


@pytest.mark.server
def test_records_live_on_a_cluster(tmp_path: Path) -> None:
    """From upload to deletion nothing touches two slots; signals are elsewhere."""
    with cluster() as server:

        async def assign() -> None:
            client: Any = redis.asyncio.Redis(port=server.port, decode_responses=True)
            await client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
            async with asyncio.timeout(30):
                while "cluster_state:ok" not in await client.execute_command(  # noqa: ASYNC110
                    "CLUSTER", "INFO"
                ):
                    await asyncio.sleep(0.05)
            await client.aclose()

        asyncio.run(assign())
        client: Any = redis.asyncio.cluster.RedisCluster(
            host=servers.HOST, port=server.port, decode_responses=True
        )
        storage = ClosingStorage(client=client, key_prefix=new_id())
        with RestService(memory_app(tmp_path, storage=storage)) as service:
            base = service.knowledge_base()
            first = service.ready(base, "a.txt", b"zebras graze at night")
            service.ready(base, "b.txt", b"koalas sleep by day")
            path = f"/knowledge_bases/{base}"
            service.json("POST", f"{path}/documents/{first}/reindex", status=202)
            assert service.settled(base, first)["status"] == "ready"
            found = service.json("POST", f"{path}/search", json={"query": "zebras"})
            assert found["results"][0]["document_id"] == first
            page = service.json("GET", f"{path}/documents", params={"keywords": "b.t"})
            assert page["total"] == 1
            service.json("DELETE", f"{path}/documents/{first}", status=204)
            service.json("DELETE", path, status=204)
            assert service.json("GET", "/knowledge_bases/")["total"] == 0
