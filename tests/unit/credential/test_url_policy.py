"""Which addresses a provider may have."""

import pytest

from agentscope.credential.url_policy import UrlPolicy
from agentscope.errors import InvalidInputError

_NAMES = {
    "api.example": ["93.184.216.34"],
    "intranet.example": ["10.0.0.5"],
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "link.example": ["fe80::1%eth0"],
}


def _resolve(host: str, port: int) -> list[str]:
    if host not in _NAMES:
        raise OSError(host)
    return _NAMES[host]


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example/v1",
        "http://intranet.example:8080/v1",
        "http://127.0.0.1:11434",
        "http://[::1]:1/",
        "https://93.184.216.34",
        "https://unknown.example",
    ],
)
def test_private_addresses_are_fine_where_the_operator_runs_models(url: str) -> None:
    """By default only what is never a provider is refused."""
    UrlPolicy(resolve=_resolve)(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://metadata.example/",
        "http://link.example/",
        "http://[::ffff:169.254.169.254]/",
        "http://0.0.0.0:80/",
        "http://100.100.100.200/",
        "http://[fd00:ec2::254]/",
        "ftp://api.example/",
        "file:///etc/passwd",
        "//api.example",
        "api.example",
        "http://",
        "http://user:pw@api.example/",
        "http://api.example:99999/",
        "http://api.example/\nHost: x",
        "http://[::1",
        "https://api.example/" + "a" * 3000,
    ],
)
def test_other_schemes_metadata_and_tricks_are_refused(url: str) -> None:
    """The message says what an address must look like, and never where it led."""
    with pytest.raises(InvalidInputError) as caught:
        UrlPolicy(resolve=_resolve)(url)
    assert "169.254" not in caught.value.message


@pytest.mark.parametrize(
    "url",
    ["http://intranet.example/", "http://127.0.0.1/", "http://mixed.example/", "http://[::1]/"],
)
def test_a_public_service_refuses_private_addresses(url: str) -> None:
    """One private address among many is enough; the operator's own hosts stay allowed."""
    policy = UrlPolicy(allow_private=False, allowed_hosts=["GPU.local"], resolve=_resolve)
    with pytest.raises(InvalidInputError):
        policy(url)
    policy("http://gpu.local:8000/v1")
    policy("https://api.example/v1")
