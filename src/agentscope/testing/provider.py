"""A stand-in for embedding and rerank providers: a real HTTP server in this process.

It speaks the OpenAI, DashScope multimodal, Gemini, Ollama, TEI, Cohere and Jina forms, answers
with hashed bags of words, records what it was sent and fails as told.
"""

import asyncio
import contextlib
import json
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from agentscope.testing.embedding import hashed_vector

_REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to misbehave; the first field that is set decides."""

    hang: bool = False  # no answer until the server stops
    drop: bool = False  # the connection is closed without an answer
    status: int = 0  # an error answer, with `body` or OpenAI's form
    body: Any = None  # sent as JSON; bytes are sent as they are; status 200 unless given
    headers: dict[str, str] = field(default_factory=dict)
    change: Callable[[Any], Any] | None = None  # makes another answer of the right one


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class FakeProvider:
    """Serves on a free loopback port inside `async with`."""

    def __init__(
        self,
        *,
        dimensions: int = 16,
        max_inputs: int | None = None,
        too_many: str = "too many inputs",
        models: tuple[str, ...] = (),
        honours_dimensions: bool = True,
    ) -> None:
        self.dimensions = dimensions
        self.max_inputs = max_inputs
        self.too_many = too_many
        self.models = models
        self.honours_dimensions = honours_dimensions
        self.seen: list[SeenRequest] = []
        self.embedded: Counter[str] = Counter()
        self.connections = 0
        self.running = 0
        self.running_max = 0
        self.latency_seconds = 0.0
        self.reached = asyncio.Event()
        self.port = 0
        self._faults: deque[Fault] = deque()
        self._standing: Fault | None = None
        self._refuses: Callable[[Any], str | None] | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """The address an OpenAI-type credential takes."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def root_url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def fail_next(self, *faults: Fault) -> None:
        """Misbehave once per fault, in order, before answering rightly again."""
        self._faults.extend(faults)

    def fail_always(self, fault: Fault) -> None:
        """Misbehave until `heal`."""
        self._standing = fault

    def refuse_when(self, reason: Callable[[Any], str | None]) -> None:
        """Answer 400 with the text that `reason` returns for a request body."""
        self._refuses = reason

    def heal(self) -> None:
        """Forget every fault."""
        self._faults.clear()
        self._standing = None
        self._refuses = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while await self._exchange(reader, writer):
                    pass
        except asyncio.CancelledError:
            pass  # the server stops; the task has nothing to tell anybody
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        request = SeenRequest(method, path, headers, json.loads(raw) if raw else None)
        self.seen.append(request)
        self.reached.set()
        self.running += 1
        self.running_max = max(self.running_max, self.running)
        try:
            fault = self._faults.popleft() if self._faults else self._standing or Fault()
            if self.latency_seconds:
                await asyncio.sleep(self.latency_seconds)
            if fault.hang:
                await asyncio.Event().wait()
            if fault.drop:
                writer.transport.abort()
                return False
            status, answer = self._answer(request, fault)
        finally:
            self.running -= 1
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        extra = "".join(f"{name}: {value}\r\n" for name, value in fault.headers.items())
        writer.write(
            f"HTTP/1.1 {status} {_REASONS.get(status, 'Other')}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n{extra}\r\n".encode()
            + body
        )
        await writer.drain()
        return True

    def _answer(self, request: SeenRequest, fault: Fault) -> tuple[int, Any]:
        if fault.status or fault.body is not None:
            body = fault.body
            if body is None:
                body = {"error": {"message": "told to fail", "type": "test"}}
            return fault.status or 200, body
        texts = _texts(request)
        if self.max_inputs is not None and len(texts) > self.max_inputs:
            return 400, {"error": {"message": self.too_many}}
        if self._refuses and (reason := self._refuses(request.body)) is not None:
            return 400, {"error": {"message": reason}}
        status, answer = self._right_answer(request, texts)
        return status, fault.change(answer) if fault.change else answer

    def _right_answer(self, request: SeenRequest, texts: list[str]) -> tuple[int, Any]:
        path, body = request.path, request.body
        if path.endswith("/models"):
            return 200, {"object": "list", "data": [{"id": name} for name in self.models]}
        if path.endswith("/api/tags"):
            return 200, {"models": [{"name": name} for name in self.models]}
        if path.endswith("/rerank"):
            return 200, _reranked(path, body)
        if not texts and not path.endswith("/embeddings"):
            return 404, {"error": {"message": f"no route {path}"}}
        self.embedded.update(texts)
        vectors = [hashed_vector(text, self._wanted(body)) for text in texts]
        if path.endswith("/api/embed"):
            return 200, {"embeddings": vectors, "prompt_eval_count": len(texts)}
        if path.endswith(":batchEmbedContents"):
            return 200, {"embeddings": [{"values": vector} for vector in vectors]}
        rows = [{"index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        if path.endswith("/multimodal-embedding"):
            return 200, {"output": {"embeddings": rows}, "usage": {"input_tokens": len(texts)}}
        return 200, {"object": "list", "data": rows, "usage": {"total_tokens": len(texts)}}

    def _wanted(self, body: Any) -> int:
        wanted = body.get("dimensions") if self.honours_dimensions else None
        if isinstance(body.get("parameters"), dict):
            wanted = body["parameters"].get("dimension")
        if body.get("requests"):
            wanted = body["requests"][0].get("outputDimensionality")
        return int(wanted or self.dimensions)


def _texts(request: SeenRequest) -> list[str]:
    body = request.body
    if not isinstance(body, dict):
        return []
    if "requests" in body:
        parts = [entry["content"]["parts"][0] for entry in body["requests"]]
        return [part.get("text") or part["inline_data"]["data"] for part in parts]
    given = body.get("input")
    if isinstance(given, dict):
        return [entry.get("text") or entry["image"] for entry in given["contents"]]
    if isinstance(given, str):
        return [given]
    return list(given) if isinstance(given, list) else []


def _reranked(path: str, body: Any) -> Any:
    """Score by shared words; TEI answers a bare list, the others an object with `results`."""
    texts = body.get("texts")
    documents = texts if texts is not None else body["documents"]
    wanted = set(body["query"].lower().split())
    scored = [
        (len(wanted & set(text.lower().split())) / (len(wanted) or 1), index)
        for index, text in enumerate(documents)
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    if texts is not None:
        return [{"index": index, "score": score} for score, index in scored]
    top = scored[: body.get("top_n") or len(scored)]
    return {"results": [{"index": index, "relevance_score": score} for score, index in top]}
