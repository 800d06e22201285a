"""The tools of the MCP server, as calls of the REST API.

Going through REST gives every tool the identity, tenancy, limits and errors of the routes, with
no second implementation: inside the service the calls never leave the process, over stdio they go
to a running service. Each tool takes a flat JSON object and gives a JSON object.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from agentscope.errors import InvalidInputError, ToolError

MAX_INGEST_CHARS = 2_000_000
MAX_NEIGHBOURS = 10
PAGE_SIZE = 128

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KnowledgeTool:
    """One tool: what a model reads about it, and what it does."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...]
    read_only: bool
    call: "Callable[[KnowledgeClient, Arguments], Awaitable[dict[str, Any]]]"

    @property
    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


class KnowledgeClient:
    """The REST API as one caller sees it."""

    def __init__(self, http: httpx.AsyncClient, headers: Mapping[str, str]) -> None:
        self._http = http
        self._headers = dict(headers)

    async def ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """Return the decoded answer.

        Raises:
            ToolError: the service refused; holds its own sentence.
        """
        try:
            answer = await self._http.request(method, path, headers=self._headers, **options)
        except httpx.HTTPError as exc:
            raise ToolError("The service cannot be reached.") from exc
        if answer.status_code >= 400:
            raise ToolError(_sentence(answer))
        decoded: dict[str, Any] = answer.json() if answer.content else {}
        return decoded


def _sentence(answer: httpx.Response) -> str:
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return f"The service answered {answer.status_code}."
    if isinstance(detail, str):
        return detail
    return "; ".join(str(item.get("msg", item)) for item in detail)[:500]


