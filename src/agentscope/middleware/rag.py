"""Retrieval for agents, without any agent framework.

Messages are plain chat messages: mappings with `role` and `content` (text, or a list of content
parts), as every OpenAI-compatible endpoint takes them. Two modes:

agentic: the model gets a tool `search_knowledge` (`openai_tools`) and calls it (`call_tool`).
static: before the model is asked, the user's last message is searched in every knowledge base and
the hits are put beside it (`before_model`), and taken out after (`after_model`).

An adapter for a framework maps its hooks on these four methods; `examples/agent.py` is one.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import BaseModel

from agentscope.embedding.base import EmbeddingInput
from agentscope.errors import AgentScopeError, InvalidInputError
from agentscope.message.blocks import Base64Source, DataBlock, TextBlock
from agentscope.middleware.parameters import Parameters as MiddlewareParameters
from agentscope.rag.document import SearchHit
from agentscope.rag.federation import search_many
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.reranking import Reranker, rerank

logger = logging.getLogger(__name__)

TOOL_NAME = "search_knowledge"
HINT_SOURCE = "KnowledgeBase"
NOTHING_FOUND = "The knowledge base has no passage about this."
MAX_QUERY_CHARS = 20_000

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gives back to the model."""

    text: str
    hits: list[SearchHit] = field(default_factory=list)
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """Messages to send to the model; `hits` is what was added to them."""

    messages: list[Message]
    hits: list[SearchHit] = field(default_factory=list)


