"""Where credentials may point."""

import pytest

from agentscope.app.egress import EgressPolicy
from agentscope.errors import PermissionDeniedError


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://[fe80::1]/",
        "http://224.0.0.1/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "http://",
        "",
    ],
)
def test_addresses_that_hand_out_secrets_are_never_asked(url: str) -> None:
    """However they are written."""
    with pytest.raises(PermissionDeniedError):
        EgressPolicy().check(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:11434/v1", "http://10.1.2.3/v1", "https://1.1.1.1"]
)
def test_model_servers_at_home_are_allowed_by_default(url: str) -> None:
    """Loopback and private networks."""
    EgressPolicy().check(url)


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://localhost/", "http://0.0.0.0/"])
def test_an_operator_may_close_this_machine(url: str) -> None:
    """And private networks."""
    with pytest.raises(PermissionDeniedError):
        EgressPolicy(allow_loopback=False).check(url)
    with pytest.raises(PermissionDeniedError):
        EgressPolicy(allow_private=False).check("http://10.1.2.3/")


def test_a_name_that_does_not_resolve_fails_when_it_is_used() -> None:
    """The check has nothing to say about it."""
    EgressPolicy().check("http://no-such-host.invalid/v1")
