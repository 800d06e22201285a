"""A whole service in this process, called like over the network, every answer checked.

The application runs on an event loop of its own in a thread, so that tests stay plain functions
and one service can serve many of them. Each answer is validated against the OpenAPI document.
"""

import asyncio
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import httpx

from agentscope.app.factory import create_app
from agentscope.app.message_bus.memory import InMemoryMessageBus
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.knowledge_base_manager.collection_per_kb import CollectionPerKbManager
from agentscope.app.rag.knowledge_base_manager.models import EmbeddingModels
from agentscope.app.records import EmbeddingModelConfig, Policy
from agentscope.app.storage.base import StorageBase
from agentscope.app.storage.memory.store import InMemoryStorage
from agentscope.embedding.base import EmbeddingModelBase
from agentscope.optional import require
from agentscope.rag.vector_store.base import VectorStoreBase
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.testing.embedding import FakeEmbeddingModel

if TYPE_CHECKING:
    from fastapi import FastAPI

SECRET_KEY = "secret-key-of-the-tests-0123456789"
SETTLED = ("ready", "error")
DIMENSIONS = 64


class FakeModelsManager(CollectionPerKbManager):
    """Answers every configuration with one deterministic model."""

    def __init__(self, storage: StorageBase, vector_store: VectorStoreBase) -> None:
        super().__init__(storage, vector_store)
        self.model = FakeEmbeddingModel(DIMENSIONS)

    def bind(self, *, embedding_models: EmbeddingModels, policy: Policy) -> None:
        async def models(user_id: str, config: EmbeddingModelConfig) -> EmbeddingModelBase:
            if config.credential_id != "local":
                await embedding_models(user_id, config)  # the credential must be there
            return self.model

        super().bind(embedding_models=models, policy=policy)


def memory_app(folder: Path, **options: Any) -> "FastAPI":
    """Return a service over memory back ends; `options` go to `create_app`."""
    storage = options.pop("storage", None) or InMemoryStorage()
    store = options.pop("vector_store", None) or InMemoryVectorStore()
    bus = options.pop("message_bus", None) or InMemoryMessageBus()
    given: dict[str, Any] = {
        "knowledge_base_manager": FakeModelsManager(storage, store),
        "blob_store": LocalBlobStore(folder / "blobs"),
        "secret_key": SECRET_KEY,
        "scratch": folder / "scratch",
        **options,
    }
    return create_app(storage, bus, **given)