class RAGMiddleware:
    """Gives an agent its knowledge bases."""

    Parameters: ClassVar[type[BaseModel]] = MiddlewareParameters

    def __init__(
        self,
        knowledge_bases: Sequence[KnowledgeBase],
        parameters: MiddlewareParameters | None = None,
        rerank_model: Reranker | None = None,
    ) -> None:
        self.knowledge_bases = list(knowledge_bases)
        self.parameters = parameters or MiddlewareParameters()
        self.rerank_model = rerank_model

    def openai_tools(self) -> list[dict[str, Any]]:
        """Return the tools for the model, in the OpenAI form; none in static mode."""
        if self.parameters.mode != "agentic" or not self.knowledge_bases:
            return []
        about = "; ".join(f"{base.name}: {base.description}" for base in self.knowledge_bases)
        properties: dict[str, Any] = {
            "query": {"type": "string", "description": "What to look for, in the user's words."},
            "knowledge_bases": {
                "type": "array",
                "items": {"type": "string", "enum": self._names()},
                "description": "Where to look; everywhere if it is left out.",
            },
        }
        return [
            {
                "type": "function",
                "function": {
                    "name": TOOL_NAME,
                    "description": f"Search the user's documents. Knowledge bases: {about}",
                    "parameters": {
                        "type": "object",
                        "properties": properties,
                        "required": ["query"],
                    },
                },
            }
        ]

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | str) -> ToolResult:
        """Run a tool call of the model; a failure is a result that says so, never an exception."""
        try:
            given = json.loads(arguments) if isinstance(arguments, str) else arguments
            return await self._search_tool(name, given)
        except (ValueError, TypeError, AgentScopeError) as exc:
            logger.warning("search_tool_failed", extra={"reason": str(exc)[:300]})
            shown = exc.message if isinstance(exc, AgentScopeError) else "The arguments are wrong."
            return ToolResult(f"The search failed. {shown}", is_error=True)

    async def _search_tool(self, name: str, arguments: Any) -> ToolResult:
        if name != TOOL_NAME:
            raise InvalidInputError(f"There is no tool '{name[:60]}'.")
        if not isinstance(arguments, Mapping) or not isinstance(arguments.get("query"), str):
            raise InvalidInputError("The argument 'query' must be text.")
        wanted = arguments.get("knowledge_bases") or self._names()
        if not isinstance(wanted, list) or not set(wanted) <= set(self._names()):
            raise InvalidInputError(f"Known knowledge bases are: {', '.join(self._names())}.")
        bases = [base for base in self.knowledge_bases if base.name in wanted]
        hits = await self.search([arguments["query"]], bases)
        return ToolResult(render(hits) if hits else NOTHING_FOUND, hits)

    async def before_model(self, messages: Sequence[Message]) -> Prepared:
        """Return the messages for the model; in static mode with the hits after the last question.

        Nothing is added when the last message is not the user's (a later step of the same turn),
        or when the search failed: that is logged, and the model answers without.
        """
        asked = list(messages)
        if self.parameters.mode != "static" or not asked or asked[-1].get("role") != "user":
            return Prepared(asked)
        try:
            hits = await self.search(_queries(asked[-1]), self.knowledge_bases)
        except AgentScopeError as exc:
            logger.warning("static_search_failed", extra={"code": exc.code})
            return Prepared(asked)
        if not hits:
            return Prepared(asked)
        text = self.parameters.hint_template.replace("{context}", render(hits))
        hint = {"role": "system", "name": HINT_SOURCE, "content": text}
        return Prepared([*asked, hint], hits)

    def after_model(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages without hints, unless `persist_hint` keeps them."""
        if self.parameters.persist_hint:
            return list(messages)
        return [message for message in messages if message.get("name") != HINT_SOURCE]

    async def search(
        self, queries: Sequence[EmbeddingInput], bases: Sequence[KnowledgeBase]
    ) -> list[SearchHit]:
        """Return the best hits for `queries` in `bases`, reranked if there is a reranker."""
        settings = self.parameters
        if not bases or not queries:
            return []
        depth = settings.candidates if self.rerank_model else settings.top_k
        if len(bases) == 1:
            hits = await bases[0].search(queries, depth, settings.score_threshold)
        else:
            hits = await search_many(bases, queries, depth, settings.score_threshold)
        text = "\n".join(query for query in map(_plain, queries) if query)
        if self.rerank_model is not None and text:
            prompt = settings.rerank_prompt.replace("{query}", text)
            hits = await rerank(self.rerank_model, prompt, hits, top_k=depth)
        return hits[: settings.top_k]

    def _names(self) -> list[str]:
        return [base.name for base in self.knowledge_bases]


def render(hits: Sequence[SearchHit]) -> str:
    """Return hits as numbered passages with their source, as a model reads them."""
    return "\n\n".join(f"[{n}] {_source(hit)}\n{_text(hit)}" for n, hit in enumerate(hits, start=1))


def _source(hit: SearchHit) -> str:
    for key in ("page", "slide", "sheet"):
        if key in hit.chunk.metadata:
            return f"{hit.chunk.source}, {key} {hit.chunk.metadata[key]}"
    return hit.chunk.source


def _text(hit: SearchHit) -> str:
    content = hit.chunk.content
    return content.text if isinstance(content, TextBlock) else f"({content.source.media_type})"


def _plain(query: EmbeddingInput) -> str:
    if isinstance(query, str):
        return query
    return query.text if isinstance(query, TextBlock) else ""


def _queries(message: Message) -> list[EmbeddingInput]:
    """Return what a user message asks: its text, with the speaker's name, and inline images."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [str(part["text"]) for part in parts if isinstance(part.get("text"), str)]
    text = "\n".join(texts).strip()[:MAX_QUERY_CHARS]
    speaker = message.get("name")
    if text and speaker:
        text = f"{speaker}: {text}"
    images = [block for part in parts if (block := _image(part)) is not None]
    return [*([text] if text else []), *images]


def _image(part: Mapping[str, Any]) -> DataBlock | None:
    """Return an inline image part as a block; images by address are never fetched."""
    url = part.get("image_url", {}).get("url", "") if part.get("type") == "image_url" else ""
    head, _, data = url.partition(";base64,")
    if not head.startswith("data:") or not data:
        return None
    return DataBlock(source=Base64Source(data=data, media_type=head.removeprefix("data:")))
