"""Embedding models: one local that needs no key, and one class per provider protocol.

`base` holds the contract, `remote` what all HTTP providers share, `registry` the pool of shared
model objects, `local` the model that runs in a child process.
"""

from agentscope.embedding.base import (
    EmbeddingModelBase,
    EmbeddingModelCard,
    EmbeddingResponse,
    EmbeddingUsage,
)
from agentscope.embedding.cache import EmbeddingCacheBase, FileEmbeddingCache
from agentscope.embedding.dashscope import DashScopeEmbeddingModel
from agentscope.embedding.gemini import GeminiEmbeddingModel
from agentscope.embedding.local import LocalEmbeddingModel
from agentscope.embedding.ollama import OllamaEmbeddingModel
from agentscope.embedding.openai_compatible import OpenAIEmbeddingModel

__all__ = [
    "DashScopeEmbeddingModel",
    "EmbeddingCacheBase",
    "EmbeddingModelBase",
    "EmbeddingModelCard",
    "EmbeddingResponse",
    "EmbeddingUsage",
    "FileEmbeddingCache",
    "GeminiEmbeddingModel",
    "LocalEmbeddingModel",
    "OllamaEmbeddingModel",
    "OpenAIEmbeddingModel",
]
