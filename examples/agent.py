"""A small agent: a tool-calling loop over any OpenAI-compatible chat endpoint.

    CHAT_URL=http://localhost:11434/v1 CHAT_MODEL=qwen3 python examples/agent.py QUESTION FILE...

The files are read and indexed in memory with the offline model, so nothing but the chat endpoint
is needed.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import httpx

from agentscope.embedding import LocalEmbeddingModel
from agentscope.middleware import RAGMiddleware
from agentscope.rag import ApproxTokenChunker, InMemoryVectorStore, KnowledgeBase, TextParser

MAX_STEPS = 6


async def complete(
    http: httpx.AsyncClient, messages: list[Any], tools: list[dict[str, Any]]
) -> dict[str, Any]:
    """Ask the chat endpoint for the next message."""
    body = {"model": os.environ.get("CHAT_MODEL", "default"), "messages": messages, "tools": tools}
    answer = await http.post("/chat/completions", json=body)
    message: dict[str, Any] = answer.raise_for_status().json()["choices"][0]["message"]
    return message


async def run(http: httpx.AsyncClient, middleware: RAGMiddleware, question: str) -> str:
    """Let the model search until it answers."""
    messages: list[Any] = [{"role": "user", "content": question}]
    for _ in range(MAX_STEPS):
        prepared = await middleware.before_model(messages)
        message = await complete(http, prepared.messages, middleware.openai_tools())
        messages = [*middleware.after_model(prepared.messages), message]
        calls = message.get("tool_calls") or []
        if not calls:
            return str(message["content"])
        for call in calls:
            function = call["function"]
            result = await middleware.call_tool(function["name"], function["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result.text})
    return "No answer within the allowed steps."


async def main(question: str, files: list[str]) -> None:
    """Index `files`, then answer `question`."""
    parser, chunker = TextParser(), ApproxTokenChunker()
    async with LocalEmbeddingModel() as model, InMemoryVectorStore() as store:
        knowledge = KnowledgeBase("files", "the files given", model, store, "files")
        for name in files:
            sections = await parser.parse(name, Path(name).name)
            await knowledge.insert_document(await chunker.chunk(sections))
        url = os.environ.get("CHAT_URL", "http://localhost:11434/v1")
        headers = {"Authorization": f"Bearer {os.environ.get('CHAT_KEY', 'none')}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=120) as http:
            print(await run(http, RAGMiddleware([knowledge]), question))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
