"""Checks of shared back ends for `doctor`: do they answer, and do all processes mean the same?"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from agentscope.app.rag.blob_store.documented import as_streaming
from agentscope.app.rag.service.capabilities import ADVERTISED_TYPES_PREFIX
from agentscope.app.storage.base import StorageBase
from agentscope.cli.announcement import PREFIX
from agentscope.cli.place import Place
from agentscope.errors import AgentScopeError
from agentscope.installation import installed_version
from agentscope.optional import require
from agentscope.rag.vector_store.legacy import as_run_store

PARTS = {"bus": "signals", "vectors": "vectors", "blobs": "original files"}
MOST_SKEW_SECONDS = 5.0
ANSWER_SECONDS = 20.0
LOCAL_NAMES = ("", "localhost", "127.0.0.1", "::1")
WORK = ("worker", "service")


@dataclass(slots=True)
class Findings:
    """What was found, in plain sentences."""

    facts: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


async def look_at(place: Place) -> Findings:
    """Ask the back ends of a shared place, and compare what its processes tell."""
    found = Findings()
    async with AsyncExitStack() as stack:
        storage = await _answering(found, "records", _opened(stack, place.storage))
        if storage is None:
            return found
        await _answering(found, "signals", _pinged(stack, place.bus))
        await _answering(found, "vectors", _pinged_vectors(stack, place))
        await _answering(found, "original files", _pinged_blobs(stack, place))
        told = list((await storage.registry.list(PREFIX)).values())
        workers = len(await storage.registry.list(ADVERTISED_TYPES_PREFIX))
    found.problems += compared(told, indexing=workers, own=place.shown())
    found.facts.append(_counted(told))
    for url in {place.addresses.storage, place.addresses.bus}:
        if url is not None and urlsplit(url).scheme in ("redis", "rediss"):
            found.problems += await _redis_problems(url)
    return found


def compared(
    told: Sequence[Mapping[str, Any]], *, indexing: int, own: Mapping[str, str]
) -> list[str]:
    """Return in sentences what does not fit together in what processes tell about themselves."""
    problems = []
    if not any(entry["role"] == "service" for entry in told):
        problems.append("No service has told about itself in the last minute.")
    if not indexing:
        problems.append("No process indexes: uploads wait until a worker starts.")
    problems += _version_problems(told)
    for entry in told:
        skew = float(entry["skew_seconds"])
        if abs(skew) > MOST_SKEW_SECONDS:
            way = "ahead of" if skew > 0 else "behind"
            problems.append(
                f"The clock of {_named(entry)} is {abs(skew):.0f} s {way} that of the records."
            )
    for part, name in PARTS.items():
        problems += _part_problems(part, name, told, own)
    return problems


def _version_problems(told: Sequence[Mapping[str, Any]]) -> list[str]:
    versions = {entry["version"] for entry in told} | {installed_version()}
    if len(versions) < 2:
        return []
    return [f"Different versions are at work: {', '.join(sorted(versions))}."]


def _part_problems(
    part: str, name: str, told: Sequence[Mapping[str, Any]], own: Mapping[str, str]
) -> list[str]:
    where = {str(entry[part]): _named(entry) for entry in told}
    if len(where) > 1:
        each = "; ".join(f"{who} at {address}" for address, who in sorted(where.items()))
        return [f"The {name} are in different places: {each}."]
    hosts = sorted({str(entry["host"]) for entry in told})
    if len(hosts) > 1 and any(_is_local(address) for address in where):
        return [
            f"The {name} are at {next(iter(where))}, which is a different place on each of the "
            f"machines {', '.join(hosts)}, unless it is a shared file system."
        ]
    if where and own[part] not in where:
        return [f"Here the {name} are at {own[part]}, for the service at {next(iter(where))}."]
    return []


def _is_local(address: str) -> bool:
    return (urlsplit(address).hostname or "") in LOCAL_NAMES


def _named(entry: Mapping[str, Any]) -> str:
    return f"the {entry['role']} on {entry['host']}"


def _counted(told: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(str(entry["role"]) for entry in told)
    shown = [f"{counts[role]} {role}{'' if counts[role] == 1 else 's'}" for role in WORK[::-1]]
    return f"at work: {', '.join(shown)}"


async def _answering(found: Findings, name: str, work: Awaitable[Any]) -> Any:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await work
    except AgentScopeError as exc:
        found.problems.append(f"The {name} cannot be reached: {exc.message}")
    except TimeoutError:
        found.problems.append(f"The {name} do not answer within {ANSWER_SECONDS:.0f} s.")
    return None


async def _opened(stack: AsyncExitStack, make: Callable[[], StorageBase]) -> StorageBase:
    return await stack.enter_async_context(make())


async def _pinged(stack: AsyncExitStack, make: Callable[[], Any]) -> None:
    await (await stack.enter_async_context(make())).ping()


async def _pinged_vectors(stack: AsyncExitStack, place: Place) -> None:
    await _pinged(stack, lambda: as_run_store(place.vectors()))


async def _pinged_blobs(stack: AsyncExitStack, place: Place) -> None:
    await _pinged(stack, lambda: as_streaming(place.blobs()))


async def _redis_problems(url: str) -> list[str]:
    module = require("redis.asyncio", package="redis", extra="redis")
    errors = require("redis.exceptions", package="redis", extra="redis")
    async with _client(module, url) as client:
        try:
            kept = await client.config_get("append*")
        except errors.RedisError:
            return []  # managed servers do not tell
    if kept.get("appendonly") == "yes" and kept.get("appendfsync") == "always":
        return []
    return [
        "Redis may forget acknowledged writes in a crash: set 'appendonly yes' and "
        "'appendfsync always'."
    ]


@asynccontextmanager
async def _client(module: Any, url: str) -> AsyncIterator[Any]:
    client = module.Redis.from_url(url, decode_responses=True, socket_timeout=ANSWER_SECONDS)
    try:
        yield client
    finally:
        await client.aclose()
