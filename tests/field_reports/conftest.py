"""One service for the field reports about files; each test takes a knowledge base of its own."""

from collections.abc import Iterator

import pytest

from agentscope.app.rag.indexing.reading import ReadLimits
from agentscope.rag.parser.installed import default_parsers
from agentscope.testing.rest import RestService, memory_app


@pytest.fixture(scope="session")
def reading_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestService]:
    """A service with every parser, which reads in child processes as the product does."""
    app = memory_app(
        tmp_path_factory.mktemp("reading"),
        knowledge_parsers=default_parsers(),
        read_limits=ReadLimits(wall_seconds=60, cpu_seconds=30),
    )
    with RestService(app) as running:
        yield running
