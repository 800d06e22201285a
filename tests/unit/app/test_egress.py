"""Where credentials and webhooks may point."""

import pytest

from agentscope.app.egress import EgressPolicy
from agentscope.errors import PermissionDeniedError

NAMES = {
    "api.example": ["93.184.216.34", "2606:2800:220:1::1"],
    "intranet.example": ["10.0.0.5"],
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "link.example": ["fe80::1%eth0"],
    "gpu.local": ["10.9.9.9"],
}


def resolve(host: str, port: int) -> list[str]:
    """Answer from a table."""
    if host not in NAMES:
        raise OSError(host)
    return NAMES[host]


OPEN = EgressPolicy(resolve=resolve)
CLOSED = EgressPolicy(
    allow_loopback=False,
    allow_private=False,
    allowed_hosts=frozenset({"gpu.local"}),
    resolve=resolve,
)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::1]/",
        "http://[fd00:ec2::254]/",
        "http://[fd20:ce::254]/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://[fe80::1]/",
        "http://224.0.0.1/",
        "http://metadata.example/",
        "http://link.example/",
        "ftp://api.example/",
        "file:///etc/passwd",
        "//api.example",
        "api.example",
        "http://user:pw@api.example/",
        "http://api.example:99999/",
        "http://api.example/\nHost: x",
        "http://[::1",
        "https://api.example/" + "a" * 3000,
        "http://",
        "",
    ],
)
def test_addresses_that_hand_out_secrets_and_tricks_are_never_asked(url: str) -> None:
    """However they are written; the sentence never tells where a name led."""
    with pytest.raises(PermissionDeniedError) as caught:
        OPEN.check(url)
    assert "169.254" not in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:11434/v1",
        "http://[::1]:1/",
        "http://10.1.2.3/v1",
        "http://intranet.example:8080/v1",
        "https://1.1.1.1",
        "https://api.example/v1",
    ],
)
def test_model_servers_at_home_are_allowed_by_default(url: str) -> None:
    """Loopback and private networks."""
    OPEN.check(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://localhost/", "http://0.0.0.0/", "http://2130706433/",
        "http://[::ffff:127.0.0.1]/",
    ],
)  # fmt: skip
def test_an_operator_may_close_this_machine(url: str) -> None:
    """Also when its address is written as a number."""
    with pytest.raises(PermissionDeniedError):
        EgressPolicy(allow_loopback=False).check(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://10.1.2.3/", "http://intranet.example/", "http://mixed.example/", "http://[fc00::1]/",
        "http://100.64.0.1/",
    ],
)  # fmt: skip
def test_an_operator_may_close_private_networks(url: str) -> None:
    """One private address among many is enough; the operator's own hosts stay allowed."""
    with pytest.raises(PermissionDeniedError):
        CLOSED.check(url)
    CLOSED.check("http://GPU.local:8000/v1")
    CLOSED.check("https://api.example/v1")


def test_a_name_that_does_not_resolve_fails_when_it_is_used() -> None:
    """The check has nothing to say about it."""
    OPEN.check("http://no-such-host.invalid/v1")
