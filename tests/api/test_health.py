"""Readiness follows the parts; liveness does not."""

from datetime import datetime
from pathlib import Path

from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.errors import StorageError
from agentscope.testing.rest import RestService, memory_app


class _Fading(InMemoryStorage):
    """A storage that stops answering."""

    gone = False

    async def now(self) -> datetime:
        if self.gone:
            raise StorageError
        return await super().now()


def test_a_process_whose_storage_is_down_is_alive_and_not_ready(tmp_path: Path) -> None:
    """So it gets no requests, and nothing restarts it in vain."""
    storage = _Fading()
    with RestService(memory_app(tmp_path, storage=storage)) as service:
        assert service.json("GET", "/health", user=None)["status"] == "ok"
        storage.gone = True
        service.app.state.agentscope.parts.health._report = None  # it is kept for a second
        report = service.json("GET", "/health", status=503, user=None)
        assert report["components"]["storage"] == "not_ready"
        assert service.json("GET", "/health/live", user=None) == {"status": "ok"}
        storage.gone = False