class RestService:
    """Runs an application and calls it."""

    def __init__(self, app: "FastAPI", *, client_address: str = "127.0.0.1") -> None:
        self.app = app
        self.check = OpenApiCheck(app.openapi())
        self._address = client_address
        self._started = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="rest-service")

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait(60)
        if self._error is not None:
            self._thread.join()
            raise self._error
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as exc:  # told to whoever waits for the start
            self._error = exc
        finally:
            self._started.set()

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        transport = httpx.ASGITransport(
            app=self.app, client=(self._address, 50_000), raise_app_exceptions=True
        )
        async with (
            self.app.router.lifespan_context(self.app),
            httpx.AsyncClient(transport=transport, base_url="http://service") as client,
        ):
            self._client = client
            self._started.set()
            await self._stop.wait()

    def run(self, work: Any) -> Any:
        """Run a coroutine on the service's own loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def call(
        self,
        method: str,
        path: str,
        *,
        user: str | None = "alice",
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> httpx.Response:
        """Return the answer, after it was checked against the OpenAPI document."""
        sent = {**({"X-User-ID": user} if user is not None else {}), **(headers or {})}

        async def send() -> httpx.Response:
            return await self._client.request(method, path, headers=sent, **options)

        answer: httpx.Response = self.run(send())
        self.check.answer(method, answer)
        return answer

    def json(self, method: str, path: str, *, status: int = 200, **options: Any) -> Any:
        """Return the decoded answer of a call that must succeed."""
        answer = self.call(method, path, **options)
        assert answer.status_code == status, f"{answer.status_code}: {answer.text[:500]}"
        return answer.json() if answer.content else None

    def knowledge_base(self, *, user: str = "alice", **fields: Any) -> str:
        """Create a knowledge base and return its id."""
        config = {
            "type": "local_credential",
            "credential_id": "local",
            "model": "fake-embedding",
            "dimensions": DIMENSIONS,
        }
        body = {"name": "Handbook", "embedding_model_config": config, **fields}
        made = self.json("POST", "/knowledge_bases/", status=201, user=user, json=body)
        return str(made["knowledge_base_id"])

    def upload(
        self,
        knowledge_base_id: str,
        name: str,
        content: bytes,
        *,
        user: str = "alice",
        media_type: str = "text/plain",
        **fields: str,
    ) -> httpx.Response:
        """Upload one file."""
        return self.call(
            "POST",
            f"/knowledge_bases/{knowledge_base_id}/documents",
            user=user,
            files={"file": (name, content, media_type)},
            data=fields,
        )

    def settled(
        self,
        knowledge_base_id: str,
        document_id: str,
        *,
        user: str = "alice",
        seconds: float = 30,
    ) -> dict[str, Any]:
        """Return the document once it is ready or has failed."""
        deadline = time.monotonic() + seconds
        path = f"/knowledge_bases/{knowledge_base_id}/documents/status"
        while time.monotonic() < deadline:
            answer = self.json("GET", path, user=user, params={"ids": document_id})
            view: dict[str, Any] = answer["items"][0]
            if view["status"] in SETTLED:
                return view
            with suppress(TimeoutError):
                self.run(asyncio.sleep(0.02))
        raise AssertionError(f"not settled: {view}")

    def ready(
        self,
        knowledge_base_id: str,
        name: str,
        content: bytes,
        *,
        user: str = "alice",
        **options: Any,
    ) -> str:
        """Upload a file, wait until it is searchable, and return its id."""
        sent = self.upload(knowledge_base_id, name, content, user=user, **options)
        assert sent.status_code == 201, sent.text
        document_id = str(sent.json()["document_id"])
        view = self.settled(knowledge_base_id, document_id, user=user)
        assert view["status"] == "ready", view
        return document_id


class OpenApiCheck:
    """Compares answers with what the OpenAPI document promises."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self._validators: dict[str, Any] = {}
        self.checked: set[tuple[str, str, int]] = set()

    def answer(self, method: str, answer: httpx.Response) -> None:
        """Raise an `AssertionError` for an answer that was not promised."""
        found = self._operation(method.lower(), answer.request.url.path)
        if found is None or answer.status_code == 405:
            return
        path, operation = found
        status = str(answer.status_code)
        promised = operation["responses"]
        described = promised.get(status) or promised.get(f"{status[0]}XX")
        assert described is not None, f"{method} {path} answered {status}, which is not documented"
        self.checked.add((path, method.lower(), answer.status_code))
        content = described.get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if answer.headers.get("content-type") == "application/json" and schema:
            self._validate(f"{path} {method} {status}", schema, answer.json())

    def _validate(self, name: str, schema: Mapping[str, Any], value: Any) -> None:
        if name not in self._validators:
            library = require("jsonschema_rs", package="schemathesis", extra="all")
            whole = {**schema, "components": self.document.get("components", {})}
            self._validators[name] = library.Draft202012Validator(whole)
        problems = [problem.message for problem in self._validators[name].iter_errors(value)]
        assert not problems, f"{name}: {problems[:5]}"

    def _operation(self, method: str, path: str) -> tuple[str, Mapping[str, Any]] | None:
        candidates = [template for template in self.document["paths"] if _matches(template, path)]
        for template in sorted(candidates, key=lambda known: known.count("{")):
            if method in self.document["paths"][template]:
                return template, self.document["paths"][template][method]
        return None


def _matches(template: str, path: str) -> bool:
    wanted, given = template.strip("/").split("/"), path.strip("/").split("/")
    return len(wanted) == len(given) and all(
        part.startswith("{") or part == sent for part, sent in zip(wanted, given, strict=True)
    )
