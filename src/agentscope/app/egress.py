"""Where requests of user-given credentials may go.

A credential names a URL, so whoever can store one can make this service send requests. Addresses
that hand out cloud secrets are never allowed; private networks are, unless the operator says no,
because model servers live there.
"""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from agentscope.errors import PermissionDeniedError

_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254", "169.254.170.2", "fd00:ec2::254", "100.100.100.200", "192.0.0.192",
    )
)  # fmt: skip
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """Which addresses may be asked for embeddings."""

    allow_loopback: bool = True
    allow_private: bool = True

    def check(self, url: str) -> None:
        """Return if the URL may be asked; resolves its name, so call it off the event loop.

        Raises:
            PermissionDeniedError: the scheme or one of the addresses is not allowed.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise PermissionDeniedError("Only http and https addresses can be used.")
        for address in _addresses(parts.hostname):
            if not self._allows(address):
                raise PermissionDeniedError("This address must not be used from here.")

    def _allows(self, address: _Address) -> bool:
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        if address in _METADATA or address.is_link_local or address.is_multicast:
            return False
        if address.is_unspecified or address.is_loopback:
            return self.allow_loopback
        return self.allow_private or not address.is_private


def _addresses(host: str) -> list[_Address]:
    """Return all addresses of a name; one that does not resolve has none and fails later."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