def _id(arguments: Arguments, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.isalnum() or len(value) > 128:
        raise ToolError(f"'{name}' must be an id as a list or a search returns it.")
    return value


def _text(arguments: Arguments, name: str, limit: int) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > limit:
        raise ToolError(f"'{name}' must be text of 1 to {limit} characters.")
    return value


async def list_knowledge_bases(client: KnowledgeClient, arguments: Arguments) -> dict[str, Any]:
    """Return the caller's knowledge bases, newest first."""
    page = arguments.get("page", 1)
    query = {"page": page, "page_size": PAGE_SIZE}
    answer = await client.ask("GET", "/knowledge_bases/", params=query)
    keys = ("id", "name", "description", "document_count", "chunk_count", "status_counts")
    return {
        "knowledge_bases": [{key: base[key] for key in keys} for base in answer["knowledge_bases"]],
        "total": answer["total"],
    }


async def create_knowledge_base(client: KnowledgeClient, arguments: Arguments) -> dict[str, Any]:
    """Create one with the first embedding model that fits."""
    offered = (await client.ask("GET", "/knowledge_bases/embedding_models"))["providers"]
    if not offered:
        raise ToolError("There is no embedding model; add a credential first.")
    model = offered[0]["models"][0]
    body = {
        "name": _text(arguments, "name", 200),
        "description": arguments.get("description") or "",
        "embedding_model_config": {
            "type": offered[0]["credential"]["data"]["type"],
            "credential_id": offered[0]["credential"]["id"],
            "model": model["name"],
            "dimensions": model["dimensions"],
        },
    }
    return await client.ask("POST", "/knowledge_bases/", json=body)


async def search_knowledge(client: KnowledgeClient, arguments: Arguments) -> dict[str, Any]:
    """Return the best passages with where they stand."""
    base = _id(arguments, "knowledge_base_id")
    body = {"query": _text(arguments, "query", 20_000), "top_k": arguments.get("top_k", 5)}
    for name in ("mode", "metadata_filter", "score_threshold"):
        if arguments.get(name) is not None:
            body[name] = arguments[name]
    answer = await client.ask("POST", f"/knowledge_bases/{base}/search", json=body)
    return {"results": [_passage(hit) for hit in answer["results"]]}


def _passage(hit: Mapping[str, Any]) -> dict[str, Any]:
    chunk = hit["chunk"]
    kept = ("page", "slide", "sheet", "heading_path", "char_start", "char_end")
    return {
        "text": chunk["content"].get("text", ""),
        "score": hit["score"],
        "document_id": hit["document_id"],
        "filename": chunk["source"],
        "chunk_index": chunk["chunk_index"],
        **{key: chunk["metadata"][key] for key in kept if key in chunk["metadata"]},
    }


async def read_passage(client: KnowledgeClient, arguments: Arguments) -> dict[str, Any]:
    """Return a chunk with those around it."""
    base, document = _id(arguments, "knowledge_base_id"), _id(arguments, "document_id")
    index, around = arguments.get("chunk_index", 0), arguments.get("neighbours", 1)
    if not isinstance(index, int) or index < 0:
        raise ToolError("'chunk_index' must be a number from 0.")
    if not isinstance(around, int) or not 0 <= around <= MAX_NEIGHBOURS:
        raise ToolError(f"'neighbours' must be 0 to {MAX_NEIGHBOURS}.")
    first, last = max(0, index - around), index + around
    path = f"/knowledge_bases/{base}/documents/{document}/chunks"
    found: list[dict[str, Any]] = []
    size = last - first + 1
    for number in range(first // size + 1, last // size + 2):
        query = {"page": number, "page_size": size}
        found += (await client.ask("GET", path, params=query))["chunks"]
    passages = [
        {
            "chunk_index": chunk["chunk_index"],
            "text": chunk["content"].get("text", ""),
            "metadata": chunk["metadata"],
        }
        for chunk in found
        if first <= chunk["chunk_index"] <= last
    ]
    return {"passages": passages}


async def document_status(client: KnowledgeClient, arguments: Arguments) -> dict[str, Any]:
    """Return the state of some or of the newest documents."""
    base = _id(arguments, "knowledge_base_id")
    wanted = arguments.get("document_ids")
    path = f"/knowledge_bases/{base}/documents"
    if wanted:
        if not isinstance(wanted, list):
            raise ToolError("'document_ids' must be a list of ids.")
        ids = ",".join(str(item) for item in wanted[:PAGE_SIZE])
        answer = await client.ask("GET", f"{path}/status", params={"ids": ids})
        return {"documents": [_state(view) for view in answer["items"]]}
    answer = await client.ask("GET", path, params={"page_size": PAGE_SIZE})
    views = [_state(view) for view in answer["documents"]]
    return {"documents": views, "total": answer["total"]}


def _state(view: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("id", "filename", "status", "error", "chunk_count", "progress", "warnings")
    return {key: view[key] for key in keys if key in view}


async def ingest_text(client: KnowledgeClient, arguments: Arguments) -> dict[str, Any]:
    """Store a text as a document; it is searchable when its status is ready."""
    base = _id(arguments, "knowledge_base_id")
    text = _text(arguments, "text", MAX_INGEST_CHARS)
    title = _text(arguments, "title", 200).replace("/", "-")
    name = title if title.endswith((".md", ".txt")) else f"{title}.md"
    path = f"/knowledge_bases/{base}/documents"
    files = {"file": (name, text.encode(errors="replace"), "text/markdown")}
    answer = await client.ask("POST", path, files=files, data={"on_duplicate": "skip"})
    return {key: answer[key] for key in ("document_id", "filename", "status")}


_BASE = {"type": "string", "description": "Id of the knowledge base."}
_DOCUMENT = {"type": "string", "description": "Id of the document."}

TOOLS: tuple[KnowledgeTool, ...] = (
    KnowledgeTool(
        "list_knowledge_bases",
        "List knowledge bases",
        "List the knowledge bases you may use, with their ids and how many documents they hold.",
        {"page": {"type": "integer", "minimum": 1, "default": 1}},
        (),
        True,
        list_knowledge_bases,
    ),
    KnowledgeTool(
        "search_knowledge",
        "Search a knowledge base",
        "Find the passages that answer a question, with file, page and score.",
        {
            "knowledge_base_id": _BASE,
            "query": {"type": "string", "description": "The question, in any language."},
            "top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
            "mode": {"type": "string", "enum": ["vector", "keyword", "hybrid"]},
            "score_threshold": {"type": "number"},
            "metadata_filter": {"type": "object"},
        },
        ("knowledge_base_id", "query"),
        True,
        search_knowledge,
    ),
    KnowledgeTool(
        "read_passage",
        "Read a passage",
        "Read a passage of a document with what stands before and after it.",
        {
            "knowledge_base_id": _BASE,
            "document_id": _DOCUMENT,
            "chunk_index": {"type": "integer", "minimum": 0},
            "neighbours": {"type": "integer", "minimum": 0, "maximum": MAX_NEIGHBOURS},
        },
        ("knowledge_base_id", "document_id", "chunk_index"),
        True,
        read_passage,
    ),
    KnowledgeTool(
        "document_status",
        "Document status",
        "See whether documents are ready, still being indexed, or failed and why.",
        {
            "knowledge_base_id": _BASE,
            "document_ids": {"type": "array", "items": {"type": "string"}},
        },
        ("knowledge_base_id",),
        True,
        document_status,
    ),
    KnowledgeTool(
        "create_knowledge_base",
        "Create a knowledge base",
        "Create an empty knowledge base with the default embedding model.",
        {"name": {"type": "string"}, "description": {"type": "string"}},
        ("name",),
        False,
        create_knowledge_base,
    ),
    KnowledgeTool(
        "ingest_text",
        "Store a text",
        "Store a text (plain or Markdown) as a document. It can be found once it is ready.",
        {
            "knowledge_base_id": _BASE,
            "title": {"type": "string"},
            "text": {"type": "string"},
        },
        ("knowledge_base_id", "title", "text"),
        False,
        ingest_text,
    ),
)


async def call(client: KnowledgeClient, name: str, arguments: Arguments) -> dict[str, Any]:
    """Run the tool `name`.

    Raises:
        ToolError: it could not do it.
    """
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise ToolError(f"There is no tool '{name[:60]}'.")
    unknown = set(arguments) - set(tool.properties)
    missing = [key for key in tool.required if key not in arguments]
    if unknown or missing:
        raise ToolError(f"Arguments missing: {missing}; unknown: {sorted(unknown)[:10]}.")
    try:
        return await tool.call(client, arguments)
    except InvalidInputError as exc:
        raise ToolError(exc.message) from exc
