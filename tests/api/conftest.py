"""One service for all API tests; each test takes a user of its own."""

import uuid
from collections.abc import Iterator

import pytest

from agentscope.testing.rest import RestService, memory_app


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestService]:
    """A running service over memory back ends with a deterministic embedding model."""
    app = memory_app(tmp_path_factory.mktemp("service"))
    with RestService(app) as running:
        yield running


@pytest.fixture
def user() -> str:
    """A user that no other test has."""
    return f"user-{uuid.uuid4().hex[:8]}"
