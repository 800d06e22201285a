"""How client commands reach a service: over the network, or by opening the files themselves."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
import httpx

from agentscope import logs
from agentscope.app.running import operator_key
from agentscope.app.settings import Settings
from agentscope.cli.application import application
from agentscope.cli.data_directory import DataDirectory
from agentscope.cli.in_process import InProcessTransport
from agentscope.cli.place import opened
from agentscope.errors import (
    AgentScopeError,
    DataDirectoryLockedError,
    InvalidInputError,
    UpstreamError,
)

Result = TypeVar("Result")
Command = TypeVar("Command", bound=Callable[..., Any])

TIMEOUT = httpx.Timeout(120, connect=10)


def connection_options(command: Command) -> Command:
    """Add the options that say which service a command talks to."""
    for option in (
        click.option("--api-key", help="Key that identifies the user."),
        click.option("--user", help="User id.  [default: default]"),
        click.option(
            "--data-dir",
            type=click.Path(file_okay=False, path_type=Path),
            help="The service on this directory; without one, open its files.",
        ),
        click.option("--url", help="Address of the service.  [default: http://127.0.0.1:8000]"),
    ):
        command = option(command)
    return command


@dataclass(slots=True)
class Client:
    """A REST client of one user; failures are raised as our errors with the service's sentence."""

    http: httpx.AsyncClient
    where: str

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """Return the decoded answer.

        Raises:
            AgentScopeError: the service refused; the message is its own.
            UpstreamError: it does not answer.
        """
        try:
            answer = await self.http.request(method, path, **options)
        except httpx.HTTPError as exc:
            raise UpstreamError(f"The service at {self.where} does not answer: {exc}") from exc
        if answer.is_success:
            return answer.json() if answer.content else None
        raise refusal(answer)

    async def pages(self, path: str, name: str, **params: Any) -> AsyncIterator[dict[str, Any]]:
        """Yield the entries of a list, page by page."""
        number, seen = 1, 0
        while True:
            asked = {**params, "page": number, "page_size": 128}
            answer = await self.call("GET", path, params=asked)
            for entry in answer[name]:
                yield entry
            seen += len(answer[name])
            number += 1
            if not answer[name] or seen >= answer["total"]:
                return


def refusal(answer: httpx.Response) -> AgentScopeError:
    """Return the error to raise for an answer that is none."""
    return AgentScopeError(_sentence(answer), context={"status": answer.status_code})


def _sentence(answer: httpx.Response) -> str:
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return f"The service answered {answer.status_code}."
    if isinstance(detail, list):
        return "; ".join(str(item.get("msg", item)) for item in detail)
    return str(detail)


def run_command(
    given: Mapping[str, Any], work: Callable[[Client, Settings], Awaitable[Result]]
) -> Result:
    """Run `work` against the service that the options name."""
    named = {name: given.get(name) for name in ("url", "user", "data_dir", "api_key")}
    settings = Settings.from_environment(os.environ, **named)
    logs.set_up("WARNING", settings.log_format)

    async def run() -> Result:
        async with connected(settings, files=named["data_dir"] is not None) as client:
            try:
                return await work(client, settings)
            except AgentScopeError as exc:
                refusal = exc
        # Raised outside, or the task groups of an app that runs here would wrap it.
        raise refusal

    return asyncio.run(run())


@asynccontextmanager
async def connected(settings: Settings, *, files: bool) -> AsyncIterator[Client]:
    """Yield a client; `files` lets it open the data directory if no service owns it."""
    directory = DataDirectory(settings.data_dir)
    async with AsyncExitStack() as stack:
        transport = None
        url = settings.url
        if url is None and files:
            try:
                place = stack.enter_context(opened(settings))
            except DataDirectoryLockedError:
                url = directory.address()
                if url is None:
                    raise
            else:
                app = application(settings, place, ui=False)
                await stack.enter_async_context(app.router.lifespan_context(app))
                transport = InProcessTransport(app)
                url = "http://127.0.0.1"
        if url is None:
            url = directory.address() or f"http://{settings.host}:{settings.port}"
        client = httpx.AsyncClient(
            base_url=url,
            transport=transport,
            headers=_identity(settings),
            timeout=TIMEOUT,
            trust_env=False,
        )
        yield Client(await stack.enter_async_context(client), url)


def _identity(settings: Settings) -> dict[str, str]:
    headers = {"X-User-ID": settings.user}
    if settings.api_key:
        headers["Authorization"] = f"Bearer {settings.api_key}"
    return headers


def operator_headers(settings: Settings) -> dict[str, str]:
    """Return the headers of operator routes: the key that was set, or the data directory's own."""
    key = settings.operator_key
    directory = DataDirectory(settings.data_dir)
    if key is None and (settings.secret_key or (directory.path / "secret.key").is_file()):
        key = operator_key(directory.secrets(settings.secret_key))
    return {"Authorization": f"Bearer {key}"} if key else {}


async def knowledge_base_named(client: Client, name: str) -> dict[str, Any] | None:
    """Return the knowledge base with this id or exactly this name.

    Raises:
        InvalidInputError: several have the name; its id is needed.
    """
    found = [
        entry
        async for entry in client.pages("/knowledge_bases/", "knowledge_bases")
        if name in (entry["id"], entry["name"])
    ]
    if len(found) > 1:
        ids = ", ".join(entry["id"] for entry in found)
        raise InvalidInputError(f"Several knowledge bases are named '{name}'; use an id: {ids}.")
    return found[0] if found else None
