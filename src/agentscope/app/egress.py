"""Where requests of user-given credentials and webhooks may go.

A credential names a URL, so whoever can store one can make this service send requests. Addresses
that hand out cloud secrets are never allowed; private networks are, unless the operator says no,
because model servers live there.
"""

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from agentscope.errors import PermissionDeniedError
from agentscope.outgoing import Address, resolved

MAX_URL_CHARS = 2048
_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254", "169.254.170.2", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200",
        "192.0.0.192", "168.63.129.16",
    )
)  # fmt: skip
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_REFUSED = "This address must not be used from here."


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """Which addresses may be asked; connections are held to them, see `agentscope.outgoing`.

    `allowed_hosts` may be asked wherever they lead; others must pass the checks.
    """

    allow_loopback: bool = True
    allow_private: bool = True
    allowed_hosts: frozenset[str] = frozenset()
    resolve: Callable[[str, int], Iterable[str]] = resolved

    def __call__(self, url: str) -> None:
        """Return if the URL may be asked; resolves its name, so call it off the event loop.

        Raises:
            PermissionDeniedError: it is no plain http(s) address, or leads where it must not.
        """
        self.addresses(*_host_and_port(url))

    check = __call__

    def addresses(self, host: str, port: int) -> Sequence[Address]:
        """Return the addresses of a host; one that does not resolve has none and fails later.

        Raises:
            PermissionDeniedError: one of them is not allowed.
        """
        try:
            found = [ipaddress.ip_address(host)]
        except ValueError:
            try:
                texts = self.resolve(host, port)
                found = [ipaddress.ip_address(text.partition("%")[0]) for text in texts]
            except (OSError, UnicodeError):
                return ()
        if host.lower() not in self.allowed_hosts and not all(map(self._allows, found)):
            raise PermissionDeniedError(_REFUSED)
        return tuple(dict.fromkeys(found))

    def _allows(self, address: Address) -> bool:
        if isinstance(address, ipaddress.IPv6Address):
            address = _led_to(address)
        if address in _METADATA or address.is_link_local or address.is_multicast:
            return False
        if address.is_unspecified or address.is_loopback:
            return self.allow_loopback
        return self.allow_private or address.is_global


def _led_to(address: ipaddress.IPv6Address) -> Address:
    """Return the IPv4 address that one of IPv6 carries in itself, if it does."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _host_and_port(url: str) -> tuple[str, int]:
    if len(url) > MAX_URL_CHARS or not url.isprintable():
        raise PermissionDeniedError("This is not an address that can be asked.")
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as exc:
        raise PermissionDeniedError("This is not an address that can be asked.") from exc
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise PermissionDeniedError("Only http and https addresses can be used.")
    if parts.username is not None or parts.password is not None:
        raise PermissionDeniedError("An address must not hold a user name or password.")
    return parts.hostname, port
