"""Decides which addresses a user's credential may point to.

A service that sends requests where its users say can be made to call what only it can reach.
Link-local addresses (cloud metadata) are always refused; private ones only where the operator
says so, because a model server in the same network is the normal case elsewhere.
"""

import ipaddress
import socket
from collections.abc import Callable, Collection, Iterable
from urllib.parse import urlsplit

from agentscope.errors import InvalidInputError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_URL_LENGTH = 2048
_METADATA = frozenset(
    {ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200")}
)


def _resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class UrlPolicy:
    """Raises for an address that must not be called; blocking, because it resolves names."""

    def __init__(
        self,
        *,
        allow_private: bool = True,
        allowed_hosts: Collection[str] = (),
        resolve: Callable[[str, int], Iterable[str]] = _resolve,
    ) -> None:
        """`allowed_hosts` may be called wherever they lead; others must pass the checks."""
        self._allow_private = allow_private
        self._allowed_hosts = {host.lower() for host in allowed_hosts}
        self._resolve = resolve

    def __call__(self, url: str) -> None:
        """Check `url`.

        Raises:
            InvalidInputError: it is no plain http(s) address, or leads where policy forbids.
        """
        host, port = _host_and_port(url)
        if host in self._allowed_hosts:
            return
        for address in self._addresses(host, port):
            self._check(address)

    def _addresses(self, host: str, port: int) -> list[Address]:
        try:
            return [ipaddress.ip_address(host)]
        except ValueError:
            pass
        try:
            return [
                ipaddress.ip_address(text.partition("%")[0]) for text in self._resolve(host, port)
            ]
        except (OSError, UnicodeError):
            return []  # a name without an address cannot be called either

    def _check(self, address: Address) -> None:
        if isinstance(address, ipaddress.IPv6Address):
            address = address.ipv4_mapped or address
        never = (
            address.is_link_local
            or address.is_multicast
            or address.is_unspecified
            or address in _METADATA
        )
        if never or (not self._allow_private and not address.is_global):
            raise InvalidInputError("This address is not allowed for a provider.")


def _host_and_port(url: str) -> tuple[str, int]:
    message = "The address of a provider must look like https://host/path."
    if len(url) > MAX_URL_LENGTH or not url.isprintable():
        raise InvalidInputError(message)
    try:
        parts = urlsplit(url.strip())
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as exc:
        raise InvalidInputError(message) from exc
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInputError(message)
    if parts.username is not None or parts.password is not None:
        raise InvalidInputError("The address of a provider must not hold a user name or password.")
    return parts.hostname.lower(), port
