"""Chunkers: sections in, chunks of embeddable size out."""

from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.base import ChunkerBase

__all__ = ["ApproxTokenChunker", "ChunkerBase"]
