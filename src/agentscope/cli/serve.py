"""`agentscope-rag serve`: the whole product in one process."""

import contextlib
import ipaddress
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import uvicorn

from agentscope.app.settings import IDENTITIES, Settings
from agentscope.cli.application import application
from agentscope.cli.data_directory import DataDirectory
from agentscope.cli.place import opened
from agentscope.cli.telemetry import set_up_logs, traces
from agentscope.errors import ConfigurationError

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
MAX_HEAD_BYTES = 512 * 1024
"""A status call may name 10,000 documents in its address."""
STOP_SECONDS = 5


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port.  [default: 8000]")
@click.option(
    "--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Where all is kept."
)
@click.option("--index-slots", type=click.IntRange(1, 256), help="Documents indexed at once.")
@click.option(
    "--allow-header-identity",
    is_flag=True,
    default=None,
    help="Listen beyond this machine although any caller may name any user.",
)
@click.option(
    "--identity",
    type=click.Choice(IDENTITIES),
    help="How callers are identified.  [default: header]",
)
@click.option("--ui/--no-ui", default=None, help="Serve the web app at /.")
@click.option("--index/--no-index", default=None, help="Index in this process, too.")
@click.option(
    "--postgres",
    type=click.Choice(["embedded"]),
    help="Run PostgreSQL under the data directory, so that workers can join.",
)
def command(**given: Any) -> None:
    """Start the service with its web app. Needs no other service and no key."""
    settings = Settings.from_environment(os.environ, **given)
    set_up_logs(settings)
    local = is_loopback(settings.host)
    trusting = settings.identity == "header"
    if not local and trusting and not settings.allow_header_identity:
        raise ConfigurationError(
            f"Refusing to listen on {settings.host}: without authentication anybody who reaches "
            "the service can be any user. Use API keys (--identity api_key), or put a gateway in "
            "front that sets X-User-ID and start it with --allow-header-identity."
        )
    with (
        opened(settings) as place,
        _listening(settings.host, settings.port) as listener,
        traces(settings, role="serve") as provider,
    ):
        url = _url(settings.host, listener.getsockname()[1])
        hosts = LOCAL_NAMES if local else None
        app = application(settings, place, allowed_hosts=hosts, tracer_provider=provider)
        server = _Server(_config(app, settings), place.directory, url)
        server.run(sockets=[listener])
    if not server.started:
        raise ConfigurationError("The service did not start; the log above says why.")


class _Server(uvicorn.Server):
    """Says where it is once it listens."""

    def __init__(self, config: uvicorn.Config, directory: DataDirectory, url: str) -> None:
        super().__init__(config)
        self._directory = directory
        self._url = url

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal and exit at the second.

        The original raises the signal again once everything is closed, so that the process would
        end by it: before the data directory is given back, and with a status that says failure.
        """
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._directory.tell_address(self._url)
            click.echo(f"AgentScope RAG is ready: {self._url}  (data in {self._directory.path})")


def _config(app: Any, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        http="h11",
        ws="none",
        lifespan="on",
        server_header=False,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_graceful_shutdown=STOP_SECONDS,
        log_level=settings.log_level.lower(),
    )


def _listening(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as exc:
        raise ConfigurationError(f"The address {host} cannot be used: {exc.strerror}.") from exc
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as exc:
        listener.close()
        raise ConfigurationError(
            f"Port {port} of {host} cannot be used: {exc.strerror}. Choose another with --port."
        ) from exc
    return listener


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
