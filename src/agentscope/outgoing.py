"""HTTP connections to where users say: the address that was checked is the one connected to.

A check of a URL alone leaves a gap. Whoever owns the name may answer the check with one address
and the connection, a moment later, with another (DNS rebinding). So names are resolved once, here,
every address is put to the policy, and the connection goes to one of just these; the name still
stands in the Host header and is what the certificate must be for. Redirects are never followed
and proxies of the environment never used, so nothing leads away from it.
"""

import asyncio
import functools
import ipaddress
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from agentscope.optional import require

if TYPE_CHECKING:
    import ssl

    import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_ADDRESSES = 8


@runtime_checkable
class AddressPolicy(Protocol):
    """A policy that looks at addresses, so that connections can be held to what it saw."""

    def __call__(self, url: str) -> None:
        """Raise if the URL must not be asked."""

    def addresses(self, host: str, port: int) -> Sequence[Address]:
        """Return the addresses of a host; blocking.

        Raises:
            PermissionDeniedError: one of them must not be connected to.
        """


def resolved(host: str, port: int) -> list[str]:
    """Return the addresses that the system knows for a name; blocking.

    Raises:
        OSError: there are none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


@functools.cache
def ssl_context() -> "ssl.SSLContext":
    """Return the one context of this process; blocking, as loading certificates takes 30 ms."""
    context: ssl.SSLContext = _httpx().create_ssl_context(trust_env=False)
    return context


def client(
    allow_url: Callable[[str], None] | None, *, context: "ssl.SSLContext", **options: Any
) -> "httpx.AsyncClient":
    """Return a client whose connections the policy holds to what it saw.

    A plain function as policy is asked for URLs by the caller, and can hold nothing.
    """
    library = _httpx()
    transport = library.AsyncHTTPTransport(verify=context, trust_env=False)
    if isinstance(allow_url, AddressPolicy):
        # The one place where the library lets nobody choose how connections are made.
        transport._pool._network_backend = _Backend(allow_url, transport._pool._network_backend)
    found: httpx.AsyncClient = library.AsyncClient(
        transport=transport, trust_env=False, follow_redirects=False, **options
    )
    return found


class _Backend:
    """Opens connections for the HTTP library; TLS is made on top of them, for the name."""

    def __init__(self, policy: AddressPolicy, inner: Any) -> None:
        self._policy = policy
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Any:
        addresses = await asyncio.to_thread(self._policy.addresses, host, port)
        error: Exception | None = None
        tried = addresses[:MAX_ADDRESSES]
        for address in tried:
            try:
                return await self._inner.connect_tcp(
                    str(address),
                    port,
                    timeout=None if timeout is None else timeout / len(tried),
                    local_address=local_address,
                    socket_options=socket_options,
                )
            except (_errors().ConnectError, _errors().ConnectTimeout) as exc:
                error = exc
        raise error or _errors().ConnectError("The name has no address.")

    async def connect_unix_socket(self, path: str, **options: Any) -> Any:
        raise _errors().ConnectError(f"No socket at {path} is part of any URL: {options}.")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


def _errors() -> Any:
    return require("httpcore", package="httpx", extra="all")


def _httpx() -> Any:
    # A base dependency, but loading it costs 400 ms, which a process that asks nobody saves.
    return require("httpx", package="httpx", extra="all")
